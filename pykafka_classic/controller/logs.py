"""Log lines in Kafka's style: each begins with who speaks, and state changes also with the epoch under which they were decided."""

from __future__ import annotations

import logging
from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from pykafka_classic.controller.controller_context import ControllerContext

if TYPE_CHECKING:
    _Adapter = logging.LoggerAdapter[logging.Logger]
else:
    _Adapter = logging.LoggerAdapter


class PrefixedLog(_Adapter):
    """A logger whose lines begin with a prefix that is made when the line is."""

    def __init__(self, name: str, prefix: Callable[[], str]) -> None:
        super().__init__(logging.getLogger(name), {})
        self._prefix = prefix

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """Put the prefix before the message."""
        return f"{self._prefix()}{msg}", kwargs


class StateChangeLog(PrefixedLog):
    """Kafka's state.change.logger: `[Controller id=1 epoch=3] Changed partition ...`."""

    def __init__(self, context: ControllerContext, controller_id: int) -> None:
        super().__init__("state.change.logger", lambda: f"[Controller id={controller_id} epoch={context.epoch}] ")


def controller_log(controller_id: int) -> PrefixedLog:
    """The log of kafka.controller.KafkaController: `[Controller id=1] ...`."""
    return PrefixedLog("kafka.controller.KafkaController", lambda: f"[Controller id={controller_id}] ")
