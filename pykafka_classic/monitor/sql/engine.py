"""DuckDB: tables of the records, one question, and the rows of its answer. Blocking; for one thread.

Before the question is asked DuckDB is shut off: no files, no network, no extensions, no settings. A question is one statement, and that a SELECT.

Columns of a topic: `_partition`, `_offset`, `_timestamp`, `_key`, `_value`, then those of the values: fields of JSON objects, or the fields of CSV by the
names that were given, else c1, c2, ...
"""

from __future__ import annotations

import datetime as dt
import decimal
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pykafka_classic.monitor.sql.plan import Bounds
from pykafka_classic.monitor.sql.question import NoQuestion, Question, quoted
from pykafka_classic.monitor.sql.records_file import RecordsFile, ValueFormat

THREADS: Final = 2
LINE_MIN: Final = 1 << 16  # bytes: DuckDB makes its buffers by the longest line
OWN: Final = ("_partition", "_offset", "_timestamp", "_key", "_value")
INSTALL: Final = "SQL over topics needs DuckDB: pip install 'pykafka_classic[sql]'."


@dataclass(frozen=True, slots=True)
class SqlAnswer:
    """Rows of JSON-like values. `cut`: there were more than the bounds allow. `fetched`: records that were looked at; `notes`: what somebody should know."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    cut: bool
    fetched: int
    notes: tuple[str, ...] = ()


def answer(question: Question, files: dict[str, RecordsFile], bounds: Bounds, columns: Sequence[str] = ()) -> SqlAnswer:
    """Ask. `columns`: names for the fields of CSV. Raises NoQuestion with DuckDB's words."""
    duckdb = _duckdb()
    connection = duckdb.connect(":memory:")
    try:
        folder = next(iter(files.values())).path.parent
        connection.execute(f"SET memory_limit = '{bounds.memory_bytes // 1024}KiB'; SET threads = {THREADS}; SET temp_directory = '{_escaped(folder)}'")
        notes = [note for topic, file in files.items() for note in _load(connection, question.tables[topic], file, columns)]
        connection.execute("SET enable_external_access = false; SET lock_configuration = true")
        _check(duckdb, question.sql)
        names, rows = _ask(connection, question.sql, bounds)
    except duckdb.InterruptException as error:
        raise NoQuestion(f"There is no answer after {bounds.seconds:g} s: ask for less, or ask Spark (spark_integration/).") from error
    except duckdb.Error as error:
        raise NoQuestion(_told(error)) from error
    finally:
        connection.close()
    plain = tuple(tuple(_plain(value) for value in row) for row in rows[: bounds.rows])
    return SqlAnswer(names, plain, len(rows) > bounds.rows, sum(file.count for file in files.values()), tuple(notes))


def _ask(connection: Any, sql: str, bounds: Bounds) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Names and rows, one row more than is wanted where there are more."""
    patience = threading.Timer(bounds.seconds, connection.interrupt)
    patience.start()
    try:
        cursor = connection.execute(sql)
        return tuple(column[0] for column in cursor.description or ()), cursor.fetchmany(bounds.rows + 1)
    finally:
        patience.cancel()
        patience.join()


def _duckdb() -> Any:
    try:
        import duckdb  # noqa: PLC0415  # an optional part, and it takes a while to load
    except ImportError as error:
        raise NoQuestion(INSTALL) from error
    return duckdb


def _check(duckdb: Any, sql: str) -> None:
    statements = duckdb.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise NoQuestion("One SELECT can be asked, and nothing else.")


def _load(connection: Any, table: str, file: RecordsFile, columns: Sequence[str]) -> list[str]:
    """Make the table of a topic; what is to be said about it."""
    types = "{'n': 'BIGINT', '_partition': 'INTEGER', '_offset': 'BIGINT', 'ms': 'BIGINT', '_key': 'VARCHAR', '_value': 'VARCHAR'}"
    connection.execute(
        f"CREATE TEMP TABLE raw AS SELECT n, _partition, _offset, CASE WHEN ms >= 0 THEN make_timestamp(ms * 1000) END AS _timestamp, _key, _value "
        f"FROM read_json('{_escaped(file.path)}', format = 'newline_delimited', maximum_object_size = {max(LINE_MIN, 2 * file.longest)}, columns = {types})"
    )
    own = ", ".join(OWN)
    notes: list[str] = []
    if file.format is ValueFormat.JSON:
        notes = _load_json(connection, table)
    elif file.format is ValueFormat.CSV:
        notes = _load_csv(connection, table, file, columns)
    else:
        connection.execute(f"CREATE TABLE {table} AS SELECT {own} FROM raw")
    connection.execute("DROP TABLE raw")
    return notes


def _load_json(connection: Any, table: str) -> list[str]:
    """A column for each field of any object; numbers, texts, lists and objects have DuckDB's types."""
    own = ", ".join(OWN)
    valid = "coalesce(json_type(TRY_CAST(_value AS JSON)) = 'OBJECT', false)"
    value = f"CASE WHEN {valid} THEN TRY_CAST(_value AS JSON) END"
    structure, broken = connection.execute(f"SELECT json_group_structure({value}), count(*) FILTER (_value IS NOT NULL AND NOT {valid}) FROM raw").fetchone()
    fields = f"unnest(json_transform({value}, '{structure.replace(chr(39), chr(39) * 2)}'))"
    connection.execute(f"CREATE TABLE {table} AS SELECT {own}, {fields} FROM raw")
    return [f"{broken} values are no JSON objects: their columns are empty."] if broken else []


def _load_csv(connection: Any, table: str, file: RecordsFile, columns: Sequence[str]) -> list[str]:
    source = f"read_csv('{_escaped(file.values_path)}', header = false, auto_detect = true, sample_size = 20000, null_padding = true, ignore_errors = true)"
    found = [name for name, *_ in connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()]
    names = [*columns[: len(found) - 1], *(f"c{number}" for number in range(len(columns) + 1, len(found)))]
    fields = ", ".join(f"v.{quoted(name)} AS {quoted(wanted)}" for name, wanted in zip(found[1:], names, strict=True))
    own = ", ".join(f"raw.{name}" for name in OWN)
    connection.execute(f"CREATE TABLE {table} AS SELECT {own}, {fields} FROM raw LEFT JOIN {source} v ON v.{quoted(found[0])} = raw.n ORDER BY raw.n")
    (empty,) = connection.execute(f"SELECT count(*) FROM raw WHERE n NOT IN (SELECT {quoted(found[0])} FROM {source} v)").fetchone()
    return [f"{empty} values are no lines of CSV as the others are: their columns are empty."] if empty else []


def _escaped(path: Path) -> str:
    return str(path).replace("'", "''")


def _told(error: Exception) -> str:
    """DuckDB's message, in one line, without its picture of where, and advice that nobody can follow here."""
    text = " ".join(str(error).partition("Possible solutions")[0].partition("\n\nLINE ")[0].split())
    return f"{text}{'' if text.endswith('.') else '.'}"


def _plain(value: Any) -> Any:
    """As JSON has it."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case decimal.Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case dt.datetime() | dt.date() | dt.time():
            return value.isoformat()
        case bytes():
            return value.decode("utf-8", "backslashreplace")
        case dict():
            return {str(key): _plain(each) for key, each in value.items()}
        case list() | tuple():
            return [_plain(each) for each in value]
        case _:
            return str(value)
