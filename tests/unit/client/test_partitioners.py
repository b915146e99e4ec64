"""Where 0.8's producer puts keys of text."""

from __future__ import annotations

import random

from pykafka_classic.client.producing.partitioners import partitioner_of


def test_string_hash_is_javas_hash_of_the_key_without_its_sign() -> None:
    choice = partitioner_of("string_hash")("t", random.Random(1))
    choice.set_partitions(7, range(7))
    # String.hashCode, as Java computes it: of "hello" 99162322; of "polygenelubricants" the smallest int32, whose Utils.abs is 0; of "Aa" and "BB" 2112.
    assert choice.choose(b"hello", None) == 99_162_322 % 7
    assert choice.choose(b"polygenelubricants", None) == 0
    assert choice.choose(b"Aa", None) == choice.choose(b"BB", None) == 2_112 % 7


def test_string_hash_keeps_records_without_a_key_together() -> None:
    choice = partitioner_of("string_hash")("t", random.Random(1))
    choice.set_partitions(7, range(7))
    first = choice.choose(None, b"")
    choice.batch_filled(first)
    assert choice.choose(None, b"") == first
