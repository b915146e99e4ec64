"""What a change or an event gives, and what it needs to have happened: the links of the chain of causes. Pure.

Both are texts that mean the same on both sides; `timeline.order` joins them. Partition `p`, leader epoch `e`, zkVersion `v`, broker `b`, controller `c`:

| line | needs | gives |
|---|---|---|
| session ended | | ended S |
| ephemeral node removed | ended S | changed PATH, gone b |
| watch fired at c | changed PATH | watch EVENT c |
| controller event at c | watch EVENT c | handled EVENT c |
| brokers changed at c | handled BrokerChange c, gone b | known-gone b |
| the controller's node goes to another broker | gone (the broker before) | changed /controller |
| controller elected | changed /controller | in-office c |
| leader elected by c | known-gone (the leader before), in-office c | elected p e |
| ISR proposed by the leader | | proposed p ISR |
| state written by c | elected p e, proposed p ISR, in-office c | written p v, decided p e |
| state node | written p v | state p e, version p v, changed PATH |
| LeaderAndIsr sent to b | state p e, decided p e | sent p e b |
| LeaderAndIsr applied by b | sent p e b | applied p e b |
| log truncated, high watermark advanced by b | applied p e b | |
| ISR applied by the leader | version p v | |
| broker hears that its session has expired | ended S | |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pykafka_classic.monitor.store.answers import BrokerEvent, ZNodeChange
from pykafka_classic.monitor.store.rows import ChangeKind
from zk_schema import broker_ids, controller, partition_state
from zk_schema.errors import MalformedZNode

Links = tuple[tuple[str, ...], tuple[str, ...]]
NONE: Final[Links] = ((), ())


def needs_and_gives_of_change(change: ZNodeChange) -> Links:
    """Of a znode."""
    needs: list[str] = []
    gives = [f"changed {change.path}", f"changed {change.path.rpartition('/')[0]}/"]
    if change.kind is ChangeKind.REMOVED and change.owner:
        needs.append(f"ended {change.session}")
        parent, _, name = change.path.rpartition("/")
        gives += [f"gone {name}"] if parent == broker_ids.PATH else []
    if change.path == controller.PATH:  # its removal and the next one may have been seen as one change
        needs += [f"gone {before}" for before in _controllers(change.before) if before not in _controllers(change.data)]
    name_of_partition = partition_state.partition_of(change.path)
    if name_of_partition is not None and change.kind is not ChangeKind.REMOVED:
        partition = f"{name_of_partition[0]}-{name_of_partition[1]}"
        needs.append(f"written {partition} {change.version}")
        gives += [f"version {partition} {change.version}", f"state {partition} {_epoch(change.data)}"]
    return tuple(needs), tuple(gives)


def _controllers(data: bytes | None) -> tuple[int, ...]:
    try:
        return (controller.decode(data).broker_id,)
    except MalformedZNode:
        return ()


def _epoch(data: bytes | None) -> int:
    try:
        return partition_state.decode(data).leader_epoch
    except MalformedZNode:
        return -1


def needs_and_gives_of_event(event: BrokerEvent) -> Links:
    """Of what a broker told."""
    links = _LINKS.get(event.name)
    try:
        return links(event.broker, event.facts) if links is not None else NONE
    except KeyError:  # told by a broker of another version
        return NONE


def _watch(broker: int, facts: Mapping[str, Any]) -> Links:
    below = "/" if facts["watch"] == "children" else ""
    return (f"changed {facts['path']}{below}",), (f"watch {facts['controller_event']} {broker}",)


def _brokers_changed(broker: int, facts: Mapping[str, Any]) -> Links:
    gone = [*facts["dead"], *facts["bounced"]]
    return (f"handled BrokerChange {broker}", *(f"gone {each}" for each in gone)), tuple(f"known-gone {each}" for each in gone)


def _state_written(broker: int, facts: Mapping[str, Any]) -> Links:
    partition = facts["partition"]
    return (f"elected {partition} {facts['leader_epoch']}", f"proposed {partition} {sorted(facts['isr'])}", f"in-office {broker}"), (
        f"written {partition} {facts['zk_version']}",
        f"decided {partition} {facts['leader_epoch']}",
    )


def _applied_by(broker: int, facts: Mapping[str, Any]) -> str:
    return f"applied {facts['partition']} {facts['leader_epoch']} {broker}"


_LINKS: Final[Mapping[str, Callable[[int, Mapping[str, Any]], Links]]] = {
    "session-expired": lambda _, facts: ((f"ended {facts['session']}",), ()),
    "watch-fired": _watch,
    "controller-event": lambda broker, facts: ((f"watch {facts['controller_event']} {broker}",), (f"handled {facts['controller_event']} {broker}",)),
    "brokers-changed": _brokers_changed,
    "controller-elected": lambda broker, _: (("changed /controller",), (f"in-office {broker}",)),
    "leader-elected": lambda broker, facts: (
        (f"known-gone {facts['before']}", f"in-office {broker}"),
        (f"elected {facts['partition']} {facts['leader_epoch']}",),
    ),
    "isr-shrink": lambda _, facts: ((), (f"proposed {facts['partition']} {sorted(facts['to'])}",)),
    "isr-expand": lambda _, facts: ((), (f"proposed {facts['partition']} {sorted(facts['to'])}",)),
    "state-written": _state_written,
    "isr-written": _state_written,
    "leader-and-isr-sent": lambda _, facts: (
        (f"state {facts['partition']} {facts['leader_epoch']}", f"decided {facts['partition']} {facts['leader_epoch']}"),
        (f"sent {facts['partition']} {facts['leader_epoch']} {facts['to']}",),
    ),
    "leader-and-isr-applied": lambda broker, facts: ((f"sent {facts['partition']} {facts['leader_epoch']} {broker}",), (_applied_by(broker, facts),)),
    "log-truncated": lambda broker, facts: ((_applied_by(broker, facts),), ()),
    "high-watermark-advanced": lambda broker, facts: ((_applied_by(broker, facts),), ()),
    "isr-applied": lambda _, facts: ((f"version {facts['partition']} {facts['zk_version']}",), ()),
}
