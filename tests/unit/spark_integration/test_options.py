"""Options: aliases, defaults, and sentences for what is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pykafka_classic.client.starts import AtOffset, AtTime, ByPartition, LastN, Reset, Word
from pykafka_classic.common.topic_partition import TopicPartition
from spark_integration.columns import COLUMNS
from spark_integration.option_table import OPTIONS, InvalidOption
from spark_integration.options import Limits, Membership, Resume, SourceOptions, Storage, parse_options

BASE = {"bootstrap.servers": "localhost:9092", "subscribe": "flights"}
GROUP = BASE | {"group.id": "radar"}
FLIGHTS_0 = TopicPartition("flights", 0)


def parsed(**more: str) -> SourceOptions:
    return parse_options(GROUP | more)


def test_names_are_not_case_sensitive_and_those_of_the_official_connector_are_taken() -> None:
    official = {
        "kafka.security.protocol": "PLAINTEXT",
        "kafkaConsumer.pollTimeoutMs": "500",
        "KAFKA.bootstrap.servers": "localhost:9092",
        "SUBSCRIBE": "flights",
        "kafka.group.id": "radar",
        "startingoffsets": "earliest",
    }
    assert parse_options(official) == parse_options(GROUP | {"start": "earliest"})


def test_defaults_are_those_of_the_table() -> None:
    options = parsed()
    assert (options.start, options.end, options.reset, options.fail_on_data_loss) == (None, None, Reset.EARLIEST, True)
    assert options.limits == Limits(None, None, 15 * 60_000, None, None)
    assert options.columns == COLUMNS[:-1]
    assert options.client_id == "spark-radar"
    group = options.group
    assert group is not None
    assert (group.membership, group.storage, group.resume) == (Membership.SOLE, Storage.KAFKA, Resume.CHECKPOINT)


@pytest.mark.parametrize(
    ("given", "start"),
    [
        ({"start": "committed"}, Word.COMMITTED),
        ({"start": "-5"}, LastN(5)),
        ({"startingOffsets": '{"flights": {"0": -2}}'}, ByPartition({FLIGHTS_0: Word.EARLIEST})),
        ({"startingTimestamp": "17"}, AtTime(17)),
        ({"startingOffsetsByTimestamp": '{"flights": {"0": 17}}'}, ByPartition({FLIGHTS_0: AtTime(17)})),
    ],
)
def test_starts(given: dict[str, str], start: object) -> None:
    assert parsed(**given).start == start


def test_ends() -> None:
    assert parsed(endingOffsets='{"flights": {"0": 17}}').end == ByPartition({FLIGHTS_0: AtOffset(17)})
    assert parsed(endingTimestamp="17").end == AtTime(17)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"subscribe": "x"}, "option 'bootstrap.servers' is missing"),
        (GROUP | {"maxOffsetPerTrigger": "5"}, "there is no option 'maxOffsetPerTrigger'; is 'maxOffsetsPerTrigger' meant?"),
        (GROUP | {"kafka.sasl.jaas.config": "x"}, "there is no option 'kafka.sasl.jaas.config'"),
        (GROUP | {"kafka.security.protocol": "SASL_SSL"}, "option 'kafka.security.protocol' is 'SASL_SSL', and brokers are spoken to in PLAINTEXT only"),
        (GROUP | {"kafka.group.id": "tower"}, "options 'group.id' and 'kafka.group.id' mean the same, and have two values"),
        ({"bootstrap.servers": "localhost:9092"}, "nothing to read: give one of the options 'subscribe', 'subscribePattern' and 'assign'"),
        (GROUP | {"subscribePattern": "f.*"}, "options 'subscribe' and 'subscribePattern' contradict each other"),
        (BASE | {"start": "committed"}, "option 'start' is committed: 'group.id' must say by whom"),
        (BASE | {"membership": "sharing"}, "option 'membership' is about a group, and there is no 'group.id'"),
        (GROUP | {"startingOffsets": "tomorrow"}, "option 'startingOffsets': 'tomorrow' is no start"),
        (GROUP | {"start": "5", "startingTimestamp": "6"}, "options 'start' and 'startingTimestamp' contradict each other"),
        (GROUP | {"endingOffsets": "earliest"}, "option 'endingOffsets': a batch cannot end at earliest"),
        (GROUP | {"startingTimestamp": "noon"}, "option 'startingTimestamp': 'noon' is not a whole number"),
        (GROUP | {"startingOffsetsByTimestamp": "5"}, "option 'startingOffsetsByTimestamp': '5' is not JSON"),
        (GROUP | {"failOnDataLoss": "yes"}, "option 'failOnDataLoss': 'yes' is not true or false"),
        (GROUP | {"minPartitions": "0"}, "option 'minPartitions': 0 is less than 1"),
        (GROUP | {"maxOffsetsPerTrigger": "5", "minOffsetsPerTrigger": "6"}, "option 'minOffsetsPerTrigger' is 6, more than 'maxOffsetsPerTrigger'"),
        (GROUP | {"maxTriggerDelay": "soon"}, "option 'maxTriggerDelay': 'soon' is no time"),
        (GROUP | {"columns": "key,colour"}, "option 'columns': 'colour' is not some of key, value"),
        (GROUP | {"columns": "key", "includeHeaders": "true"}, "option 'includeHeaders' is true, and 'columns' does not name headers"),
        (GROUP | {"membership": "alone"}, "option 'membership': 'alone' is not one of sole, sharing, none"),
        (GROUP | {"offsets.storage": "zookeeper"}, "option 'offsets.storage' is zookeeper: 'zookeeper.connect' must say where that is"),
        (GROUP | {"isolation.level": "serializable"}, "option 'isolation.level': 'serializable' is not read_uncommitted or read_committed"),
        (GROUP | {"auto.offset.reset": "none of it"}, "option 'auto.offset.reset': "),
        ({"bootstrap.servers": "localhost:9092", "group.id": "g", "assign": '{"f": [-1]}'}, "option 'assign': "),
        ({"bootstrap.servers": "localhost:9092", "subscribePattern": "("}, "option 'subscribePattern': '(' is not a regular expression"),
        (GROUP | {"heartbeat.interval.ms": "20000"}, "heartbeat.interval.ms must be less than session.timeout.ms"),
        (GROUP | {"membership": "sharing", "partition.assignment.strategy": "fair"}, "partition.assignment.strategy has 'fair'"),
    ],
)
def test_what_is_wrong_is_said_by_name(given: dict[str, str], sentence: str) -> None:
    with pytest.raises(InvalidOption, match=re.escape(sentence)):
        parse_options(given)


def test_times_that_no_record_has_are_an_error_for_the_official_names_only() -> None:
    assert parsed(startingTimestamp="17").strict_times
    assert not parsed(startingTimestamp="17", startingOffsetsByTimestampStrategy="latest").strict_times
    assert not parsed(start="@17").strict_times


def test_what_only_tunes_the_official_connector_is_accepted() -> None:
    assert parsed(**{"kafka.max.poll.records": "500", "kafka.Max.Partition.Fetch.Bytes": "1"}) == parsed()


def test_values_may_be_in_capitals() -> None:
    assert parsed(**{"isolation.level": "READ_COMMITTED", "membership": "SOLE", "failOnDataLoss": "TRUE"}) == parsed(**{"isolation.level": "read_committed"})


def test_headers_come_when_they_are_asked_for() -> None:
    assert parsed(includeHeaders="true").include_headers
    assert parsed(columns="Headers,key").columns == ("headers", "key")


def test_the_page_shows_every_option_with_its_default() -> None:
    page = (Path(__file__).parents[3] / "docs" / "spark.md").read_text(encoding="utf-8")
    rows = [f"| `{each.name}` | {each.default or '-'} | {each.meaning} |" for each in OPTIONS]
    assert [row for row in rows if row not in page] == []
