"""`kafka-producer-perf-test.sh --topic T --num-records N --record-size S --throughput R --producer-props bootstrap.servers=HOST:PORT ...`.

With --transaction-duration-ms the records go in transactions, each of which is committed once it has lasted so long; --transactional-id names whose.

Differs from Kafka: no --print-metrics (there are none).

Source: facts/tools.md 15; 2.8 ProducerPerformance.java.
"""

from __future__ import annotations

import random
import re
import threading
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from pykafka_classic.cli.arguments import Arguments, execute
from pykafka_classic.cli.command import CommandFailed, Console, closed_in_time, run_program
from pykafka_classic.cli.java_texts import java_split
from pykafka_classic.cli.perf_statistics import Statistics

if TYPE_CHECKING:
    from pykafka_classic.edges.clients.producer import Producer

NAME: Final = "producer-performance"
_LETTERS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def parser() -> Arguments:
    """The command line."""
    found = Arguments(NAME, "Sends records as fast as it can, or at a rate, and prints how fast that was.")
    found.add_argument("--topic", required=True, help="the topic to write to")
    found.add_argument("--num-records", type=int, required=True, help="how many records")
    found.add_argument("--payload-delimiter", default="\\n", help="what separates records in --payload-file (default: a new line)")
    found.add_argument("--throughput", type=int, required=True, help="about how many a second; -1: as many as possible")
    found.add_argument("--producer-props", nargs="+", default=[], metavar="PROP-NAME=PROP-VALUE", help="settings of the producer, as bootstrap.servers=...")
    found.add_argument("--producer.config", dest="config_file", metavar="CONFIG-FILE", help="a file of settings; --producer-props count before it")
    found.add_argument("--transactional-id", default="performance-producer-default-transactional-id", help="whose transactions they are")
    found.add_argument("--transaction-duration-ms", type=int, default=0, help="how long a transaction lasts before it is committed (default: 0, none is begun)")
    sizes = found.add_mutually_exclusive_group(required=True)
    sizes.add_argument("--record-size", type=int, help="size of each record, in bytes")
    sizes.add_argument("--payload-file", help="a file of records, of which one is chosen by lot each time")
    return found


def body(options: Namespace, console: Console) -> None:
    """Send, and print figures."""
    from pykafka_classic.client.client_errors import InvalidSetting, NoBrokers
    from pykafka_classic.edges.clients.producer import Producer

    payloads = _payloads(options, console)
    settings = _settings(options, console)
    if options.transaction_duration_ms > 0:
        settings["transactional_id"] = options.transactional_id
    server = settings.pop("bootstrap_servers", "")
    if not server:
        raise CommandFailed("No broker is named: --producer-props bootstrap.servers=HOST:PORT is wanted, or --producer.config.")
    try:
        producer = Producer(server, **settings)
    except NoBrokers as error:
        raise CommandFailed(f"Cannot reach the cluster at {server}: {str(error).rstrip('.')}.") from error
    except InvalidSetting as error:
        raise CommandFailed(str(error)) from error
    _measure(producer, options, payloads, console)


def _settings(options: Namespace, console: Console) -> dict[str, Any]:
    from pykafka_classic.cli.broker_session import read_properties
    from pykafka_classic.cli.console_settings import known_settings
    from pykafka_classic.client.producing.producer_settings import ProducerSettings

    properties = read_properties(options.config_file) if options.config_file is not None else {}
    for text in options.producer_props:
        key, equals, value = text.partition("=")
        if not equals:
            raise CommandFailed(f"Invalid property: {text}")
        properties[key] = value
    return known_settings(properties, ProducerSettings, console)


def _payloads(options: Namespace, console: Console) -> list[bytes]:
    if options.payload_file is None:
        if options.record_size < 0:
            raise CommandFailed(f"--record-size is {options.record_size}; a size is not negative.")
        return [bytes(random.choices(_LETTERS, k=options.record_size))]
    path = Path(options.payload_file)
    console.say(f"Reading payloads from: {path.absolute()}")
    if not path.exists() or not path.stat().st_size:
        raise CommandFailed("File does not exist or empty file provided.")
    delimiter = options.payload_delimiter.encode().decode("unicode_escape")
    found = [each.encode("utf-8", "surrogateescape") for each in java_split(path.read_text("utf-8", "surrogateescape"), re.escape(delimiter))]
    console.say(f"Number of messages read: {len(found)}")
    return found or [b""]


def _measure(producer: Producer, options: Namespace, payloads: Sequence[bytes], console: Console) -> None:
    began = time.monotonic()
    statistics, lock = Statistics(options.num_records, began * 1000), threading.Lock()

    def told(sent: float, size: int, error: Exception | None) -> None:
        now_ms = time.monotonic() * 1000
        with lock:
            if error is not None:
                console.complain(f"{type(error).__name__}: {error}")
                return
            line = statistics.add(int(now_ms - sent * 1000), size, now_ms)
        if line is not None:
            console.say(line)

    with closed_in_time(producer), _Transactions(producer, options.transaction_duration_ms / 1000) as transactions:
        for number in range(options.num_records):
            transactions.next()
            value = payloads[0] if len(payloads) == 1 else random.choice(payloads)
            now = time.monotonic()
            producer.send(options.topic, value, on_delivery=lambda _, error, now=now, value=value: told(now, len(value), error))  # type: ignore[misc]
            if options.throughput > 0:
                time.sleep(max(0.0, began + (number + 1) / options.throughput - time.monotonic()))
        producer.flush()
    console.say(statistics.total(time.monotonic() * 1000))


class _Transactions:
    """Begins one with the first record, and the next when the one before has lasted `duration_s`; without a duration none."""

    def __init__(self, producer: Producer, duration_s: float) -> None:
        self._producer = producer
        self._duration_s = duration_s
        self._ends = 0.0  # the one that is open; 0: none is

    def __enter__(self) -> Self:
        if self._duration_s > 0:
            self._producer.init_transactions()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._ends and error is None:
            self._producer.commit_transaction()

    def next(self) -> None:
        """Before each record."""
        if self._duration_s <= 0 or time.monotonic() < self._ends:
            return
        if self._ends:
            self._producer.commit_transaction()
        self._producer.begin_transaction()
        self._ends = time.monotonic() + self._duration_s


def main(arguments: Sequence[str], console: Console) -> int:
    """Run; the exit status."""
    return execute(parser(), body, arguments, console)


def run() -> None:
    """The console command."""
    run_program(main)


if __name__ == "__main__":
    run()
