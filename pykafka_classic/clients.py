"""Our own clients, ready to import.

    from pykafka_classic.clients import Admin, Consumer, Producer

`Producer`, `Consumer` and `Admin` wait; `TwistedProducer`, `TwistedConsumer` and `TwistedAdmin` run on a reactor and give Deferreds. One core stands behind
both. `GroupOffsets` sees a group's offsets in ZooKeeper and in Kafka, `ZooKeeperConsumer` is a member of a group of ZooKeeper's era.

What can go wrong: `KafkaError` (a broker's error code), `NoBrokers`, `ClientTimeout`, `ClientClosed`, `InvalidSetting`; for consumers also `NoOffset`,
`LogTruncated`, `CommitFailed`, `RebalanceInProgress`, `IllegalState`. Every text is for the user. Examples: docs/clients.md.
"""

from __future__ import annotations

from pykafka_classic.client.admin.configs import ConfigResource
from pykafka_classic.client.admin.scram import ScramDeletion, ScramUpsertion
from pykafka_classic.client.admin.topics import NewPartitions, NewTopic
from pykafka_classic.client.client_errors import ClientClosed, ClientTimeout, IllegalState, InvalidSetting, NoBrokers, UnsupportedByBrokers
from pykafka_classic.client.consuming.consumer_errors import CommitFailed, LogTruncated, NoOffset, RebalanceInProgress
from pykafka_classic.client.fetched_records import ConsumerRecord
from pykafka_classic.client.group_metadata import GroupMetadata
from pykafka_classic.client.group_offsets.values import Store
from pykafka_classic.client.offset_and_metadata import OffsetAndMetadata
from pykafka_classic.client.producing.delivery import RecordMetadata
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.admin import Admin
from pykafka_classic.edges.clients.consumer import Consumer
from pykafka_classic.edges.clients.producer import Producer
from pykafka_classic.edges.clients.twisted_consumer import TwistedConsumer
from pykafka_classic.edges.clients.twisted_producer import TwistedProducer
from pykafka_classic.edges.group_offsets import GroupOffsets
from pykafka_classic.edges.twisted_admin import TwistedAdmin
from pykafka_classic.edges.zookeeper_consumer import ZooKeeperConsumer

__all__ = [
    "Admin",
    "ClientClosed",
    "ClientTimeout",
    "CommitFailed",
    "ConfigResource",
    "Consumer",
    "ConsumerRecord",
    "ErrorCode",
    "GroupMetadata",
    "GroupOffsets",
    "IllegalState",
    "InvalidSetting",
    "KafkaError",
    "LogTruncated",
    "NewPartitions",
    "NewTopic",
    "NoBrokers",
    "NoOffset",
    "OffsetAndMetadata",
    "Producer",
    "RebalanceInProgress",
    "RecordMetadata",
    "ScramDeletion",
    "ScramUpsertion",
    "Store",
    "TopicPartition",
    "TwistedAdmin",
    "TwistedConsumer",
    "TwistedProducer",
    "UnsupportedByBrokers",
    "ZooKeeperConsumer",
]
