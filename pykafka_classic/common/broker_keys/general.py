"""Who the broker is and what every part of it shares: ids, message size, topics made by themselves, thread counts."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.common.config_def import ConfigType, Importance, KafkaVersion, at_least, key, one_of

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
BOOLEAN, INT, LONG, STRING, CLASS = ConfigType.BOOLEAN, ConfigType.INT, ConfigType.LONG, ConfigType.STRING, ConfigType.CLASS


@dataclass(frozen=True, kw_only=True)
class GeneralKeys:
    """Identity, limits shared by all requests, versions, topic defaults."""

    broker_id: int = key(INT, -1, HIGH, "Number of this broker in the cluster, unique. -1: ZooKeeper hands out one above reserved.broker.max.id.")
    broker_id_generation_enable: bool = key(BOOLEAN, True, MEDIUM, "Whether a broker without broker.id gets one from ZooKeeper.")
    reserved_broker_max_id: int = key(INT, 1000, MEDIUM, "Highest id that people may choose; generated ids start above it.", at_least(0))
    broker_rack: str | None = key(
        STRING, None, MEDIUM, "Name of the rack or zone. Replicas of a partition are spread over racks; consumers may fetch from their own."
    )
    message_max_bytes: int = key(
        INT, 1048588, HIGH, "Largest record batch that is accepted, in bytes, as compressed. Topics may differ: max.message.bytes.", at_least(0)
    )
    num_partitions: int = key(INT, 1, MEDIUM, "Partitions of a topic that is created without saying how many.", at_least(1))
    default_replication_factor: int = key(INT, 1, MEDIUM, "Replicas of a topic that is created by itself or without saying how many.")
    auto_create_topics_enable: bool = key(BOOLEAN, True, HIGH, "Whether a Metadata request of a producer may create the topic it names.")
    delete_topic_enable: bool = key(BOOLEAN, True, HIGH, "Whether topics can be deleted. If not, a deletion asked for in ZooKeeper is dropped.")
    compression_type: str = key(
        STRING,
        "producer",
        HIGH,
        "How batches are compressed on disk: a codec to compress with, uncompressed for none, or producer to keep what came.",
        one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
    )
    inter_broker_protocol_version: str = key(
        STRING, "2.8-IV1", MEDIUM, "Version of Kafka whose protocol brokers speak among themselves. Raise it when the last broker is upgraded.", KafkaVersion()
    )
    create_topic_policy_class_name: str | None = key(CLASS, None, LOW, "Class that may refuse the creation of a topic.")
    alter_config_policy_class_name: str | None = key(CLASS, None, LOW, "Class that may refuse a change of configuration.")
    num_network_threads: int = key(
        INT, 3, HIGH, "Threads that Kafka gives to each listener's sockets. One reactor does it here; the value is only described.", at_least(1)
    )
    num_io_threads: int = key(INT, 8, HIGH, "Threads that Kafka gives to requests. One reactor does it here; the value is only described.", at_least(1))
    background_threads: int = key(INT, 10, HIGH, "Threads for work that would block the reactor: syncs, recovery, deletion, cleaning.", at_least(1))
    num_replica_alter_log_dirs_threads: int | None = key(INT, None, HIGH, "Movers of replicas between log directories; unset: one per directory.")
    queued_max_requests: int = key(INT, 500, HIGH, "Requests that may wait before the sockets are read no further.", at_least(1))
    queued_max_request_bytes: int = key(LONG, -1, MEDIUM, "Bytes of requests that may wait before the sockets are read no further; not positive: no limit.")
    request_timeout_ms: int = key(INT, 30000, HIGH, "How long the broker waits for an answer to a request of its own, in ms.")
    socket_connection_setup_timeout_ms: int = key(
        LONG, 10000, MEDIUM, "How long the broker waits for a connection of its own, in ms. Doubles with each failure."
    )
    socket_connection_setup_timeout_max_ms: int = key(LONG, 30000, MEDIUM, "Where that doubling ends, in ms.")
