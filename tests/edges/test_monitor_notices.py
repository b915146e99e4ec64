"""Notices of alarms over real sockets: HTTP, and SMTP."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.error import HTTPError

import pytest

from pykafka_classic.monitor.notify import PAUSES_S, Notifier, as_json, as_letter, mail, post
from pykafka_classic.monitor.settings import MonitorKeys
from pykafka_classic.monitor.store.rows import AlarmRaised

ALARM = AlarmRaised("local", "broker-gone", "broker 3", 1000, "Broker 3 has replicas, and is not registered", 1)


class MailServer(socketserver.StreamRequestHandler):
    """Speaks as much SMTP as a letter needs."""

    letters: list[str] = []  # noqa: RUF012  # of all connections

    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        while line := self.rfile.readline().strip().upper():
            if line == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                lines = []
                while (text := self.rfile.readline()) != b".\r\n":
                    lines.append(text.decode())
                self.letters.append("".join(lines))
            self.wfile.write(b"221 bye\r\n" if line == b"QUIT" else b"250 ok\r\n")
            if line == b"QUIT":
                return


class Hook(BaseHTTPRequestHandler):
    """Takes one body and answers as the path says."""

    bodies: list[Any] = []  # noqa: RUF012  # as above

    def do_POST(self) -> None:
        self.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(int(self.path[1:]))
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


@contextmanager
def serving(server: socketserver.TCPServer) -> Iterator[int]:
    """Its port."""
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_letter_reaches_a_mail_server() -> None:
    with serving(socketserver.TCPServer(("127.0.0.1", 0), MailServer)) as port:
        keys = MonitorKeys(alarm_email_to=("operator@example.org",), alarm_email_smtp=f"127.0.0.1:{port}")
        mail(as_letter(ALARM, keys), keys)
    (letter,) = MailServer.letters
    assert "Subject: [kafka local] ALARM: broker-gone, broker 3" in letter
    assert "Broker 3 has replicas, and is not registered." in letter


def test_a_webhook_is_called_with_json_and_its_refusal_is_an_error() -> None:
    with serving(HTTPServer(("127.0.0.1", 0), Hook)) as port:
        post(f"http://127.0.0.1:{port}/204", as_json(ALARM))
        assert Hook.bodies == [as_json(ALARM)]
        with pytest.raises(HTTPError, match="500"):
            post(f"http://127.0.0.1:{port}/500", {})
    with pytest.raises(ValueError, match="is no http:// or https:// address"):
        post("file:///etc/passwd", {})


class Loop:
    """A reactor without threads: calls happen at once, those for later when a test says so."""

    def __init__(self) -> None:
        self.later: list[tuple[float, Any]] = []

    def callInThread(self, call: Any, *args: Any) -> None:  # noqa: N802  # Twisted's name
        call(*args)

    callFromThread = callInThread  # noqa: N815  # as above

    def callLater(self, delay: float, call: Any, *args: Any) -> None:  # noqa: N802  # as above
        self.later.append((delay, lambda: call(*args)))


def test_a_notice_that_fails_is_tried_again_and_then_given_up(caplog: pytest.LogCaptureFixture) -> None:
    loop = Loop()
    notifier = Notifier(loop, MonitorKeys(alarm_webhook_url="gopher://nobody"))  # type: ignore[arg-type]  # as much of a reactor as is used
    notifier.tell(ALARM)
    pauses = []
    while loop.later:
        pause, call = loop.later.pop()
        pauses.append(pause)
        call()
    assert tuple(pauses) == PAUSES_S
    assert "is given up" in caplog.text
