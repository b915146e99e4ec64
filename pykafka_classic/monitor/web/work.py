"""`Work`: what an action (a route's coroutine) is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from pykafka_classic.common.promise import Promise
from pykafka_classic.monitor.collector.cluster import ClusterCollector
from pykafka_classic.monitor.web.access import Session, User
from pykafka_classic.monitor.web.exchange import Request, Response
from pykafka_classic.monitor.web.view import Page, View

if TYPE_CHECKING:
    from pykafka_classic.monitor.web.app import WebApp

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Work:
    """A request that is being worked on, on the reactor's thread."""

    app: WebApp
    request: Request
    session: Session | None
    user: User

    @property
    def cluster(self) -> str:
        """The cluster's name. Raises Refused where there is none."""
        return self.collector.settings.name

    @property
    def collector(self) -> ClusterCollector:
        """Of the cluster. Raises Refused."""
        return self.app.collector(self.request.parts["cluster"])

    @property
    def view(self) -> View:
        """What pages read from."""
        return self.app.view(self.request, self.user)

    def read(self, work: Callable[[], T]) -> Promise[T]:
        """Ask the store, in a thread."""
        return self.app.read(work)

    async def page(self, page: Page) -> Response:
        """Fill a page."""
        return await self.app.page(page, self.request, self.session, self.user)

    def note(self, sentence: str, kind: str = "done") -> None:
        """Have the next page say this. `kind`: done, failed."""
        if self.session is not None:
            self.session.notes.append((kind, sentence))
