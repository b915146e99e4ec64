"""How long the record code takes: `python tools/bench/records.py`. Microseconds per batch, best of several rounds, on one thread."""

from __future__ import annotations

import os
import timeit
from collections.abc import Callable

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.append_checks import AppendContext, AppendRules, analyze_records
from pykafka_classic.log.log_validator import validate_append
from pykafka_classic.records.compression import CompressionType
from pykafka_classic.records.record import Record
from pykafka_classic.records.record_batch import build_batch, iterate_batches

ROUNDS = 7
SHAPES = ((1000, 16), (100, 145))  # bytes per value, records per batch: about 16 KB, a producer's default batch.size
RULES = AppendRules(TopicPartition("bench", 0))
COMPACTED = AppendRules(TopicPartition("bench", 0), compacted=True)
CONTEXT = AppendContext(1000, 1_600_000_100_000, 7)


def microseconds(work: Callable[[], object]) -> float:
    """The shortest time that one call takes."""
    number = max(1, int(0.02 / min(timeit.repeat(work, number=1, repeat=3))))
    return min(timeit.repeat(work, number=number, repeat=ROUNDS)) / number * 1e6


def records_of(size: int, count: int) -> list[Record]:
    """Records of half random, half repeated bytes, a few per millisecond."""
    noise = os.urandom(size // 2)
    return [Record(index, 1_600_000_000_000 + index // 10, b"key", noise[index % 7 :] + b"x" * (size - size // 2 + index % 7)) for index in range(count)]


def bench(size: int, count: int, codec: CompressionType) -> None:
    """One line of figures for one shape and codec."""
    records = records_of(size, count)
    data = build_batch(records, codec=codec)
    figures = {
        "headers and crc": lambda: analyze_records(data, RULES, CONTEXT.origin),
        "append": lambda: validate_append(data, RULES, CONTEXT),
        "append, compacted": lambda: validate_append(data, COMPACTED, CONTEXT),
        "decode": lambda: [batch.records() for batch in iterate_batches(data)],
        "build": lambda: build_batch(records, codec=codec),
    }
    cells = "  ".join(f"{name} {microseconds(work):8.1f}" for name, work in figures.items())
    print(f"{count:4} x {size:4} B, {codec.label:6} {len(data):6} B: {cells}")


def main() -> None:
    """All shapes with all codecs."""
    for size, count in SHAPES:
        for codec in CompressionType:
            bench(size, count, codec)


if __name__ == "__main__":
    main()
