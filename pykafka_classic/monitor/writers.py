"""Which of our functions writes which znode, and where that is explained: for links from what was seen in ZooKeeper into the code. Pure.

Apache's brokers write the same nodes; the function is then our counterpart of theirs.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Writer(NamedTuple):
    """`code`: module and function, below pykafka_classic; `page`: of docs/. Both empty: nothing of ours writes it."""

    code: str
    page: str


NONE: Final = Writer("", "")

WRITERS: Final = tuple(
    (re.compile(pattern), Writer(code, page))
    for pattern, code, page in (
        (r"/brokers/ids/[^/]+", "server/broker_registration.py:BrokerRegistration._register", "zookeeper.md"),
        (r"/brokers/seqid", "server/identity.py:_next_sequence_id", "zookeeper.md"),
        (r"/controller(_epoch)?", "controller/zk_client.py:ControllerZkClient.register_controller_and_increment_epoch", "controller.md"),
        (r"/brokers/topics/[^/]+", "server/topic_admin.py:TopicAdmin._create_topic", "zookeeper.md"),
        (r"/brokers/topics/[^/]+/partitions/\d+/state", "controller/zk_partition_states.py:PartitionStates.update", "controller.md"),
        (r"/brokers/topics/[^/]+/partitions(/\d+)?", "controller/zk_partition_states.py:PartitionStates.create", "controller.md"),
        (r"/admin/delete_topics/[^/]+", "server/topic_admin.py:TopicAdmin._mark_for_deletion", "controller.md"),
        (r"/admin/reassign_partitions", "controller/zk_notifications.py:ZkNotifications.write_reassignment", "controller.md"),
        (r"/isr_change_notification/.+", "server/isr_manager.py:ZkIsrManager._publish", "zookeeper.md"),
        (r"/log_dir_event_notification/.+", "kafka_server.py:KafkaServer._log_dir_failed", "recovery.md"),
        (r"/config/.+", "server/config_admin.py:write_config", "zookeeper.md"),
        (r"/latest_producer_id_block", "server/producer_id_manager.py:ProducerIdManager._claim_in_one_session", "zookeeper.md"),
        (r"/feature", "controller/feature_versioning.py:FeatureVersioning.setup", "zookeeper.md"),
        (r"/cluster/id", "server/identity.py:get_or_create_cluster_id", "zookeeper.md"),
        (r"/consumers/[^/]+/ids/[^/]+", "client/zookeeper_group.py:ZooKeeperGroup.register", "groups.md"),
        (r"/consumers/[^/]+/owners/[^/]+/\d+", "client/zookeeper_group.py:ZooKeeperGroup.claim", "groups.md"),
        (r"/consumers/[^/]+/offsets/[^/]+/\d+", "client/offset_storage.py:ZooKeeperOffsets.commit", "groups.md"),
    )
)


def writer_of(path: str) -> Writer:
    """Who writes a node."""
    return next((writer for pattern, writer in WRITERS if pattern.fullmatch(path)), NONE)
