"""The API's questions: what the store knows, as JSON. What changes a cluster stands in operations/. Described by openapi.json.

Each function's answer has the type that its route names; `tests/unit/monitor/web` holds that the description says the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pykafka_classic.monitor.store.answers import (
    Alarm,
    BrokerEvent,
    ClusterInfo,
    ConfigState,
    ControllerState,
    GroupLag,
    GroupState,
    LagPoint,
    LogDir,
    PartitionState,
    Span,
    TopicState,
    ZNode,
    ZNodeChange,
)
from pykafka_classic.monitor.web.exchange import Request, not_found
from pykafka_classic.monitor.web.fields import NUMBER, TEXT, Field
from pykafka_classic.monitor.web.routes import ROUTES
from pykafka_classic.monitor.web.secrets_of_nodes import change_shown, node_shown
from pykafka_classic.monitor.web.view import BrokerLine, View, broker_lines

BASE: Final = "/api/v1/clusters/{cluster}"
AT: Final = Field("at", NUMBER, "The moment to tell of, in ms since 1970; now where it is missing.")
SINCE: Final = Field("since", NUMBER, "Nothing before this moment, in ms since 1970.")
UNTIL: Final = Field("until", NUMBER, "Nothing after this moment, in ms since 1970.")
LIMIT: Final = Field("limit", NUMBER, "At most so many, the latest ones.", default=1000, least=1, most=10_000)
PATH: Final = Field("path", TEXT, "Of the node, from the root: /brokers/ids", default="/")
SPAN: Final = (SINCE, UNTIL, LIMIT)


@dataclass(frozen=True, slots=True)
class PartitionLog:
    """A partition's log as it was measured last. `size`: bytes on the leader's disk, -1: not known."""

    topic: str
    partition: int
    t_ms: int
    log_start: int
    log_end: int
    size: int
    records_per_s: float | None
    bytes_per_s: float | None


@dataclass(frozen=True, slots=True)
class Health:
    """The cluster in numbers."""

    state: str
    brokers_alive: int
    brokers_silent: int
    controller: int | None
    partitions: int
    under_replicated: int
    offline: int
    alarms_on: int


def moment(request: Request) -> int | None:
    """What `at` says. Raises Refused."""
    return request.integer("at")


def span(request: Request, limit: int = 1000) -> Span:
    """What `since`, `until`, `limit` say. Raises Refused."""
    return Span(request.number("since", 0), request.integer("until"), request.number("limit", limit, least=1, most=10_000))


@ROUTES.data("/api/v1/clusters", tag="clusters", summary="The clusters that this monitor watches, or has watched.", answers=tuple[ClusterInfo, ...])
def clusters(view: View) -> Any:
    """See the summary."""
    return view.reader.clusters()


@ROUTES.data(f"{BASE}/health", tag="clusters", summary="How is the cluster, in numbers?", answers=Health)
def health(view: View) -> Any:
    """See the summary."""
    partitions = view.reader.partitions_at(view.cluster)
    controller = view.reader.controller_at(view.cluster)
    lines = broker_lines(view)
    return Health(
        view.present.state,
        sum(each.broker.alive for each in lines),
        sum(each.state == "silent" for each in lines),
        controller.broker if controller is not None else None,
        len(partitions),
        sum(each.under_replicated for each in partitions),
        sum(each.offline for each in partitions),
        len(view.reader.alarms(view.cluster, only_on=True)),
    )


@ROUTES.data(f"{BASE}/brokers", tag="brokers", summary="All brokers that were ever seen: up, silent, or gone.", answers=tuple[BrokerLine, ...])
def brokers(view: View) -> Any:
    """See the summary."""
    return broker_lines(view)


@ROUTES.data(f"{BASE}/controller", tag="brokers", summary="Who is, or was, the controller.", query=(AT,), answers=ControllerState | None)
def controller(view: View) -> Any:
    """See the summary."""
    return view.reader.controller_at(view.cluster, moment(view.request))


@ROUTES.data(f"{BASE}/controllers", tag="brokers", summary="Who was the controller, the latest first.", query=SPAN, answers=tuple[ControllerState, ...])
def controllers(view: View) -> Any:
    """See the summary."""
    return view.reader.controller_history(view.cluster, span(view.request))


@ROUTES.data(f"{BASE}/log-dirs", tag="brokers", summary="The brokers' log directories, as measured last.", answers=tuple[LogDir, ...])
def log_dirs(view: View) -> Any:
    """See the summary."""
    return view.reader.log_dirs(view.cluster)


@ROUTES.data(f"{BASE}/brokers/{{broker}}/configs", tag="brokers", summary="A broker's configs, with their sources.", query=(AT,), answers=ConfigState)
def broker_configs(view: View) -> Any:
    """See the summary."""
    return _config(view, "broker", view.parts["broker"])


@ROUTES.data(f"{BASE}/topics", tag="topics", summary="All topics in numbers.", query=(AT,), answers=tuple[TopicState, ...])
def topics(view: View) -> Any:
    """See the summary."""
    return view.reader.topics_at(view.cluster, moment(view.request))


@ROUTES.data(f"{BASE}/partitions", tag="topics", summary="All partitions: replicas, leader, ISR, epochs.", query=(AT,), answers=tuple[PartitionState, ...])
def partitions(view: View) -> Any:
    """See the summary."""
    return view.reader.partitions_at(view.cluster, moment(view.request))


@ROUTES.data(f"{BASE}/topics/{{topic}}", tag="topics", summary="A topic's partitions.", query=(AT,), answers=tuple[PartitionState, ...])
def topic(view: View) -> Any:
    """See the summary."""
    found = view.reader.partitions_at(view.cluster, moment(view.request), topic=view.parts["topic"])
    if not found:
        raise not_found(f"Cluster {view.cluster} has no topic {view.parts['topic']!r}, or had none at that moment.")
    return found


@ROUTES.data(f"{BASE}/topics/{{topic}}/configs", tag="topics", summary="A topic's configs, with their sources.", query=(AT,), answers=ConfigState)
def topic_configs(view: View) -> Any:
    """See the summary."""
    return _config(view, "topic", view.parts["topic"])


@ROUTES.data(f"{BASE}/topics/{{topic}}/logs", tag="topics", summary="A topic's logs: starts, ends, sizes.", query=(AT,), answers=tuple[PartitionLog, ...])
def topic_logs(view: View) -> Any:
    """See the summary."""
    found = view.reader.ends_at(view.cluster, moment(view.request), topic=view.parts["topic"])
    return [
        PartitionLog(name, number, each.t_ms, each.log_start, each.log_end, each.size, each.records_per_s, each.bytes_per_s)
        for (name, number), each in sorted(found.items())
    ]


@ROUTES.data(
    f"{BASE}/topics/{{topic}}/partitions/{{partition}}/history",
    tag="topics",
    summary="The leaders and ISRs of one partition, the latest first.",
    query=SPAN,
    answers=tuple[PartitionState, ...],
)
def partition_history(view: View) -> Any:
    """See the summary."""
    number = view.parts["partition"]
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise not_found(f"A partition has a number, not {number!r}.")
    return view.reader.partition_history(view.cluster, view.parts["topic"], int(number), span(view.request))


@ROUTES.data(f"{BASE}/groups", tag="groups", summary="All groups of both generations.", query=(AT,), answers=tuple[GroupState, ...])
def groups(view: View) -> Any:
    """See the summary."""
    return view.reader.groups_at(view.cluster, moment(view.request))


@ROUTES.data(f"{BASE}/lag", tag="groups", summary="The groups that are furthest behind first.", query=(AT, LIMIT), answers=tuple[GroupLag, ...])
def lag(view: View) -> Any:
    """See the summary."""
    return view.reader.lag_ranking(view.cluster, moment(view.request), limit=view.request.number("limit", 1000, least=1, most=10_000))


@ROUTES.data(f"{BASE}/groups/{{group}}/lag", tag="groups", summary="A group's lag on each partition.", query=(AT,), answers=tuple[LagPoint, ...])
def group_lag(view: View) -> Any:
    """See the summary."""
    return view.reader.group_lag(view.cluster, view.parts["group"], moment(view.request))


@ROUTES.data(f"{BASE}/groups/{{group}}/lag/history", tag="groups", summary="A group's lag over time.", query=SPAN, answers=tuple[LagPoint, ...])
def lag_history(view: View) -> Any:
    """See the summary."""
    return view.reader.lag_history(view.cluster, view.parts["group"], span(view.request))


@ROUTES.data(f"{BASE}/znodes", tag="zookeeper", summary="A node of ZooKeeper, now or at a moment.", query=(PATH, AT), answers=ZNode)
def znode(view: View) -> Any:
    """See the summary."""
    path = view.request.text("path", "/")
    found = view.reader.znode_at(view.cluster, path, moment(view.request))
    if found is None:
        raise not_found(f"There is no node {path} in cluster {view.cluster}, or there was none at that moment.")
    return node_shown(found)


@ROUTES.data(f"{BASE}/znodes/children", tag="zookeeper", summary="The nodes right below one.", query=(PATH, AT), answers=tuple[ZNode, ...])
def znode_children(view: View) -> Any:
    """See the summary."""
    return [node_shown(each) for each in view.reader.children_at(view.cluster, view.request.text("path", "/"), moment(view.request))]


@ROUTES.data(f"{BASE}/znodes/history", tag="zookeeper", summary="The changes of a node, latest first.", query=(PATH, *SPAN), answers=tuple[ZNodeChange, ...])
def znode_history(view: View) -> Any:
    """See the summary."""
    return [change_shown(each) for each in view.reader.znode_history(view.cluster, view.request.text("path", "/"), span(view.request))]


@ROUTES.data(f"{BASE}/znodes/changes", tag="zookeeper", summary="The changes of all nodes, the latest first.", query=SPAN, answers=tuple[ZNodeChange, ...])
def znode_changes(view: View) -> Any:
    """See the summary."""
    return [change_shown(each) for each in view.reader.znode_changes(view.cluster, span(view.request))]


@ROUTES.data(f"{BASE}/broker-events", tag="timeline", summary="What brokers told of their decisions.", query=SPAN, answers=tuple[BrokerEvent, ...])
def broker_events(view: View) -> Any:
    """See the summary."""
    return view.reader.broker_events(view.cluster, span(view.request))


@ROUTES.data(f"{BASE}/alarms", tag="alarms", summary="The alarms, the latest first.", query=(LIMIT,), answers=tuple[Alarm, ...])
def alarms(view: View) -> Any:
    """See the summary."""
    return view.reader.alarms(view.cluster, limit=view.request.number("limit", 500, least=1, most=10_000))


def _config(view: View, kind: str, name: str) -> ConfigState:
    found = view.reader.config_at(view.cluster, kind, name, moment(view.request))
    if found is None:
        raise not_found(f"The configs of {kind} {name} are not known.")
    return found


def shown_configs(entries: Mapping[str, tuple[str | None, str]]) -> list[tuple[str, str | None, str]]:
    """Name, value, source; those that somebody has set first."""
    return sorted(((name, value, source) for name, (value, source) in entries.items()), key=lambda each: (each[2] == "DEFAULT_CONFIG", each[0]))
