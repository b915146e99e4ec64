"""How the console consumer prints a record: as `--property` says, or by a formatter for what brokers keep (`internal_formatters`).

Source: facts/tools.md 6; 2.8 ConsoleConsumer.scala (DefaultMessageFormatter, LoggingMessageFormatter, NoOpMessageFormatter, ChecksumMessageFormatter).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Final

from pykafka_classic.client.fetched_records import ConsumerRecord
from pykafka_classic.records.layout import TimestampType

Formatter = Callable[[ConsumerRecord], str]

DEFAULT: Final = "kafka.tools.DefaultMessageFormatter"
NOTHING: Final = "kafka.tools.NoOpMessageFormatter"
LOGGING: Final = "kafka.tools.LoggingMessageFormatter"
CHECKSUM: Final = "kafka.tools.ChecksumMessageFormatter"
INTERNAL: Final = {
    "kafka.coordinator.group.GroupMetadataManager$OffsetsMessageFormatter": "offsets_line",
    "kafka.coordinator.group.GroupMetadataManager$GroupMetadataMessageFormatter": "group_line",
    "kafka.coordinator.transaction.TransactionLog$TransactionLogMessageFormatter": "transaction_line",
}

_NUMBERS: Final = {"Integer": ">i", "Long": ">q", "Short": ">h", "Double": ">d", "Float": ">f"}
_SERIALIZATION: Final = "org.apache.kafka.common.serialization."


class UnknownFormatter(ValueError):
    """A class that we do not have; the text names it."""


def formatter(name: str, properties: Mapping[str, str]) -> Formatter:
    """The formatter of Kafka's name. UnknownFormatter."""
    if name in (DEFAULT, LOGGING):  # what Kafka's also writes to its log stands below the level of that log
        return DefaultFormatter(properties)
    if name == NOTHING:
        return lambda _: ""
    if name == CHECKSUM:
        topic = f"{properties['topic']}:" if "topic" in properties else ""
        return lambda _: f"{topic}checksum:0\n"  # records have had none of their own since 0.11
    if name in INTERNAL:
        from pykafka_classic.cli import internal_formatters

        line: Formatter = getattr(internal_formatters, INTERNAL[name])
        return line
    raise UnknownFormatter(f"There is no formatter {name} here; there are {', '.join((DEFAULT, LOGGING, NOTHING, CHECKSUM, *INTERNAL))}.")


class DefaultFormatter:
    """`print.*` and separators, as Kafka's default formatter knows them."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        def flag(name: str, default: str = "false") -> bool:
            return properties.get(name, default).strip().lower() == "true"

        self._timestamp, self._partition, self._offset = flag("print.timestamp"), flag("print.partition"), flag("print.offset")
        self._headers, self._key, self._value = flag("print.headers"), flag("print.key"), flag("print.value", "true")
        self._between = properties.get("key.separator", "\t")
        self._end = properties.get("line.separator", "\n")
        self._between_headers = properties.get("headers.separator", ",")
        self._null = properties.get("null.literal", "null")
        self._key_text = deserializer(properties.get("key.deserializer"))
        self._value_text = deserializer(properties.get("value.deserializer"))
        self._header_text = deserializer(properties.get("headers.deserializer"))

    def __call__(self, record: ConsumerRecord) -> str:
        """The text of a record, its end included."""
        parts = []
        if self._timestamp:
            parts.append(_timestamp(record))
        if self._partition:
            parts.append(f"Partition:{record.partition}")
        if self._offset:
            parts.append(f"Offset:{record.offset}")
        if self._headers:
            headers = [f"{name}:{self._null if value is None else self._header_text(value)}" for name, value in record.headers]
            parts.append(self._between_headers.join(headers) if headers else "NO_HEADERS")
        if self._key:
            parts.append(self._null if record.key is None else self._key_text(record.key))
        if self._value:
            parts.append(self._null if record.value is None else self._value_text(record.value))
        return self._between.join(parts) + self._end if parts else ""


def _timestamp(record: ConsumerRecord) -> str:
    if record.timestamp < 0:
        return "NO_TIMESTAMP"
    return f"{'LogAppendTime' if record.timestamp_type is TimestampType.LOG_APPEND_TIME else 'CreateTime'}:{record.timestamp}"


def deserializer(name: str | None) -> Callable[[bytes], str]:
    """Bytes as text, by the name of one of Kafka's classes; as they are where there is none. UnknownFormatter."""
    kind = (name or "").removeprefix(_SERIALIZATION).removesuffix("Deserializer")
    if kind in ("", "String", "ByteArray", "Bytes"):
        return lambda data: data.decode("utf-8", "surrogateescape")
    if kind not in _NUMBERS:
        raise UnknownFormatter(f"There is no deserializer {name} here.")
    layout = struct.Struct(_NUMBERS[kind])

    def number(data: bytes) -> str:
        if len(data) != layout.size:
            raise ValueError(f"Size of data received by {kind}Deserializer is not {layout.size}")
        return str(layout.unpack(data)[0])

    return number
