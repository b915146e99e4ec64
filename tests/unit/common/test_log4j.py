"""What a log4j.properties means. Expected values: log4j 1.2's manual, and the layout of Kafka's own file."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from pykafka_classic.common.log4j import (
    Appender,
    AppenderKind,
    Log4jError,
    LoggerPlan,
    java_options,
    parse_log4j,
    python_format,
    size_in_bytes,
    strftime_format,
)

CONFIG = Path(__file__).resolve().parents[3] / "config"
FILE = "log4j.appender.f=org.apache.log4j.FileAppender\nlog4j.appender.f.File=/x/server.log\n"


def test_kafkas_file_sends_each_logger_to_its_own_file() -> None:
    plan = parse_log4j((CONFIG / "log4j.properties").read_text(), {"kafka.logs.dir": "/var/log/kafka"})
    assert plan.loggers[""] == LoggerPlan(20, ("stdout", "kafkaAppender"))
    assert plan.loggers["kafka.controller"] == LoggerPlan(5, ("controllerAppender",), additive=False)
    assert {appender.path for appender in plan.appenders.values()} == {
        "",  # the console
        "/var/log/kafka/server.log",
        "/var/log/kafka/controller.log",
        "/var/log/kafka/log-cleaner.log",
        "/var/log/kafka/state-change.log",
        "/var/log/kafka/events.log",
    }
    assert plan.appenders["kafkaAppender"].dated_path(datetime(2026, 1, 31, 23, 59, tzinfo=UTC)) == "/var/log/kafka/server.log.2026-01-31-23"


def test_file_for_containers_writes_to_standard_output_alone() -> None:
    plan = parse_log4j((CONFIG / "log4j-stdout.properties").read_text(), {})
    assert [appender.kind for appender in plan.appenders.values()] == [AppenderKind.CONSOLE]


def test_rolling_by_size_has_log4js_defaults() -> None:
    text = "log4j.rootLogger=WARN,r\nlog4j.appender.r=org.apache.log4j.RollingFileAppender\nlog4j.appender.r.File=/x\n"
    appender = parse_log4j(text, {}).appenders["r"]
    assert (appender.max_file_size, appender.max_backup_index) == (10 * 1024 * 1024, 1)
    assert parse_log4j(f"{text}log4j.appender.r.MaxFileSize=512KB\nlog4j.appender.r.MaxBackupIndex=7\n", {}).appenders["r"] == Appender(
        AppenderKind.SIZE, "[%(asctime)s] %(levelname)s %(message)s (%(name)s)", path="/x", max_file_size=524288, max_backup_index=7
    )


def test_additive_is_what_is_not_said() -> None:
    plan = parse_log4j(f"log4j.rootLogger=INFO, f\nlog4j.logger.a=DEBUG\nlog4j.logger.b=INHERITED, f\n{FILE}", {})
    assert plan.loggers["a"] == LoggerPlan(10, ())
    assert plan.loggers["b"] == LoggerPlan(None, ("f",))


def test_odd_lines_of_kafkas_own_file_are_taken() -> None:
    """A blank after the last appender, a Scala object's name: as in 2.8:config/log4j.properties."""
    own = "log4j.logger.kafka.network.RequestChannel$=WARN, f\nlog4j.additivity.kafka.network.RequestChannel$=false\n"
    plan = parse_log4j(f"log4j.rootLogger=INFO, f \n{own}{FILE}", {})
    assert plan.loggers == {"": LoggerPlan(20, ("f",)), "kafka.network.RequestChannel$": LoggerPlan(30, ("f",), additive=False)}


def test_appenders_that_nobody_uses_are_not_opened() -> None:
    assert parse_log4j(f"log4j.rootLogger=INFO\n{FILE}", {}).appenders == {}


def test_pattern_keeps_its_widths_and_loses_its_line_end() -> None:
    assert python_format("%d %-5p [%t] %10c: 100%% %m%n") == "%(asctime)s %(levelname)-5s [%(threadName)s] %(name)10s: 100%% %(message)s"


@pytest.mark.parametrize(
    ("pattern", "name"), [("'.'yyyy-MM-dd-HH", ".2026-01-31-07"), ("'.'yyyy-MM-dd'T'HH-mm", ".2026-01-31T07-05"), (".yyyyMMdd'%d'", ".20260131%d")]
)
def test_date_pattern_is_javas(pattern: str, name: str) -> None:
    assert datetime(2026, 1, 31, 7, 5, tzinfo=UTC).strftime(strftime_format(pattern)) == name


@pytest.mark.parametrize(("text", "size"), [("10MB", 10485760), ("1 kb", 1024), ("2GB", 2147483648), ("77", 77)])
def test_sizes_have_units(text: str, size: int) -> None:
    assert size_in_bytes(text) == size


def test_java_options_that_set_nothing_are_passed_over() -> None:
    assert java_options("-Xmx1g -Dlog4j.configuration=file:/a=b -Dkafka.logs.dir=/l") == {"log4j.configuration": "file:/a=b", "kafka.logs.dir": "/l"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("log4j.rootLogger=LOUD", "'LOUD' is no level"),
        ("log4j.rootLogger=INFO, f", "the appender f is used, and there is no log4j.appender.f"),
        ("log4j.rootLogger=INFO, f\nlog4j.appender.f=org.apache.log4j.net.SMTPAppender", "only ConsoleAppender, FileAppender"),
        ("log4j.rootLogger=INFO, f\nlog4j.appender.f=org.apache.log4j.FileAppender", "log4j.appender.f.File is missing"),
        (f"log4j.rootLogger=INFO, f\n{FILE}log4j.appender.f.layout.ConversionPattern=%X{{id}} %m", "%X in the pattern"),
        (f"log4j.rootLogger=INFO, f\n{FILE}log4j.appender.f.MaxFileSize=much", "MaxFileSize=much"),
        (f"log4j.rootLogger=INFO, f\n{FILE}log4j.appender.f.MaxBackupIndex=-1", "MaxBackupIndex=-1"),
        (
            f"log4j.rootLogger=INFO, f\n{FILE}log4j.appender.f=org.apache.log4j.DailyRollingFileAppender\nlog4j.appender.f.DatePattern='.'yyyy-ww",
            "ww in the DatePattern",
        ),
    ],
)
def test_what_is_not_understood_is_refused_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(Log4jError, match=said.replace("'", ".")):
        parse_log4j(text, {})
