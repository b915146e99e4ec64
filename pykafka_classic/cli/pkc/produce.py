"""`pkc produce TOPIC [FILE...]`: write records, a line each; with --whole a file each.

Every record is acknowledged before the command ends with 0; what was not written is told, and the exit status is 1.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from pykafka_classic.cli.command import LEAVE_MS, CommandFailed, Console, send_the_rest
from pykafka_classic.cli.pkc.cluster import Cluster, cluster_options, topic_names
from pykafka_classic.cli.pkc.main import console_of
from pykafka_classic.cli.pkc.progress import Progress

if TYPE_CHECKING:
    from pykafka_classic.cli.pkc.input_lines import NewRecord
    from pykafka_classic.clients import Producer

STDIN: Final = "-"
ESCAPES: Final = {"\\t": "\t", "\\0": "\0", "\\n": "\n"}
BATCH_BYTES: Final = 131_072
LINGER_MS: Final = 5


@dataclass(frozen=True, slots=True)
class Wanted:
    """The command line."""

    topic: str
    files: tuple[str, ...]
    brokers: str | None
    zookeeper: str | None
    key: str | None
    separator: str | None
    headers: tuple[str, ...]
    partition: int | None
    as_json: bool
    hexadecimal: bool
    null: str | None
    whole: bool
    same_partition: bool
    compression: str
    create: bool
    quiet: bool
    properties: tuple[str, ...]


@click.command()
@click.argument("topic", shell_complete=topic_names)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("-k", "--key", metavar="KEY", help="The key of all records.")
@click.option("-K", "--key-separator", "separator", metavar="TEXT", help=r"Each line is key, this text, value: -K : or -K '\t'.")
@click.option("-H", "--header", "headers", multiple=True, metavar="NAME=VALUE", help="A header of all records.")
@click.option("-p", "--partition", type=click.IntRange(min=0), metavar="N", help="Into this partition, whatever the key.")
@click.option("--json", "as_json", is_flag=True, help="Lines are JSON objects, as `pkc consume --json` prints them.")
@click.option("--hex", "hexadecimal", is_flag=True, help="Keys and values are hexadecimal digits.")
@click.option("--null", metavar="TEXT", help="A value of this text is none at all: a tombstone.")
@click.option("--whole", is_flag=True, help="Each file is one record.")
@click.option("--same-partition", is_flag=True, help="With --json: into the partition that the object names.")
@click.option("--compression", type=click.Choice(["none", "gzip", "snappy", "lz4", "zstd"]), default="none", show_default=True, help="Of batches.")
@click.option("--create", is_flag=True, help="If there is no such topic, leave it to the brokers to make it (auto.create.topics.enable).")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing at the end.")
@click.option("-X", "--property", "properties", multiple=True, metavar="NAME=VALUE", help="A setting of the producer, by Kafka's name: -X linger.ms=50.")
@cluster_options
@click.pass_context
def produce(ctx: click.Context, /, **given: Any) -> None:
    """Write records: a line of stdin, or of FILEs, is a value."""
    wanted, console = Wanted(**given), console_of(ctx)
    reader = _reader(wanted, console)
    cluster = Cluster(wanted.brokers, wanted.zookeeper)
    with cluster.admin() as admin:  # tells what is wrong with the address, or the topic's name, at once
        from pykafka_classic.cli.pkc.topics import existing_topics

        if not wanted.create:
            _check_partition(wanted, len(existing_topics(admin, [wanted.topic])[0].partitions))
    sending = Sending(_open(wanted, cluster), wanted.topic)
    try:
        with Progress(console, reader.size, wanted.topic, quiet=wanted.quiet) as progress:
            for record, size in reader.records():
                sending.send(record)
                progress.advance(size)
                if sending.failure is not None:
                    break
    except KeyboardInterrupt:
        sending.leave()
        raise
    except BaseException:
        sending.close()  # what was read before a line that is none is written all the same
        raise
    sending.close()
    if sending.failure is not None:
        raise CommandFailed(f"{sending.failed} of {sending.count} records were not written: {sending.failure}")
    if not wanted.quiet and console.errors.isatty():
        console.complain(f"{sending.count} records written to {wanted.topic}")


def _check_partition(wanted: Wanted, count: int) -> None:
    if wanted.partition is not None and wanted.partition >= count:
        raise CommandFailed(f"There is no partition {wanted.partition} of {wanted.topic}: the last one is {count - 1}.")


def _reader(wanted: Wanted, console: Console) -> Reader:
    from pykafka_classic.cli.pkc.input_lines import BadLine, LineFormat, parse_header

    if wanted.whole and (wanted.as_json or wanted.separator is not None):
        raise click.UsageError("--whole reads no lines: it excludes --json and --key-separator.")
    if wanted.separator == "":
        raise click.UsageError("--key-separator must not be empty.")
    try:
        headers = tuple(map(parse_header, wanted.headers))
    except BadLine as error:
        raise click.UsageError(f"{error}.") from error
    separator = None if wanted.separator is None else ESCAPES.get(wanted.separator, wanted.separator)
    layout = LineFormat(wanted.as_json, wanted.hexadecimal, separator, wanted.key, wanted.null, headers, wanted.same_partition)
    return Reader(wanted, console, layout)


class Reader:
    """The records of stdin or of files, with the bytes that each took. `size`: of all, None where that is not known."""

    def __init__(self, wanted: Wanted, console: Console, layout: Any) -> None:
        self._wanted = wanted
        self._console = console
        self._layout = layout
        self._files = wanted.files or (STDIN,)
        self.size = None if STDIN in self._files else sum(Path(name).stat().st_size for name in self._files)

    def records(self) -> Iterator[tuple[NewRecord, int]]:
        """All, in order. CommandFailed names the line that is none; OSError."""
        for name in self._files:
            yield from self._whole(name) if self._wanted.whole else self._lines(name)

    def _lines(self, name: str) -> Iterator[tuple[NewRecord, int]]:
        if name == STDIN:
            yield from self._read("stdin", self._console.input)
            return
        with Path(name).open(encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
            yield from self._read(name, lines)

    def _read(self, name: str, lines: Any) -> Iterator[tuple[NewRecord, int]]:
        from dataclasses import replace

        from pykafka_classic.cli.pkc.input_lines import BadLine

        make, partition = self._layout.reader(), self._wanted.partition
        for number, line in enumerate(lines, 1):
            try:
                record = make(line.removesuffix("\n"))
            except BadLine as error:
                raise CommandFailed(f"{name}, line {number}: {error}. The lines before it were written.") from error
            yield (record if partition is None else replace(record, partition=partition)), len(line)

    def _whole(self, name: str) -> Iterator[tuple[NewRecord, int]]:
        from pykafka_classic.cli.pkc.input_lines import NewRecord

        if name == STDIN:
            value = self._console.input.read().encode("utf-8", "surrogateescape")
        else:
            value = Path(name).read_bytes()
        key = None if self._wanted.key is None else self._wanted.key.encode("utf-8", "surrogateescape")
        yield NewRecord(value, key, self._layout.headers, partition=self._wanted.partition), len(value)


def _open(wanted: Wanted, cluster: Cluster) -> Producer:
    from pykafka_classic.cli.pkc.properties import parse_properties
    from pykafka_classic.clients import Producer

    settings: dict[str, Any] = {"client_id": "pkc", "acks": "all", "linger_ms": LINGER_MS, "batch_size": BATCH_BYTES, "compression_type": wanted.compression}
    return Producer(cluster.brokers(), **settings | parse_properties(wanted.properties))


class Sending:
    """Records on their way. `failure`: why the first of those that were not written was not."""

    def __init__(self, producer: Producer, topic: str) -> None:
        self._producer = producer
        self._topic = topic
        self._lock = threading.Lock()
        self.count = 0
        self.failed = 0
        self.failure: Exception | None = None

    def send(self, record: NewRecord) -> None:
        """One more. ClientTimeout."""
        self.count += 1
        self._producer.send(
            self._topic,
            record.value,
            record.key,
            headers=record.headers,
            partition=record.partition,
            timestamp_ms=record.timestamp_ms,
            on_delivery=self._settled,
        )

    def close(self) -> None:
        """Wait for all acknowledgements."""
        self._producer.close()

    def leave(self) -> None:
        """After Ctrl-C: as long as the brokers take what there is."""
        send_the_rest(self._producer)
        self._producer.close(timeout_ms=LEAVE_MS)

    def _settled(self, _: object, error: Exception | None) -> None:
        if error is not None:
            with self._lock:
                self.failed += 1
                self.failure = self.failure or error
