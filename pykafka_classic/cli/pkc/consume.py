"""`pkc consume TOPIC...`: print records.

By hand (the default): all partitions, or those of -p, from a start to an end if there is one. As a member of a group (-g): the group's partitions; what was
printed is committed, also at Ctrl-C.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from pykafka_classic.cli.command import LEAVE_MS, CommandFailed, Console
from pykafka_classic.cli.pkc.cluster import API_TIMEOUT_MS, Cluster, cluster_options, group_names, json_option, topic_names
from pykafka_classic.cli.pkc.main import console_of
from pykafka_classic.cli.pkc.progress import Progress
from pykafka_classic.cli.pkc.tables import tell_of_brokers

if TYPE_CHECKING:
    from pykafka_classic.cli.pkc.read_plan import ReadPlan
    from pykafka_classic.cli.pkc.record_format import Renderer
    from pykafka_classic.client.starts import Span
    from pykafka_classic.clients import Consumer, ConsumerRecord, TopicPartition

POLL_MS: Final = 500
RECORDS_MAX: Final = 2_000  # of one poll


@dataclass(frozen=True, slots=True)
class Wanted:
    """The command line."""

    topics: tuple[str, ...]
    brokers: str | None
    zookeeper: str | None
    start: str | None
    partitions: str | None
    group: str | None
    until_end: bool
    limit: int | None
    format: str | None
    as_json: bool
    hexadecimal: bool
    null: str
    read_committed: bool
    properties: tuple[str, ...]


@click.command()
@click.argument("topics", nargs=-1, required=True, metavar="TOPIC...", shell_complete=topic_names)
@click.option(
    "-o",
    "--offset",
    "start",
    metavar="START",
    help="Where to begin: earliest (the default), latest, committed (the default with -g), an offset, -N (the last N of each partition), "
    "@TIME (ms, or 2023-11-14T22:13:20Z); or from where to where: 10..20, @TIME..@TIME, ..latest (of what is there now).",
)
@click.option("-p", "--partitions", metavar="0,2,5-7", help="Only these partitions.")
@click.option("-g", "--group", metavar="GROUP", shell_complete=group_names, help="As a member of this group; what was printed is committed.")
@click.option("-e", "--exit", "until_end", is_flag=True, help="Exit at the end, as it is now.")
@click.option("-n", "--count", "limit", type=click.IntRange(min=1), metavar="N", help="Exit after N records.")
@click.option(
    "-f",
    "--format",
    metavar="FORMAT",
    help=r"%t topic, %p partition, %o offset, %k key, %v value, %h headers, %T time (ms), %D date, %K %S lengths; \n \t \xHH.",
)
@click.option("--hex", "hexadecimal", is_flag=True, help="Keys and values as hexadecimal digits.")
@click.option("--null", default="", metavar="TEXT", help="What to print for a key or value that is not there.")
@click.option("--read-committed", is_flag=True, help="Nothing of transactions that are open, or were aborted.")
@click.option(
    "-X", "--property", "properties", multiple=True, metavar="NAME=VALUE", help="A setting of the consumer, by Kafka's name: -X fetch.min.bytes=1000."
)
@json_option
@cluster_options
@click.pass_context
def consume(ctx: click.Context, /, **given: Any) -> None:
    """Print records: values, or in a format of your own, or as JSON lines."""
    wanted, console = Wanted(**given), console_of(ctx)
    render, span, numbers = _checked(wanted)
    cluster = Cluster(wanted.brokers, wanted.zookeeper)
    with cluster.admin() as admin:  # tells what is wrong with the address, or a topic's name, at once
        from pykafka_classic.cli.pkc.topics import existing_topics

        partitions = _named([each for topic in existing_topics(admin, wanted.topics) for each in ((topic.name, part.partition) for part in topic.partitions)])
    consumer = _open(wanted, cluster, span)
    tell_of_brokers(console)
    try:
        if wanted.group is None or numbers is not None or span.end is not None:
            _read_by_hand(consumer, Printer(console, render, as_json=wanted.as_json), _plan(consumer, wanted, span, _chosen(partitions, numbers)))
        else:
            _read_as_member(consumer, Printer(console, render, as_json=wanted.as_json), wanted)
    except (KeyboardInterrupt, BrokenPipeError):
        consumer.close(timeout_ms=LEAVE_MS)
        raise
    consumer.close()


def _checked(wanted: Wanted) -> tuple[Renderer, Span, list[int] | None]:
    """What the command line means. UsageError, before anybody is asked anything."""
    from pykafka_classic.cli.pkc.read_plan import parse_partitions
    from pykafka_classic.cli.pkc.record_format import VALUE_ONLY, Texts, json_renderer, renderer
    from pykafka_classic.client.starts import Span, Word, parse_span

    if wanted.as_json and wanted.format is not None:
        raise click.UsageError("--json and --format exclude each other.")
    texts = Texts(wanted.hexadecimal, wanted.null)
    try:
        render = json_renderer(texts) if wanted.as_json else renderer(VALUE_ONLY if wanted.format is None else wanted.format, texts)
        span = parse_span(wanted.start) if wanted.start is not None else Span(None)
        numbers = parse_partitions(wanted.partitions) if wanted.partitions is not None else None
    except ValueError as error:
        raise click.UsageError(f"{str(error)[:1].upper()}{str(error)[1:]}.") from error
    if wanted.group is None and Word.COMMITTED in (span.start, span.end):
        raise click.UsageError("What is committed belongs to a group: -g GROUP names it.")
    return render, span, numbers


def _named(pairs: Iterable[tuple[str, int]]) -> list[TopicPartition]:
    from pykafka_classic.common.topic_partition import TopicPartition

    return sorted(TopicPartition(*pair) for pair in pairs)


def _chosen(partitions: Sequence[TopicPartition], numbers: Sequence[int] | None) -> list[TopicPartition]:
    from pykafka_classic.cli.pkc.read_plan import chosen

    found, missing = chosen(partitions, numbers)
    if missing:
        raise CommandFailed(f"There is no partition {missing[0]}: the last one is {max(each.partition for each in partitions)}.")
    return found


def _open(wanted: Wanted, cluster: Cluster, span: Span) -> Consumer:
    from pykafka_classic.cli.pkc.properties import parse_properties
    from pykafka_classic.clients import Consumer

    settings: dict[str, Any] = {
        "client_id": "pkc",
        "auto_offset_reset": "earliest",
        "max_poll_records": RECORDS_MAX,
        "allow_auto_create_topics": False,
        "default_api_timeout_ms": API_TIMEOUT_MS,
        "isolation_level": "read_committed" if wanted.read_committed else "read_uncommitted",
    }
    if wanted.group is not None:
        settings |= {"group_id": wanted.group, "start": span.start}
    return Consumer(cluster.brokers(), **settings | parse_properties(wanted.properties))


def _plan(consumer: Consumer, wanted: Wanted, span: Span, partitions: Sequence[TopicPartition]) -> ReadPlan:
    from pykafka_classic.cli.pkc.read_plan import ReadPlan, earliest_ends, first_offsets
    from pykafka_classic.client.starts import Word

    default = Word.COMMITTED if wanted.group is not None else Word.EARLIEST
    now = consumer.end_offsets(partitions)
    starts = consumer.offsets_of(span.start or default, partitions)
    first = first_offsets(starts, consumer.beginning_offsets(partitions), now)
    ends = [consumer.offsets_of(span.end, partitions)] if span.end is not None else []
    if wanted.until_end or ends:  # a span is of what is there: it never waits
        ends.append(now)
    return ReadPlan(first, earliest_ends(*ends), wanted.limit)


class Printer:
    """Prints records, each at once in sight where somebody looks."""

    def __init__(self, console: Console, render: Renderer, *, as_json: bool) -> None:
        self.console = console
        self.without_bar = as_json or console.output.isatty()  # a program reads it, or records stand where the bar would be
        self._render = render

    def show(self, records: Iterable[ConsumerRecord]) -> None:
        """All of them."""
        self.console.output.writelines(map(self._render, records))
        self.console.check_reader()


def _read_by_hand(consumer: Consumer, printer: Printer, plan: ReadPlan) -> None:
    from pykafka_classic.common.topic_partition import TopicPartition

    if not plan.open:
        return
    consumer.assign(plan.open)
    for partition in plan.open:
        consumer.seek(partition, plan.first[partition])
    with Progress(printer.console, plan.total, "records", quiet=printer.without_bar) as progress:
        while not plan.finished:
            before, printed = set(plan.open), plan.printed
            records = consumer.poll(timeout_ms=POLL_MS)
            printer.show(record for record in records if plan.takes(TopicPartition(record.topic, record.partition), record.offset))
            for partition in [each for each in plan.open if each in plan.ends]:
                plan.arrived_at(partition, consumer.position(partition))
            if before - plan.open:
                consumer.pause(*(before - plan.open))
            progress.advance(plan.printed - printed)


def _read_as_member(consumer: Consumer, printer: Printer, wanted: Wanted) -> None:
    """Until Ctrl-C, the limit, or the end of what this member was given."""
    joined: list[bool] = []
    consumer.subscribe(wanted.topics, on_assigned=lambda _: joined.append(True))
    left = wanted.limit
    while left is None or left > 0:
        records = consumer.poll(timeout_ms=POLL_MS, max_records=RECORDS_MAX if left is None else min(left, RECORDS_MAX))
        printer.show(records)
        left = None if left is None else left - len(records)
        if not records and wanted.until_end and joined and _is_at_end(consumer):
            return


def _is_at_end(consumer: Consumer) -> bool:
    assigned = consumer.assignment
    return all(consumer.position(partition) >= end for partition, end in consumer.end_offsets(assigned).items())
