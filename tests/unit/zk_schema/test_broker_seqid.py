"""The counter of generated broker ids. Expected values: BrokerSequenceIdZNode in 2.8:core/src/main/scala/kafka/zk/ZkData.scala."""

from __future__ import annotations

from zk_schema import broker_seqid, family_of


def test_counter_is_a_node_without_data_that_is_made_in_advance() -> None:
    family = family_of(broker_seqid.PATH)
    assert family is not None
    assert (family.pattern, family.codec, broker_seqid.EMPTY) == ("/brokers/seqid", None, b"")
