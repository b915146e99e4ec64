"""What every page shows around its own content: clusters, sections, who is logged in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from pykafka_classic.monitor.web.access import Access, Role
from pykafka_classic.monitor.web.exchange import path_of
from pykafka_classic.monitor.web.view import View

# (last part of the address, title)
SECTIONS: Final = (
    ("", "Dashboard"),
    ("topics", "Topics"),
    ("messages", "Messages"),
    ("brokers", "Brokers"),
    ("groups", "Groups"),
    ("zookeeper", "ZooKeeper"),
    ("timeline", "Timeline"),
    ("alarms", "Alarms"),
    ("sql", "SQL"),
    ("screen", "Big screen"),
)


@dataclass(frozen=True, slots=True)
class Link:
    """A link of the navigation."""

    address: str
    title: str
    current: bool = False
    badge: str = ""


def navigation(view: View, access: Access, *, logged_in: bool) -> dict[str, Any]:
    """The values that the frame of a page needs."""
    clusters = view.reader.clusters() if logged_in else ()
    path = view.request.path
    return {
        "view": view,
        "path": path,
        "now_ms": view.now_ms,
        "cluster": view.cluster,
        "clusters": [Link(path_of("c", each.name), each.name, each.name == view.cluster) for each in clusters if _is_watched(view, each.name)],
        "sections": _sections(view, path) if logged_in and view.cluster else [],
        "user": view.user,
        "logged_in": logged_in,
        "has_passwords": access.passwords is not None,
        "may_operate": logged_in and view.user.role >= Role.OPERATE,
        "cluster_state": view.present.state,
    }


def _is_watched(view: View, name: str) -> bool:
    """The store also knows clusters that were in the configuration once."""
    return any(each.name == name for each in view.settings.clusters)


def _sections(view: View, path: str) -> list[Link]:
    base = path_of("c", view.cluster)
    on = len(view.reader.alarms(view.cluster, only_on=True))
    links = []
    for part, title in SECTIONS:
        address = f"{base}/{part}" if part else base
        is_current = path == address or (bool(part) and path.startswith(f"{address}/"))
        links.append(Link(address, title, is_current, str(on) if part == "alarms" and on else ""))
    return links
