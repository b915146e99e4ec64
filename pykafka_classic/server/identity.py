"""Who this broker is: the cluster's id, and the broker's own, from ZooKeeper and from `meta.properties` in the log directories.

facts/coordination.md 2.1 (steps 3-5): the stored cluster id must be ZooKeeper's; all directories must agree on the broker id; a configured id must be the
stored one; with broker.id=-1 ZooKeeper gives one, above `reserved.broker.max.id`, so that generated ids never meet configured ones.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Mapping, Sequence

from pykafka_classic.common.clock import Random
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.zookeeper import Code, Create, SetData, ZooKeeper
from pykafka_classic.log.file_system import FileSystem
from pykafka_classic.log.meta_properties import MetaProperties, read_meta_properties
from pykafka_classic.server.zk_operations import create_persistent_paths, data_or_none, raise_unless, submit_one
from zk_schema import broker_seqid, cluster_id

log = logging.getLogger("kafka.server.KafkaServer")


class InconsistentIdentity(Exception):
    """What the disk says contradicts the config or ZooKeeper; the text says what and what to do."""


async def get_or_create_cluster_id(zk: ZooKeeper, random: Random) -> str:
    """The id in /cluster/id; the first broker of a cluster makes it up."""
    stored = await data_or_none(zk, cluster_id.PATH)
    if stored is None:
        await create_persistent_paths(zk, [cluster_id.PATH.rpartition("/")[0]])
        proposed = base64.urlsafe_b64encode(random.getrandbits(128).to_bytes(16, "big")).decode().rstrip("=")
        raise_unless(await submit_one(zk, Create(cluster_id.PATH, cluster_id.encode(proposed))), Code.NODE_EXISTS)
        stored = await data_or_none(zk, cluster_id.PATH)
        assert stored is not None, "nobody deletes /cluster/id"
    return cluster_id.decode(stored.data or b"")


def read_all_meta_properties(file_system: FileSystem, log_dirs: Sequence[str]) -> dict[str, MetaProperties]:
    """By log directory, where there is one; a directory that can't be read is left for the log manager to take offline. Raises InvalidMetaProperties."""
    found = {}
    for log_dir in log_dirs:
        try:
            properties = read_meta_properties(file_system, log_dir)
        except OSError as error:
            log.error("Failed to read meta.properties in log dir %s: %s", log_dir, error)
            continue
        if properties is not None:
            found[log_dir] = properties
    return found


def check_cluster_id(stored: Mapping[str, MetaProperties], expected: str) -> None:
    """Refuse to serve another cluster's data; `stored` is by log directory."""
    for directory, properties in stored.items():
        if properties.cluster_id is not None and properties.cluster_id != expected:
            raise InconsistentIdentity(
                f"The Cluster ID {expected} doesn't match stored clusterId {properties.cluster_id} in {directory}/meta.properties. The broker is trying"
                " to join the wrong cluster. Configured zookeeper.connect may be wrong."
            )


async def resolve_broker_id(config: KafkaConfig, stored: Mapping[str, MetaProperties], zk: ZooKeeper) -> int:
    """The configured id, the stored one, or a new one from /brokers/seqid."""
    ids = {properties.broker_id for properties in stored.values() if properties.broker_id >= 0}
    if len(ids) > 1:
        raise InconsistentIdentity(f"The log directories hold meta.properties of different brokers: {sorted(ids)}. One of log.dirs belongs to another broker.")
    kept = next(iter(ids), None)
    if config.broker_id >= 0:
        if kept not in (None, config.broker_id):
            raise InconsistentIdentity(
                f"Configured broker.id {config.broker_id} doesn't match stored broker.id {kept} in meta.properties. If you moved your data, make sure your"
                f" configured broker.id matches. If you intend to create a new broker, you should remove all data in your data directories ({config.log_dirs})."
            )
        return config.broker_id
    if kept is not None:
        return kept
    if not config.broker_id_generation_enable:
        raise InconsistentIdentity("broker.id is not set and broker.id.generation.enable is false: set broker.id")
    generated = await _next_sequence_id(zk) + config.reserved_broker_max_id
    log.info("Generated broker id %d", generated)
    return generated


async def _next_sequence_id(zk: ZooKeeper) -> int:
    """Writing the empty node raises its version, which is the sequence (first: 1)."""
    result = await submit_one(zk, SetData(broker_seqid.PATH, broker_seqid.EMPTY))
    if result.code is Code.NO_NODE:
        await create_persistent_paths(zk, [broker_seqid.PATH])
        result = await submit_one(zk, SetData(broker_seqid.PATH, broker_seqid.EMPTY))
    raise_unless(result)
    assert result.stat is not None
    return result.stat.version
