"""kafka-consumer-groups without brokers: dates, durations, plans in files, orders of rows. What it prints is compared with Apache's in tests/integration."""

from __future__ import annotations

import pytest

from pykafka_classic.cli.consumer_group_reset import ResetFailed, as_csv, parse_datetime, parse_duration, parse_plans
from pykafka_classic.cli.consumer_group_rows import GroupProgress, member_table, offset_table
from pykafka_classic.client.admin.groups import GroupDescription, MemberDescription
from pykafka_classic.cluster.broker import Node
from pykafka_classic.common.topic_partition import TopicPartition

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1970-01-01T00:00:01.000", 1000),  # no zone: UTC
        ("1970-01-01T00:00:01.5", 1005),  # SimpleDateFormat counts the digits as milliseconds
        ("1970-01-01T01:00:00.000+01:00", 0),
        ("1970-01-01T01:00:00.000+01", 0),
        ("1969-12-31T23:00:00.000-0100", 0),
        ("2020-01-01T00:00:00.000Z", 1_577_836_800_000),
    ],
)
def test_times_are_read_as_kafka_reads_them(text: str, ms: int) -> None:
    assert parse_datetime(text) == ms


@pytest.mark.parametrize("text", ["2020-01-01T00:00:00", "2020-13-01T00:00:00.000", "2020-02-30T00:00:00.000", "xTy", "2020-01-01T00:00:00.1000"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ResetFailed, match=f'Unparseable date: "{text}Z"'):
        parse_datetime(text)


@pytest.mark.parametrize(
    ("text", "ms"),
    [("P1D", 86_400_000), ("PT1H", 3_600_000), ("P1DT2H3M4.5S", 93_784_500), ("-PT1S", -1000), ("PT-0.5S", -500), ("pt1m", 60_000), ("PT+2S", 2000)],
)
def test_durations_are_read_as_java_reads_them(text: str, ms: int) -> None:
    assert parse_duration(text) == ms


@pytest.mark.parametrize("text", ["", "P", "PT", "P1DT", "1D", "P1W", "P1M", "PT1.5H"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ResetFailed, match="Text cannot be parsed to a Duration"):
        parse_duration(text)


def test_a_plan_goes_to_a_file_and_back() -> None:
    plan = {T0: 5, U0: 7}
    assert as_csv({"g": plan}, with_group=False) == "t,0,5\nu,0,7\n"
    assert parse_plans(as_csv({"g": plan}, with_group=False), "g") == {"g": plan}
    several = {"g": {T0: 5}, "a, b": {U0: 7}}
    assert parse_plans(as_csv(several, with_group=True), None) == several
    assert parse_plans("g,t,0,5\n", "g") == {"g": {T0: 5}}  # the long form is good for one group too


@pytest.mark.parametrize("text", ["t,0\n", "t,zero,5\n", "t,0,5,6,7\n", "t,0,5\n\nt,1,6\n"])
def test_a_line_that_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(ResetFailed, match=r"line [12] of the file is not topic,partition,offset|line 1 of the file is not group,topic,partition,offset"):
        parse_plans(text, "g")


def group(*members: MemberDescription) -> GroupDescription:
    return GroupDescription("g", "Stable", "consumer", "range", Node(0, "h", 9092), members)


def member(name: str, *assignment: TopicPartition, instance: str | None = None) -> MemberDescription:
    return MemberDescription(name, instance, "c", "/10.0.0.1", assignment)


def test_members_with_more_partitions_come_first_and_what_nobody_reads_last() -> None:
    progress = GroupProgress(group(member("one", U0), member("two", T1, T0)), {T0: 5, U0: 1, TopicPartition("gone", 3): 2}, {T0: 9, T1: 4, U0: 1})
    rows = [line.split() for line in offset_table(progress)[2:]]
    assert [row[1:7] for row in rows] == [
        ["t", "0", "5", "9", "4", "two"],
        ["t", "1", "-", "4", "-", "two"],
        ["u", "0", "1", "1", "0", "one"],
        ["gone", "3", "2", "-", "-", "-"],
    ]


def test_the_instance_column_is_there_only_where_a_member_has_one() -> None:
    assert "GROUP-INSTANCE-ID" not in member_table(group(member("one", T0)), verbose=False)[1]
    lines = member_table(group(member("one", U0, T1, T0, instance="static"), member("two")), verbose=True)
    assert lines[1].split() == ["GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "ASSIGNMENT"]
    assert lines[2].split(maxsplit=6) == ["g", "one", "static", "/10.0.0.1", "c", "3", "t(0,1), u(0)"]
    assert lines[3].split() == ["g", "two", "/10.0.0.1", "c", "0", "-"]
