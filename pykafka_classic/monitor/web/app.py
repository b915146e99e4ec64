"""`WebApp`: from a request to its answer. It decides who may, calls the route's function where it belongs (a thread, or here), and turns errors into pages."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Final, TypeVar
from urllib.parse import quote

from pykafka_classic.common.clock import Background, Clock
from pykafka_classic.common.promise import Promise
from pykafka_classic.edges.clocks import ReactorClock
from pykafka_classic.edges.reactor import Reactor
from pykafka_classic.monitor.collector.cluster import ClusterCollector
from pykafka_classic.monitor.service import Monitor
from pykafka_classic.monitor.store.queries import UnknownCluster
from pykafka_classic.monitor.web.access import ANYBODY, SAFE_METHODS, Access, Role, Session, User, basic_credentials
from pykafka_classic.monitor.web.assets import Assets
from pykafka_classic.monitor.web.audit import AuditLog
from pykafka_classic.monitor.web.ensemble import Ensembles
from pykafka_classic.monitor.web.exchange import HTML, JSON, Refused, Request, Response, not_found, redirect
from pykafka_classic.monitor.web.jsonable import encoded
from pykafka_classic.monitor.web.live import Live
from pykafka_classic.monitor.web.navigation import navigation
from pykafka_classic.monitor.web.pages import ROUTES
from pykafka_classic.monitor.web.pages.sql import Jobs
from pykafka_classic.monitor.web.render import Templates
from pykafka_classic.monitor.web.routes import Kind, Route
from pykafka_classic.monitor.web.view import Page, Present, View
from pykafka_classic.monitor.web.work import Work

log = logging.getLogger("kafka.monitor.Web")

T = TypeVar("T")

LOGIN: Final = "/login"
LIVE: Final = "x-live"
REALM: Final = {"WWW-Authenticate": 'Basic realm="monitor", charset="UTF-8"'}


@dataclass(frozen=True, slots=True)
class Threads:
    """readers: threads that may block on the store. scribe: one, that writes the audit log. duck: one, for questions in SQL."""

    readers: Background
    scribe: Background
    duck: Background


class WebApp:
    """All of the web side.

    Args:
        reactor: whose thread this is.
        monitor: whose store is shown.
        access: who may.
        threads: where what blocks is done.
    """

    def __init__(self, reactor: Reactor, monitor: Monitor, access: Access, threads: Threads) -> None:
        self.reactor = reactor
        self.monitor = monitor
        self.clock: Clock = ReactorClock(reactor)
        self.access = access
        self.live = Live(monitor, self.clock)
        self.assets = Assets()
        self.audit = AuditLog(monitor.settings.store_path.with_name("audit.log"))
        self.readers, self.scribe, self.duck = threads.readers, threads.scribe, threads.duck
        self.jobs = Jobs()
        self.ensembles = Ensembles(reactor)
        self._templates = Templates()

    async def answer(self, request: Request) -> Response:
        """Never raises."""
        session: Session | None = None
        user: User | None = None
        try:
            self.access.check_host(request)
            if request.path.endswith("/") and request.path.strip("/") and request.method in SAFE_METHODS:
                return redirect("/" + request.path.strip("/"))
            route, parts = ROUTES.find(request.method, request.path)
            request = replace(request, parts=parts)
            session = self.access.session(request, self.clock.now_ms())
            user, with_password = await self._user(request, session)
            if route.role is not None and (user is None or user.role < route.role):
                return self._refuse(request, user)
            self.access.check_write(request, session, with_password=with_password)
            return await self._call(route, request, session, user or User("", Role.READ))
        except Refused as refused:
            return await self._error(request, session, user, refused)
        except UnknownCluster as error:
            return await self._error(request, session, user, not_found(str(error)))
        except Exception:
            log.exception("%s %s has failed", request.method, request.path)
            failed = Refused(HTTPStatus.INTERNAL_SERVER_ERROR, "The monitor has made a mistake; its log tells which.")
            return await self._error(request, session, user, failed)

    def read(self, work: Callable[[], T]) -> Promise[T]:
        """Do something that asks the store, in a thread."""
        return self.readers.run(work)

    def collector(self, name: str) -> ClusterCollector:
        """Of a cluster. Raises Refused."""
        found = self.monitor.collectors.get(name)
        if found is None:
            raise not_found(f"This monitor watches no cluster {name!r}.")
        return found

    async def page(self, page: Page, request: Request, session: Session | None, user: User | None) -> Response:
        """A page that is ready to be filled."""
        view = self.view(request, user or User("", Role.READ))
        return await self.read(lambda: self._fill(page, view, *self._browser(session), logged_in=user is not None))

    # who

    async def _user(self, request: Request, session: Session | None) -> tuple[User | None, bool]:
        """Who asks, and whether a password came with the request itself."""
        if self.access.passwords is None:
            return ANYBODY, False
        credentials = basic_credentials(request)
        if credentials is None:
            return (session.user if session is not None else None), False
        user = await self.log_in(*credentials, client=request.client)
        return user, True

    async def log_in(self, name: str, password: str, *, client: str) -> User:
        """Raises Refused."""
        passwords = self.access.passwords
        assert passwords is not None
        self.access.check_tries(client, self.clock.now_ms())
        user = await self.readers.run(lambda: passwords.user(name, password))
        if user is None:
            self.access.wrong_password(client, self.clock.now_ms())
            raise Refused(HTTPStatus.UNAUTHORIZED, "Name or password is wrong.")
        return user

    def _refuse(self, request: Request, user: User | None) -> Response:
        if user is not None:
            raise Refused(HTTPStatus.FORBIDDEN, f"{user.name} may look, not change: that takes the role operate.")
        if request.is_api or not request.headers.get("accept", "").startswith("text/html"):
            raise Refused(HTTPStatus.UNAUTHORIZED, "Log in first, or send a name and a password (Basic).")
        return redirect(f"{LOGIN}?next={quote(request.address, safe='')}" if request.method in SAFE_METHODS else LOGIN)

    # what

    async def _call(self, route: Route, request: Request, session: Session | None, user: User) -> Response:
        if route.kind is Kind.ACTION:
            response: Response = await route.function(Work(self, request, session, user))
            return response
        view = self.view(request, user)
        if "cluster" in request.parts:
            self.collector(view.cluster)
        if route.kind is Kind.DATA:
            return await self.read(lambda: Response(body=encoded(route.function(view)), content_type=JSON))
        browser = self._browser(session)
        return await self.read(lambda: self._fill(route.function(view), view, *browser, logged_in=True))

    def view(self, request: Request, user: User) -> View:
        """What pages read from, as this moment has it."""
        return self.view_of(request.parts.get("cluster", ""), request, user)

    def view_of(self, name: str, request: Request, user: User) -> View:
        """The same of a cluster that is not named in the address."""
        collector = self.monitor.collectors.get(name)
        present = Present(collector.state, collector.pulse.silent) if collector is not None else Present()
        return View(self.monitor.reader, request, user, self.clock.now_ms(), name, present, self.monitor.settings)

    def _browser(self, session: Session | None) -> tuple[Session, tuple[str, ...]]:
        """The browser's session, a new one where it has none, with the cookie for that."""
        if session is not None:
            return session, ()
        begun, cookie = self.access.begin(None, self.clock.now_ms())
        return begun, (cookie,)

    def _fill(self, page: Page, view: View, session: Session, cookies: tuple[str, ...], *, logged_in: bool) -> Response:
        notes: list[tuple[str, str]] = []
        if LIVE not in view.request.headers:  # a look that nobody asked for must not take away what the next page has to say
            notes, session.notes = session.notes, notes
        values = {
            **navigation(view, self.access, logged_in=logged_in),
            "title": page.title,
            "asset": self.assets.address,
            "csrf_token": session.token,
            "notes": notes,
            **page.values,
        }
        return Response(HTTPStatus(page.status), self._templates.fill(page.template, values), HTML, cookies=cookies)

    async def _error(self, request: Request, session: Session | None, user: User | None, refused: Refused) -> Response:
        headers = REALM if refused.status is HTTPStatus.UNAUTHORIZED and request.is_api else {}
        if request.is_api or request.path == "/metrics":
            return Response(refused.status, encoded({"error": str(refused)}), JSON, headers)
        if user is None and refused.status is not HTTPStatus.NOT_FOUND:
            return Response(refused.status, f"{refused}\n".encode(), "text/plain; charset=utf-8", REALM if refused.status is HTTPStatus.UNAUTHORIZED else {})
        if request.parts.get("cluster", "") not in self.monitor.collectors:
            request = replace(request, parts={})
        page = Page("error.html", refused.status.phrase, {"sentence": str(refused), "status": refused.status.value}, refused.status)
        try:
            return await self.page(page, request, session, user)
        except Exception:
            log.exception("The page of an error could not be made")
            return Response(refused.status, f"{refused}\n".encode(), "text/plain; charset=utf-8")
