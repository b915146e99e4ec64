"""How replicas follow, who counts as in sync, and how leadership moves."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.common.config_def import ConfigType, Importance, at_least, key

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
BOOLEAN, INT, LONG, STRING = ConfigType.BOOLEAN, ConfigType.INT, ConfigType.LONG, ConfigType.STRING


@dataclass(frozen=True, kw_only=True)
class ReplicationKeys:
    """Followers, the ISR, elections, controlled shutdown, purgatories."""

    min_insync_replicas: int = key(
        INT, 1, HIGH, "With acks=all: replicas that must be in sync, the leader among them, for a write to be accepted.", at_least(1)
    )
    unclean_leader_election_enable: bool = key(BOOLEAN, False, HIGH, "Whether a replica out of sync may lead when no other is left. It loses records.")
    replica_lag_time_max_ms: int = key(LONG, 30000, HIGH, "A follower that has not reached the leader's end for this long, in ms, leaves the ISR.")
    replica_socket_timeout_ms: int = key(INT, 30000, HIGH, "Time-out of a follower's requests, in ms; at least replica.fetch.wait.max.ms.")
    replica_socket_receive_buffer_bytes: int = key(INT, 65536, HIGH, "SO_RCVBUF of a follower's connections, in bytes.")
    replica_fetch_max_bytes: int = key(INT, 1048576, MEDIUM, "Bytes that a follower asks for per partition. A longer batch is given all the same.", at_least(0))
    replica_fetch_wait_max_ms: int = key(
        INT, 500, HIGH, "How long, in ms, a follower's Fetch waits for replica.fetch.min.bytes; not above replica.lag.time.max.ms."
    )
    replica_fetch_min_bytes: int = key(INT, 1, HIGH, "Bytes that a follower's Fetch waits for.")
    replica_fetch_response_max_bytes: int = key(
        INT, 10485760, MEDIUM, "Bytes that a follower asks for in one answer. A longer batch is given all the same.", at_least(0)
    )
    replica_fetch_backoff_ms: int = key(INT, 1000, MEDIUM, "Pause, in ms, of a partition after its fetch failed.", at_least(0))
    num_replica_fetchers: int = key(INT, 1, HIGH, "Fetch loops per source broker; its partitions are shared out among them.")
    replica_high_watermark_checkpoint_interval_ms: int = key(LONG, 5000, HIGH, "Time, in ms, between two writes of the high watermarks.")
    replica_selector_class: str | None = key(
        STRING, None, MEDIUM, "Which replica a consumer should read (KIP-392); unset: the leader. Kafka's RackAwareReplicaSelector is known by name."
    )
    fetch_purgatory_purge_interval_requests: int = key(
        INT, 1000, MEDIUM, "Completed Fetch requests that may stay in the purgatory's lists before they are swept."
    )
    producer_purgatory_purge_interval_requests: int = key(INT, 1000, MEDIUM, "The same for Produce requests.")
    delete_records_purgatory_purge_interval_requests: int = key(INT, 1, MEDIUM, "The same for DeleteRecords requests.")
    controller_socket_timeout_ms: int = key(INT, 30000, MEDIUM, "Time-out, in ms, of the controller's requests to brokers.")
    auto_leader_rebalance_enable: bool = key(BOOLEAN, True, HIGH, "Whether the controller gives leadership back to preferred replicas.")
    leader_imbalance_per_broker_percentage: int = key(INT, 10, HIGH, "Percentage of a broker's preferred partitions that others may lead before that happens.")
    leader_imbalance_check_interval_seconds: int = key(LONG, 300, HIGH, "Time, in seconds, between two such looks.")
    controlled_shutdown_enable: bool = key(BOOLEAN, True, MEDIUM, "Whether a stopping broker first hands over what it leads.")
    controlled_shutdown_max_retries: int = key(INT, 3, MEDIUM, "Attempts at that.")
    controlled_shutdown_retry_backoff_ms: int = key(LONG, 5000, MEDIUM, "Pause, in ms, between those attempts.")
