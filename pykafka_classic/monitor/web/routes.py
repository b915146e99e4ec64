"""Which function answers which request: a table, filled by the modules of pages and API. Pure.

| kind | the function | runs |
|---|---|---|
| page | `View -> Page` | in a thread: it reads the store, then its template is filled |
| data | `View -> value` | in a thread; the value becomes JSON |
| action | `async (Work) -> Response` | on the reactor's thread: it talks to brokers and ZooKeeper |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from http import HTTPStatus
from typing import Any, Final, TypeVar
from urllib.parse import unquote

from pykafka_classic.monitor.web.access import Role
from pykafka_classic.monitor.web.exchange import Refused, not_found
from pykafka_classic.monitor.web.fields import Field

F = TypeVar("F", bound=Callable[..., Any])


class Kind(Enum):
    """How a route's function is called."""

    PAGE = "page"
    DATA = "data"
    ACTION = "action"


@dataclass(frozen=True, slots=True)
class Route:
    """One address. `query` and `body` describe what it takes, `answers` what it gives (a type): for the API's description."""

    method: str
    pattern: str
    kind: Kind
    function: Callable[..., Any]
    role: Role | None = Role.READ  # None: anybody
    summary: str = ""
    query: Sequence[Field] = ()
    body: Sequence[Field] = ()
    answers: Any = None
    tag: str = ""
    kept_ms: int = 0  # DATA: how long an answer serves whoever asks the same
    segments: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "segments", tuple(self.pattern.split("/")[1:]))

    def match(self, path: Sequence[str]) -> dict[str, str] | None:
        """What the braces stand for; None where it is another address."""
        if len(path) != len(self.segments):
            return None
        found: dict[str, str] = {}
        for mine, theirs in zip(self.segments, path, strict=True):
            if mine.startswith("{"):
                if not theirs:
                    return None
                found[mine[1:-1]] = theirs
            elif mine != theirs:
                return None
        return found


class RouteTable:
    """All routes."""

    def __init__(self) -> None:
        self.routes: list[Route] = []

    def page(self, pattern: str, **other: Any) -> Callable[[F], F]:
        """Decorates a function that makes a page."""
        return self._decorator("GET", pattern, Kind.PAGE, other)

    def data(self, pattern: str, **other: Any) -> Callable[[F], F]:
        """Decorates a function that answers with a value, as JSON."""
        return self._decorator("GET", pattern, Kind.DATA, other)

    def action(self, method: str, pattern: str, **other: Any) -> Callable[[F], F]:
        """Decorates a coroutine function."""
        return self._decorator(method, pattern, Kind.ACTION, other)

    def add(self, route: Route) -> None:
        """One more; an address has one route for a method."""
        assert all((each.method, each.pattern) != (route.method, route.pattern) for each in self.routes), route.pattern
        self.routes.append(route)

    def find(self, method: str, path: str) -> tuple[Route, Mapping[str, str]]:
        """The route of an address, and what its braces stand for. Raises Refused."""
        segments = [unquote(part, errors="replace") for part in path.split("/")[1:]]
        matches = [(route, parts) for route in self.routes if (parts := route.match(segments)) is not None]
        exact = sorted(matches, key=lambda each: len(each[1]))  # /groups/new before /groups/{group}
        for route, parts in exact:
            if route.method == ("GET" if method == "HEAD" else method):
                return route, parts
        if exact:
            allowed = ", ".join(sorted({route.method for route, _ in exact}))
            raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, f"{method} is not possible here; possible: {allowed}.")
        raise not_found("There is no such page.")

    def _decorator(self, method: str, pattern: str, kind: Kind, other: Mapping[str, Any]) -> Callable[[F], F]:
        def decorate(function: F) -> F:
            self.add(Route(method, pattern, kind, function, **other))
            return function

        return decorate


ROUTES: Final = RouteTable()
