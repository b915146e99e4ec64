"""Listeners that come and go while a broker runs: which changes of `listeners` and `advertised.listeners` are allowed (KIP-226).

A listener is known by its name. One whose name is new is opened, one whose name is gone is closed with its connections, and what others are told changes with
it; the listener of the brokers stays. The address of a listener that stays is not changed: as in Kafka, such a wish is accepted, and counts at the next start.

Differs from Kafka: this broker serves PLAINTEXT only, so no other listener can be added.

Mirrors kafka.server.DynamicListenerConfig.
"""

from __future__ import annotations

from typing import Final

from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode, KafkaError

SERVED: Final = "PLAINTEXT"


class InvalidDynamicConfig(KafkaError):
    """A wish that would contradict what runs. Kafka mixes up the arguments of its own exception; tools print it."""

    def __init__(self, cause: str) -> None:
        message = f"Invalid value org.apache.kafka.common.config.ConfigException: {cause} for configuration Invalid dynamic configuration"
        super().__init__(ErrorCode.INVALID_REQUEST, message)


def check_listeners(before: KafkaConfig, after: KafkaConfig) -> None:
    """Whether a broker may go from one to the other. Raises InvalidDynamicConfig. That advertised listeners exist is a rule of every configuration."""
    old = {each.listener_name: each for each in before.listener_end_points}
    for each in after.listener_end_points:
        if each.listener_name not in old:
            if each.security_protocol != SERVED:
                raise InvalidDynamicConfig(f"Listener {each.listener_name} cannot be added: this broker serves {SERVED} only, not {each.security_protocol}")
        elif each.security_protocol != old[each.listener_name].security_protocol:
            raise InvalidDynamicConfig(f"Security protocol cannot be updated for existing listener {each.listener_name}")
