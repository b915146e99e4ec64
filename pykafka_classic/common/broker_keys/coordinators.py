"""Consumer groups and transactions: the two coordinators and the topics in which they keep their state."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.common.config_def import ConfigType, Importance, at_least, key

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
INT, LONG, SHORT = ConfigType.INT, ConfigType.LONG, ConfigType.SHORT
INT_MAX = 2147483647


@dataclass(frozen=True, kw_only=True)
class GroupCoordinatorKeys:
    """Members' time-outs, committed offsets, __consumer_offsets."""

    group_min_session_timeout_ms: int = key(INT, 6000, MEDIUM, "Shortest session time-out, in ms, that a member may ask for.")
    group_max_session_timeout_ms: int = key(INT, 1800000, MEDIUM, "Longest session time-out, in ms, that a member may ask for.")
    group_initial_rebalance_delay_ms: int = key(INT, 3000, MEDIUM, "How long, in ms, an empty group waits for more members before its first rebalance.")
    group_max_size: int = key(INT, INT_MAX, MEDIUM, "Members that a group may have.", at_least(1))
    offset_metadata_max_bytes: int = key(INT, 4096, HIGH, "Longest text, in bytes, that may go with a committed offset.")
    offsets_load_buffer_size: int = key(
        INT, 5242880, HIGH, "Bytes read at a time when a coordinator loads a partition. A longer batch is read all the same.", at_least(1)
    )
    offsets_topic_replication_factor: int = key(SHORT, 3, HIGH, "Replicas of __consumer_offsets. It is not created before so many brokers live.", at_least(1))
    offsets_topic_num_partitions: int = key(INT, 50, HIGH, "Partitions of __consumer_offsets. Never change it afterwards.", at_least(1))
    offsets_topic_segment_bytes: int = key(INT, 104857600, HIGH, "Segment size, in bytes, of __consumer_offsets; small for quick loading.", at_least(1))
    offsets_topic_compression_codec: int = key(INT, 0, HIGH, "Codec of __consumer_offsets: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.")
    offsets_retention_minutes: int = key(
        INT, 10080, HIGH, "Minutes that offsets stay after their group became empty (or, without a group, after the commit).", at_least(1)
    )
    offsets_retention_check_interval_ms: int = key(LONG, 600000, HIGH, "Time, in ms, between two looks for offsets that are too old.", at_least(1))
    offsets_commit_timeout_ms: int = key(INT, 5000, HIGH, "How long, in ms, a commit waits for its replicas.", at_least(1))
    offsets_commit_required_acks: int = key(SHORT, -1, HIGH, "Acks with which a commit is written; leave it at -1, all.")


@dataclass(frozen=True, kw_only=True)
class TransactionCoordinatorKeys:
    """Transactional ids, time-outs, __transaction_state."""

    transactional_id_expiration_ms: int = key(
        INT, 604800000, HIGH, "Silence, in ms, after which a transactional id, or an idempotent producer, is forgotten.", at_least(1)
    )
    transaction_max_timeout_ms: int = key(INT, 900000, HIGH, "Longest transaction time-out, in ms, that a producer may ask for.", at_least(1))
    transaction_state_log_replication_factor: int = key(
        SHORT, 3, HIGH, "Replicas of __transaction_state. It is not created before so many brokers live.", at_least(1)
    )
    transaction_state_log_min_isr: int = key(INT, 2, HIGH, "min.insync.replicas of __transaction_state.", at_least(1))
    transaction_state_log_num_partitions: int = key(INT, 50, HIGH, "Partitions of __transaction_state. Never change it afterwards.", at_least(1))
    transaction_state_log_segment_bytes: int = key(INT, 104857600, HIGH, "Segment size, in bytes, of __transaction_state.", at_least(1))
    transaction_state_log_load_buffer_size: int = key(INT, 5242880, HIGH, "Bytes read at a time when a coordinator loads a partition.", at_least(1))
    transaction_abort_timed_out_transaction_cleanup_interval_ms: int = key(
        INT, 10000, LOW, "Time, in ms, between two looks for transactions to abort.", at_least(1)
    )
    transaction_remove_expired_transaction_cleanup_interval_ms: int = key(
        INT, 3600000, LOW, "Time, in ms, between two looks for transactional ids to forget.", at_least(1)
    )
