"""From a decoded request to its handler, with what the connection knows added. The edge calls this, once for each listener."""

from __future__ import annotations

from pykafka_classic.protocol.connection import RequestContext
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.handlers.table import HANDLERS
from pykafka_classic.server.request import HandlerResult, Request


class Dispatcher:
    """Hands the requests of one listener to their handlers."""

    def __init__(self, broker: BrokerServices, listener: str) -> None:
        self._broker = broker
        self._listener = listener

    def dispatch(self, context: RequestContext, client_host: str) -> HandlerResult:
        """The handler's answer. Whatever it raises is a bug, CloseConnection aside."""
        handler = HANDLERS[context.api_key]
        return handler(self._broker, Request(context.body, context.api_version, context.client_id, self._listener, client_host))
