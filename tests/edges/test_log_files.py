"""Log files on a real disk: rolled, moved away, opened anew."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from pykafka_classic.common.log4j import Appender, AppenderKind, Log4jError
from pykafka_classic.edges import log_files
from pykafka_classic.edges.log_files import LogFile, redirect_output, reopen_all
from pykafka_classic.edges.logging_setup import KafkaFormatter, set_up_from_log4j

LINE = "%(message)s"


def seconds(hour: int, minute: int = 0) -> float:
    """A moment of 31 January 2026, local time."""
    return datetime(2026, 1, 31, hour, minute).astimezone().timestamp()


def say(handler: LogFile, text: str, at: float = 0.0) -> None:
    record = logging.LogRecord("kafka", logging.WARNING, __file__, 1, text, (), None)
    record.created = at
    handler.handle(record)


def opened(appender: Appender) -> LogFile:
    handler = LogFile(appender)
    handler.setFormatter(KafkaFormatter(appender.format))
    return handler


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[LogFile]:
    handler = opened(Appender(AppenderKind.FILE, LINE, path=str(tmp_path / "logs" / "server.log")))
    yield handler
    handler.close()


@pytest.fixture
def root_logger() -> Iterator[logging.Logger]:
    """The root logger, afterwards as it was before."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield root
    for handler in root.handlers:
        if handler not in handlers:
            handler.close()
    root.handlers, root.level = handlers, level


def hourly(path: Path) -> Appender:
    return Appender(AppenderKind.DAILY, LINE, path=str(path), date_format=".%Y-%m-%d-%H")


def test_file_of_an_hour_gets_its_name_when_the_next_hour_has_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.touch()
    os.utime(path, (seconds(7), seconds(7)))
    handler = opened(hourly(path))
    say(handler, "first", seconds(7, 1))
    say(handler, "second", seconds(7, 59))
    assert [each.name for each in tmp_path.iterdir()] == ["server.log"]
    say(handler, "third", seconds(8))
    handler.close()
    assert (tmp_path / "server.log.2026-01-31-07").read_text() == "first\nsecond\n"
    assert path.read_text() == "third\n"


def test_hour_that_ended_while_the_broker_was_down_is_rolled_too(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text("of the last life\n")
    os.utime(path, (seconds(7), seconds(7)))
    handler = opened(hourly(path))
    say(handler, "of this life", seconds(11))
    handler.close()
    assert (tmp_path / "server.log.2026-01-31-07").read_text() == "of the last life\n"
    assert path.read_text() == "of this life\n"


def test_file_that_would_grow_too_long_is_rolled_and_the_oldest_goes(tmp_path: Path) -> None:
    handler = opened(Appender(AppenderKind.SIZE, LINE, path=str(tmp_path / "server.log"), max_file_size=8, max_backup_index=2))
    for text in ("one", "two", "three", "four", "five", "six"):
        say(handler, text)
    handler.close()
    # 8 bytes hold "one\ntwo\n"; then "three\n", then "four\n", then "five\n", then "six\n" go alone, for "five\nsix\n" is 9.
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"server.log": "six\n", "server.log.1": "five\n", "server.log.2": "four\n"}


def test_rolling_by_size_may_keep_nothing(tmp_path: Path) -> None:
    handler = opened(Appender(AppenderKind.SIZE, LINE, path=str(tmp_path / "server.log"), max_file_size=4, max_backup_index=0))
    say(handler, "one")
    say(handler, "two")
    handler.close()
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"server.log": "two\n"}


def test_file_moved_away_is_let_go_when_logs_are_opened_anew(plain: LogFile, tmp_path: Path, root_logger: logging.Logger) -> None:
    root_logger.addHandler(plain)
    path, moved = tmp_path / "logs" / "server.log", tmp_path / "logs" / "server.log.1"
    say(plain, "before")
    path.rename(moved)
    say(plain, "still there")
    reopen_all()
    say(plain, "after")
    assert (moved.read_text(), path.read_text()) == ("before\nstill there\n", "after\n")


def test_lines_that_cannot_be_written_are_counted_when_it_works_again(plain: LogFile, tmp_path: Path) -> None:
    path = tmp_path / "logs" / "server.log"
    path.unlink()
    path.mkdir()  # whoever opens it now fails, root too
    plain.reopen()
    say(plain, "lost")
    say(plain, "lost too")
    path.rmdir()
    say(plain, "written")
    assert path.read_text() == "(2 lines could not be written here)\nwritten\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_full_disk_costs_lines_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.symlink_to("/dev/full")
    handler = opened(Appender(AppenderKind.FILE, LINE, path=str(path)))
    say(handler, "lost")
    say(handler, "lost too")
    path.unlink()  # now there is room
    say(handler, "written")
    handler.close()
    assert path.read_text() == "(2 lines could not be written here)\nwritten\n"


def test_output_of_a_process_in_the_background_is_opened_anew(tmp_path: Path) -> None:
    path = tmp_path / "kafkaServer.out"
    child = os.fork()
    if child == 0:
        status = 1
        try:
            redirect_output(path)
            os.write(1, b"out\n")
            os.write(2, b"err\n")
            path.rename(tmp_path / "kafkaServer.out.1")
            log_files.redirect_output(path)
            os.write(1, b"again\n")
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (tmp_path / "kafkaServer.out.1").read_text() == "out\nerr\n"
    assert path.read_text() == "again\n"


def test_loggers_get_the_appenders_that_the_file_gives_them(tmp_path: Path, root_logger: logging.Logger) -> None:
    properties = tmp_path / "log4j.properties"
    appenders = "".join(
        f"log4j.appender.{name}=org.apache.log4j.FileAppender\nlog4j.appender.{name}.File=${{kafka.logs.dir}}/{name}.log\n" for name in ("server", "toy")
    )
    properties.write_text(f"log4j.rootLogger=INFO, server\nlog4j.logger.toy.part=TRACE, toy\nlog4j.additivity.toy.part=false\n{appenders}")
    set_up_from_log4j(properties, {"kafka.logs.dir": str(tmp_path)})
    toy = logging.getLogger("toy.part")
    logging.getLogger("toy.part.deeper").log(5, "for the toy")
    logging.getLogger("elsewhere").warning("for all")
    logging.getLogger("elsewhere").debug("for nobody")
    for handler in toy.handlers:
        handler.close()
    toy.handlers, toy.propagate = [], True
    assert (tmp_path / "toy.log").read_text().endswith("] TRACE for the toy (toy.part.deeper)\n")
    assert (tmp_path / "server.log").read_text().endswith("WARN for all (elsewhere)\n")
    assert (tmp_path / "server.log").read_text().count("\n") == 1


def test_broken_file_is_named(tmp_path: Path) -> None:
    properties = tmp_path / "log4j.properties"
    properties.write_text("log4j.rootLogger=LOUD\n")
    with pytest.raises(Log4jError, match=r"Cannot understand .*log4j.properties: 'LOUD' is no level"):
        set_up_from_log4j(properties, {})
