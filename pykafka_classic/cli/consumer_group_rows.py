"""The tables of kafka-consumer-groups. Columns, widths and order are Kafka's; other programs parse them.

Source: facts/tools.md 7; 2.8 ConsumerGroupCommand.scala (printOffsets, printMembers, printStates).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pykafka_classic.cli.scala_order import in_hash_order, in_immutable_map_order, topic_partition_hash
from pykafka_classic.client.admin.groups import GroupDescription, MemberDescription
from pykafka_classic.common.topic_partition import TopicPartition, by_topic

MISSING: Final = "-"
OFFSET_COLUMNS: Final = ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID")
OFFSET_WIDTHS: Final = (15, 15, 10, 15, 15, 15, 15, 15, 0)
OFFSETS_GROW: Final = frozenset({0, 1, 6, 7})  # columns as wide as what is in them
RESET_WIDTHS: Final = (30, 30, 10, 15)


@dataclass(frozen=True, slots=True)
class GroupProgress:
    """A group, what it has committed, and where the partitions end (those that the cluster knows)."""

    group: GroupDescription
    committed: Mapping[TopicPartition, int]
    ends: Mapping[TopicPartition, int]


def table(rows: Sequence[Sequence[str]], widths: Sequence[int], growing: Iterable[int] = ()) -> list[str]:
    """Lines of columns, left-aligned, a blank between them; a column of width 0 is not padded."""
    actual = [max(width, *(len(row[index]) for row in rows)) if index in set(growing) else width for index, width in enumerate(widths)]
    return [" ".join(f"{text:{width}}" if width else text for text, width in zip(row, actual, strict=True)) for row in rows]


def offset_table(progress: GroupProgress) -> list[str]:
    """How far a group has come, partition by partition; nothing for a group without any."""
    rows = _offset_rows(progress)
    return ["", *table([OFFSET_COLUMNS, *rows], OFFSET_WIDTHS, OFFSETS_GROW)] if rows else []


def _offset_rows(progress: GroupProgress) -> list[list[str]]:
    """Members first, those with more partitions before those with fewer; then partitions that nobody reads."""
    readers = sorted((member for member in progress.group.members if member.assignment), key=lambda member: -len(member.assignment))
    rows = []
    read: set[TopicPartition] = set()
    for member in readers:
        read.update(member.assignment)
        ordered = sorted(in_hash_order(member.assignment, topic_partition_hash), key=lambda each: each.partition)
        rows += [_offset_row(progress, each, member) for each in in_immutable_map_order(ordered, topic_partition_hash)]
    left = [each for each in in_hash_order(progress.committed, topic_partition_hash) if each not in read]
    return rows + [_offset_row(progress, each, None) for each in left]


def _offset_row(progress: GroupProgress, partition: TopicPartition, member: MemberDescription | None) -> list[str]:
    offset, end = progress.committed.get(partition), progress.ends.get(partition)
    lag = None if offset is None or end is None else end - offset
    who = (MISSING, MISSING, MISSING) if member is None else (member.member_id, member.host, member.client_id)
    numbers = (MISSING if number is None else str(number) for number in (offset, end, lag))
    return [progress.group.group_id, partition.topic, str(partition.partition), *numbers, *who]


def member_table(group: GroupDescription, *, verbose: bool) -> list[str]:
    """The members of a group; nothing for a group without any."""
    if not group.members:
        return []
    columns = ["GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "ASSIGNMENT"]
    widths = [15, 15, 17, 15, 15, 15, 0]
    rows = [columns, *(_member_row(group.group_id, member, verbose=verbose) for member in group.members)]
    shown = [index for index in range(7) if (index != 2 or any(row[2] for row in rows[1:]))]
    lines = table([[row[index] for index in shown] for row in rows], [widths[index] for index in shown], range(len(shown) - 2))
    return ["", *(line if verbose else line.removesuffix("ASSIGNMENT") for line in lines)]


def _member_row(group: str, member: MemberDescription, *, verbose: bool) -> list[str]:
    assignment = _by_topic(member.assignment) if verbose else ""
    return [group, member.member_id, member.group_instance_id or "", member.host, member.client_id, str(len(member.assignment)), assignment]


def _by_topic(assignment: Iterable[TopicPartition]) -> str:
    """`t(0,1), u(0)`."""
    return ", ".join(sorted(f"{topic}({','.join(map(str, numbers))})" for topic, numbers in by_topic(assignment).items())) or MISSING


def state_table(group: GroupDescription) -> list[str]:
    """State and coordinator of a group."""
    node = group.coordinator
    coordinator = f"{node.host}:{node.port} ({node.id})"
    columns = ("GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS")
    row = (group.group_id, coordinator, group.protocol, group.state, str(len(group.members)))
    return ["", *table([columns, row], (max(25, len(coordinator)), 25, 20, 15, 0))]


def reset_table(plans: Mapping[str, Mapping[TopicPartition, int]]) -> list[str]:
    """Where groups shall go on."""
    rows = [[group, each.topic, str(each.partition), str(offset)] for group, offsets in plans.items() for each, offset in offsets.items()]
    return ["", *table([("GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"), *rows], RESET_WIDTHS)] if plans else []
