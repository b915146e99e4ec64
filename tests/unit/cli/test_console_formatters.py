"""How records are printed: the parts in Kafka's order (facts/tools.md 6)."""

from __future__ import annotations

import pytest

from pykafka_classic.cli.console_formatters import DEFAULT, NOTHING, UnknownFormatter, formatter
from pykafka_classic.client.fetched_records import ConsumerRecord
from pykafka_classic.records.layout import TimestampType

RECORD = ConsumerRecord("t", 3, 7, 1_700_000_000_000, b"k", b"v", (("h", b"1"), ("g", None)))
ALL = {f"print.{part}": "true" for part in ("timestamp", "partition", "offset", "headers", "key")}


def test_only_the_value_is_printed_unless_more_is_wanted() -> None:
    assert formatter(DEFAULT, {})(RECORD) == "v\n"
    assert formatter(DEFAULT, ALL)(RECORD) == "CreateTime:1700000000000\tPartition:3\tOffset:7\th:1,g:null\tk\tv\n"


def test_separators_and_the_word_for_null_are_the_users() -> None:
    shown = formatter(DEFAULT, {"print.key": "true", "key.separator": "|", "line.separator": ";", "null.literal": "-"})
    assert shown(RECORD._replace(value=None)) == "k|-;"


def test_what_is_not_there_has_a_word() -> None:
    old = RECORD._replace(timestamp=-1, headers=())
    assert formatter(DEFAULT, {"print.timestamp": "true", "print.headers": "true", "print.value": "false"})(old) == "NO_TIMESTAMP\tNO_HEADERS\n"
    stamped = RECORD._replace(timestamp_type=TimestampType.LOG_APPEND_TIME)
    assert formatter(DEFAULT, {"print.timestamp": "true"})(stamped).startswith("LogAppendTime:")


def test_bytes_that_are_no_text_go_through_unharmed() -> None:
    assert formatter(DEFAULT, {})(RECORD._replace(value=b"\xff\x00")).encode("utf-8", "surrogateescape") == b"\xff\x00\n"


def test_numbers_are_read_by_kafkas_classes() -> None:
    shown = formatter(DEFAULT, {"value.deserializer": "org.apache.kafka.common.serialization.LongDeserializer"})
    assert shown(RECORD._replace(value=(42).to_bytes(8, "big"))) == "42\n"
    with pytest.raises(ValueError, match=r"^Size of data received by LongDeserializer is not 8$"):
        shown(RECORD)


def test_a_class_that_there_is_not_is_named() -> None:
    assert formatter(NOTHING, {})(RECORD) == ""
    for name, properties in (("my.Formatter", {}), (DEFAULT, {"key.deserializer": "my.Deserializer"})):
        with pytest.raises(UnknownFormatter, match="my"):
            formatter(name, properties)
