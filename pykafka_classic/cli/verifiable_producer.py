"""`kafka-verifiable-producer.sh --bootstrap-server HOST:PORT --topic TOPIC [--max-messages N] ...`: sends 0, 1, 2, ... and tells as JSON what became of each.

A line each on stdout, so that a test can compare what was acknowledged with what a consumer reads.

Source: facts/tools.md 16; 2.8 VerifiableProducer.java.
"""

from __future__ import annotations

import functools
import json
import threading
import time
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from pykafka_classic.cli.arguments import Arguments, execute, one_of_servers
from pykafka_classic.cli.command import CommandFailed, Console, closed_in_time, run_program

if TYPE_CHECKING:
    from pykafka_classic.client.producing.delivery import RecordMetadata
    from pykafka_classic.edges.clients.producer import Producer

NAME: Final = "verifiable-producer"
FOR_EVER: Final = -1


def parser() -> Arguments:
    """The command line."""
    found = Arguments(NAME, "Sends increasing numbers to a topic, and prints as JSON which of them have been acknowledged.")
    found.add_argument("--topic", required=True, help="the topic to write to")
    found.add_argument("--max-messages", type=int, default=FOR_EVER, help="how many; -1: until it is stopped (default: %(default)s)")
    found.add_argument("--throughput", type=int, default=FOR_EVER, help="about how many a second; -1: as many as possible (default: %(default)s)")
    found.add_argument("--acks", type=int, choices=[0, 1, -1], default=-1, help="who must have each; -1: all (default: %(default)s)")
    found.add_argument("--producer.config", dest="config_file", metavar="CONFIG_FILE", help="a file of settings")
    found.add_argument("--message-create-time", type=int, default=-1, metavar="CREATETIME", help="timestamps begin here, in ms (default: the clock)")
    found.add_argument("--value-prefix", type=int, help="stands before each value, with a dot")
    found.add_argument("--repeating-keys", type=int, help="keys 0, 1, ... up to this number, which is not included, and again")
    one_of_servers(found)
    return found


class Journal:
    """Events as JSON, a line each. May be called from several threads."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._lock = threading.Lock()

    def tell(self, name: str, **fields: Any) -> None:
        """One event, now."""
        with self._lock:
            event = {"timestamp": time.time_ns() // 1_000_000, "name": name, **fields}
            self._console.say(json.dumps(event, separators=(",", ":"), ensure_ascii=False))
            self._console.output.flush()


class Sending:
    """One run: what was sent and what was acknowledged."""

    def __init__(self, options: Namespace, journal: Journal) -> None:
        self._options = options
        self._journal = journal
        self._acked = 0
        self._sent = 0

    def run(self, producer: Producer) -> None:
        """Send until there are enough, or somebody stops it."""
        began = time.monotonic()
        self._journal.tell("startup_complete")
        try:
            with closed_in_time(producer):
                self._send_all(producer, began)
        finally:
            self._journal.tell("shutdown_complete")
            took_s = time.monotonic() - began
            rate = self._acked / took_s if took_s > 0 else 0.0
            self._journal.tell("tool_data", sent=self._sent, acked=self._acked, target_throughput=self._options.throughput, avg_throughput=rate)

    def _send_all(self, producer: Producer, began: float) -> None:
        options = self._options
        while options.max_messages < 0 or self._sent < options.max_messages:
            number = self._sent
            value = str(number) if options.value_prefix is None else f"{options.value_prefix}.{number}"
            key = None if not options.repeating_keys else str(number % options.repeating_keys)
            created = None if options.message_create_time < 0 else options.message_create_time + int((time.monotonic() - began) * 1000)
            self._sent += 1
            producer.send(options.topic, value, key, timestamp_ms=created, on_delivery=functools.partial(self._told, key, value))
            if options.throughput > 0:
                time.sleep(max(0.0, began + self._sent / options.throughput - time.monotonic()))

    def _told(self, key: str | None, value: str, metadata: RecordMetadata | None, error: Exception | None) -> None:
        if metadata is not None:
            self._acked += 1
            fields = {"offset": metadata.offset, "partition": metadata.partition, "topic": self._options.topic}
            self._journal.tell("producer_send_success", key=key, value=value, **fields)
        else:
            self._journal.tell("producer_send_error", exception=type(error).__name__, message=str(error), topic=self._options.topic, key=key, value=value)


def body(options: Namespace, console: Console) -> None:
    """Send, and tell."""
    from pykafka_classic.cli.broker_session import read_properties
    from pykafka_classic.cli.console_settings import known_settings
    from pykafka_classic.client.client_errors import InvalidSetting, NoBrokers
    from pykafka_classic.client.producing.producer_settings import ProducerSettings
    from pykafka_classic.edges.clients.producer import Producer

    settings = {"acks": options.acks, "retries": 0}
    if options.config_file is not None:
        properties = {key: value for key, value in read_properties(options.config_file).items() if key != "bootstrap.servers"}
        settings |= known_settings(properties, ProducerSettings, console)
    server = options.bootstrap_server or options.broker_list
    try:
        producer = Producer(server, **settings)
    except NoBrokers as error:
        raise CommandFailed(f"Cannot reach the cluster at {server}: {str(error).rstrip('.')}.") from error
    except InvalidSetting as error:
        raise CommandFailed(str(error)) from error
    Sending(options, Journal(console)).run(producer)


def main(arguments: Sequence[str], console: Console) -> int:
    """Run; the exit status."""
    return execute(parser(), body, arguments, console)


def run() -> None:
    """The console command."""
    run_program(main)


if __name__ == "__main__":
    run()
