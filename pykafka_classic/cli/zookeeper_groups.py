"""What the offset tools of Kafka 0.8 share: groups that keep their members, owners and offsets in ZooKeeper, and the cluster behind it."""

from __future__ import annotations

from collections.abc import Iterable

from pykafka_classic.cli.broker_session import open_admin
from pykafka_classic.cli.command import CommandFailed
from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
from pykafka_classic.client.admin.offsets import LATEST
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.admin import Admin
from zk_schema import broker_ids, consumers, topics
from zk_schema.broker_ids import SecurityProtocol
from zk_schema.errors import MalformedZNode

__all__ = ["LATEST", "admin_of", "broker_addresses", "group_offset", "partitions_of", "topics_with_offsets"]


def broker_addresses(zk: ZooKeeperSession) -> dict[int, tuple[str, int]]:
    """Host and port of the registered brokers' plaintext listeners, by id."""
    ids = sorted(int(child) for child in zk.children(broker_ids.PATH))
    found = {}
    for broker, result in zip(ids, zk.data_of(map(broker_ids.path, ids)), strict=True):
        endpoints = broker_ids.decode(result.data).endpoints if result.ok else ()
        plain = next((each for each in endpoints if each.security_protocol is SecurityProtocol.PLAINTEXT), None)
        if plain is not None:
            found[broker] = (plain.host, plain.port)
    return found


def admin_of(zk: ZooKeeperSession) -> Admin:
    """An admin client of the cluster behind this ZooKeeper. CommandFailed where it has no broker."""
    addresses = broker_addresses(zk)
    if not addresses:
        raise CommandFailed(f"No broker is registered in ZooKeeper at {zk.connect}.")
    return open_admin(",".join(f"{host}:{port}" for host, port in addresses.values()))


def partitions_of(zk: ZooKeeperSession, names: Iterable[str]) -> dict[str, list[TopicPartition]]:
    """By topic, the partitions; topics that are not there are left out."""
    wanted = list(names)
    found = zip(wanted, zk.data_of(map(topics.path, wanted)), strict=True)
    return {name: [TopicPartition(name, number) for number in sorted(topics.decode(result.data).assignment)] for name, result in found if result.ok}


def topics_with_offsets(zk: ZooKeeperSession, group: str) -> list[str]:
    """Topics in which a group has come somewhere."""
    return sorted(zk.children(consumers.offsets_parent_path(group)))


def group_offset(zk: ZooKeeperSession, group: str, partition: TopicPartition) -> int | None:
    """How far the group has come; None where nothing is stored, or it is no offset."""
    data = zk.data(consumers.offset_path(group, *partition))
    try:
        return None if data is None else consumers.decode_offset(data)
    except MalformedZNode:
        return None
