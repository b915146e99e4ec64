"""Groups of both generations: the list, and one with its members, owners, lag, and forms to reset or migrate its offsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pykafka_classic.monitor.store.answers import GroupLag, GroupState, LagPoint
from pykafka_classic.monitor.web.access import Role
from pykafka_classic.monitor.web.exchange import Refused, Response, not_found, path_of, redirect
from pykafka_classic.monitor.web.fields import Field, read_form
from pykafka_classic.monitor.web.operations.groups import MIGRATE_FIELDS, RESET_FIELDS, STORES, TARGETS, migrate, reset_offsets
from pykafka_classic.monitor.web.operations.operation import Doer, attempt
from pykafka_classic.monitor.web.pages.whys import why
from pykafka_classic.monitor.web.routes import ROUTES
from pykafka_classic.monitor.web.view import Page, View
from pykafka_classic.monitor.web.work import Work


@dataclass(frozen=True, slots=True)
class GroupLine:
    """A group in one store. Either may be None: a group without commits, or commits without a group."""

    name: str
    store: str
    state: GroupState | None
    lag: GroupLag | None


@dataclass(frozen=True, slots=True)
class OffsetLine:
    """A partition of a group; `owner`: the member that reads it."""

    point: LagPoint
    owner: str


@ROUTES.page("/c/{cluster}/groups")
def groups(view: View) -> Page:
    """All groups."""
    wanted = view.request.text("q").strip().lower()
    lines = [each for each in _all(view) if wanted in each.name.lower()]
    most = max((each.lag.lag for each in lines if each.lag is not None), default=0)
    return Page("groups.html", "Groups", {"lines": lines, "most": most, "q": view.request.text("q")})


@ROUTES.page("/c/{cluster}/groups/{group}")
def group(view: View) -> Page:
    """One group, in both stores."""
    name = view.parts["group"]
    lines = [each for each in _all(view) if each.name == name]
    if not lines:
        raise not_found(f"Cluster {view.cluster} has no group {name!r}.")
    points = view.reader.group_lag(view.cluster, name)
    states = [each.state for each in lines if each.state is not None]
    values = {
        "group": name,
        "lines": lines,
        "states": states,
        "offsets": [OffsetLine(each, _owner(each, states)) for each in points],
        "topics": sorted({each.topic for each in points} | {topic for state in states for member in state.members for topic, _ in member.partitions}),
        "has_zookeeper": any(each.store == "zookeeper" for each in points),
        "has_kafka": any(each.store == "kafka" for each in points),
        "history": view.reader.group_history(view.cluster, name)[:12],
        "targets": TARGETS,
        "stores": STORES,
        "why": why(view, f"group {name}"),
        "minutes": view.request.number("minutes", 15, least=1, most=10_080),
    }
    return Page("group.html", name, values)


def _all(view: View) -> list[GroupLine]:
    lags: Mapping[tuple[str, str], GroupLag] = {(each.group, each.store): each for each in view.reader.lag_ranking(view.cluster, limit=10_000)}
    states: Mapping[tuple[str, str], GroupState] = {(each.group, each.store): each for each in view.reader.groups_at(view.cluster)}
    lines = [GroupLine(*key, states.get(key), lags.get(key)) for key in {*lags, *states}]
    return sorted(lines, key=lambda each: (-(each.lag.lag if each.lag is not None else 0), each.name, each.store))


def _owner(point: LagPoint, states: list[GroupState]) -> str:
    for state in states:
        if state.store == point.store:
            for member in state.members:
                if (point.topic, point.partition) in member.partitions:
                    return _name(member)
    return ""


def _name(member: Any) -> str:
    told: str = member.instance_id or member.client_id or member.member_id
    return told


@ROUTES.action("GET", "/c/{cluster}/groups/{group}/reset", role=Role.OPERATE)
async def reset_preview(work: Work) -> Response:
    """What a reset would do, with a button to do it."""
    return await _preview(work, reset_offsets, RESET_FIELDS, "reset-offsets", ("topic", "partition", "before", "after"))


@ROUTES.action("GET", "/c/{cluster}/groups/{group}/migrate", role=Role.OPERATE)
async def migrate_preview(work: Work) -> Response:
    """What a migration would do, with a button to do it."""
    return await _preview(work, migrate, MIGRATE_FIELDS, "migrate-group", ("topic", "partition", "action", "source", "before"))


async def _preview(work: Work, do: Doer, fields: Sequence[Field], name: str, columns: tuple[str, ...]) -> Response:
    group_name = work.request.parts["group"]
    given = {each: values[-1] for each, values in work.request.query.items()}
    try:
        done = await attempt(do, work, {**read_form(fields, given), "preview": True})
    except Refused as refused:
        work.note(str(refused), "failed")
        return redirect(path_of("c", work.cluster, "groups", group_name))
    values = {
        "group": group_name,
        "sentence": done.sentence,
        "steps": done.details["steps"],
        "columns": columns,
        "action": path_of("c", work.cluster, "do", name, group_name),
        "fields": {each.name: given[each.name] for each in fields if each.name in given},
    }
    return await work.page(Page("preview.html", f"Preview for group {group_name}", values))
