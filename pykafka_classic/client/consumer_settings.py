"""How a consumer of the first generation is set: Kafka 0.8.2's keys that mean something here, with its defaults.

Source: 0.8.2:core/src/main/scala/kafka/consumer/ConsumerConfig.scala; facts/coordination.md 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from pykafka_classic.assignors.zookeeper_assignors import STRATEGIES, Dialect
from pykafka_classic.client.client_errors import InvalidSetting
from pykafka_classic.client.starts import Reset, parse_reset


class OffsetsStorage(Enum):
    """`offsets.storage`."""

    ZOOKEEPER = "zookeeper"
    KAFKA = "kafka"


LARGEST: Final = "largest"  # the 0.8 words of auto.offset.reset; today's, earliest and latest, mean the same (client.starts)


@dataclass(frozen=True, slots=True)
class ConsumerSettings:
    """Named as Kafka's keys; times in ms, sizes in bytes. ValueError for one that makes no sense."""

    group_id: str
    consumer_id: str | None = None  # `consumer.id`; None: host, time and chance
    partition_assignment_strategy: str = STRATEGIES[0]
    round_robin_dialect: Dialect = Dialect.KAFKA_0_8  # not Kafka's: which release's members the group has
    offsets_storage: OffsetsStorage = OffsetsStorage.ZOOKEEPER
    dual_commit_enabled: bool = True  # with storage kafka: commit to ZooKeeper too, and start from the larger
    auto_commit_enable: bool = True
    auto_commit_interval_ms: int = 60_000
    auto_offset_reset: str = LARGEST
    exclude_internal_topics: bool = True
    rebalance_max_retries: int = 4
    rebalance_backoff_ms: int = 2_000
    offsets_commit_max_retries: int = 5
    offsets_channel_backoff_ms: int = 1_000
    offsets_channel_socket_timeout_ms: int = 10_000
    fetch_message_max_bytes: int = 1_048_576
    fetch_min_bytes: int = 1
    fetch_wait_max_ms: int = 100
    refresh_leader_backoff_ms: int = 200
    socket_timeout_ms: int = 30_000
    pykafka_group: bool = False  # not Kafka's: the other members are pykafka's BalancedConsumers (use offsets_storage KAFKA without dual commit, as they do)
    client_id: str = "pykafka-classic"

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        for name in (self.group_id, self.consumer_id or self.group_id):
            if not name or "/" in name:
                raise ValueError(
                    f"{name!r:.80} cannot be the name of a group or of a consumer: it becomes the name of a znode, which is not empty and has no '/'"
                )
        if self.partition_assignment_strategy not in STRATEGIES:
            raise ValueError(f"partition.assignment.strategy {self.partition_assignment_strategy!r:.80} is not one of {', '.join(STRATEGIES)}")
        if parse_reset(self.auto_offset_reset) is Reset.NONE:
            raise InvalidSetting("auto.offset.reset none is not for a group that coordinates over ZooKeeper: earliest (smallest) or latest (largest) is")

    @property
    def reset(self) -> Reset:
        """Where to begin without a committed offset, or beyond one that is gone: EARLIEST or LATEST."""
        return parse_reset(self.auto_offset_reset)


def name_consumer(settings: ConsumerSettings, *, host: str, now_ms: int, random_bits: int) -> str:
    """The consumer's id: `<group>_<consumer.id>`, or `<group>_<host>-<ms>-<8 hexadecimal digits>`."""
    own = settings.consumer_id or f"{host}-{now_ms}-{random_bits & 0xFFFFFFFF:08x}"
    return f"{settings.group_id}_{own}"
