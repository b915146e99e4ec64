"""What clients may take, and how it is measured."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.common.config_def import ConfigType, Importance, at_least, key

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
INT, LONG, STRING, LIST, CLASS = ConfigType.INT, ConfigType.LONG, ConfigType.STRING, ConfigType.LIST, ConfigType.CLASS
LONG_MAX = 9223372036854775807


@dataclass(frozen=True, kw_only=True)
class QuotaKeys:
    """Throttles: sizes of the windows over which rates are taken."""

    quota_producer_default: int = key(LONG, LONG_MAX, HIGH, "Old: bytes per second of a producer for which ZooKeeper holds no quota.", at_least(1))
    quota_consumer_default: int = key(LONG, LONG_MAX, HIGH, "Old: bytes per second of a consumer for which ZooKeeper holds no quota.", at_least(1))
    quota_window_num: int = key(INT, 11, LOW, "Windows kept for client quotas.", at_least(1))
    quota_window_size_seconds: int = key(INT, 1, LOW, "Length of each, in seconds.", at_least(1))
    replication_quota_window_num: int = key(INT, 11, LOW, "Windows kept for replication quotas.", at_least(1))
    replication_quota_window_size_seconds: int = key(INT, 1, LOW, "Length of each, in seconds.", at_least(1))
    alter_log_dirs_replication_quota_window_num: int = key(INT, 11, LOW, "Windows kept for the quota of moves between log directories.", at_least(1))
    alter_log_dirs_replication_quota_window_size_seconds: int = key(INT, 1, LOW, "Length of each, in seconds.", at_least(1))
    controller_quota_window_num: int = key(INT, 11, LOW, "Windows kept for quotas on topic creation and deletion.", at_least(1))
    controller_quota_window_size_seconds: int = key(INT, 1, LOW, "Length of each, in seconds.", at_least(1))
    client_quota_callback_class: str | None = key(CLASS, None, LOW, "Class that decides which quota a request falls under.")


@dataclass(frozen=True, kw_only=True)
class MetricsKeys:
    """Sampling and reporters."""

    metrics_num_samples: int = key(INT, 2, LOW, "Samples kept to compute a metric.", at_least(1))
    metrics_sample_window_ms: int = key(LONG, 30000, LOW, "Length of a sample, in ms.", at_least(1))
    metrics_recording_level: str = key(STRING, "INFO", LOW, "Which metrics are recorded: INFO, DEBUG or TRACE.")
    metric_reporters: tuple[str, ...] = key(LIST, (), LOW, "Classes that are told of metrics.")
    kafka_metrics_reporters: tuple[str, ...] = key(LIST, (), LOW, "Classes that are told of the older metrics.")
    kafka_metrics_polling_interval_secs: int = key(INT, 10, LOW, "Time, in seconds, between two reports of the older metrics.", at_least(1))
