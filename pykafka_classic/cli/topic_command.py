"""The command line of kafka-topics: its options, what goes together and what does not, and what it wants to be done.

Source: facts/tools.md 3, 4; 2.8 TopicCommand.scala (TopicCommandOptions, CommandTopicPartition).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from pykafka_classic.cli.command_options import Argument, Option, Options, UsageError
from pykafka_classic.cli.java_texts import java_int, java_split, without_empty_end
from pykafka_classic.cli.topic_rows import AT_MIN_ISR, UNAVAILABLE, UNDER_MIN_ISR, UNDER_REPLICATED, WITH_OVERRIDES, TopicRow

ZOOKEEPER: Final = "zookeeper"
BOOTSTRAP: Final = "bootstrap-server"
ACTIONS: Final = ("list", "describe", "create", "alter", "delete")
DEPRECATED_FORMAT_KEY: Final = "message.format.version"

OPTIONS: Final = (
    Option(BOOTSTRAP, "REQUIRED: the broker to ask, host:port,host:port; or --zookeeper.", Argument.REQUIRED, described_as="server to connect to"),
    Option(
        "command-config",
        "File of properties for the connection to brokers; for --bootstrap-server only.",
        Argument.REQUIRED,
        described_as="command config property file",
    ),
    Option(
        ZOOKEEPER,
        "DEPRECATED: ZooKeeper, in the form host:port,host:port/chroot; without a port 2181 is meant. The tool then reads and writes znodes by itself.",
        Argument.REQUIRED,
        described_as="hosts",
    ),
    Option("list", "List the names of all topics."),
    Option("describe", "Tell of topics: partitions, leaders, replicas, those in sync, and what was configured."),
    Option("create", "Create a topic."),
    Option("alter", "Give a topic more partitions; with --zookeeper, change its configuration too."),
    Option("delete", "Delete a topic."),
    Option(
        "topic",
        'The topic. A regular expression that matches the whole name, but with --create; a dot that shall be one is written "\\.".',
        Argument.REQUIRED,
        described_as="topic",
    ),
    Option(
        "config",
        "A key that the topic has in its own way, with --create (with --zookeeper also with --alter); may be given more than once.",
        Argument.REQUIRED,
        described_as="name=value",
    ),
    Option("delete-config", "A key that the topic shall have no more in its own way, with --alter and --zookeeper.", Argument.REQUIRED, described_as="name"),
    Option(
        "partitions",
        "How many partitions the topic shall have. More for a topic that has keys: records of one key may come to lie in two partitions.",
        Argument.REQUIRED,
        "Integer",
        "# of partitions",
        checked_late=True,
    ),
    Option("replication-factor", "How many replicas each partition shall have.", Argument.REQUIRED, "Integer", "replication factor", checked_late=True),
    Option(
        "replica-assignment",
        "Brokers by hand: those of a partition with : between them, the preferred leader first; partitions with , between them.",
        Argument.REQUIRED,
        described_as="broker_id_for_part1_replica1 : broker_id_for_part1_replica2 , broker_id_for_part2_replica1 : ...",
    ),
    Option(UNDER_REPLICATED, "With --describe: only partitions with replicas that are not in sync."),
    Option(UNAVAILABLE, "With --describe: only partitions without a leader that lives."),
    Option(UNDER_MIN_ISR, "With --describe: only partitions with fewer replicas in sync than min.insync.replicas. Not with --zookeeper."),
    Option(AT_MIN_ISR, "With --describe: only partitions with just as many. Not with --zookeeper."),
    Option(WITH_OVERRIDES, "With --describe: only topics that have keys in their own way."),
    Option("if-exists", "With --alter, --delete, --describe: no error where there is no such topic."),
    Option("if-not-exists", "With --create: no error where the topic is there."),
    Option("disable-rack-aware", "Place replicas without regard to racks."),
    Option("force", "Has no effect: nothing is asked back."),
    Option("exclude-internal", "With --list, --describe: without topics that brokers keep for themselves."),
)

# What each filter of --describe goes without, in the order in which Kafka finds it: that of a hash set there.
_FILTER_ALONE: Final = {
    UNDER_REPLICATED: ("create", UNAVAILABLE, "list", "delete", AT_MIN_ISR, "alter", WITH_OVERRIDES, UNDER_MIN_ISR),
    UNDER_MIN_ISR: (WITH_OVERRIDES, ZOOKEEPER, "create", UNAVAILABLE, "list", "delete", AT_MIN_ISR, "alter"),
    AT_MIN_ISR: (ZOOKEEPER, "create", UNAVAILABLE, "list", "delete", "alter", WITH_OVERRIDES),
    UNAVAILABLE: ("create", "list", "delete", "alter", WITH_OVERRIDES),
}


class TopicCommandError(Exception):
    """What was asked cannot be done; the text is Kafka's."""


@dataclass(frozen=True, slots=True)
class WantedTopic:
    """A topic as the command line wants it. None: not said."""

    name: str
    partitions: int | None
    replication_factor: int | None
    assignment: Sequence[Sequence[int]] | None
    configs: dict[str, str]
    deleted_configs: Sequence[str]
    rack_aware: bool

    @staticmethod
    def of(options: Options) -> WantedTopic:
        """Raises TopicCommandError, UsageError, KafkaError."""
        assignment = options.value("replica-assignment")
        return WantedTopic(
            name=options.text("topic"),
            configs=_configs(options),
            deleted_configs=_deleted_configs(options),
            partitions=options.integer("partitions") if options.has("partitions") else None,
            replication_factor=options.integer("replication-factor") if options.has("replication-factor") else None,
            assignment=parse_assignment(assignment) if assignment else None,
            rack_aware=not options.has("disable-rack-aware"),
        )


class TopicService(Protocol):
    """Who can tell of topics and change them: ZooKeeper, or a broker."""

    def names(self) -> list[str]:
        """All topics, sorted."""
        ...

    def create(self, wanted: WantedTopic, *, tolerate_existing: bool) -> bool:
        """False where the topic was there and that is tolerated."""
        ...

    def listed(self, names: Sequence[str]) -> list[str]:
        """The lines of `--list`."""
        ...

    def describe(self, names: Sequence[str], options: Options) -> list[str]:
        """The lines of `--describe`."""
        ...

    def alter(self, names: Sequence[str], wanted: WantedTopic) -> None:
        """More partitions, other configurations; tells what it did."""
        ...

    def delete(self, names: Sequence[str]) -> None:
        """Delete topics; tells what it did."""
        ...

    def close(self) -> None:
        """Done."""
        ...


def check(options: Options) -> None:
    """Raise UsageError for options that do not go together, in Kafka's order."""
    if sum(map(options.has, ACTIONS)) != 1:
        raise UsageError("Command must include exactly one action: --list, --describe, --create, --alter or --delete", with_help=True)
    if options.has(BOOTSTRAP) == options.has(ZOOKEEPER):
        raise UsageError("Only one of --bootstrap-server or --zookeeper must be specified")
    if options.has("describe") and options.has("if-exists"):
        options.require("topic")
    if not options.has("list") and not options.has("describe"):
        options.require("topic")
    if options.has("create") and not options.has("replica-assignment") and options.has(ZOOKEEPER):
        options.require("partitions", "replication-factor")
    if options.has(BOOTSTRAP) and options.has("alter"):
        if options.has("config"):
            hint = "(the kafka-configs CLI supports altering topic configs with a --bootstrap-server option)"
            raise UsageError(f'Option combination "[bootstrap-server],[config]" can\'t be used with option "[alter]" {hint}', with_help=True)
        options.require("partitions")
    _check_pairs(options)


def _check_pairs(options: Options) -> None:
    def only_with(name: str, *actions: str, but: Sequence[str] = ()) -> None:
        options.refuse(name, *(action for action in ACTIONS if action not in actions), *but)

    only_with("config", "alter", "create")
    only_with("delete-config", "alter", but=(BOOTSTRAP,))
    only_with("partitions", "alter", "create")
    only_with("replication-factor", "create")
    only_with("replica-assignment", "create", "alter")
    if options.has("create"):
        options.refuse("replica-assignment", "partitions", "replication-factor")
    for name, others in _FILTER_ALONE.items():
        options.refuse(name, *others)
    only_with(WITH_OVERRIDES, "describe")
    only_with("if-exists", "alter", "delete", "describe")
    only_with("if-not-exists", "create")
    only_with("exclude-internal", "list", "describe")


def chosen(service: TopicService, options: Options) -> list[str]:
    """The topics that `--topic` and `--exclude-internal` leave. Raises TopicCommandError for a pattern that is none."""
    from pykafka_classic.common.topic_name import is_internal

    names = [name for name in service.names() if not (options.has("exclude-internal") and is_internal(name))]
    wanted = options.value("topic")
    if wanted is None:
        return names
    pattern = wanted.strip().replace(",", "|").replace(" ", "").strip("\"'")
    try:
        matches = re.compile(pattern).fullmatch
    except re.error as error:
        raise TopicCommandError(f"{pattern} is an invalid regex.") from error
    return [name for name in names if matches(name)]


def parse_assignment(text: str) -> list[list[int]]:
    """`0:1,1:2`: the brokers of each partition. Raises TopicCommandError."""
    assignment: list[list[int]] = []
    for partition, brokers in enumerate(java_split(text, ",")):
        try:
            ids = [java_int(word.strip()) for word in java_split(brokers, ":")]
        except ValueError as error:
            raise TopicCommandError(str(error)) from error
        twice = [broker for index, broker in enumerate(ids) if broker in ids[:index]]
        if twice:
            raise TopicCommandError(f"Partition replica lists may not contain duplicate entries: {','.join(map(str, dict.fromkeys(twice)))}")
        if assignment and len(ids) != len(assignment[0]):
            raise TopicCommandError(f"Partition {partition} has different replication factor: {ids}")
        assignment.append(ids)
    return assignment


def _configs(options: Options) -> dict[str, str]:
    from pykafka_classic.common.log_config import LogConfig

    pairs = [without_empty_end(re.split(r"\s*=\s*", text)) for text in options.values_of("config")]
    if any(len(pair) != 2 for pair in pairs):
        raise TopicCommandError('requirement failed: Invalid topic config: all configs to be added must be in the format "key=val".')
    configs = {pair[0].strip(): pair[1].strip() for pair in pairs}
    LogConfig.validate(configs)
    return configs


def _deleted_configs(options: Options) -> list[str]:
    from pykafka_classic.common.log_config import TOPIC_KEYS, UnknownTopicConfigError

    names = [name.strip() for name in options.values_of("delete-config")]
    for name in names:
        if name not in TOPIC_KEYS:
            raise UnknownTopicConfigError(name)
    return names


__all__ = ["ACTIONS", "BOOTSTRAP", "OPTIONS", "ZOOKEEPER", "TopicCommandError", "TopicRow", "TopicService", "WantedTopic", "check", "chosen"]
