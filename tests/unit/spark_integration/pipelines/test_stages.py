"""The stages of the pipelines, on a handful of rows whose outcome was worked out by hand.

Their flights: United from Newark on the first of January, 2 and 33 minutes late and once cancelled; American from La Guardia on the second.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from spark_integration.pipelines.dead_letters import LATE, from_letters, to_letters, with_lateness
from spark_integration.pipelines.delay_statistics import MEASURES, added_up, delays, with_names
from spark_integration.pipelines.flight_rows import judged, with_rows
from spark_integration.pipelines.result_rows import from_records, latest, to_records

RECORDS = "key BINARY, value BINARY, topic STRING, partition INT, offset LONG"
UA_2 = "0,2013,1,1,517,515,2,830,819,11,UA,1545,N14228,EWR,IAH,227,1400,5,15,2013-01-01T10:00:00Z"
UA_33 = "1,2013,1,1,633,600,33,930,900,30,UA,7,N14228,EWR,IAH,227,1400,6,0,2013-01-01T11:00:00Z"
UA_CANCELLED = "2,2013,1,1,NA,1630,NA,NA,1815,NA,UA,4308,NA,EWR,RDU,NA,416,16,30,2013-01-01T21:00:00Z"
AA_EARLY = "3,2013,1,1,1855,1900,-5,2100,2110,-10,AA,301,N619AA,LGA,ORD,150,733,19,30,2013-01-02T00:00:00Z"
DAY_1, DAY_2 = date(2013, 1, 1), date(2013, 1, 2)


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    """Small: one core, one partition, days of UTC. A session that other tests of this process use is left to them."""
    shared = SparkSession.getActiveSession()
    builder = SparkSession.builder.master("local[1]").appName("stages").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    session = (shared or builder.getOrCreate()).newSession()
    session.conf.set("spark.sql.shuffle.partitions", "1")
    session.conf.set("spark.sql.session.timeZone", "UTC")
    yield session
    if shared is None:
        session.stop()


@pytest.fixture(scope="module")
def airlines(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([("UA", "United Air Lines Inc."), ("AA", "American Airlines Inc.")], "carrier STRING, name STRING").cache()


@pytest.fixture(scope="module")
def airports(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([("EWR", "Newark Liberty Intl"), ("LGA", "La Guardia")], "faa STRING, name STRING").cache()


def records(spark: SparkSession, *values: str | None) -> DataFrame:
    """Records with these values, at offsets 0, 1, ... of flights-0."""
    rows = [(b"k", None if value is None else value.encode(), "flights", 0, offset) for offset, value in enumerate(values)]
    return spark.createDataFrame(rows, RECORDS)


def flights(spark: SparkSession, *values: str) -> DataFrame:
    return with_rows(records(spark, *values)).select("row.*")


def changed(value: str, **columns: str) -> str:
    """A row with other texts in some columns."""
    places = {"number": 0, "month": 2, "day": 3, "dep_delay": 6, "carrier": 10, "origin": 13, "minute": 18, "time_hour": 19}
    row = value.split(",")
    for name, text in columns.items():
        row[places[name]] = text
    return ",".join(row)


def tuples(frame: DataFrame) -> list[tuple[object, ...]]:
    return sorted((tuple(row) for row in frame.collect()), key=str)


def test_each_record_is_a_flight_or_has_a_reason(spark: SparkSession, airlines: DataFrame, airports: DataFrame) -> None:
    expected = {
        UA_2: None,
        UA_CANCELLED: None,
        None: "no value",
        "": "no value",
        "garbage": "not a row of flights",
        UA_2[:40]: "not a row of flights",
        f"{UA_2},7": "not a row of flights",
        f"{UA_2}\n{UA_33}": "not a row of flights",
        changed(UA_2, dep_delay="soon"): "not a row of flights",
        changed(UA_2, time_hour="whenever"): "not a row of flights",
        changed(UA_2, number="NA"): "no number",
        changed(UA_2, month="13"): "no such day",
        changed(UA_2, month="2", day="29"): "no such day",
        changed(UA_2, time_hour="NA"): "no departure time",
        changed(UA_2, minute="NA"): "no departure time",
        changed(UA_2, carrier="ZZ"): "no such carrier: ZZ",
        changed(UA_2, carrier=""): "no such carrier: none",
        changed(UA_2, origin="N.Y."): "no such airport: N.Y.",
    }
    found = judged(with_rows(records(spark, *expected)), airlines, airports).orderBy("offset").select("value", "reason").collect()
    assert {None if row.value is None else bytes(row.value).decode(): row.reason for row in found} == expected


def test_departure_is_the_hour_and_the_minute_of_the_plan(spark: SparkSession) -> None:
    [row] = flights(spark, UA_2).select("number", F.unix_timestamp("departure").alias("departure"), "dep_delay", "tailnum").collect()
    assert row == Row(number=0, departure=datetime(2013, 1, 1, 10, 15, tzinfo=UTC).timestamp(), dep_delay=2, tailnum="N14228")


def test_delays_are_counted_by_day_of_utc_carrier_and_origin(spark: SparkSession) -> None:
    # American leaves at 19:30 in New York: half past midnight of the second, in UTC. Five minutes early counts as -5, and is the worst there is.
    assert tuples(delays(flights(spark, UA_2, UA_33, UA_CANCELLED, AA_EARLY))) == [
        (DAY_1, "UA", "EWR", 3, 2, 35, 1, 33),
        (DAY_2, "AA", "LGA", 1, 1, -5, 0, -5),
    ]


def test_where_all_flights_are_cancelled_there_is_no_delay(spark: SparkSession) -> None:
    assert tuples(delays(flights(spark, UA_CANCELLED))) == [(DAY_1, "UA", "EWR", 1, 0, 0, 0, None)]


def test_delayed_begins_at_fifteen_minutes(spark: SparkSession) -> None:
    [row] = delays(flights(spark, changed(UA_2, dep_delay="14"), changed(UA_2, dep_delay="15"))).collect()
    assert (row.flights, row.delayed) == (2, 1)


def test_parts_counted_apart_add_up_to_one_count_of_all(spark: SparkSession) -> None:
    apart = delays(flights(spark, UA_2, UA_CANCELLED)).unionByName(delays(flights(spark, UA_33)))
    assert tuples(added_up(apart, "day", "carrier").select(*MEASURES)) == [(3, 2, 35, 1, 33)]


def test_names_come_from_the_tables_and_are_null_where_those_have_none(spark: SparkSession, airlines: DataFrame, airports: DataFrame) -> None:
    rows = spark.createDataFrame([("UA", "EWR"), ("ZZ", "???")], "carrier STRING, origin STRING")
    named = with_names(rows, airlines, airports).select("carrier", "airline", "airport")
    assert tuples(named) == [("UA", "United Air Lines Inc.", "Newark Liberty Intl"), ("ZZ", None, None)]


def test_a_result_is_json_under_the_key_of_its_day_carrier_and_origin(spark: SparkSession, airlines: DataFrame, airports: DataFrame) -> None:
    statistics = with_names(delays(flights(spark, UA_2, UA_33, UA_CANCELLED)), airlines, airports)
    [record] = to_records(statistics).collect()
    assert bytes(record.key) == b"2013-01-01 UA EWR"
    assert bytes(record.value).decode() == (
        '{"day":"2013-01-01","carrier":"UA","airline":"United Air Lines Inc.","origin":"EWR","airport":"Newark Liberty Intl",'
        '"flights":3,"departed":2,"delay_minutes":35,"delayed":1,"worst_delay":33,"mean_delay":17.5}'
    )
    [result] = from_records(to_records(statistics)).collect()
    assert (result.day, result.airline, result.flights, result.worst_delay, result.mean_delay) == (DAY_1, "United Air Lines Inc.", 3, 33, 17.5)


def test_of_each_key_the_last_record_counts_and_a_tombstone_ends_it(spark: SparkSession) -> None:
    rows = [(b"a", b"1", 0), (b"b", b"1", 1), (b"a", b"2", 2), (b"b", None, 3), (b"c", None, 4), (b"c", b"3", 5)]
    kept = latest(spark.createDataFrame(rows, "key BINARY, value BINARY, offset LONG"))
    assert sorted((bytes(row.key), bytes(row.value)) for row in kept.collect()) == [(b"a", b"2"), (b"c", b"3")]


@pytest.mark.parametrize(
    ("closed_until", "reasons"),
    [
        (None, {0: None, 1: None, 2: "not a row of flights"}),
        # A window ends where the next day begins; closed is what ends at the watermark or before.
        (datetime(2013, 1, 1, 23, 59, tzinfo=UTC), {0: None, 1: None, 2: "not a row of flights"}),
        (datetime(2013, 1, 2, tzinfo=UTC), {0: LATE, 1: None, 2: "not a row of flights"}),
        (datetime(2013, 1, 3, tzinfo=UTC), {0: LATE, 1: LATE, 2: "not a row of flights"}),
    ],
    ids=["no watermark", "a minute before", "the first day is closed", "both are"],
)
def test_a_flight_is_late_whose_day_is_closed(
    spark: SparkSession, airlines: DataFrame, airports: DataFrame, closed_until: datetime | None, reasons: dict[int, str | None]
) -> None:
    found = with_lateness(judged(with_rows(records(spark, UA_2, AA_EARLY, "broken")), airlines, airports), closed_until)
    assert {row.offset: row.reason for row in found.collect()} == reasons


def test_a_dead_letter_is_the_record_as_it_was_and_tells_where_and_why(spark: SparkSession, airlines: DataFrame, airports: DataFrame) -> None:
    letters = to_letters(judged(with_rows(records(spark, UA_2, "broken")), airlines, airports))
    [letter] = letters.collect()
    assert (bytes(letter.key), bytes(letter.value)) == (b"k", b"broken")
    told = {header.key: bytes(header.value) for header in letter.headers}
    assert told == {"reason": b"not a row of flights", "topic": b"flights", "partition": b"0", "offset": b"1"}


def test_a_letter_that_was_sent_twice_is_one(spark: SparkSession, airlines: DataFrame, airports: DataFrame) -> None:
    letters = to_letters(judged(with_rows(records(spark, "broken", "broken too")), airlines, airports))
    found = from_letters(letters.unionByName(letters)).select("topic", "partition", "offset", "reason")
    assert tuples(found) == [("flights", 0, 0, "not a row of flights"), ("flights", 0, 1, "not a row of flights")]
