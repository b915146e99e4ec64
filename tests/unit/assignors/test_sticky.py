"""What the recordings of Kafka's sticky assignors do not hold: members that lie, rubble in user data, growth under a seed."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from pykafka_classic.assignors import sticky_user_data
from pykafka_classic.assignors.consumer_assignor import Assignment, GroupMember, PartitionAssignor
from pykafka_classic.assignors.sticky import CooperativeStickyAssignor, StickyAssignor
from pykafka_classic.assignors.sticky_user_data import Claim
from pykafka_classic.common.topic_partition import TopicPartition

T0, T1, T2 = (TopicPartition("t", number) for number in range(3))


def member(name: str, *owned: TopicPartition, generation: int = 5, topics: tuple[str, ...] = ("t",)) -> GroupMember:
    """One that speaks both assignors' words."""
    return GroupMember(name, topics, None, owned, sticky_user_data.encode_sticky(Claim(owned, generation)))


def test_of_two_members_that_claim_one_partition_only_one_gets_it() -> None:
    found = StickyAssignor().assign({"t": 2}, [member("a", T0), member("b", T0)])
    assert sorted(partition for some in found.values() for partition in some) == [T0, T1]


def test_a_claim_of_an_older_generation_is_not_believed() -> None:
    found = StickyAssignor().assign({"t": 2}, [member("a", T0, generation=4), member("b", T0, generation=5)])
    assert found == {"a": [T1], "b": [T0]}


def test_a_partition_that_does_not_exist_cannot_be_claimed() -> None:
    assert StickyAssignor().assign({"t": 1}, [member("a", T0, T2)]) == {"a": [T0]}


@pytest.mark.parametrize("topics", [("t",), ("t", "u")], ids=["equal", "unequal"])
def test_a_partition_in_use_changes_hands_only_once_its_reader_gave_it_up(topics: tuple[str, ...]) -> None:
    assignor = CooperativeStickyAssignor()
    generation = sticky_user_data.encode_cooperative(1)
    old = GroupMember("a", ("t",), None, (T0, T1), generation)
    new = GroupMember("b", topics, None, (), sticky_user_data.encode_cooperative(-1))
    first = assignor.assign({"t": 2}, [old, new])
    assert (len(first["a"]), first["b"]) == (1, [])
    again = assignor.assign({"t": 2}, [GroupMember("a", ("t",), None, tuple(first["a"]), generation), new])
    assert (again["a"], sorted(again["a"] + again["b"])) == (first["a"], [T0, T1])


@pytest.mark.parametrize("rubble", [b"\xff", b"\x7f\xff\xff\xff", b"\x00\x00\x00\x01\x00\x05t", b"\x00\x00\x00\x01\x00\x01\xff\x00\x00\x00\x00", b"\xff" * 8])
def test_user_data_that_cannot_be_read_counts_as_a_new_members(rubble: bytes) -> None:
    assert sticky_user_data.decode_sticky(rubble) == Claim()


def test_user_data_of_before_the_generation_was_sent_is_read() -> None:
    data = sticky_user_data.encode_sticky(Claim((T0, T2), 7))
    assert data is not None
    assert sticky_user_data.decode_sticky(data) == Claim((T0, T2), 7)
    assert sticky_user_data.decode_sticky(data[:-4]) == Claim((T0, T2))


def after_a_round(assignor: PartitionAssignor, found: Assignment, topics: dict[str, tuple[str, ...]], generation: int) -> list[GroupMember]:
    """The members as they join the next round."""
    return [
        GroupMember(name, topics[name], None, tuple(found.get(name, ())), assignor.user_data(found.get(name, ()), generation if name in found else -1))
        for name in topics
    ]


@pytest.mark.parametrize("seed", range(30))
def test_with_equal_subscriptions_members_come_and_go_and_all_stays_even(seed: int) -> None:
    chance = random.Random(seed)
    assignor = StickyAssignor()
    names: list[str] = []
    found: Assignment = {}
    counts = {"t": 12, "u": 7}
    for generation in range(12):
        names = [name for name in names if chance.random() < 0.8]
        names += [f"m{generation}-{index}" for index in range(chance.randrange(3) + (not names))]
        members = after_a_round(assignor, found, dict.fromkeys(names, ("t", "u")), generation - 1)
        before, found = found, assignor.assign(counts, members)
        loads = sorted(len(some) for some in found.values())
        assert sorted(partition for some in found.values() for partition in some) == [TopicPartition(topic, n) for topic in "tu" for n in range(counts[topic])]
        assert loads[-1] - loads[0] <= 1, seed
        # Who had no more than its fair share lost nothing.
        assert all(set(before[name]) <= set(found[name]) for name in names if name in before and len(before[name]) <= loads[0]), seed


@pytest.mark.parametrize("seed", range(30))
def test_with_unequal_subscriptions_nobody_gets_what_it_did_not_ask_for_and_no_move_could_mend_the_balance(seed: int) -> None:
    chance = random.Random(seed)
    counts = {f"t{index}": 1 + chance.randrange(5) for index in range(4)}
    topics = {f"m{index}": tuple(topic for topic in counts if chance.random() < 0.6) or ("t0",) for index in range(5)}
    assignor = StickyAssignor()
    found: Assignment = {}
    for generation in range(4):
        found = assignor.assign(counts, after_a_round(assignor, found, topics, generation - 1))
        assert all(partition.topic in topics[name] for name, some in found.items() for partition in some)
        wanted = {topic for some in topics.values() for topic in some}
        assert sorted(p for some in found.values() for p in some) == [TopicPartition(t, n) for t in sorted(wanted) for n in range(counts[t])]
        for poor, rich in ((a, b) for a in found for b in found):
            movable = any(partition.topic in topics[poor] for partition in found[rich])
            assert len(found[rich]) - len(found[poor]) < 2 or not movable, (seed, generation)
        victim = chance.choice(sorted(topics))
        topics.pop(victim)
        topics[f"n{generation}"] = ("t0", "t1")


def test_growth_by_one_moves_no_more_than_the_newcomers_share() -> None:
    assignor = StickyAssignor()
    history: list[Assignment] = []
    found: Assignment = {}
    for size in range(1, 9):
        found = assignor.assign({"t": 64}, after_a_round(assignor, found, {f"m{index}": ("t",) for index in range(size)}, size - 2))
        history.append(found)
    for before, after in pairwise(history):
        moved = sum(len(set(before[name]) - set(after[name])) for name in before)
        assert moved == 64 // len(after)
