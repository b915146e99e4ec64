"""What requests about configurations number: what is configured, and where a value comes from.

Source: facts/protocol.md (DescribeConfigs, AlterConfigs); 2.8 ConfigResource.java, DescribeConfigsResponse.java.
"""

from __future__ import annotations

from enum import IntEnum


class ResourceType(IntEnum):
    """What has configs; numbers of the protocol."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8


class ConfigSource(IntEnum):
    """Where a value comes from; numbers of the protocol, words of Kafka's tools."""

    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6

    @staticmethod
    def of(number: int) -> ConfigSource:
        """The source; UNKNOWN for numbers to come."""
        return ConfigSource(number) if number in ConfigSource.__members__.values() else ConfigSource.UNKNOWN


class AlterOp(IntEnum):
    """What `incremental_alter_configs` does; APPEND and SUBTRACT are for lists."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3
