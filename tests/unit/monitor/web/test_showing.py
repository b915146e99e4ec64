"""How numbers, times, records, JSON and charts are shown."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest

from pykafka_classic.client.fetched_records import ConsumerRecord
from pykafka_classic.monitor.store.answers import LagPoint, PartitionState, TopicState
from pykafka_classic.monitor.web import formats
from pykafka_classic.monitor.web.charts import POINTS, lag_chart
from pykafka_classic.monitor.web.decoding import fits, hex_dump, shown
from pykafka_classic.monitor.web.jsonable import encoded, jsonable, schema_of
from pykafka_classic.monitor.web.metrics import text_of


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0, "0 ms"), (999, "999 ms"), (1500, "1.5 s"), (83_000, "1 min 23 s"), (3_600_000, "1 h"), (90_061_000, "1 d 1 h"), (None, formats.UNKNOWN)],
)
def test_durations_have_two_units(ms: int | None, text: str) -> None:
    assert formats.duration(ms) == text


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (200 * 1024, "200 KiB"), (3 << 40, "3.0 TiB"), (-1, formats.UNKNOWN)]
)
def test_sizes_have_binary_units(size: int, text: str) -> None:
    assert formats.size(size) == text


def test_times_are_utc_and_never_raise() -> None:
    assert formats.moment(1_700_000_000_123) == "2023-11-14 22:13:20"
    assert formats.clock(1_700_000_000_123) == "22:13:20.123"
    assert formats.iso(1_700_000_000_123) == "2023-11-14T22:13:20.123Z"
    for odd in (-1, 1 << 62, None):
        assert formats.moment(odd) == formats.UNKNOWN and formats.iso(odd) == ""


def test_values_are_shown_as_they_are_best_read() -> None:
    assert (shown(b'{"b":[1,2],"a":"\xc3\xa9"}').form, shown(b'{"b":[1,2],"a":"\xc3\xa9"}').text) == ("json", '{"b": [1, 2], "a": "é"}')
    assert shown(b"EWR,71.2").form == "text" and shown(b"17").form == "text" and shown(b"17", "json").form == "json"
    assert shown(b"\x00\x01").form == "hex" and shown(b"\xff\xfe").form == "hex" and shown(b"abc", "hex").form == "hex"
    assert shown(None).form == "none" and shown(b"").form == "empty"
    assert shown(b"{broken").form == "text" and shown(b"[" * 100_000).form == "text"
    assert shown(b"x" * 30_000).cut == 10_000 and shown(bytes(5_000)).cut == 5_000 - 2_048


def test_long_json_has_a_line_for_each_part() -> None:
    text = shown(b'{"name":"' + b"x" * 100 + b'","inner":{"a":1}}').text
    assert text.splitlines() == ["{", '  "name": "' + "x" * 100 + '",', '  "inner": {"a": 1}', "}"]


def test_a_hex_dump_has_sixteen_bytes_a_line() -> None:
    lines = hex_dump(bytes(range(60, 80))).splitlines()
    assert lines[0] == "000000  3c 3d 3e 3f 40 41 42 43 44 45 46 47 48 49 4a 4b  <=>?@ABCDEFGHIJK"
    assert lines[1].startswith("000010  4c 4d 4e 4f ") and lines[1].endswith(" LMNO")


def test_a_text_is_found_in_key_value_and_headers() -> None:
    record = ConsumerRecord("flights", 0, 1, 0, b"N14228", b'{"origin":"EWR"}', (("trace", b"ABC"), ("none", None)))
    assert all(fits(record, text) for text in ("", "n142", "ewr", "abc", "TRACE"))
    assert not fits(record, "JFK") and not fits(ConsumerRecord("t", 0, 0, 0, None, None), "x")


def test_the_schema_of_an_answer_is_that_of_its_json() -> None:
    schemas: dict[str, Any] = {}
    assert schema_of(tuple[TopicState, ...], schemas) == {"type": "array", "items": {"$ref": "#/components/schemas/TopicState"}}
    state = TopicState("flights", 3, 3, 1, 0, 2)
    assert list(jsonable(state)) == schemas["TopicState"]["required"] == [each.name for each in dataclasses.fields(TopicState)]
    assert schema_of(int | None, {}) == {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    assert schema_of(Mapping[str, tuple[int, str]], {})["additionalProperties"]["maxItems"] == 2
    assert encoded({"data": b"\xff"}) == b'{"data": "base64:/w=="}'
    assert schema_of(PartitionState, schemas) and schemas["PartitionState"]["properties"]["isr"] == {"type": "array", "items": {"type": "integer"}}


def point(t_ms: int, partition: int, lag: int, lag_ms: int | None) -> LagPoint:
    return LagPoint("radar", "kafka", "flights", partition, t_ms, 0, lag, lag_ms, exact=True)


def test_a_chart_of_lag_holds_what_was_sampled_last() -> None:
    step = 1_000
    told = [point(10_000, 0, 5, 2_000), point(20_000, 0, 0, 0), point(15_000, 1, 7, 1_000)]
    records = lag_chart(told, 0, POINTS * step, in_time=False)
    at = dict(zip(records.times, records.series[0].values, strict=True))
    assert (at[9_000], at[10_000], at[14_000], at[15_000], at[19_000], at[20_000], at[100_000]) == (None, 5, 5, 12, 12, 7, 7)
    times = lag_chart(told, 0, POINTS * step, in_time=True)
    aged = dict(zip(times.times, times.series[0].values, strict=True))
    # What is behind grows older while nothing is committed; of partitions the oldest counts; who has read all is not behind.
    assert (aged[10_000], aged[12_000], aged[16_000], aged[25_000]) == (2_000, 4_000, 8_000, 11_000)
    assert [each.name for each in records.series] == ["flights (kafka)"]


def test_metrics_are_prometheus_text() -> None:
    labels = {"cluster": "here", "group": 'a"b\\c\nd'}
    text = text_of([("kafka_group_lag_records", labels, 12), ("kafka_group_lag_seconds", labels, 0.5), ("kafka_group_lag_records", {"cluster": "here"}, 1)])
    lines = text.splitlines()
    assert lines[:2] == ["# HELP kafka_group_lag_records Records that a group is behind.", "# TYPE kafka_group_lag_records gauge"]
    assert lines[2] == 'kafka_group_lag_records{cluster="here",group="a\\"b\\\\c\\nd"} 12' and lines[3] == 'kafka_group_lag_records{cluster="here"} 1'
    assert lines[-1].endswith(" 0.5") and text.endswith("\n")
