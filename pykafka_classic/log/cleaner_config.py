"""What compaction may use of a broker. Source: facts/storage.md 11; CleanerConfig.scala."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pykafka_classic.common.config import KafkaConfig

ENTRY_BYTES: Final = 200  # what a key and its offset take in a dict, for keys of up to 32 bytes


@dataclass(frozen=True, slots=True)
class CleanerConfig:
    """Limits. Times in ms."""

    threads: int = 1  # partitions compacted at the same time
    map_entries_max: int = 600_000  # keys remembered in one pass over one partition
    io_bytes_per_second: float = float("inf")  # of one pass
    backoff_ms: int = 15_000  # pause when nothing needs cleaning

    @staticmethod
    def of(config: KafkaConfig) -> CleanerConfig:
        """The broker's settings.

        Differs from Kafka: its hash table takes 24 bytes a key, a Python dict some 200, so the same `log.cleaner.dedupe.buffer.size` holds fewer keys; what
        does not fit is left to the next pass.
        """
        threads = max(config.log_cleaner_threads, 1)
        entries = int(config.log_cleaner_dedupe_buffer_size / threads * config.log_cleaner_io_buffer_load_factor / ENTRY_BYTES)
        return CleanerConfig(threads, max(entries, 1), config.log_cleaner_io_max_bytes_per_second / threads, config.log_cleaner_backoff_ms)
