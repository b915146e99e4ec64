"""Figures of the producer's perf test: rates of a window and of the whole, latencies by percentile. No I/O, no clock.

Source: 2.8 ProducerPerformance.java (Stats).
"""

from __future__ import annotations

from typing import Final

MB: Final = 1024 * 1024
WINDOW_MS: Final = 5_000
SAMPLES_MAX: Final = 500_000


class Statistics:
    """Latencies and sizes of records that were acknowledged.

    Args:
        count: how many there will be: of so many that they would fill the memory, only every nth latency is kept.
        now_ms: the beginning.
    """

    def __init__(self, count: int, now_ms: float) -> None:
        self._began_ms = self._window_began_ms = now_ms
        self._every = count // min(count, SAMPLES_MAX) if count else 1
        self._latencies: list[int] = []
        self._count = self._bytes = self._total_ms = self._max_ms = 0
        self._window = [0, 0, 0, 0]  # records, bytes, sum and maximum of latencies

    def add(self, latency_ms: int, size: int, now_ms: float) -> str | None:
        """One record; a line to print where a window has ended."""
        if self._count % self._every == 0:
            self._latencies.append(latency_ms)
        self._count += 1
        self._bytes += size
        self._total_ms += latency_ms
        self._max_ms = max(self._max_ms, latency_ms)
        records, size_sum, total, highest = self._window
        self._window = [records + 1, size_sum + size, total + latency_ms, max(highest, latency_ms)]
        return self._end_window(now_ms) if now_ms - self._window_began_ms >= WINDOW_MS else None

    def _end_window(self, now_ms: float) -> str:
        records, size, total, highest = self._window
        elapsed_s = (now_ms - self._window_began_ms) / 1000
        self._window, self._window_began_ms = [0, 0, 0, 0], now_ms
        return (
            f"{records} records sent, {records / elapsed_s:.1f} records/sec ({size / elapsed_s / MB:.2f} MB/sec), "
            f"{total / records:.1f} ms avg latency, {highest:.1f} ms max latency."
        )

    def total(self, now_ms: float) -> str:
        """The last line."""
        elapsed_s = max(now_ms - self._began_ms, 1) / 1000
        ordered = sorted(self._latencies) or [0]
        at = [ordered[min(int(part * len(ordered)), len(ordered) - 1)] for part in (0.5, 0.95, 0.99, 0.999)]
        return (
            f"{self._count} records sent, {self._count / elapsed_s:.6f} records/sec ({self._bytes / elapsed_s / MB:.2f} MB/sec), "
            f"{self._total_ms / max(self._count, 1):.2f} ms avg latency, {self._max_ms:.2f} ms max latency, "
            f"{at[0]} ms 50th, {at[1]} ms 95th, {at[2]} ms 99th, {at[3]} ms 99.9th."
        )
