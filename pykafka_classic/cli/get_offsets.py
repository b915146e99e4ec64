"""`kafka-get-offsets.sh --bootstrap-server|--broker-list HOST:PORT --topic TOPIC [option]...`, also `kafka.tools.GetOffsetShell`: first, last, or by time.

A line a partition, `topic:partition:offset`; no offset where no record is as late as asked for.

Differs from Kafka 2.8: --bootstrap-server, --command-config, and the words latest and earliest for --time are Kafka 3's.

Source: facts/tools.md 13; 2.8 GetOffsetShell.scala.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pykafka_classic.cli.command import OK, CommandFailed, Console, Tool, run_tool
from pykafka_classic.cli.command_options import Argument, Option, Options, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pykafka_classic.client.admin.topics import PartitionDescription

BROKERS: Final = "broker-list"
BOOTSTRAP: Final = "bootstrap-server"
TIMES: Final = {"latest": -1, "earliest": -2}

OPTIONS: Final = (
    Option(BROKERS, "REQUIRED, or --bootstrap-server: the brokers to ask.", Argument.REQUIRED, described_as="hostname:port,...,hostname:port"),
    Option(BOOTSTRAP, "REQUIRED, or --broker-list: the brokers to ask.", Argument.REQUIRED, described_as="hostname:port,...,hostname:port"),
    Option("topic", "REQUIRED: the topic.", Argument.REQUIRED, described_as="topic"),
    Option("partitions", "Only these partitions, 0,1,2.", Argument.REQUIRED, described_as="partition ids", default=""),
    Option(
        "time",
        "latest (-1): where the next record will lie; earliest (-2): the first; or ms since 1970: the first record as late as that.",
        Argument.REQUIRED,
        described_as="timestamp/-1(latest)/-2(earliest)",
        default="-1",
    ),
    Option("offsets", "DEPRECATED, has no effect.", Argument.REQUIRED, "Integer", "count", "1"),
    Option("max-wait-ms", "DEPRECATED, has no effect.", Argument.REQUIRED, "Integer", "ms", "1000"),
    Option("command-config", "File of properties for the connection to brokers.", Argument.REQUIRED, described_as="config file"),
)


def body(options: Options, console: Console) -> int:
    """Do what the command line says."""
    from pykafka_classic.cli.broker_session import open_admin
    from pykafka_classic.common.topic_partition import TopicPartition

    if not options.has(BOOTSTRAP):
        options.require(BROKERS)
    options.require("topic")
    topic, wanted, time_ms = options.text("topic"), _numbers(options.text("partitions")), _time(options.text("time"))
    with open_admin(options.value(BOOTSTRAP) or options.text(BROKERS), options.value("command-config")) as admin:
        described = admin.describe_topics([topic])
        found = described.values_only().get(topic)
        if found is None:
            raise CommandFailed(f"Topic {topic} does not exist")
        led = _led(topic, found.partitions, wanted, console)
        listed = admin.list_offsets({TopicPartition(topic, number): time_ms for number in led}).check()
    for partition, at in sorted(listed.items()):
        console.say(f"{topic}:{partition.partition}:{at.offset if at.offset >= 0 else ''}")
    return OK


def _numbers(text: str) -> list[int]:
    words = text.split(",") if text else []
    if not all(word.isascii() and word.isdigit() for word in words):
        raise CommandFailed(f"--partitions expects a comma separated list of numeric partition ids, but received: {text}")
    return list(dict.fromkeys(map(int, words)))


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
