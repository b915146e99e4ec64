"""The edge to Twisted: bytes of HTTP to a `Request`, a `Response` to bytes. Sizes and times are bounded; every answer carries the headers that keep it safe."""

from __future__ import annotations

import logging
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final

from twisted.internet.error import CannotListenError
from twisted.web import resource, server

from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.edges.clocks import ThreadPoolBackground
from pykafka_classic.edges.reactor import Reactor
from pykafka_classic.monitor.process import CannotStart
from pykafka_classic.monitor.service import Monitor
from pykafka_classic.monitor.web.app import Threads, WebApp
from pykafka_classic.monitor.web.exchange import Refused, Request, Response, parsed
from pykafka_classic.monitor.web.live import READERS_MAX, Reader
from pykafka_classic.monitor.web.start import access_of

log = logging.getLogger("kafka.monitor.Web")

THREADS: Final = 4
BODY_MAX: Final = 4 << 20
IDLE_S: Final = 60
SAFETY: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class _Request(server.Request):
    """Refuses what is too large before it is taken."""

    _taken = 0

    def gotLength(self, length: int | None) -> None:
        """The head is there."""
        if length is not None and length > BODY_MAX:
            self._too_large()
        else:
            super().gotLength(length)  # type: ignore[no-untyped-call]

    def handleContentChunk(self, data: bytes) -> None:
        """A piece of the body is there."""
        self._taken += len(data)
        if self._taken > BODY_MAX:
            self._too_large()
        elif self.content is not None:
            super().handleContentChunk(data)  # type: ignore[no-untyped-call]

    def _too_large(self) -> None:
        channel: Any = self.channel
        channel.transport.write(b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        channel.loseConnection()


class _Root(resource.Resource):
    """All addresses."""

    isLeaf = True

    def __init__(self, app: WebApp) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._app = app

    def render(self, request: Any) -> int:
        """Answer, now or later."""
        gone: list[bool] = []
        request.notifyFinish().addErrback(lambda _: gone.append(True))
        try:
            asked = _read(request)
        except Refused as refused:
            _write(request, Response(refused.status, f"{refused}\n".encode(), "text/plain; charset=utf-8"))
            return server.NOT_DONE_YET

        def answered(outcome: Promise[Response]) -> None:
            if gone:
                return
            response = outcome.result()
            if response.stream is None or request.method == b"HEAD":
                _write(request, response)
            else:
                self._stream(request, response)

        spawn(self._app.answer(asked)).when_settled(answered)
        return server.NOT_DONE_YET

    def _stream(self, request: Any, response: Response) -> None:
        assert response.stream is not None
        if self._app.live.count >= READERS_MAX:
            _write(request, Response(HTTPStatus.SERVICE_UNAVAILABLE, b"Too many browsers listen.\n", "text/plain; charset=utf-8"))
            return
        _head(request, response)
        reader = Reader(request.write)
        leave = self._app.live.add(response.stream, reader)
        request.notifyFinish().addBoth(lambda _: leave())
        request.registerProducer(_Flow(reader), True)


class _Flow:
    """Twisted's push producer: tells the reader when its connection is full."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def pauseProducing(self) -> None:
        self._reader.pause()

    def resumeProducing(self) -> None:
        self._reader.resume()

    def stopProducing(self) -> None:
        self._reader.pause()


class _Site(server.Site):
    """Without a log line for each request: pages ask every second."""

    requestFactory = _Request

    def log(self, request: Any) -> None:
        """Nothing."""


def serve(reactor: Reactor, monitor: Monitor) -> Any:
    """The part of the monitor's process that serves pages; returns what stops it. Raises CannotStart."""
    keys = monitor.settings.keys
    access = access_of(monitor.settings)
    pools = [ThreadPoolBackground(reactor, threads=count) for count in (THREADS, 1, 1)]
    app = WebApp(reactor, monitor, access, Threads(*pools))
    site = _Site(_Root(app), timeout=IDLE_S)  # type: ignore[no-untyped-call]
    try:
        port = reactor.listenTCP(keys.port, site, interface=keys.host)
    except CannotListenError as error:
        raise CannotStart(f"Cannot listen on {keys.host}:{keys.port}: {error.socketError}. Set host and port to something that is free.") from error
    at = port.getHost()
    log.info("%s http://%s:%d", LISTENS, f"[{at.host}]" if ":" in at.host else at.host, at.port)

    def stop() -> None:
        port.stopListening()
        app.live.stop()
        for pool in pools:
            pool.close()

    return stop


LISTENS: Final = "The monitor's pages are on"


def _read(request: Any) -> Request:
    """Raises Refused."""
    path, _, query = request.uri.decode("utf-8", "replace").partition("?")
    headers = {name.decode("latin-1").lower(): b", ".join(values).decode("utf-8", "replace") for name, values in request.requestHeaders.getAllRawHeaders()}
    body = request.content.read() if request.content is not None else b""
    client = request.getClientAddress()
    return Request(
        request.method.decode("latin-1"),
        path,
        parsed(query),
        headers,
        _cookies(headers.get("cookie", "")),
        body,
        getattr(client, "host", ""),
        query_text=query,
    )


def _cookies(text: str) -> dict[str, str]:
    jar: SimpleCookie = SimpleCookie()
    try:
        jar.load(text)
    except CookieError:
        return {}
    return {name: each.value for name, each in jar.items()}


def _head(request: Any, response: Response) -> None:
    request.setResponseCode(int(response.status))
    for name, value in {"Cache-Control": "no-store", "Content-Type": response.content_type, **SAFETY, **response.headers}.items():
        request.setHeader(name, value.encode())
    for cookie in response.cookies:
        request.responseHeaders.addRawHeader(b"Set-Cookie", cookie.encode())


def _write(request: Any, response: Response) -> None:
    _head(request, response)
    request.setHeader("Content-Length", str(len(response.body)).encode())
    if request.method != b"HEAD":
        request.write(response.body)
    request.finish()
