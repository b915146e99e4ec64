"""Leader and followers over a network: records spread, the high watermark follows, leaders change, followers cut what diverges."""

from __future__ import annotations

import pytest

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.protocol.messages.fetch import FetchRequest
from tests.unit.server.replica_cluster import TP, ReplicaCluster, settled


@pytest.fixture
def cluster() -> ReplicaCluster:
    made = ReplicaCluster()
    made.create([0, 1, 2])
    made.advance()
    return made


def test_what_the_leader_appends_reaches_every_follower(cluster: ReplicaCluster) -> None:
    cluster[0].produce(b"a", b"b")
    cluster[0].produce(b"c")
    cluster.advance()
    assert cluster[1].bytes_of() == cluster[2].bytes_of() == cluster[0].bytes_of()
    assert cluster[1].log().log_end_offset == 3


def test_the_high_watermark_moves_when_all_in_sync_replicas_have_the_records(cluster: ReplicaCluster) -> None:
    cluster[0].produce(b"a")
    assert cluster[0].log().high_watermark == 0
    cluster.advance()
    assert cluster[0].log().high_watermark == 1


def test_a_follower_learns_the_high_watermark_with_its_next_answer(cluster: ReplicaCluster) -> None:
    cluster[0].produce(b"a")
    cluster.advance(600)  # replica.fetch.wait.max.ms: it is not woken for this
    assert cluster[1].log().high_watermark == 1


def test_acks_all_is_answered_when_the_high_watermark_has_passed(cluster: ReplicaCluster) -> None:
    outcome = cluster[0].produce(b"a", acks=-1)
    assert isinstance(outcome, Promise)
    assert not outcome.settled
    cluster.advance()
    assert settled(outcome).error is ErrorCode.NONE
    assert settled(outcome).base_offset == 0


def test_acks_all_with_a_single_replica_is_answered_at_once() -> None:
    cluster = ReplicaCluster([0])
    cluster.create([0])
    outcome = cluster[0].produce(b"a", acks=-1)
    assert not isinstance(outcome, Promise)
    assert outcome.error is ErrorCode.NONE


def test_acks_all_times_out_with_the_real_offset(cluster: ReplicaCluster) -> None:
    cluster.isolate(2)
    cluster[0].produce(b"before")
    outcome = cluster[0].produce(b"a", acks=-1, timeout_ms=1000)
    cluster.advance(1001)
    assert settled(outcome).error is ErrorCode.REQUEST_TIMED_OUT
    assert settled(outcome).base_offset == 1


def test_a_laggard_leaves_the_isr_and_no_longer_holds_back_acks_all(cluster: ReplicaCluster) -> None:
    cluster.isolate(2)
    outcome = cluster[0].produce(b"a", acks=-1, timeout_ms=60_000)
    cluster.advance(30_000)
    assert isinstance(outcome, Promise)
    assert not outcome.settled
    cluster.advance(15_010)
    assert cluster[0].isr() == (0, 1)
    assert settled(outcome).error is ErrorCode.NONE


def test_a_follower_at_the_leaders_end_never_leaves_the_isr(cluster: ReplicaCluster) -> None:
    cluster[0].produce(b"a")
    cluster.advance()
    cluster.isolate(2)
    cluster.advance(120_000)
    assert cluster[0].isr() == (0, 1, 2)


def test_a_follower_that_has_caught_up_returns_to_the_isr(cluster: ReplicaCluster) -> None:
    cluster.isolate(2)
    cluster[0].produce(b"a")
    cluster.advance(46_000)
    assert cluster[0].isr() == (0, 1)
    cluster.reconnect(2)
    cluster.advance(3000)
    assert cluster[0].isr() == (0, 1, 2)
    assert cluster.states[TP].isr == (0, 1, 2)
    assert cluster[2].log().log_end_offset == 1


def test_a_new_leader_goes_on_where_the_old_one_was(cluster: ReplicaCluster) -> None:
    cluster[0].produce(b"a", acks=-1)
    cluster.advance()
    cluster.elect(1)
    cluster.advance()
    outcome = cluster[1].produce(b"b", acks=-1)
    cluster.advance()
    assert settled(outcome).base_offset == 1
    assert cluster[0].bytes_of() == cluster[1].bytes_of() == cluster[2].bytes_of()


def test_a_former_leader_cuts_what_the_new_one_never_had(cluster: ReplicaCluster) -> None:
    cluster[0].produce(b"common", acks=-1)
    cluster.advance(1000)
    cluster.isolate(0)
    cluster[0].produce(b"lost 1")
    cluster[0].produce(b"lost 2")
    cluster.elect(1, isr=[1, 2])
    cluster[1].produce(b"kept")
    cluster.reconnect(0)
    cluster.advance(3000)
    assert cluster[0].log().log_end_offset == 2
    assert cluster[0].bytes_of() == cluster[1].bytes_of()


def test_followers_go_on_after_the_leaders_restart(cluster: ReplicaCluster) -> None:
    cluster[0].produce(b"a")
    cluster.advance(600)
    file_system = cluster.kill(0)
    cluster.elect(1, isr=[1, 2])
    cluster[1].produce(b"b")
    cluster.advance(1000)
    cluster.restart(0, file_system)
    cluster.tell()
    cluster.advance(3000)
    assert cluster[0].bytes_of() == cluster[1].bytes_of()
    assert cluster[1].isr() == (1, 2, 0)


def test_idle_followers_ask_with_incremental_fetches_that_name_no_partition(cluster: ReplicaCluster) -> None:
    cluster.advance(2000)
    cluster.sent.clear()
    cluster.advance(2000)
    fetches = [request for request in cluster.requests(FetchRequest, source=1) if isinstance(request, FetchRequest)]
    assert 3 <= len(fetches) <= 5
    assert all(request.session_id > 0 and not request.topics for request in fetches)


@pytest.mark.parametrize("protocol", ["0.9.0", "0.10.2", "0.11.0", "1.0", "1.1", "2.0", "2.3", "2.4", "2.7-IV0", "2.7-IV1", "2.7-IV2", "2.8"])
def test_every_inter_broker_protocol_replicates_and_recovers_from_a_change_of_leader(protocol: str) -> None:
    properties = {"inter.broker.protocol.version": protocol}
    if protocol in ("0.9.0", "0.10.2"):
        properties["log.message.format.version"] = protocol
    cluster = ReplicaCluster(properties=properties)
    cluster.create([0, 1, 2])
    cluster[0].produce(b"a", b"b")
    cluster.advance(3000)
    cluster[0].produce(b"c")
    cluster.isolate(0)
    cluster.elect(1, isr=[1, 2])
    cluster[1].produce(b"d")
    cluster.advance(1000)
    cluster.reconnect(0)
    cluster.advance(5000)
    assert cluster[1].log().log_end_offset == 3
    assert cluster[0].bytes_of() == cluster[1].bytes_of() == cluster[2].bytes_of()
    assert cluster[0].log().high_watermark == 3
