"""What the tables of topics, brokers and groups hold: rows of plain values from what the clients tell. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pykafka_classic.cli.pkc.tables import Column, Row, duration
from pykafka_classic.client.group_offsets.values import Action, Migration, Store
from pykafka_classic.common.topic_partition import TopicPartition

if TYPE_CHECKING:
    from pykafka_classic.client.admin.cluster import ClusterDescription
    from pykafka_classic.client.admin.groups import GroupDescription, GroupListing
    from pykafka_classic.client.admin.topics import TopicDescription
    from pykafka_classic.client.group_offsets.values import GroupSnapshot, PartitionOffsets, Step, StoredOffset

_PLACES = {Store.ZOOKEEPER: "ZooKeeper", Store.KAFKA: "Kafka"}
TOPICS = (
    Column("topic"),
    Column("partitions"),
    Column("replicas"),
    Column("under_replicated", alarms=lambda row: row["under_replicated"] > 0),
    Column("without_leader", alarms=lambda row: row["without_leader"] > 0),
)
PARTITIONS = (
    Column("topic"),
    Column("partition"),
    Column("leader", alarms=lambda row: row["leader"] is None),
    Column("replicas"),
    Column("isr", alarms=lambda row: len(row["isr"]) < len(row["replicas"])),
    Column("first"),
    Column("next"),
    Column("records"),
)
BROKERS = (
    Column("broker"),
    Column("address"),
    Column("rack"),
    Column("controller"),
    Column("leads"),
    Column("replicas"),
    Column("out_of_sync", alarms=lambda row: row["out_of_sync"] > 0),
)
GROUPS = (Column("group"), Column("store"), Column("state"), Column("members"), Column("assignor"), Column("coordinator"))
MEMBERS = (Column("group"), Column("store"), Column("member"), Column("client"), Column("host"), Column("partitions"))
LAG = (
    Column("topic"),
    Column("partition"),
    Column("kafka"),
    Column("zookeeper"),
    Column("first"),
    Column("next"),
    Column("lag", alarms=lambda row: row["lag"] is None or row["lag"] > 0),
    Column("waiting_ms", "waiting", duration, alarms=lambda row: bool(row["waiting_ms"])),
    Column("note", alarms=lambda row: bool(row["note"])),
)

MIGRATION = (
    Column("topic"),
    Column("partition"),
    Column("from_offset", "from"),
    Column("to_offset", "to"),
    Column("action", alarms=lambda row: row["action"] == "failed"),
    Column("note", alarms=lambda row: row["action"] == "failed"),
)


def topic_row(topic: TopicDescription) -> Row:
    """A topic, in numbers."""
    return {
        "topic": topic.name,
        "partitions": len(topic.partitions),
        "replicas": max((len(each.replicas) for each in topic.partitions), default=0),
        "under_replicated": sum(len(each.isr) < len(each.replicas) for each in topic.partitions),
        "without_leader": sum(each.leader is None for each in topic.partitions),
        "internal": topic.is_internal,
    }


def partition_rows(topic: TopicDescription, first: Mapping[TopicPartition, int], following: Mapping[TopicPartition, int]) -> list[Row]:
    """A topic's partitions. `first` and `following`: the offsets of the first record and of the next one, where they are known."""
    rows: list[Row] = []
    for each in topic.partitions:
        name = TopicPartition(topic.name, each.partition)
        start, end = first.get(name), following.get(name)
        rows.append(
            {
                "topic": topic.name,
                "partition": each.partition,
                "leader": each.leader,
                "replicas": list(each.replicas),
                "isr": list(each.isr),
                "first": start,
                "next": end,
                "records": None if start is None or end is None else end - start,
            }
        )
    return rows


def broker_rows(cluster: ClusterDescription, topics: Iterable[TopicDescription]) -> list[Row]:
    """The brokers that are alive, and those that should be: somebody's replicas are there."""
    partitions = [each for topic in topics for each in topic.partitions]
    alive = {node.id: node for node in cluster.nodes}
    rows: list[Row] = []
    for number in sorted({*alive, *(replica for each in partitions for replica in each.replicas)}):
        node, held = alive.get(number), [each for each in partitions if number in each.replicas]
        rows.append(
            {
                "broker": number,
                "address": f"{node.host}:{node.port}" if node else "not alive",
                "rack": node.rack if node else None,
                "controller": cluster.controller is not None and cluster.controller.id == number,
                "leads": sum(each.leader == number for each in held),
                "replicas": len(held),
                "out_of_sync": sum(number not in each.isr for each in held),
            }
        )
    return rows


def kafka_group_row(listing: GroupListing, group: GroupDescription | None) -> Row:
    """A group that brokers coordinate; `group`: what its coordinator tells, if it does."""
    return {
        "group": listing.group_id,
        "store": "kafka",
        "state": group.state if group else listing.state or None,
        "members": len(group.members) if group else None,
        "assignor": group.protocol if group else None,
        "coordinator": group.coordinator.id if group else None,
    }


def zookeeper_group_row(name: str, members: Sequence[str]) -> Row:
    """A group in ZooKeeper: its members are those registered there; each of them runs the assignor by itself."""
    state = "Stable" if members else "Empty"
    return {"group": name, "store": "zookeeper", "state": state, "members": len(members), "assignor": None, "coordinator": None}


def kafka_member_rows(group: GroupDescription) -> list[Row]:
    """Who is in a group of the brokers'."""
    return [
        {
            "group": group.group_id,
            "store": "kafka",
            "member": each.member_id,
            "client": each.client_id,
            "host": each.host.removeprefix("/"),
            "partitions": [f"{partition.topic}-{partition.partition}" for partition in sorted(each.assignment)],
        }
        for each in group.members
    ]


def zookeeper_member_rows(group: str, members: Iterable[str], owners: Mapping[TopicPartition, str]) -> list[Row]:
    """Who is in a group of ZooKeeper's. Owners are threads: a member's id with a number behind it."""
    return [
        {
            "group": group,
            "store": "zookeeper",
            "member": member,
            "client": None,
            "host": None,
            "partitions": [f"{partition.topic}-{partition.partition}" for partition, owner in sorted(owners.items()) if owner.rpartition("-")[0] == member],
        }
        for member in sorted(members)
    ]


def lag_rows(snapshot: GroupSnapshot) -> list[Row]:
    """A group's partitions, with what both stores hold."""
    rows: list[Row] = [_lag_row(snapshot.group, partition, found) for partition, found in sorted(snapshot.partitions.items())]
    unreadable: list[Row] = [
        {**_lag_row(snapshot.group, partition, None), "note": f"ZooKeeper holds no offset: {why}"}
        for partition, why in sorted(snapshot.unreadable.items())
        if partition not in snapshot.partitions
    ]
    return rows + unreadable


def _lag_row(group: str, partition: TopicPartition, found: PartitionOffsets | None) -> dict[str, Any]:
    return {
        "group": group,
        "topic": partition.topic,
        "partition": partition.partition,
        "kafka": _offset(found.kafka) if found else None,
        "zookeeper": _offset(found.zookeeper) if found else None,
        "current": found.current if found else None,
        "first": found.log_start if found else None,
        "next": found.log_end if found else None,
        "lag": found.lag if found else None,
        "waiting_ms": found.time_lag_ms if found else None,
        "note": _note(found) if found else "",
    }


def _offset(stored: StoredOffset | None) -> int | None:
    return stored.offset if stored else None


def _note(found: PartitionOffsets) -> str:
    if found.is_gone:
        return "the next record is gone"
    if found.log_end is None:
        return "no such partition"
    if found.kafka and found.zookeeper and found.kafka.offset != found.zookeeper.offset:
        return f"{found.newer.value} is newer" if found.newer else "the stores differ"
    return ""


def lag_summary(snapshot: GroupSnapshot) -> str:
    """One line below the table."""
    known = [each.lag for each in snapshot.partitions.values() if each.lag is not None]
    members = len({*snapshot.kafka_members, *snapshot.zookeeper_members})
    behind = f"{_count(sum(known), 'record')} behind" if known else "nothing committed"
    return f"{snapshot.group}: {behind}, {_count(len(snapshot.partitions), 'partition')}, {_count(members, 'member')}"


def migration_rows(done: Migration) -> list[Row]:
    """What became, or would become, of each partition: action `copy` (would be), `copied`, `failed` or `skip`, and why."""
    return [_migration_row(done, step) for step in done.steps]


def _migration_row(done: Migration, step: Step) -> Row:
    copies = step.action is Action.COPY
    return {
        "group": done.group,
        "source": done.source.value,
        "target": done.source.other.value,
        "dry_run": done.dry_run,
        "topic": step.partition.topic,
        "partition": step.partition.partition,
        "from_offset": _offset(step.source),
        "to_offset": _offset(step.before),
        "action": "failed" if copies and step.failed else ("copy" if done.dry_run else "copied") if copies else "skip",
        "note": step.failed or ("" if copies else step.action.value),
    }


def migration_summary(done: Migration) -> str:
    """One line below the table."""
    way = f"from {_PLACES[done.source]} to {_PLACES[done.source.other]}"
    if not done.steps:
        return f"{done.group}: {_PLACES[done.source]} holds no offset of it"
    carried = _count(len(done.copied), "offset")
    if done.dry_run:
        return f"{done.group}: {carried} would be carried {way}" + ("; --execute does it" if done.copied else "")
    return f"{done.group}: {carried} carried {way}"


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
