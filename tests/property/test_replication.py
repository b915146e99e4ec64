"""Whatever is cut off, killed and elected, as long as leaders come from the ISR, no acknowledged record is lost.

Committed records are the same everywhere, and in the end all logs are.

The test plays the controller: it elects from the ISR that the state znode holds, and drops dead brokers from it (facts/coordination.md 3.12). It does so only
while a broker is cut off from it and from the others, so there are old leaders that do not know of new ones.
"""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.server.append_values import PartitionAppendResult
from tests.fakes.file_system import FakeFileSystem
from tests.unit.log.helpers import batch
from tests.unit.server.replica_cluster import TP, ReplicaCluster

BROKERS = (0, 1, 2)
# Before 2.0-IV0 a follower is not told of which epoch the end is that it asks for, and two elections in a row may leave logs that differ: KIP-279.
PROTOCOLS = ("2.8", "2.7-IV0", "2.3", "2.0")
STEPS = st.one_of(
    st.tuples(st.just("produce"), st.sampled_from([-1, 1])),
    st.tuples(st.just("advance"), st.sampled_from([1, 2, 5, 100, 600, 50_000])),
    st.tuples(st.just("cut off"), st.sampled_from(BROKERS)),
    st.tuples(st.just("kill"), st.sampled_from(BROKERS)),
    st.tuples(st.just("return"), st.sampled_from(BROKERS)),
    st.tuples(st.just("elect"), st.sampled_from(BROKERS)),
)


class Story:
    """One run: what was acknowledged, who is away, and how high each leadership's high watermark has been."""

    def __init__(self, protocol: str) -> None:
        self.cluster = ReplicaCluster(BROKERS, {"inter.broker.protocol.version": protocol, "replica.lag.time.max.ms": "10000"})
        self.cluster.create(BROKERS)
        self.produced: list[tuple[bytes, PartitionAppendResult | Promise[PartitionAppendResult]]] = []
        self.disks: dict[int, FakeFileSystem] = {}
        self.away: set[int] = set()
        self.high_watermarks: dict[tuple[int, int], int] = {}

    @property
    def leader(self) -> int:
        return self.cluster.states[TP].leader

    def step(self, kind: str, argument: int) -> None:
        cluster = self.cluster
        if kind == "produce":
            self.produce(argument)
        elif kind == "advance":
            cluster.advance(argument)
        elif kind in ("cut off", "kill") and argument not in self.away:
            self.leave(argument, killed=kind == "kill")
        elif kind == "return" and argument in self.away:
            self.come_back(argument)
        elif kind == "elect" and argument in cluster.states[TP].isr and argument not in self.away:
            cluster.elect(argument)
        self.check_high_watermarks()

    def produce(self, acks: int) -> None:
        """To every broker that believes to be the leader, as clients with old metadata do."""
        for broker in self.cluster.brokers.values():
            value = b"value %d" % len(self.produced)
            if broker.partition().is_leader:
                self.produced.append((value, broker.produce(value, acks=acks, timeout_ms=5000)))

    def leave(self, broker_id: int, *, killed: bool) -> None:
        self.away.add(broker_id)
        if killed:
            self.disks[broker_id] = self.cluster.kill(broker_id)
        else:
            self.cluster.isolate(broker_id, from_controller=True)
        state = self.cluster.states[TP]
        isr = [each for each in state.isr if each != broker_id] or list(state.isr)
        live = [each for each in isr if each not in self.away]
        if broker_id in state.isr and live:
            self.cluster.elect(state.leader if state.leader in live else live[0], isr=isr)

    def come_back(self, broker_id: int) -> None:
        self.away.discard(broker_id)
        if broker_id in self.disks:
            self.cluster.restart(broker_id, self.disks.pop(broker_id))
        self.cluster.reconnect(broker_id)
        state = self.cluster.states[TP]
        if state.leader in self.away and broker_id in state.isr:
            self.cluster.elect(broker_id)
        self.cluster.update_metadata()
        self.cluster.tell()

    def check_high_watermarks(self) -> None:
        for broker in self.cluster.brokers.values():
            partition = broker.replica_manager.online_partition(TP)
            if partition is not None and partition.is_leader and partition.log is not None:
                key = (broker.id, partition.leader_epoch)
                assert partition.log.high_watermark >= self.high_watermarks.get(key, 0), "the high watermark fell on a leader"
                self.high_watermarks[key] = partition.log.high_watermark

    def heal(self) -> None:
        for broker_id in list(self.away):
            self.come_back(broker_id)
        for _ in range(3):
            self.cluster.elect(self.leader)  # whoever missed a LeaderAndIsr has to take this one
            self.cluster.advance(20_000)

    def check_end(self) -> None:
        leader = self.cluster[self.leader]
        records = leader.bytes_of()
        for broker in self.cluster.brokers.values():
            assert broker.bytes_of() == records, f"broker {broker.id} differs from leader {leader.id}"
            assert broker.log().high_watermark == leader.log().log_end_offset
        for value, outcome in self.produced:
            result = outcome.result() if isinstance(outcome, Promise) and outcome.settled else outcome
            if isinstance(outcome, Promise) and isinstance(result, PartitionAppendResult) and result.error is ErrorCode.NONE:
                assert value in records, f"{value!r} was acknowledged by all in-sync replicas"


@settings(max_examples=40)
@given(st.lists(STEPS, max_size=25), st.sampled_from(PROTOCOLS))
@example([("produce", -1), ("elect", 2), ("produce", -1), ("cut off", 2)], PROTOCOLS[-1])
def test_nothing_acknowledged_is_lost_and_all_replicas_agree_in_the_end(steps: list[tuple[str, int]], protocol: str) -> None:
    story = Story(protocol)
    for kind, argument in steps:
        story.step(kind, argument)
    story.heal()
    story.check_end()


def test_the_bytes_that_the_story_looks_for_are_those_that_a_batch_holds() -> None:
    assert b"value 7" in batch([(None, b"value 7")])
