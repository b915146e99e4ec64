"""`kafka-verifiable-consumer.sh --bootstrap-server HOST:PORT --topic TOPIC --group-id GROUP ...`: reads as a group's member, and tells as JSON what happens.

Assigned and revoked partitions, records read, offsets committed: a line each on stdout.

Source: facts/tools.md 16; 2.8 VerifiableConsumer.java.
"""

from __future__ import annotations

import itertools
from argparse import Namespace
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final

from pykafka_classic.cli.arguments import Arguments, execute, one_of_servers
from pykafka_classic.cli.command import CommandFailed, Console, closed_in_time, run_program
from pykafka_classic.cli.verifiable_producer import FOR_EVER, Journal

if TYPE_CHECKING:
    from pykafka_classic.client.fetched_records import ConsumerRecord
    from pykafka_classic.edges.clients.consumer import Consumer

NAME: Final = "verifiable-consumer"
POLL_MS: Final = 1_000
STRATEGIES: Final = {
    "org.apache.kafka.clients.consumer.RangeAssignor": "range",
    "org.apache.kafka.clients.consumer.RoundRobinAssignor": "roundrobin",
    "org.apache.kafka.clients.consumer.StickyAssignor": "sticky",
    "org.apache.kafka.clients.consumer.CooperativeStickyAssignor": "cooperative-sticky",
}


def parser() -> Arguments:
    """The command line."""
    found = Arguments(NAME, "Reads a topic as a member of a group, and prints as JSON what it is assigned, reads and commits.")
    one_of_servers(found)
    found.add_argument("--topic", required=True, help="the topic to read")
    found.add_argument("--group-id", required=True, help="the group")
    found.add_argument("--group-instance-id", help="makes it a static member")
    found.add_argument("--max-messages", type=int, default=FOR_EVER, help="how many; -1: until it is stopped (default: %(default)s)")
    found.add_argument("--session-timeout", type=int, default=30_000, metavar="TIMEOUT_MS", help="the session's, in ms (default: %(default)s)")
    found.add_argument("--verbose", action="store_true", help="tell of each record")
    found.add_argument("--enable-autocommit", action="store_true", help="commit now and then, and not after each poll")
    found.add_argument("--reset-policy", choices=["earliest", "latest", "none"], default="earliest", help="where nothing is committed (default: %(default)s)")
    found.add_argument("--assignment-strategy", default=next(iter(STRATEGIES)), metavar="CLASS", help="how the group divides partitions (default: %(default)s)")
    found.add_argument("--consumer.config", dest="config_file", metavar="CONFIG_FILE", help="a file of settings")
    return found


def body(options: Namespace, console: Console) -> None:
    """Read, and tell."""
    from pykafka_classic.client.client_errors import InvalidSetting, NoBrokers
    from pykafka_classic.edges.clients.consumer import Consumer

    server = options.bootstrap_server or options.broker_list
    try:
        consumer = Consumer(server, **_settings(options, console))
    except NoBrokers as error:
        raise CommandFailed(f"Cannot reach the cluster at {server}: {str(error).rstrip('.')}.") from error
    except InvalidSetting as error:
        raise CommandFailed(str(error)) from error
    Reading(consumer, options, Journal(console)).run()


def _settings(options: Namespace, console: Console) -> dict[str, Any]:
    from pykafka_classic.cli.broker_session import read_properties
    from pykafka_classic.cli.console_settings import known_settings
    from pykafka_classic.client.consuming.consumer_settings import ConsumerSettings

    settings: dict[str, Any] = {}
    if options.config_file is not None:
        properties = {key: value for key, value in read_properties(options.config_file).items() if key != "bootstrap.servers"}
        settings = known_settings(properties, ConsumerSettings, console)
    strategies = [STRATEGIES.get(name, name) for name in options.assignment_strategy.split(",")]
    return settings | {
        "group_id": options.group_id,
        "group_instance_id": options.group_instance_id,
        "session_timeout_ms": options.session_timeout,
        "enable_auto_commit": options.enable_autocommit,
        "auto_offset_reset": options.reset_policy,
        "partition_assignment_strategy": ",".join(strategies),
    }


class Reading:
    """One run."""

    def __init__(self, consumer: Consumer, options: Namespace, journal: Journal) -> None:
        self._consumer = consumer
        self._options = options
        self._journal = journal
        self._count = 0

    def run(self) -> None:
        """Read until there is enough, or somebody stops it."""
        self._journal.tell("startup_complete")
        self._consumer.subscribe([self._options.topic], on_assigned=self._told("partitions_assigned"), on_revoked=self._told("partitions_revoked"))
        try:
            with closed_in_time(self._consumer):
                while self._options.max_messages < 0 or self._count < self._options.max_messages:
                    left = None if self._options.max_messages < 0 else self._options.max_messages - self._count
                    self._read(self._consumer.poll(timeout_ms=POLL_MS, max_records=left))
        finally:
            self._journal.tell("shutdown_complete")

    def _told(self, name: str) -> Any:
        def tell(partitions: Collection[tuple[str, int]]) -> None:
            self._journal.tell(name, partitions=[{"topic": topic, "partition": partition} for topic, partition in sorted(partitions)])

        return tell

    def _read(self, records: Sequence[ConsumerRecord]) -> None:
        if not records:
            return
        self._count += len(records)
        partitions: dict[tuple[str, int], list[ConsumerRecord]] = {}
        for record in records:
            partitions.setdefault((record.topic, record.partition), []).append(record)
        for each in itertools.chain.from_iterable(partitions.values()) if self._options.verbose else ():
            key, value = (None if text is None else text.decode("utf-8", "replace") for text in (each.key, each.value))
            self._journal.tell("record_data", key=key, value=value, topic=each.topic, partition=each.partition, offset=each.offset)
        found = [
            {"topic": topic, "partition": partition, "count": len(read), "minOffset": read[0].offset, "maxOffset": read[-1].offset}
            for (topic, partition), read in partitions.items()
        ]
        self._journal.tell("records_consumed", count=len(records), partitions=found)
        if not self._options.enable_autocommit:
            self._commit([{"topic": topic, "partition": partition, "offset": read[-1].offset + 1} for (topic, partition), read in partitions.items()])

    def _commit(self, offsets: Sequence[dict[str, Any]]) -> None:
        from pykafka_classic.common.errors import KafkaError

        try:
            self._consumer.commit()
        except KafkaError as error:
            self._journal.tell("offsets_committed", offsets=offsets, success=False, error=str(error))
        else:
            self._journal.tell("offsets_committed", offsets=offsets, success=True)


def main(arguments: Sequence[str], console: Console) -> int:
    """Run; the exit status."""
    return execute(parser(), body, arguments, console)


def run() -> None:
    """The console command."""
    run_program(main)


if __name__ == "__main__":
    run()
