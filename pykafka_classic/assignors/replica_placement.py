"""Which brokers get the replicas of a new partition (facts/tools.md 3).

Leaders go round the brokers from a random start. The other replicas of a partition follow at a distance (the shift) that grows by one each time that the
leaders have gone once around, so that a broker's load spreads over all others when it dies. Where all brokers have a rack, the order of brokers alternates
racks, and a broker is skipped while its rack has a replica and another has none.

Example, five brokers, start 0, shift 0, three replicas: p0 = 0,1,2; p1 = 1,2,3; ... p4 = 4,0,1; p5 (shift 1) = 0,2,3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from pykafka_classic.common.clock import Random
from pykafka_classic.common.errors import ErrorCode, KafkaError


@dataclass(frozen=True, slots=True)
class BrokerMetadata:
    """A broker that can take replicas."""

    id: int
    rack: str | None = None


@dataclass(frozen=True, slots=True)
class _Start:
    """Where the leaders begin, and how far the first followers are from them."""

    index: int
    shift: int


def assign_replicas_to_brokers(
    brokers: Sequence[BrokerMetadata],
    *,
    partitions: range,
    replication_factor: int,
    random: Random,
    fixed_start_index: int | None = None,
) -> dict[int, tuple[int, ...]]:
    """Partition -> replicas, preferred leader first, for the partitions of these numbers.

    `brokers` in the order in which they shall be used (sorted by id, as a rule). Raises INVALID_PARTITIONS, INVALID_REPLICATION_FACTOR.
    """
    if not partitions:
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, "Number of partitions must be larger than 0.")
    if replication_factor <= 0:
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, "Replication factor must be larger than 0.")
    if replication_factor > len(brokers):
        message = f"Replication factor: {replication_factor} larger than available brokers: {len(brokers)}."
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, message)
    racks = {broker.id: broker.rack for broker in brokers if broker.rack is not None}
    if racks and len(racks) < len(brokers):
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "Not all brokers have rack information for replica rack aware assignment.")
    order = rack_alternated_list(racks) if racks else [broker.id for broker in brokers]
    start = _start(len(order), fixed_start_index, random)
    assignment: dict[int, tuple[int, ...]] = {}
    shift = start.shift
    for partition in partitions:
        if partition > 0 and partition % len(order) == 0:
            shift += 1
        first = (partition + start.index) % len(order)
        replicas = _with_racks(order, racks, first, shift, replication_factor) if racks else _plain(order, first, shift, replication_factor)
        assignment[partition] = tuple(replicas)
    return assignment


def rack_alternated_list(racks: Mapping[int, str]) -> list[int]:
    """Broker ids, one of each rack in turn: racks by name, the brokers of a rack by id."""
    by_rack = [sorted(broker for broker, rack in racks.items() if rack == name) for name in sorted(set(racks.values()))]
    return [broker for row in zip_longest(*by_rack) for broker in row if broker is not None]


def _start(count: int, fixed: int | None, random: Random) -> _Start:
    return _Start(random.randrange(count), random.randrange(count)) if fixed is None else _Start(fixed, fixed)


def _follower(first: int, shift: int, step: int, count: int) -> int:
    """Index of a candidate that is never the leader's."""
    return (first + 1 + (shift + step) % (count - 1)) % count


def _plain(order: Sequence[int], first: int, shift: int, factor: int) -> list[int]:
    return [order[first]] + [order[_follower(first, shift, step, len(order))] for step in range(factor - 1)]


def _with_racks(order: Sequence[int], racks: Mapping[int, str], first: int, shift: int, factor: int) -> list[int]:
    rack_count = len(set(racks.values()))
    replicas, used_racks = [order[first]], {racks[order[first]]}
    step = 0
    while len(replicas) < factor:
        candidate = order[_follower(first, shift * rack_count, step, len(order))]
        step += 1
        if (racks[candidate] in used_racks and len(used_racks) < rack_count) or candidate in replicas:
            continue
        replicas.append(candidate)
        used_racks.add(racks[candidate])
    return replicas
