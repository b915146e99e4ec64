"""The socket between a driver's program and its streams' readers."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from socket import AF_UNIX, SHUT_RDWR, socket
from typing import Any

import pytest

from pykafka_classic.edges.child_processes import wait_until
from spark_integration.reader_socket import Readers, ReaderSocket, folder


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


class Heard:
    """A reader that knows one end."""

    def __init__(self, end: Any) -> None:
        self.end = end
        self.messages: list[Mapping[str, Any]] = []

    def __call__(self, message: Mapping[str, Any]) -> bool:
        self.messages.append(message)
        return self.end in message["ends"]


def test_all_readers_hear_and_the_one_that_is_concerned_says_so() -> None:
    one, two = Heard({"flights": {"0": 1}}), Heard({"flights": {"0": 2}})
    sockets = [ReaderSocket("one", one), ReaderSocket("two", two)]
    readers = Readers()
    assert readers.tell([{"flights": {"0": 2}}], planned=[{"flights": {"0": 3}}], over=True)
    assert not readers.tell([{"flights": {"0": 7}}])
    assert one.messages == two.messages
    assert two.messages[0] == {"ends": [{"flights": {"0": 2}}], "planned": [{"flights": {"0": 3}}], "over": True}
    assert all(each.has_company for each in sockets)
    for each in sockets:
        each.close()
    readers.close()
    wait_until(lambda: not any(each.has_company for each in sockets), seconds=10)
    assert not readers.tell([])


def test_a_query_that_is_over_is_waited_for_until_its_reader_has_ended() -> None:
    left = threading.Event()
    with socket(AF_UNIX) as server:
        server.bind(str(folder() / "one.sock"))
        server.listen()

        def read() -> None:
            connected, _ = server.accept()
            with connected:
                connected.recv(4096)
                connected.sendall(b"true\n")
                left.wait(0.3)  # it leaves its group
                left.set()

        reader = threading.Thread(target=read)
        reader.start()
        assert Readers().tell([], over=True, end_s=10)
        assert left.is_set()
        reader.join()


def test_a_reader_that_was_killed_is_forgotten() -> None:
    killed = ReaderSocket("one", Heard(None))
    path = folder() / "one.sock"
    with suppress(OSError):
        killed._server.shutdown(SHUT_RDWR)
    killed._server.close()  # as the kernel does
    assert path.exists()
    assert not Readers().tell([])
    assert not path.exists()


def test_a_reader_that_fails_answers_nevertheless(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: Mapping[str, Any]) -> bool:
        raise RuntimeError("no coordinator")

    socket = ReaderSocket("one", fail)
    readers = Readers()
    assert not readers.tell([])
    readers.close()
    assert "no coordinator" in caplog.text
    socket.close()


def test_a_folder_that_others_can_look_into_is_not_used(tmp_path: Path) -> None:
    (tmp_path / f"kafka-classic-{os.getuid()}").mkdir(mode=0o755)
    with pytest.raises(PermissionError, match="is not this user's alone"):
        folder()
