"""`pkc sql "select ... from topic NAME where ..."`: SQL over what lies in topics, by an embedded DuckDB."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import click

from pykafka_classic.cli.command import CommandFailed
from pykafka_classic.cli.pkc.cluster import Cluster, cluster_options, json_option
from pykafka_classic.cli.pkc.main import console_of
from pykafka_classic.cli.pkc.progress import Progress
from pykafka_classic.cli.pkc.tables import Column, Screen

if TYPE_CHECKING:
    from pykafka_classic.monitor.sql.engine import SqlAnswer
    from pykafka_classic.monitor.sql.plan import Bounds

RECORDS: Final = 1_000_000
MIB: Final = 512


@click.command()
@click.argument("statement", metavar="'select ... from topic NAME'")
@click.option("-l", "--last", type=click.IntRange(min=1), metavar="N", help="Only the last N records of each partition.")
@click.option("-c", "--columns", default="", metavar="A,B,...", help="Names for the fields of values that are lines of CSV; else c1, c2, ...")
@click.option("--max-records", type=click.IntRange(min=1), default=RECORDS, show_default=True, metavar="N", help="Refuse to fetch more.")
@click.option("--max-mib", type=click.IntRange(min=1), default=MIB, show_default=True, metavar="N", help="The same in MiB; also DuckDB's memory.")
@click.option("--rows", type=click.IntRange(min=1), default=10_000, show_default=True, metavar="N", help="Rows of the answer at most.")
@json_option
@cluster_options
@click.pass_context
def sql(ctx: click.Context, /, statement: str, brokers: str | None, zookeeper: str | None, **given: Any) -> None:
    """Ask a question of what lies in topics: a SELECT of DuckDB's, in which `topic NAME` stands where a table would.

    A topic's columns: _partition, _offset, _timestamp, _key, _value; and, where values are JSON objects or lines of CSV, a column for each field.
    """
    from pykafka_classic.monitor.sql.plan import Bounds
    from pykafka_classic.monitor.sql.question import NoQuestion

    screen = Screen(console_of(ctx), as_json=given["as_json"])
    memory = given["max_mib"] << 20
    bounds = Bounds(given["max_records"], memory, memory, given["rows"], last=given["last"])
    names = [name.strip() for name in given["columns"].split(",") if name.strip()]
    try:
        found = _answer(screen, Cluster(brokers, zookeeper), statement, bounds, names)
    except NoQuestion as error:
        raise CommandFailed(str(error)) from error
    screen.show([Column(name, name) for name in found.columns], [dict(zip(found.columns, row, strict=True)) for row in found.rows])
    for note in found.notes:
        screen.note(note)
    if found.cut:
        screen.note(f"There are more rows: these are the first {bounds.rows} (--rows).")


def _answer(screen: Screen, cluster: Cluster, statement: str, bounds: Bounds, names: list[str]) -> SqlAnswer:
    from pykafka_classic.monitor.sql.asking import Asking
    from pykafka_classic.monitor.sql.engine import answer
    from pykafka_classic.monitor.sql.question import parse

    question = parse(statement)
    with TemporaryDirectory(prefix="pkc-sql-") as folder, cluster.admin() as admin:
        asking = Asking(admin.core, question, bounds)
        admin.run(asking.look_up())
        with Progress(screen.console, asking.offsets, "Fetching", quiet=screen.as_json) as progress:
            files = admin.run(asking.fetch(Path(folder), progress.advance))
        return answer(question, files, bounds, names)
