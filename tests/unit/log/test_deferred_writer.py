"""Small files are written in the background, a few at a time; who stops does not wait for thousands of them, one after the other."""

from __future__ import annotations

import pytest

from pykafka_classic.log.deferred_writer import FILES_AT_ONCE, DeferredWriter
from tests.fakes.clock import FakeBackground
from tests.fakes.file_system import FakeFileSystem


class Writer:
    def __init__(self) -> None:
        self.file_system = FakeFileSystem()
        self.file_system.make_directory("/data/t-0")
        self.background = FakeBackground()
        self.background.queued = True
        self.failures: list[str] = []
        self.writer = DeferredWriter(self.file_system, self.background, lambda path, _: self.failures.append(path))

    def submit_many(self, count: int) -> None:
        for number in range(count):
            self.writer.submit(f"/data/t-0/{number}", b"x")

    def written(self) -> int:
        return len(self.file_system.list("/data/t-0"))


@pytest.fixture
def many() -> Writer:
    made = Writer()
    made.submit_many(1)  # the first job begins at once
    made.submit_many(3 * FILES_AT_ONCE)
    return made


def test_a_job_writes_no_more_than_a_few_files(many: Writer) -> None:
    drained = many.writer.drained()
    sizes = []
    while not drained.settled:
        many.background.run_next()
        sizes.append(many.written())
    assert sizes == [1, FILES_AT_ONCE, 2 * FILES_AT_ONCE, 3 * FILES_AT_ONCE]  # the first file was written twice


def test_who_hurries_has_all_that_waits_written_in_the_next_job(many: Writer) -> None:
    many.writer.hurry()
    drained = many.writer.drained()
    many.background.run_next()
    many.background.run_next()
    assert drained.settled
    assert many.written() == 3 * FILES_AT_ONCE


def test_the_newest_content_wins() -> None:
    made = Writer()
    for content in (b"1", b"2", b"3"):
        made.writer.submit("/data/t-0/a", content)
    made.background.run_all()
    assert made.file_system.read("/data/t-0/a") == b"3"


def test_a_log_that_is_gone_is_no_failure_and_a_log_dir_that_is_gone_is_one() -> None:
    made = Writer()
    made.writer.submit("/data/gone-0/a", b"x")
    made.writer.submit("/lost/checkpoint", b"x", of_log_dir=True)
    made.background.run_all()
    assert made.failures == ["/lost/checkpoint"]


def test_what_waits_for_a_renamed_directory_is_dropped(many: Writer) -> None:
    many.writer.discard("/data/t-0")
    many.background.run_all()
    assert many.written() == 1
