"""`kafka-get-offsets.sh --bootstrap-server HOST:PORT ...`, also `kafka.tools.GetOffsetShell --broker-list HOST:PORT --topic TOPIC ...`: first, last, by time.

A line a partition, `topic:partition:offset`. The tool has two forms, as it had in its life:

| | --broker-list, as in Kafka 2.8 | --bootstrap-server, as from Kafka 3 on |
|---|---|---|
| which partitions | --topic, a name; --partitions | --topic, a pattern, or none; --partitions; --topic-partitions; --exclude-internal-topics |
| no record as late as --time | a line without an offset | no line |
| nothing found | a sentence | the sentence after "Error occurred: " |

Differs from Kafka: `latest` and `earliest` for --time, and --command-config, are good for both forms.

Source: facts/tools.md 13; 2.8 GetOffsetShell.scala; 3.9 GetOffsetShell.java.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pykafka_classic.cli.command import OK, CommandFailed, Console, Tool, run_tool
from pykafka_classic.cli.command_options import Argument, Option, Options, UsageError
from pykafka_classic.cli.java_texts import java_int, java_split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pykafka_classic.cli.offset_patterns import Filter
    from pykafka_classic.client.admin.topics import PartitionDescription

BROKERS: Final = "broker-list"
BOOTSTRAP: Final = "bootstrap-server"
TIMES: Final = {"latest": -1, "earliest": -2}

OPTIONS: Final = (
    Option(BROKERS, "REQUIRED, or --bootstrap-server: the brokers to ask.", Argument.REQUIRED, described_as="hostname:port,...,hostname:port"),
    Option(BOOTSTRAP, "REQUIRED, or --broker-list: the brokers to ask.", Argument.REQUIRED, described_as="hostname:port,...,hostname:port"),
    Option("topic", "The topic; REQUIRED with --broker-list. With --bootstrap-server a regular expression.", Argument.REQUIRED, described_as="topic"),
    Option(
        "topic-partitions",
        "With --bootstrap-server: partitions by patterns.",
        Argument.REQUIRED,
        described_as="topic1:1,topic2:0-3,topic3,topic4:5-,topic5:-3",
    ),
    Option("exclude-internal-topics", "With --bootstrap-server: without topics that brokers keep for themselves."),
    Option("partitions", "Only these partitions, 0,1,2.", Argument.REQUIRED, described_as="partition ids", default=""),
    Option(
        "time",
        "latest (-1): where the next record will lie; earliest (-2): the first; or ms since 1970: the first record as late as that.",
        Argument.REQUIRED,
        described_as="timestamp/-1(latest)/-2(earliest)",
        default="-1",
    ),
    Option("offsets", "DEPRECATED, has no effect.", Argument.REQUIRED, "Integer", "count", "1", checked_late=True),
    Option("max-wait-ms", "DEPRECATED, has no effect.", Argument.REQUIRED, "Integer", "ms", "1000", checked_late=True),
    Option("command-config", "File of properties for the connection to brokers.", Argument.REQUIRED, described_as="config file"),
)


def body(options: Options, console: Console) -> int:
    """Do what the command line says."""
    if options.has(BOOTSTRAP):
        return _by_patterns(options, console)
    for name in ("topic-partitions", "exclude-internal-topics"):
        if options.has(name):
            options.require(BOOTSTRAP)
    options.require(BROKERS, "topic")
    return _of_topic(options, console)


def _of_topic(options: Options, console: Console) -> int:
    """As Kafka 2.8."""
    from pykafka_classic.cli.broker_session import open_admin
    from pykafka_classic.common.topic_partition import TopicPartition

    topic, wanted, time_ms = options.text("topic"), _numbers(options.text("partitions")), _time(options.text("time"))
    with open_admin(options.text(BROKERS), options.value("command-config")) as admin:
        found = admin.describe_topics([topic]).values_only().get(topic)
        if found is None:
            raise CommandFailed(f"Topic {topic} does not exist")
        led = _led(topic, found.partitions, wanted, console)
        listed = admin.list_offsets({TopicPartition(topic, number): time_ms for number in led}).check()
    for partition, at in sorted(listed.items()):
        console.say(f"{topic}:{partition.partition}:{at.offset if at.offset >= 0 else ''}")
    return OK


def _by_patterns(options: Options, console: Console) -> int:
    """As Kafka 3."""
    from pykafka_classic.cli.broker_session import open_admin
    from pykafka_classic.common.java_errors import as_java
    from pykafka_classic.common.topic_partition import TopicPartition

    is_wanted, time_ms = _filter(options), _time(options.text("time"))
    with open_admin(options.text(BOOTSTRAP), options.value("command-config")) as admin:
        topics = admin.describe_topics(list(admin.list_topics(internal=not options.has("exclude-internal-topics")))).values_only().values()
        every = (TopicPartition(topic.name, each.partition) for topic in topics for each in topic.partitions)
        wanted = sorted(filter(is_wanted, every), key=str)
        if not wanted:
            raise CommandFailed("Error occurred: Could not match any topic-partitions with the specified filters")
        listed = admin.list_offsets(dict.fromkeys(wanted, time_ms))
    for partition, error in listed.errors().items():
        console.complain(f"Skip getting offsets for topic-partition {partition} due to error: {as_java(error)}")
    for partition, at in listed.values_only().items():
        if at.offset >= 0:
            console.say(f"{partition.topic}:{partition.partition}:{at.offset}")
    return OK


def _filter(options: Options) -> Filter:
    from pykafka_classic.cli.offset_patterns import InvalidPattern, by_rules, by_topic_and_numbers

    if options.has("topic-partitions") and (options.has("topic") or options.has("partitions")):
        raise CommandFailed("Error occurred: --topic-partitions cannot be used with --topic or --partitions")
    try:
        if options.has("topic-partitions"):
            return by_rules(options.text("topic-partitions"))
        return by_topic_and_numbers(options.value("topic"), _numbers(options.text("partitions")))
    except InvalidPattern as error:
        raise CommandFailed(f"Error occurred: {error}") from error


def _numbers(text: str) -> list[int]:
    try:
        return list(dict.fromkeys(map(java_int, java_split(text, ",")))) if text else []
    except ValueError as error:
        raise CommandFailed(f"--partitions expects a comma separated list of numeric partition ids, but received: {text}") from error


def _time(text: str) -> int:
    if text in TIMES:
        return TIMES[text]
    if not text.removeprefix("-").isdecimal():
        raise UsageError(f"Cannot parse argument '{text}' of option time")
    return int(text)


def _led(topic: str, partitions: Sequence[PartitionDescription], wanted: Sequence[int], console: Console) -> list[int]:
    """Those of the partitions that have a leader; complains about the others."""
    chosen = {each.partition: each for each in partitions if not wanted or each.partition in wanted}
    if not chosen:
        raise CommandFailed(f"Topic {topic} does not have any of the requested partitions {','.join(map(str, wanted))}")
    for number in wanted:
        if number not in chosen:
            console.complain(f"Error: partition {number} does not exist")
    for number, each in chosen.items():
        if each.leader is None:
            console.complain(f"Error: partition {number} does not have a leader. Skip getting offsets")
    return [number for number, each in chosen.items() if each.leader is not None]


TOOL: Final = Tool("kafka-get-offsets", "An interactive shell for getting topic offsets.", OPTIONS, body)


def run() -> None:
    """The console command."""
    run_tool(TOOL)


if __name__ == "__main__":
    run()
