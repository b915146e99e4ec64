"""Alarms, the big screen, the audit log, the API's page, and the code and documents that the timeline links to."""

from __future__ import annotations

import ast
from importlib import resources
from pathlib import Path
from typing import Any, Final

from pykafka_classic.monitor.web.exchange import JSON, Response, not_found
from pykafka_classic.monitor.web.openapi import description_text
from pykafka_classic.monitor.web.pages.dashboard import summary
from pykafka_classic.monitor.web.routes import ROUTES
from pykafka_classic.monitor.web.view import Page, View
from pykafka_classic.monitor.web.work import Work

PACKAGE: Final = "pykafka_classic"
DOCS: Final = Path(__file__).parents[4] / "docs"  # of a checkout; an installed package has none


@ROUTES.page("/c/{cluster}/alarms")
def alarms(view: View) -> Page:
    """Those that are on, and those that were."""
    found = view.reader.alarms(view.cluster)
    keys = view.settings.keys
    told = [each for each in (keys.alarm_webhook_url and "a webhook", ", ".join(keys.alarm_email_to)) if each]
    values = {"on": [each for each in found if each.cleared_ms is None], "over": [each for each in found if each.cleared_ms is not None], "told": told}
    return Page("alarms.html", "Alarms", {**values, "rules": _rules(keys)})


@ROUTES.page("/c/{cluster}/screen")
def screen(view: View) -> Page:
    """For a wall: large, without anything to press."""
    return Page("screen.html", "Big screen", summary(view))


@ROUTES.action("GET", "/audit")
async def audit(work: Work) -> Response:
    """Who changed what."""
    lines = await work.app.scribe.run(work.app.audit.latest)
    return await work.page(Page("audit.html", "Audit log", {"lines": lines, "file": str(work.app.audit.path)}))


@ROUTES.page("/api")
def api(view: View) -> Page:
    """The routes of the API, in words."""
    routes = [each for each in ROUTES.routes if each.pattern.startswith("/api/") and each.summary]
    tags = dict.fromkeys(each.tag for each in routes)
    return Page("api.html", "API", {"tags": {tag: [each for each in routes if each.tag == tag] for tag in tags}, "host": view.request.headers.get("host", "")})


@ROUTES.action("GET", "/api/openapi.json", role=None, tag="monitor", summary="This description.")
async def openapi(_: Work) -> Response:
    """The API's description."""
    return Response(body=description_text().encode(), content_type=JSON)


@ROUTES.page("/code")
def code(view: View) -> Page:
    """A function of ours: `at` is controller/election.py:function, or module.py:Class.method."""
    at = view.request.text("at")
    module, _, name = at.partition(":")
    text = _source(module)
    first, last = _span(text, name)
    lines = list(enumerate(text.splitlines(), 1))[first - 1 : last]
    return Page("code.html", at, {"lines": lines, "module": f"{PACKAGE}/{module}", "function": name})


@ROUTES.page("/docs/{page}")
def docs(view: View) -> Page:
    """A page of the checkout's docs/, as it is written."""
    name = view.parts["page"]
    path = DOCS / name
    if "/" in name or "\\" in name or not name.endswith(".md") or path.parent != DOCS or not path.is_file():
        raise not_found(f"There is no page docs/{name[:60]} here: documents come with the checkout, not with the package.")
    return Page("docs.html", f"docs/{name}", {"text": path.read_text(encoding="utf-8")})


def _rules(keys: Any) -> list[tuple[str, str]]:
    names = [name for name in type(keys).__dataclass_fields__ if name.startswith("alarm_") and not any(part in name for part in ("email", "webhook"))]
    return [(name.replace("_", "."), str(getattr(keys, name))) for name in names]


def _source(module: str) -> str:
    """Raises Refused. Only modules of our own package, none outside of it."""
    parts = module.split("/")
    if not module.endswith(".py") or not all(part.removesuffix(".py").isidentifier() for part in parts):
        raise not_found("There is no such module.")
    found = resources.files(PACKAGE).joinpath(*parts)
    if not found.is_file():
        raise not_found(f"There is no module {PACKAGE}/{module[:100]}.")
    return found.read_text(encoding="utf-8")


def _span(text: str, name: str) -> tuple[int, int]:
    """The lines of a function or method; all, where there is none of this name."""
    scope: list[ast.stmt] = ast.parse(text).body
    span = (1, len(text.splitlines()))
    for part in filter(None, name.split(".")):
        found = next((each for each in scope if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and each.name == part), None)
        if found is None:
            return span
        span, scope = (found.lineno, found.end_lineno or found.lineno), found.body
    return span
