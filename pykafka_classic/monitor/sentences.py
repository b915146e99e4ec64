"""What happens in a cluster, told from the changes of ZooKeeper's nodes: an event has a name, the facts, and a sentence.

| nodes | events |
|---|---|
| `/brokers/ids/N` | broker-joined, broker-left, broker-changed |
| `/controller` | controller-elected, controller-moved, controller-lost |
| `/brokers/topics/T` | topic-created, topic-deleted, partitions-added, reassignment-begun, reassignment-ended |
| `.../partitions/P/state` | leader-moved, leader-lost, isr-shrunk, isr-expanded |
| `/admin/delete_topics/T` | topic-marked-for-deletion |
| `/config/TYPE/NAME` | config-changed |
| `/consumers/G/ids/M`, `.../owners/T/P` | member-joined, member-left, partition-owned |

Pure. Nodes that hold something else than they should are told as they are, for a cluster may be damaged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pykafka_classic.monitor import secrets
from pykafka_classic.monitor.znodes import Change, Mark, Node, name_of, plain
from zk_schema import broker_ids, configs, consumers, controller, delete_topics, partition_state, topics
from zk_schema.configs import ConfigEntity
from zk_schema.errors import MalformedZNode

Told = Iterable["Event"]

_ENTITY: Final = re.compile(r"/config/(topics|brokers|clients|users|ips)/.+")
_CONSUMER: Final = re.compile(r"/consumers/([^/]+)/(ids|owners)(?:/([^/]+))?(?:/([^/]+))?")
_WANTED: Final = re.compile(
    r"/|/brokers(/ids(/[^/]+)?|/topics(/[^/]+(/partitions(/[^/]+(/state)?)?)?)?)?|/controller|/admin(/delete_topics(/[^/]+)?)?"
    r"|/config(/(topics|brokers|clients|users|ips)(/.+)?)?|/consumers(/[^/]+(/(ids(/[^/]+)?|owners(/[^/]+(/[^/]+)?)?))?)?"
)
_ENTITY_NAMES: Final = {"topics": "topic", "brokers": "broker", "clients": "client", "users": "user", "ips": "address"}


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened. `alarming`: somebody should look."""

    name: str
    sentence: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    alarming: bool = False


def is_wanted(path: str) -> bool:
    """True for nodes that tell of events, and for those above them."""
    return _WANTED.fullmatch(path) is not None


class Teller:
    """Tells of changes; remembers who was the controller."""

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        found = nodes.get(controller.PATH)
        self._controller = _controller_of(found) if found is not None else None

    def tell(self, change: Change) -> list[Event]:
        """What a change means; nothing where it means nothing to people."""
        try:
            return list(self._told(change))
        except MalformedZNode as error:
            return [Event("node-unreadable", f"{change.path} holds what nobody can read: {error}", {"path": change.path}, alarming=True)]

    def _told(self, change: Change) -> Told:
        path = change.path
        if path == controller.PATH:
            return self._controller_changed(change)
        for prefix, tell in _BY_PARENT.items():
            if path.startswith(prefix) and "/" not in path[len(prefix) :]:
                return tell(change)
        if (partition := partition_state.partition_of(path)) is not None:
            return _state_changed(partition, change)
        if _ENTITY.fullmatch(path):
            return _config_changed(change)
        if (consumer := _CONSUMER.fullmatch(path)) is not None:
            return _consumer_changed(change, *consumer.groups())
        return ()

    def _controller_changed(self, change: Change) -> Told:
        if change.before is not None:
            self._controller = _controller_of(change.before)
        if change.after is None:
            yield Event("controller-lost", f"Broker {self._controller} is no longer the controller", {"broker": self._controller}, alarming=True)
            return
        now, before = controller.decode(change.after.data).broker_id, self._controller
        self._controller = now
        facts = {"broker": now, "before": before}
        if before is None:
            yield Event("controller-elected", f"Broker {now} is the controller", facts)
        elif before == now:
            yield Event("controller-elected", f"Broker {now} is the controller again", facts)
        else:
            yield Event("controller-moved", f"The controller moved from broker {before} to broker {now}", facts)


def _controller_of(node: Node) -> int | None:
    try:
        return controller.decode(node.data).broker_id
    except MalformedZNode:
        return None


def _broker_changed(change: Change) -> Told:
    name = name_of(change.path)
    if change.after is None:
        yield Event("broker-left", f"Broker {name} left", {"broker": _number(name)}, alarming=True)
        return
    addresses = [f"{each.host}:{each.port}" for each in broker_ids.decode(change.after.data).endpoints]
    facts = {"broker": _number(name), "addresses": addresses}
    where = ", ".join(addresses)
    if change.before is None:
        yield Event("broker-joined", f"Broker {name} joined, at {where}", facts)
    elif change.before.czxid != change.after.czxid:
        yield Event("broker-joined", f"Broker {name} left and joined again, at {where}", facts)
    else:
        yield Event("broker-changed", f"Broker {name} registered anew, at {where}", facts)


def _number(name: str) -> int | str:
    return int(name) if name.isdecimal() else name


def _topic_changed(change: Change) -> Told:
    name = name_of(change.path)
    if change.after is None:
        yield Event("topic-deleted", f"Topic {name} was deleted", {"topic": name})
        return
    now = topics.decode(change.after.data).assignment
    if change.before is None:
        factor = max((len(each.replicas) for each in now.values()), default=0)
        facts = {"topic": name, "partitions": len(now), "replication_factor": factor}
        yield Event("topic-created", f"Topic {name} was created: {_count(len(now), 'partition')}, {_count(factor, 'replica')} of each", facts)
        return
    before = topics.decode(change.before.data).assignment
    if len(now) != len(before):
        facts = {"topic": name, "partitions": len(now), "before": len(before)}
        yield Event("partitions-added", f"Topic {name} has {_count(len(now), 'partition')} now, {len(before)} before", facts)
    for partition in sorted(set(now) & set(before)):
        yield from _reassigned(name, partition, before[partition], now[partition])


def _reassigned(topic: str, partition: int, before: topics.ReplicaAssignment, now: topics.ReplicaAssignment) -> Told:
    if before == now:
        return
    facts: dict[str, Any] = {"topic": topic, "partition": partition, "replicas": list(now.replicas)}
    if now.adding_replicas or now.removing_replicas:
        facts |= {"adding": list(now.adding_replicas), "removing": list(now.removing_replicas)}
        parts = [f"{verb} {_list(brokers)}" for verb, brokers in (("to", now.adding_replicas), ("from", now.removing_replicas)) if brokers]
        yield Event("reassignment-begun", f"{topic}-{partition} is being moved {', '.join(parts)}", facts)
    else:
        yield Event("reassignment-ended", f"{topic}-{partition} has its replicas on {_list(now.replicas)} now", facts)


def _state_changed(partition: tuple[str, int], change: Change) -> Told:
    if change.before is None or change.after is None:  # comes and goes with its topic, of which is told
        return
    name, number = partition
    before, now = partition_state.decode(change.before.data), partition_state.decode(change.after.data)
    facts: dict[str, Any] = {"topic": name, "partition": number}
    if now.leader != before.leader:
        yield _leader_changed(facts, before, now)
    if set(now.isr) != set(before.isr):
        yield from _isr_changed(facts, before, now)


def _leader_changed(facts: dict[str, Any], before: partition_state.TopicPartitionStateZNode, now: partition_state.TopicPartitionStateZNode) -> Event:
    name = f"{facts['topic']}-{facts['partition']}"
    facts = facts | {"leader": now.leader, "before": before.leader, "leader_epoch": now.leader_epoch}
    if now.leader == partition_state.NO_LEADER:
        return Event("leader-lost", f"{name} has no leader: broker {before.leader} led it", facts, alarming=True)
    if before.leader == partition_state.NO_LEADER:
        return Event("leader-moved", f"{name} has a leader again: broker {now.leader}", facts)
    return Event("leader-moved", f"Leader of {name} moved from broker {before.leader} to broker {now.leader}", facts)


def _isr_changed(facts: dict[str, Any], before: partition_state.TopicPartitionStateZNode, now: partition_state.TopicPartitionStateZNode) -> Told:
    name = f"{facts['topic']}-{facts['partition']}"
    gone, came = sorted(set(before.isr) - set(now.isr)), sorted(set(now.isr) - set(before.isr))
    facts = facts | {"isr": list(now.isr), "before": list(before.isr)}
    left = _list(now.isr, "broker")
    if gone:
        yield Event("isr-shrunk", f"ISR of {name} shrunk to {left}: {_list(gone, 'broker')} fell out", facts, alarming=True)
    if came:
        yield Event("isr-expanded", f"ISR of {name} expanded to {left}: {_list(came, 'broker')} came in", facts)


def _deletion_marked(change: Change) -> Told:
    name = name_of(change.path)
    if change.before is None:
        yield Event("topic-marked-for-deletion", f"Topic {name} is marked for deletion", {"topic": name})


def _config_changed(change: Change) -> Told:
    entity = ConfigEntity.parse(change.path.removeprefix("/config/"))
    if entity is None:
        return
    before = configs.decode(change.before.data) if change.before is not None else {}
    now = configs.decode(change.after.data) if change.after is not None else {}
    changed = {name: _shown(name, now.get(name)) for name in sorted({*before, *now}) if before.get(name) != now.get(name)}
    if not changed:
        return
    parts = [_setting(name, value, _shown(name, before.get(name))) for name, value in changed.items()]
    owner = _owner(entity)
    facts = {"entity_type": entity.entity_type, "entity": entity.plain_name, "client": entity.plain_client, "changed": changed}
    yield Event("config-changed", f"Config of {owner}: {', '.join(parts)}", facts)


def _owner(entity: ConfigEntity) -> str:
    kind = _ENTITY_NAMES[entity.entity_type]
    owner = f"all {kind}s by default" if entity.plain_name is None else f"{kind} {entity.plain_name}"
    return owner if entity.client is None else f"{owner} with client {entity.plain_client or '(any)'}"


def _shown(name: str, value: str | None) -> str | None:
    return None if value is None else secrets.MASK if secrets.NAMES.search(name) else value


def _setting(name: str, value: str | None, before: str | None) -> str:
    if value is None:
        return f"{name} removed (was {before})"
    return f"{name} = {value}" + ("" if before is None else f" (was {before})")


def _consumer_changed(change: Change, group: str, kind: str, first: str | None, second: str | None) -> Told:
    if kind == "ids" and first is not None and second is None:
        yield from _member_changed(change, group, first)
    elif kind == "owners" and first is not None and second is not None and change.mark is not Mark.REMOVED:
        assert change.after is not None
        owner = plain(change.after.data) or "nobody"
        facts = {"group": group, "topic": first, "partition": _number(second), "owner": owner}
        yield Event("partition-owned", f"Group {group}: {first}-{second} is read by {owner}", facts)


def _member_changed(change: Change, group: str, member: str) -> Told:
    facts: dict[str, Any] = {"group": group, "member": member}
    if change.after is None:
        yield Event("member-left", f"Group {group}: {member} left", facts)
        return
    subscription = sorted(consumers.decode_id(change.after.data).subscription)
    verb = "joined" if change.before is None else "subscribes anew"
    yield Event("member-joined", f"Group {group}: {member} {verb}, for {', '.join(subscription) or 'nothing'}", facts | {"subscription": subscription})


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _list(brokers: Iterable[int], noun: str = "broker") -> str:
    numbers = list(brokers)
    return f"{noun}{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}" if numbers else f"no {noun}"


_BY_PARENT: Final[dict[str, Callable[[Change], Told]]] = {
    f"{broker_ids.PATH}/": _broker_changed,
    f"{topics.PATH}/": _topic_changed,
    f"{delete_topics.PATH}/": _deletion_marked,
}
