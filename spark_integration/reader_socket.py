"""How the driver's program tells a stream's reader, which is another process on the same machine, that batches are done.

The reader listens on a socket in a folder of the user's own. The program says to all readers that there are which ends have been reached, a line of JSON each
time, and waits for the answers: who answers true has committed. No two batches have the same end, for it holds the mark of who planned it (`@reader`).

    {"ends": [{"flights": {"0": 170}, "@reader": "f3a9..."}], "planned": [], "over": false}  ->  true

`over`: the query has ended, and this is how far it came. `planned`: the ends of its last batch, done or not: by that the reader knows that it is meant.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

log = logging.getLogger("spark_integration")

ANSWER_S: Final = 20.0


def folder() -> Path:
    """Where the sockets are; nobody else may look into it. OSError where somebody else has made it."""
    path = Path(tempfile.gettempdir()) / f"kafka-classic-{os.getuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    status = path.lstat()
    if status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise PermissionError(f"{path} is not this user's alone")
    return path


class ReaderSocket:
    """The reader's end. `told` is called on a thread of its own with each message, and says whether it was concerned."""

    def __init__(self, reader: str, told: Callable[[Mapping[str, Any]], bool]) -> None:
        self._path = folder() / f"{reader}.sock"
        self._told = told
        self._company = 0  # connections that stand: programs that may still say something
        self._expected = True  # nobody has called yet
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(str(self._path))
        self._server.listen()
        threading.Thread(target=self._accept, name="reader socket", daemon=True).start()

    @property
    def has_company(self) -> bool:
        """Whether a program is there that may say something, or has not been heard of yet."""
        return self._expected or self._company > 0

    def close(self) -> None:
        """Listen no more."""
        self._path.unlink(missing_ok=True)
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._server.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connected, _ = self._server.accept()
                self._company, self._expected = self._company + 1, False
                threading.Thread(target=self._serve, args=(connected,), name="reader socket", daemon=True).start()

    def _serve(self, connected: socket.socket) -> None:
        try:
            with connected, connected.makefile("rb") as lines:
                for line in lines:
                    connected.sendall(json.dumps(self._answer(line)).encode() + b"\n")
        except OSError as error:
            log.info("The driver's program has gone: %s", error)
        finally:
            self._company -= 1

    def _answer(self, line: bytes) -> bool:
        try:
            return self._told(json.loads(line))
        except Exception:
            log.exception("A batch that is done could not be committed")
            return False


class Readers:
    """The program's end: all readers that there are. For one thread at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connections: dict[Path, socket.socket] = {}

    def tell(self, ends: Sequence[Any], *, planned: Sequence[Any] = (), over: bool = False, end_s: float = 0.0) -> bool:
        """Say that these ends are reached; True where a reader was concerned. Returns when all have answered.

        `end_s`: the query is over, and its readers are waited for so long: until they have left their groups, and ended.
        """
        with self._lock:
            self._find()
            line = json.dumps({"ends": list(ends), "planned": list(planned), "over": over}).encode() + b"\n"
            concerned = [path for path in list(self._connections) if self._ask(path, line)]
            ending = [self._connections.pop(path) for path in concerned] if end_s else []
        for connected in ending:
            _await_end(connected, end_s)
        return bool(concerned)

    def close(self) -> None:
        """Say no more."""
        with self._lock:
            while self._connections:
                self._connections.popitem()[1].close()

    def _find(self) -> None:
        for path in folder().glob("*.sock"):
            if path in self._connections:
                continue
            connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connected.settimeout(ANSWER_S)
            try:
                connected.connect(str(path))
            except ConnectionRefusedError:
                path.unlink(missing_ok=True)  # its reader was killed
                connected.close()
            except OSError as error:
                log.info("Reader %s: %s", path.name, error)
                connected.close()
            else:
                self._connections[path] = connected

    def _ask(self, path: Path, line: bytes) -> bool:
        connected = self._connections[path]
        try:
            connected.sendall(line)
            answer = _line(connected)
        except OSError:
            answer = b""
        if not answer:
            self._connections.pop(path).close()
            return False
        return bool(json.loads(answer))


def _line(connected: socket.socket) -> bytes:
    received = b""
    while not received.endswith(b"\n"):
        data = connected.recv(4096)
        if not data:
            return b""
        received += data
    return received


def _await_end(connected: socket.socket, seconds: float) -> None:
    """A process that ends closes its connections."""
    connected.settimeout(seconds)
    with connected, suppress(OSError):
        while connected.recv(4096):
            continue
