"""SQL over topics, from the statement to the answer; records come out of a list here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pykafka_classic.client.fetched_records import ConsumerRecord
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.monitor.sql.engine import SqlAnswer, answer
from pykafka_classic.monitor.sql.plan import MIB, Bounds, Stretch, stretches
from pykafka_classic.monitor.sql.question import NoQuestion, parse
from pykafka_classic.monitor.sql.records_file import RecordsFile, ValueFormat, format_of

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


def asked(folder: Path, text: str, values: Sequence[bytes | None], bounds: Bounds | None = None, columns: Sequence[str] = ()) -> SqlAnswer:
    """The answer, with these values in every topic: offsets 0, 1, ..., times 0 s, 1 s, ..."""
    question = parse(text)
    files = {}
    for number, topic in enumerate(question.tables):
        files[topic] = RecordsFile(folder, number)
        files[topic].add([ConsumerRecord(topic, 0, n, n * 1000, f"k{n}".encode(), value) for n, value in enumerate(values)])
        files[topic].close()
    return answer(question, files, bounds or Bounds(), columns)


def test_topics_are_found_where_tables_stand() -> None:
    assert parse("select * from topic flights;").sql == 'select * from "flights"'
    assert parse('SELECT 1 FROM Topic "my ""own""" t JOIN topic a.b-c_d USING (x)').tables == {'my "own"': '"my ""own"""', "a.b-c_d": '"a.b-c_d"'}
    assert parse("select 'from topic x' -- from topic y\n from topic z, topic q").tables == {"z": '"z"', "q": '"q"'}
    with pytest.raises(NoQuestion, match="speaks of no topic"):
        parse("select 'from topic x'")


def test_json_objects_become_columns(tmp_path: Path) -> None:
    values = [b'{"carrier":"UA","delay":5}', b'{"carrier":"AA","delay":7.5,"tags":["x"]}', b'{"carrier":"UA","delay":1,"place":{"gate":3}}']
    found = asked(tmp_path, "select carrier, sum(delay) as s, max(_offset) as o from topic t group by carrier order by carrier", values)
    assert (found.columns, found.rows, found.fetched) == (("carrier", "s", "o"), (("AA", 7.5, 1), ("UA", 6.0, 2)), 3)
    found = asked(tmp_path, "select tags, place, _key, _timestamp, _value from topic t order by _offset limit 2 offset 1", values)
    assert found.rows[0][:4] == (["x"], None, "k1", "1970-01-01T00:00:01")
    assert found.rows[1][1] == {"gate": 3}


def test_lines_of_csv_become_columns_with_their_types(tmp_path: Path) -> None:
    values = [b'2013,UA,"New, York",1.5', b"2014,AA,Miami,", b'2015,DL,"a ""b""",3']
    found = asked(tmp_path, "select * exclude (_timestamp, _key, _value) from topic t order by _offset", values, columns=["year", "carrier"])
    assert found.columns == ("_partition", "_offset", "year", "carrier", "c3", "c4")
    assert found.rows == ((0, 0, 2013, "UA", "New, York", 1.5), (0, 1, 2014, "AA", "Miami", None), (0, 2, 2015, "DL", 'a "b"', 3.0))


def test_what_is_no_object_or_line_among_others_is_told(tmp_path: Path) -> None:
    values = [b'{"a":1}'] * 250 + [b"none", b"[1]", None]
    found = asked(tmp_path, "select count(*) as n, count(a) as a from topic t", values)
    assert (found.rows, found.notes) == (((253, 250),), ("2 values are no JSON objects: their columns are empty.",))
    found = asked(tmp_path, "select count(*) as n, count(c1) as a from topic t", [b"1,2"] * 250 + [b"3\n4,5"])
    assert found.rows == ((251, 250),)
    assert "1 values are no lines of CSV" in found.notes[0]


def test_any_bytes_can_be_looked_at(tmp_path: Path) -> None:
    values = [b'quote " comma , \r\n line', bytes(range(256)), None, b""]
    found = asked(tmp_path, "select _value from topic t order by _offset", values)
    assert found.rows[0] == ('quote " comma , \r\n line',)
    assert found.rows[1][0].startswith("\\x00\x01") and found.rows[1][0].endswith("\\xff")
    assert found.rows[2:] == ((None,), ("",))


def test_formats_are_found_out_by_the_first_values() -> None:
    assert format_of([b'{"a":1}', None, b"{}"]) is ValueFormat.JSON
    assert format_of([b"a,b", b'"x,y",c']) is ValueFormat.CSV
    assert format_of([b"a,b", b"a,b,c"]) is ValueFormat.TEXT
    assert format_of([b"hello", b"world"]) is ValueFormat.TEXT
    assert format_of([]) is ValueFormat.TEXT


@pytest.mark.parametrize(
    "statement",
    [
        "copy (select * from topic t) to '/tmp/stolen.csv'",
        "select * from topic t; drop table t",
        "create table x as select * from topic t",
        "insert into t select * from topic t",
    ],
)
def test_only_one_select_can_be_asked(tmp_path: Path, statement: str) -> None:
    with pytest.raises(NoQuestion, match="One SELECT can be asked"):
        asked(tmp_path, statement, [b"x"])


@pytest.mark.parametrize("source", ["read_csv('/etc/passwd')", "read_text('/etc/passwd')", "glob('/etc/*')", "'/etc/passwd'"])
def test_files_of_the_machine_cannot_be_read(tmp_path: Path, source: str) -> None:
    with pytest.raises(NoQuestion):
        asked(tmp_path, f"select x.* from topic t, {source} x", [b"x"])


def test_answers_are_cut_and_long_thoughts_are_ended(tmp_path: Path) -> None:
    found = asked(tmp_path, "select _offset from topic t order by 1", [b"x"] * 5, Bounds(rows=2))
    assert (found.rows, found.cut) == (((0,), (1,)), True)
    with pytest.raises(NoQuestion, match="no answer after"):
        asked(
            tmp_path,
            "select count(*) from topic t, range(100000) a, range(100000) b, range(1000) c where a.range + b.range + c.range = 7",
            [b"x"],
            Bounds(seconds=0.3),
        )


def test_what_duckdb_does_not_understand_is_told_in_its_words(tmp_path: Path) -> None:
    with pytest.raises(NoQuestion, match='"nonsense" not found'):
        asked(tmp_path, "select nonsense from topic t", [b"x"])


def test_memory_is_bounded(tmp_path: Path) -> None:
    with pytest.raises(NoQuestion, match=r"[Mm]emory"):
        asked(tmp_path, "select list(repeat('x', 1000) || r.range) from topic t, range(1000000) r", [b"x"], Bounds(memory_bytes=32 * MIB))


def test_what_is_fetched_is_planned_and_bounded() -> None:
    begins, ends = {P0: 10, P1: 0}, {P0: 20, P1: 0}
    assert stretches(begins, ends, Bounds()) == {P0: Stretch(10, 20)}
    assert stretches(begins, ends, Bounds(last=3)) == {P0: Stretch(17, 20)}
    with pytest.raises(NoQuestion, match=r"There are 10 records in t, and 9 are the most that are fetched.*Spark"):
        stretches(begins, ends, Bounds(records=9))
