"""What our clients choose as Kafka's do: the partition of a key, and a leader's assignment as it travels through JoinGroup and SyncGroup."""

from __future__ import annotations

import base64

import pytest

from pykafka_classic.assignors.consumer_assignor import Assignment
from pykafka_classic.client.consuming.group_protocol import MemberMetadata, decode_assignment, decode_member, encode_assignment, encode_subscription
from pykafka_classic.client.producing.partitioners import partitioner_of
from tests.fakes.clock import SeededRandom
from tests.golden.test_assignors import BY_NAME, EXACT, KEYS, Line, as_sets, expected, member, named


@pytest.mark.parametrize("setting", ["default", "murmur2_random"])
def test_the_producers_choice_for_a_key_is_javas(setting: str) -> None:
    for line in KEYS:
        for count, partition in line["partition"].items():
            choice = partitioner_of(setting)("t", SeededRandom())
            choice.set_partitions(int(count), [0])  # that the others have no leader does not move a key
            key = base64.b64decode(line["key"])
            assert (choice.choose(key, None), choice.choose(key, None)) == (partition, partition)


@pytest.mark.parametrize("line", EXACT, ids=named)
def test_an_assignment_survives_the_way_through_the_coordinator(line: Line) -> None:
    told = [member(each) for each in line["members"]]
    joined = [MemberMetadata(each.member_id, each.instance_id, encode_subscription(each.topics, each.owned, each.user_data)) for each in told]
    decoded = [decode_member(each) for each in joined]
    assert [(each.member_id, each.instance_id, set(each.topics), set(each.owned)) for each in decoded] == [
        (each.member_id, each.instance_id, set(each.topics), set(each.owned)) for each in told
    ]
    assignment = BY_NAME[line["assignor"]].assign(line["topics"], decoded)
    received = {name: decode_assignment(encode_assignment(partitions)) for name, partitions in assignment.items()}
    assert received == assignment_by_topic(assignment)
    if [each.owned for each in decoded] == [each.owned for each in told]:  # the wire groups them by topic; their order decides who keeps what is too much
        assert as_sets(received) == as_sets(expected(line))


def assignment_by_topic(assignment: Assignment) -> Assignment:
    """Partitions of a topic together, topics in the order in which they first come."""
    return {
        name: [each for topic in dict.fromkeys(each.topic for each in partitions) for each in partitions if each.topic == topic]
        for name, partitions in assignment.items()
    }


@pytest.mark.parametrize("garbage", [b"", b"\0", b"\xff\xff", b"\0\1\0\0\0\5", b"\0\3" + bytes(4) + b"\xff\xff\xff\xff"])
def test_a_member_whose_metadata_is_garbage_gets_nothing_and_harms_nobody(garbage: bytes) -> None:
    assert decode_member(MemberMetadata("m", None, garbage)).topics == ()
