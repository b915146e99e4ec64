"""What is about no section: the first page, clusters, logging in, files, server-sent events."""

from __future__ import annotations

from http import HTTPStatus

from pykafka_classic.monitor.web.exchange import Refused, Response, path_of, redirect
from pykafka_classic.monitor.web.routes import ROUTES
from pykafka_classic.monitor.web.view import Page, View
from pykafka_classic.monitor.web.work import Work


@ROUTES.action("GET", "/")
async def first_page(work: Work) -> Response:
    """The only cluster, or the list of them."""
    names = list(work.app.monitor.collectors)
    return redirect(path_of("c", names[0]) if len(names) == 1 else "/clusters")


@ROUTES.page("/clusters")
def clusters(view: View) -> Page:
    """All clusters in a line each."""
    watched = {each.name for each in view.settings.clusters}
    lines = []
    for info in (each for each in view.reader.clusters() if each.name in watched):
        topics = view.reader.topics_at(info.name)
        lines.append(
            {
                "info": info,
                "brokers": sum(each.alive for each in view.reader.brokers_at(info.name)),
                "controller": view.reader.controller_at(info.name),
                "topics": len(topics),
                "partitions": sum(each.partitions for each in topics),
                "under_replicated": sum(each.under_replicated for each in topics),
                "offline": sum(each.offline for each in topics),
                "alarms": len(view.reader.alarms(info.name, only_on=True)),
            }
        )
    return Page("clusters.html", "Clusters", {"lines": lines, "gaps": view.reader.gaps(view.now_ms - 86_400_000)})


@ROUTES.action("GET", "/login", role=None)
async def login_form(work: Work) -> Response:
    """Asks for name and password."""
    if work.app.access.passwords is None:
        return redirect("/")
    return await work.app.page(_login_page(work, ""), work.request, work.session, None)


@ROUTES.action("POST", "/login", role=None)
async def log_in(work: Work) -> Response:
    """A new session, so that one that somebody else knows is worth nothing."""
    if work.app.access.passwords is None:
        return redirect("/")
    form = work.request.form()
    try:
        user = await work.app.log_in(form.get("name", ""), form.get("password", ""), client=work.request.client)
    except Refused as refused:
        return await work.app.page(_login_page(work, str(refused), refused.status), work.request, work.session, None)
    work.app.access.end(work.request)
    _, cookie = work.app.access.begin(user, work.app.clock.now_ms())
    return redirect(_own_address(form.get("next", "")), cookie)


@ROUTES.action("POST", "/logout")
async def log_out(work: Work) -> Response:
    """Ends the session."""
    return redirect("/login" if work.app.access.passwords is not None else "/", work.app.access.end(work.request))


@ROUTES.action("GET", "/static/{file}", role=None)
async def static(work: Work) -> Response:
    """A script, a style, a licence."""
    return work.app.assets.answer(work.request)


@ROUTES.action("GET", "/c/{cluster}/events")
async def events(work: Work) -> Response:
    """Server-sent events: an endless answer."""
    return Response(content_type="text/event-stream", headers={"X-Accel-Buffering": "no"}, stream=work.cluster)


def _login_page(work: Work, wrong: str, status: HTTPStatus = HTTPStatus.OK) -> Page:
    return Page("login.html", "Log in", {"wrong": wrong, "next": work.request.text("next")}, status)


def _own_address(told: str) -> str:
    """Where to go after logging in: never to another site (//elsewhere)."""
    return told if told.startswith("/") and not told.startswith("//") and "\\" not in told and told.isprintable() else "/"
