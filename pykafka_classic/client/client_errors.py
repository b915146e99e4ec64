"""What can go wrong for a client, beyond the error codes of brokers (`common.errors.KafkaError`) and lost connections (`protocol.network.Disconnected`).

Every text is a sentence for the user.
"""

from __future__ import annotations

from pykafka_classic.protocol.network import Disconnected


class NoBrokers(Disconnected):
    """None of the addresses given leads to a broker; the text says of each what is there instead."""


class UnsupportedByBrokers(Exception):
    """The broker does not serve this request in any version that we know, or not in one that can say what is wanted."""


class ClientTimeout(Exception):
    """The time that the caller, or a setting, gave has passed; the text says what was waited for."""


class ClientClosed(Exception):
    """The client has been closed, and is of no use any more."""


class IllegalState(Exception):
    """The client cannot do this now; the text says why."""


class InvalidSetting(ValueError):
    """A setting that means nothing; the text names it."""
