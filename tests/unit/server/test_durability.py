"""What docs/durability.md promises, on disks that forget whatever was not synced when the power goes.

Every case: records are produced, some are acknowledged, then all brokers named lose their power at once, and what is in their logs afterwards is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.log.checkpoints import OffsetCheckpointFile
from pykafka_classic.records.record_batch import iterate_batches
from pykafka_classic.server.append_values import PartitionAppendResult
from tests.unit.server.replica_cluster import TP, ReplicaCluster, TestBroker

ALL = -1


def cluster_with(size: int, config: Mapping[str, str] | None = None, **properties: str) -> ReplicaCluster:
    keys = {name.replace("_", "."): value for name, value in properties.items()}
    cluster = ReplicaCluster(range(size), properties=keys, topic_configs={TP.topic: config or {}})
    cluster.create(list(range(size)))
    return cluster


def is_acknowledged(outcome: PartitionAppendResult | Promise[PartitionAppendResult]) -> bool:
    if isinstance(outcome, Promise):
        return outcome.settled and outcome.result().error == ErrorCode.NONE
    return outcome.error == ErrorCode.NONE


def lose_power(cluster: ReplicaCluster, broker_id: int) -> TestBroker:
    """All that was not synced is gone; the broker starts again on what is left."""
    broker = cluster.brokers.pop(broker_id)
    broker.replica_manager._stopped = True  # nothing of it may run on
    broker.replica_manager._fetchers.shutdown()
    broker.file_system.crash()
    return cluster.restart(broker_id, broker.file_system)


def values(broker: TestBroker) -> list[bytes | None]:
    log = broker.log_manager.get_log(TP)
    assert log is not None
    return [record.value for batch in iterate_batches(broker.file_system.read(log.active_segment.path(".log"))) for record in batch.records()]


@pytest.mark.parametrize("acks", [1, ALL])
def test_with_flush_messages_1_nothing_is_acknowledged_before_it_is_on_disk(acks: int) -> None:
    cluster = cluster_with(1, {"flush.messages": "1"})
    cluster[0].background.queued = True
    outcome = cluster[0].produce(b"one", acks=acks)
    assert not is_acknowledged(outcome)
    cluster[0].background.run_all()
    assert is_acknowledged(outcome)
    assert values(lose_power(cluster, 0)) == [b"one"]


def test_without_it_a_power_loss_of_the_only_replica_takes_what_was_acknowledged() -> None:
    cluster = cluster_with(1)
    assert is_acknowledged(cluster[0].produce(b"one", acks=ALL))
    assert values(lose_power(cluster, 0)) == []


def test_with_flush_messages_1_acks_all_survives_a_power_loss_of_all_replicas() -> None:
    cluster = cluster_with(3, {"flush.messages": "1"})
    outcome = cluster[0].produce(b"one", b"two", acks=ALL)
    cluster.advance(1000)
    assert is_acknowledged(outcome)
    for broker_id in range(3):
        assert values(lose_power(cluster, broker_id)) == [b"one", b"two"]


def test_a_follower_tells_of_nothing_that_it_has_not_on_disk() -> None:
    cluster = cluster_with(2, {"flush.messages": "1"})
    cluster[1].background.queued = True
    outcome = cluster[0].produce(b"one", acks=ALL)
    cluster.advance(1000)
    assert cluster[1].log().log_end_offset == 1
    assert not is_acknowledged(outcome)
    cluster[1].background.run_all()
    cluster.advance(1000)
    assert is_acknowledged(outcome)


def test_without_it_acks_all_survives_a_power_loss_of_all_but_one() -> None:
    cluster = cluster_with(3)
    outcome = cluster[0].produce(b"one", acks=ALL)
    cluster.advance(1000)
    assert is_acknowledged(outcome)
    assert values(lose_power(cluster, 0)) == values(lose_power(cluster, 1)) == []
    assert values(cluster[2]) == [b"one"]


def test_every_so_many_records_are_flushed() -> None:
    cluster = cluster_with(1, {"flush.messages": "3"})
    for value in (b"one", b"two", b"three", b"four"):
        assert is_acknowledged(cluster[0].produce(value))
    assert values(lose_power(cluster, 0)) == [b"one", b"two", b"three"]


def test_flush_ms_flushes_what_is_older() -> None:
    cluster = cluster_with(1, {"flush.ms": "5000"}, log_flush_scheduler_interval_ms="1000")
    cluster[0].produce(b"old")
    cluster.advance(30_500)  # the first look comes after 30 s, as in Kafka
    cluster[0].produce(b"young")
    assert values(lose_power(cluster, 0)) == [b"old"]


def test_a_clean_stop_flushes_everything() -> None:
    cluster = cluster_with(1)
    cluster[0].produce(b"one")
    broker = cluster[0]
    broker.log_manager.shutdown().result()
    recovery_points = OffsetCheckpointFile(broker.file_system, "/data/recovery-point-offset-checkpoint").read()
    assert recovery_points == {TP: 1}
    broker.file_system.crash()
    assert values(cluster.restart(0, broker.file_system)) == [b"one"]


def test_a_rolled_segment_is_flushed() -> None:
    cluster = cluster_with(1)
    cluster[0].produce(b"one")
    first = cluster[0].log().active_segment.path(".log")
    cluster[0].log().roll()
    cluster[0].produce(b"two")
    broker = lose_power(cluster, 0)
    assert [record.value for batch in iterate_batches(broker.file_system.read(first)) for record in batch.records()] == [b"one"]
    assert values(broker) == []


def test_a_failing_disk_acknowledges_nothing() -> None:
    cluster = cluster_with(1, {"flush.messages": "1"})
    cluster[0].background.queued = True
    outcome = cluster[0].produce(b"one")
    cluster[0].file_system.fail("/data")
    cluster[0].background.run_all()
    assert isinstance(outcome, Promise) and outcome.result().error == ErrorCode.KAFKA_STORAGE_ERROR
