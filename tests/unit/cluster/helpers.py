"""One partition of broker 0 with a real log on a fake disk, and an ISR manager that the test answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pykafka_classic.cluster.delayed_operations import DelayedOperations
from pykafka_classic.cluster.isr_state import AlterIsrItem, LeaderAndIsr
from pykafka_classic.cluster.partition import Partition, PartitionServices
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.log.log_manager import LogManager
from pykafka_classic.log.log_services import LogSeams
from pykafka_classic.log.log_values import LogAppendInfo
from pykafka_classic.protocol.messages.leader_and_isr import LeaderAndIsrPartitionState
from pykafka_classic.purgatory.purgatory import Purgatory
from pykafka_classic.purgatory.timing_wheel import TimingWheel
from tests.fakes.clock import FakeBackground, FakeClock, SeededRandom
from tests.fakes.file_system import FakeFileSystem
from tests.unit.log.helpers import batch

TP = TopicPartition("flights", 0)


@dataclass(slots=True)
class AnsweredIsrManager:
    """The `IsrManager` seam: keeps what was proposed."""

    items: list[AlterIsrItem] = field(default_factory=list)
    cleared: int = 0
    accepts: bool = True

    def submit(self, item: AlterIsrItem) -> bool:
        """Keep it."""
        if self.accepts:
            self.items.append(item)
        return self.accepts

    def clear_pending(self, topic_partition: TopicPartition) -> None:
        """Count."""
        assert topic_partition == TP
        self.cleared += 1

    def accept(self) -> None:
        """The last proposal has been carried out."""
        wanted = self.items[-1].leader_and_isr
        self.items[-1].on_verdict(LeaderAndIsr(wanted.leader, wanted.leader_epoch, wanted.isr, wanted.zk_version + 1))

    def refuse(self, error: ErrorCode) -> None:
        """It has not."""
        self.items[-1].on_verdict(error)


class OnePartition:
    """Partition `TP` of broker 0; brokers 1 and 2 are its followers unless said otherwise."""

    def __init__(self, **overrides: str) -> None:
        self.clock = FakeClock()
        config = KafkaConfig.from_properties({"zookeeper.connect": "zk:2181", "broker.id": "0", "log.dirs": "/data"})
        seams = LogSeams(FakeFileSystem(), self.clock, FakeBackground(), SeededRandom())
        topic = {TP.topic: {name.replace("_", "."): value for name, value in overrides.items()}}
        self.log_manager = LogManager(config.log_directories, seams, config, topic)
        self.log_manager.load().result()
        wheel = TimingWheel(self.clock)
        self.delayed = DelayedOperations(Purgatory("Produce", wheel), Purgatory("Fetch", wheel), Purgatory("DeleteRecords", wheel))
        self.isr_manager = AnsweredIsrManager()
        self.alive = {0, 1, 2}
        services = PartitionServices(0, 30_000, self.clock, self.log_manager, self.delayed, self.isr_manager, self.alive.__contains__)
        self.partition = Partition(TP, services)

    @property
    def isr(self) -> tuple[int, ...]:
        """The committed ISR."""
        return self.partition.in_sync.state.isr

    @property
    def high_watermark(self) -> int:
        """Of the local log."""
        return self.partition.local_log().high_watermark

    def lead(self, epoch: int = 0, *, isr: Sequence[int] = (0, 1, 2), replicas: Sequence[int] = (0, 1, 2), zk_version: int = 0) -> bool:
        """Become leader."""
        return self.partition.make_leader(state(0, epoch, isr=isr, replicas=replicas, zk_version=zk_version))

    def follow(self, leader: int, epoch: int = 0) -> bool:
        """Become follower."""
        return self.partition.make_follower(state(leader, epoch))

    def append(self, *values: bytes, acks: int = 1) -> tuple[LogAppendInfo, bool]:
        """Append one batch as leader."""
        records = batch([(None, value) for value in values or (b"value",)], timestamp=self.clock.now_ms())
        return self.partition.append_records_to_leader(records, AppendOrigin.CLIENT, required_acks=acks)

    def fetched(self, follower: int, offset: int, *, log_start_offset: int = 0) -> bool:
        """A follower fetched from `offset`."""
        return self.partition.update_follower_fetch_state(follower, offset, log_start_offset, self.partition.local_log().log_end_offset)


def state(leader: int, epoch: int, *, isr: Sequence[int] = (0, 1, 2), replicas: Sequence[int] = (0, 1, 2), zk_version: int = 0) -> LeaderAndIsrPartitionState:
    """What a LeaderAndIsr says of the partition."""
    return LeaderAndIsrPartitionState(
        partition_index=TP.partition,
        controller_epoch=7,
        leader=leader,
        leader_epoch=epoch,
        isr=list(isr),
        zk_version=zk_version,
        replicas=list(replicas),
        is_new=True,
    )
