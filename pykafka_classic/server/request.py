"""One request of a client, as the handlers see it, and what a handler may answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pykafka_classic.common.promise import Promise
from pykafka_classic.protocol.schema import Message

if TYPE_CHECKING:
    from pykafka_classic.server.broker_services import BrokerServices

M = TypeVar("M", bound=Message)


@dataclass(slots=True)
class Request:
    """A decoded request and whence it came. `listener` is the name of the listener it arrived on: it decides which endpoints a client is told.

    Nobody changes it; not frozen, for that would make each one three times as slow.
    """

    body: Message
    version: int
    client_id: str | None
    listener: str
    client_host: str

    def expect(self, kind: type[M]) -> M:
        """The body, which the table of handlers guarantees to be of this kind."""
        assert isinstance(self.body, kind)
        return self.body


class CloseConnection(Exception):
    """Raised by a handler: answer nothing and close the connection; the text goes to the log."""


# A response at once, a response later, or (Produce with acks=0) none at all.
HandlerResult: TypeAlias = "Message | Promise[Any] | None"  # Promise[Message], which mypy would take for something else than Promise[FetchResponse]
Handler: TypeAlias = "Callable[[BrokerServices, Request], HandlerResult]"
