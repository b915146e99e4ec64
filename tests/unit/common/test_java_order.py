"""The order in which Java's maps are walked, compared with what Apache's tools wrote or printed (tests/golden/data/cli, and a znode of kafka-configs 2.8.2)."""

from __future__ import annotations

from pykafka_classic.common.java import hash_map_order, properties_order


def test_a_hash_map_of_three_and_a_small_one() -> None:
    assert hash_map_order(["retention.ms", "flush.messages", "cleanup.policy"]) == ["cleanup.policy", "retention.ms", "flush.messages"]
    assert hash_map_order(["producer_byte_rate", "consumer_byte_rate"], capacity=2) == ["consumer_byte_rate", "producer_byte_rate"]


def test_properties_put_one_by_one_are_in_the_order_of_a_hash_map() -> None:
    assert properties_order(["retention.ms", "flush.messages", "cleanup.policy"]) == ["cleanup.policy", "retention.ms", "flush.messages"]


def test_six_properties_put_at_once_find_twice_the_room() -> None:
    six = ["retention.ms", "cleanup.policy", "flush.messages", "segment.bytes", "max.message.bytes", "min.insync.replicas"]
    assert properties_order([], six).index("max.message.bytes") < properties_order([], six).index("cleanup.policy")
    assert properties_order(six).index("max.message.bytes") > properties_order(six).index("cleanup.policy")
