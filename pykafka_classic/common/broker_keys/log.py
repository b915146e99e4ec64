"""Where records are kept, how long, and how they reach the disk. Topics override most of these: see `common/log_config.py`."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.common.config_def import ConfigType, Importance, KafkaVersion, at_least, key, one_of

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
BOOLEAN, INT, LONG, DOUBLE = ConfigType.BOOLEAN, ConfigType.INT, ConfigType.LONG, ConfigType.DOUBLE
STRING, LIST = ConfigType.STRING, ConfigType.LIST
LONG_MAX = 9223372036854775807


@dataclass(frozen=True, kw_only=True)
class LogKeys:
    """Directories, segments, retention, indexes, flushes."""

    log_dir: str = key(STRING, "/tmp/kafka-logs", HIGH, "Directory of the data, where log.dirs is unset.")
    log_dirs: str | None = key(STRING, None, HIGH, "Directories of the data, separated by commas: one per disk. A partition lies wholly in one.")
    log_segment_bytes: int = key(
        INT, 1073741824, HIGH, "A segment file is closed, and a new one begun, when it would grow beyond this, in bytes.", at_least(14)
    )
    log_roll_ms: int | None = key(LONG, None, HIGH, "Age, in ms, at which a segment is closed even if not full; unset: log.roll.hours.")
    log_roll_hours: int = key(INT, 168, HIGH, "The same in hours.", at_least(1))
    log_roll_jitter_ms: int | None = key(
        LONG, None, HIGH, "Random part taken off that age, in ms, so that not all close at once; unset: log.roll.jitter.hours."
    )
    log_roll_jitter_hours: int = key(INT, 0, HIGH, "The same in hours.", at_least(0))
    log_retention_ms: int | None = key(LONG, None, HIGH, "Age, in ms, at which a closed segment is deleted, -1: never; unset: log.retention.minutes.")
    log_retention_minutes: int | None = key(INT, None, HIGH, "The same in minutes; unset: log.retention.hours.")
    log_retention_hours: int = key(INT, 168, HIGH, "The same in hours.")
    log_retention_bytes: int = key(LONG, -1, HIGH, "Size of a partition, in bytes, above which its oldest segments are deleted; -1: no limit.")
    log_retention_check_interval_ms: int = key(LONG, 300000, MEDIUM, "Time, in ms, between two looks for segments to delete.", at_least(1))
    log_cleanup_policy: tuple[str, ...] = key(
        LIST,
        ("delete",),
        MEDIUM,
        "What becomes of old segments: delete them by age and size, compact them to the last value of each key, or both.",
        one_of("compact", "delete"),
    )
    log_index_size_max_bytes: int = key(INT, 10485760, MEDIUM, "Size, in bytes, that an index file is given in advance.", at_least(4))
    log_index_interval_bytes: int = key(INT, 4096, MEDIUM, "Bytes of records from one index entry to the next.", at_least(0))
    log_flush_interval_messages: int = key(LONG, LONG_MAX, HIGH, "Records in a partition after which it is synced to disk.", at_least(1))
    log_flush_interval_ms: int | None = key(
        LONG, None, HIGH, "Age, in ms, of the oldest unsynced record at which a partition is synced; unset: log.flush.scheduler.interval.ms."
    )
    log_flush_scheduler_interval_ms: int = key(LONG, LONG_MAX, HIGH, "Time, in ms, between two looks for partitions to sync.")
    log_flush_offset_checkpoint_interval_ms: int = key(INT, 60000, HIGH, "Time, in ms, between two writes of the recovery points.", at_least(0))
    log_flush_start_offset_checkpoint_interval_ms: int = key(INT, 60000, HIGH, "Time, in ms, between two writes of the log start offsets.", at_least(0))
    log_segment_delete_delay_ms: int = key(LONG, 60000, HIGH, "Time, in ms, from renaming a file to .deleted to removing it.", at_least(0))
    log_preallocate: bool = key(BOOLEAN, False, MEDIUM, "Whether a segment gets its full size on disk at once.")
    num_recovery_threads_per_data_dir: int = key(INT, 1, HIGH, "Threads per directory that recover logs at start and flush them at stop.", at_least(1))
    log_message_format_version: str = key(
        STRING, "2.8-IV1", MEDIUM, "Version of Kafka whose record format is written; keep it at that of the oldest consumers.", KafkaVersion()
    )
    log_message_timestamp_type: str = key(
        STRING, "CreateTime", MEDIUM, "Whose clock stamps records: the producer's or the broker's.", one_of("CreateTime", "LogAppendTime")
    )
    log_message_timestamp_difference_max_ms: int = key(
        LONG, LONG_MAX, MEDIUM, "How far, in ms, a producer's timestamp may be from the broker's time; others are refused. Not with LogAppendTime."
    )
    log_message_downconversion_enable: bool = key(BOOLEAN, True, LOW, "Whether records are rewritten for consumers that are too old for their format.")


@dataclass(frozen=True, kw_only=True)
class LogCleanerKeys:
    """Compaction: keep the last value of each key."""

    log_cleaner_enable: bool = key(BOOLEAN, True, MEDIUM, "Whether to compact at all. Without it __consumer_offsets grows for ever.")
    log_cleaner_threads: int = key(INT, 1, MEDIUM, "Partitions compacted at the same time.", at_least(0))
    log_cleaner_io_max_bytes_per_second: float = key(DOUBLE, 1.7976931348623157e308, MEDIUM, "Bytes per second that cleaning may read and write together.")
    log_cleaner_dedupe_buffer_size: int = key(
        LONG, 134217728, MEDIUM, "Memory, in bytes, for the keys' last offsets, shared by all cleaner threads. Above 1 MiB per thread."
    )
    log_cleaner_io_buffer_size: int = key(INT, 524288, MEDIUM, "Memory, in bytes, for reading and writing, shared by all cleaner threads.", at_least(0))
    log_cleaner_io_buffer_load_factor: float = key(
        DOUBLE, 0.9, MEDIUM, "Part of the dedupe buffer that may be filled, 0 to 1. More keys in one pass, more collisions."
    )
    log_cleaner_backoff_ms: int = key(LONG, 15000, MEDIUM, "Pause, in ms, when nothing needs cleaning.", at_least(0))
    log_cleaner_min_cleanable_ratio: float = key(DOUBLE, 0.5, MEDIUM, "Part of a log that must be uncleaned, 0 to 1, before it is worth a pass.")
    log_cleaner_delete_retention_ms: int = key(LONG, 86400000, MEDIUM, "How long, in ms, a tombstone stays for readers to see it.")
    log_cleaner_min_compaction_lag_ms: int = key(LONG, 0, MEDIUM, "Age, in ms, below which records are left as they are.")
    log_cleaner_max_compaction_lag_ms: int = key(LONG, LONG_MAX, MEDIUM, "Age, in ms, at which records must be compacted whatever the ratio is.")
