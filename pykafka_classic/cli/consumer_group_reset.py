"""`kafka-consumer-groups.sh --reset-offsets`: where a group shall go on, by one of eight scenarios, and plans as CSV.

Source: facts/tools.md 7; 2.8 ConsumerGroupCommand.scala (prepareOffsetsToReset, parseResetPlan), Utils.java (getDateTime), java.time.Duration.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Final

from pykafka_classic.cli.broker_session import leaderless
from pykafka_classic.cli.command_options import Options, UsageError
from pykafka_classic.cli.consumer_group_command import SCENARIOS
from pykafka_classic.cli.java_texts import java_int, java_split
from pykafka_classic.cli.scala_order import in_hash_order, in_immutable_map_order, topic_partition_hash
from pykafka_classic.client.admin.offsets import EARLIEST, LATEST
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.admin import Admin

Plan = dict[TopicPartition, int]
Warn = Callable[[str], None]

_DATETIME: Final = re.compile(r"(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)\.(\d+)(Z|[+-]\d\d(?::?\d\d)?)")
_DURATION: Final = re.compile(r"([+-]?)P(?:([+-]?\d+)D)?(T(?:([+-]?\d+)H)?(?:([+-]?\d+)M)?(?:([+-]?\d+)(?:[.,](\d{0,9}))?S)?)?", re.IGNORECASE)


class ResetFailed(Exception):
    """A reset cannot be done; the text follows "Executing consumer group command failed due to"."""


class Reset:
    """The reset of one group."""

    def __init__(self, admin: Admin, options: Options, warn: Warn) -> None:
        self._admin = admin
        self._options = options
        self._warn = warn

    def plan(self, group: str) -> Plan | None:
        """Where the group shall go on; None where a file says nothing of it. Raises UsageError, ResetFailed, KafkaError."""
        partitions = self._partitions(group)
        scenario = next((name for name in SCENARIOS if self._options.has(name)), None)
        if scenario is None:
            names = ", ".join(f"[{name}]" for name in SCENARIOS)
            raise UsageError(f"Option '[reset-offsets]' requires one of the following scenarios: HashSet({names})", with_help=True)
        match scenario:
            case "from-file":
                planned = self._from_file().get(group)
                return None if planned is None else self._in_range(planned)
            case "to-offset":
                return self._in_range(dict.fromkeys(partitions, self._options.integer("to-offset")))
            case "shift-by":
                return self._in_range(self._shifted(group, partitions, self._options.integer("shift-by")))
            case "to-current":
                return self._current(group, partitions)
            case "to-earliest" | "to-latest":
                return self._ordered(partitions, self._offsets(partitions, EARLIEST if scenario == "to-earliest" else LATEST))
            case _:
                return self._ordered(partitions, self._by_time(partitions, self._time_ms(scenario)))

    def _partitions(self, group: str) -> list[TopicPartition]:
        if self._options.has("all-topics"):
            return in_hash_order(self._admin.list_group_offsets(group), topic_partition_hash)
        if self._options.has("topic"):
            return [each for words in self._options.values_of("topic") for each in self._of_topic(words)]
        if self._options.has("from-file"):
            return []
        raise UsageError("One of the reset scopes should be defined: --all-topics, --topic.", with_help=True)

    def _of_topic(self, words: str) -> list[TopicPartition]:
        if ":" in words:
            return named_partitions(words)
        described = self._admin.describe_topics([words])
        for error in described.errors().values():
            raise error
        return [TopicPartition(words, each.partition) for each in described.values_only()[words].partitions]

    # scenarios

    def _offsets(self, partitions: Iterable[TopicPartition], at: int) -> Plan:
        listed = self._admin.list_offsets(dict.fromkeys(partitions, at))
        for each, error in listed.errors().items():
            raise leaderless(self._admin, each, error)
        return {each: found.offset for each, found in listed.values_only().items()}

    def _by_time(self, partitions: Sequence[TopicPartition], time_ms: int) -> Plan:
        """Partitions without a record as late: behind their end."""
        found = self._offsets(partitions, time_ms)
        behind = [each for each, offset in found.items() if offset < 0]
        return found | (self._offsets(behind, LATEST) if behind else {})

    def _time_ms(self, scenario: str) -> int:
        text = self._options.text(scenario)
        if scenario == "to-datetime":
            return parse_datetime(text)
        return self._admin.core.now_ms() - parse_duration(text)

    def _shifted(self, group: str, partitions: Iterable[TopicPartition], by: int) -> Plan:
        committed = self._admin.list_group_offsets(group)
        shifted = {}
        for each in partitions:
            if each not in committed:
                raise UsageError(f"Cannot shift offset for partition {each} since there is no current committed offset", with_help=True)
            shifted[each] = committed[each].offset + by
        return shifted

    def _current(self, group: str, partitions: Sequence[TopicPartition]) -> Plan:
        """Partitions in which the group has never been: behind their end."""
        committed = self._admin.list_group_offsets(group)
        known = {each: committed[each].offset for each in partitions if each in committed}
        unknown = [each for each in partitions if each not in committed]
        planned = known | (self._offsets(unknown, LATEST) if unknown else {})
        return self._ordered([*known, *unknown], planned)

    def _in_range(self, wanted: Mapping[TopicPartition, int]) -> Plan:
        """No further than a partition reaches."""
        starts, ends = self._offsets(wanted, EARLIEST), self._offsets(wanted, LATEST)
        plan = {}
        for each in in_immutable_map_order(wanted, topic_partition_hash):
            offset = wanted[each]
            if offset > ends[each]:
                self._warn(f"New offset ({offset}) is higher than latest offset for topic partition {each}. Value will be set to {ends[each]}")
            elif offset < starts[each]:
                self._warn(f"New offset ({offset}) is lower than earliest offset for topic partition {each}. Value will be set to {starts[each]}")
            plan[each] = min(max(offset, starts[each]), ends[each])
        return plan

    def _ordered(self, partitions: Sequence[TopicPartition], offsets: Mapping[TopicPartition, int]) -> Plan:
        return {each: offsets[each] for each in in_immutable_map_order(partitions, topic_partition_hash)}

    def _from_file(self) -> dict[str, Plan]:
        name = self._options.text("from-file")
        try:
            text = Path(name).read_text(encoding="utf-8")
        except OSError as error:
            raise ResetFailed(f"Unable to read file {name}") from error
        return parse_plans(text, only_group(self._options))


def only_group(options: Options) -> str | None:
    """The group, where just one is named."""
    groups = options.values_of("group")
    return groups[0] if len(groups) == 1 else None


def named_partitions(words: str) -> list[TopicPartition]:
    """`topic:0,1,2`. Raises ResetFailed."""
    parts = java_split(words, ":")
    if len(parts) < 2:
        raise ResetFailed(f"Index 1 out of bounds for length {len(parts)}")
    try:
        return [TopicPartition(parts[0], java_int(number)) for number in java_split(parts[1], ",")]
    except ValueError as error:
        raise UsageError(str(error), with_help=True) from error


def parse_datetime(text: str) -> int:
    """ms since the epoch; UTC unless a zone follows. Raises ResetFailed."""
    parts = text.split("T")
    if len(parts) < 2 or not parts[1]:
        raise ResetFailed("Error parsing timestamp. It does not contain a 'T' according to ISO8601 format")
    zoned = text if any(mark in parts[1] for mark in "+-Z") else f"{text}Z"
    found = _DATETIME.match(zoned)
    try:
        if found is None:
            raise ValueError
        year, month, day, hour, minute, second, milli = (int(number) for number in found.groups()[:7])
        moment = datetime(year, month, day, hour, minute, second, tzinfo=_zone(found[8])) + timedelta(milliseconds=milli)
        if milli > 999:
            raise ValueError
    except (ValueError, OverflowError):
        raise ResetFailed(f'Unparseable date: "{zoned}"') from None
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def _zone(text: str) -> timezone:
    if text == "Z":
        return UTC
    digits = text[1:].replace(":", "")
    minutes = int(digits[:2]) * 60 + int(digits[2:] or 0)
    return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes))


def parse_duration(text: str) -> int:
    """ms of `P1DT2H3M4.5S`. Raises ResetFailed."""
    found = _DURATION.fullmatch(text)
    if found is None or found[3] in ("T", "t") or not any(found[index] for index in (2, 4, 5, 6)):
        raise ResetFailed("Text cannot be parsed to a Duration")
    sign, days, _, hours, minutes, seconds, fraction = found.groups()
    whole = sum(int(number or 0) * unit for number, unit in ((days, 86_400), (hours, 3_600), (minutes, 60), (seconds, 1)))
    milli = int((fraction or "").ljust(3, "0")[:3]) * (-1 if (seconds or "").startswith("-") else 1)
    return (whole * 1000 + milli) * (-1 if sign == "-" else 1)


def parse_plans(text: str, group: str | None) -> dict[str, Plan]:
    """A file of CSV: `topic,partition,offset` where one group is named, else `group,topic,partition,offset`. Raises ResetFailed."""
    rows = list(csv.reader(io.StringIO(text)))
    single = group is not None and bool(rows) and len(rows[0]) == 3
    plans: dict[str, Plan] = {}
    for number, row in enumerate(rows, 1):
        fields = [group or "", *row] if single else row
        if len(fields) != 4 or not all(re.fullmatch(r"\s*-?\d+\s*", field) for field in fields[2:]):
            wanted = "topic,partition,offset" if single else "group,topic,partition,offset"
            raise ResetFailed(f"line {number} of the file is not {wanted}: {','.join(row)!r}")
        plans.setdefault(fields[0], {})[TopicPartition(fields[1], int(fields[2]))] = int(fields[3])
    return plans


def as_csv(plans: Mapping[str, Mapping[TopicPartition, int]], *, with_group: bool) -> str:
    """What `parse_plans` reads, a line a partition."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    for group, plan in plans.items():
        writer.writerows([*([group] if with_group else []), each.topic, each.partition, offset] for each, offset in plan.items())
    return written.getvalue()
