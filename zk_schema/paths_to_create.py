"""The nodes that every broker creates, with their parents, when it starts; those that exist are left alone.

All are persistent and have null data. In the order in which Kafka 2.8.2 was seen to create them. Under a chroot (`zookeeper.connect=host:2181/kafka`), the
chroot comes first.

Source: PersistentZkPaths in 2.8:core/src/main/scala/kafka/zk/ZkData.scala.
"""

from __future__ import annotations

from typing import Final

from zk_schema import (
    broker_ids,
    broker_seqid,
    config_changes,
    configs,
    consumers,
    delete_topics,
    isr_change_notification,
    log_dir_event_notification,
    producer_id_block,
    topics,
)

PERSISTENT_PATHS: Final = (
    consumers.PATH,
    broker_ids.PATH,
    topics.PATH,
    config_changes.PATH,
    delete_topics.PATH,
    broker_seqid.PATH,
    isr_change_notification.PATH,
    producer_id_block.PATH,
    log_dir_event_notification.PATH,
    *(configs.type_path(entity_type) for entity_type in configs.ENTITY_TYPES),
)


def with_parents(paths: tuple[str, ...] = PERSISTENT_PATHS) -> list[str]:
    """Every node on the way to these, each once, parents first."""
    found: dict[str, None] = {}
    for path in paths:
        parts = path.split("/")
        found |= {"/".join(parts[:count]): None for count in range(2, len(parts) + 1)}
    return list(found)
