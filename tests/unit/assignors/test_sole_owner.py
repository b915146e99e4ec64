"""Everything to one."""

from __future__ import annotations

from pykafka_classic.assignors.consumer_assignor import GroupMember
from pykafka_classic.assignors.sole_owner import SoleOwnerAssignor
from pykafka_classic.common.topic_partition import TopicPartition

EVERYTHING = [TopicPartition("flights", 0), TopicPartition("flights", 1)]


def test_the_first_by_name_becomes_the_owner_of_a_new_group() -> None:
    members = [GroupMember("b", ("flights",)), GroupMember("a", ("flights",))]
    assert SoleOwnerAssignor().assign({"flights": 2}, members) == {"a": EVERYTHING, "b": []}


def test_who_owns_it_keeps_it() -> None:
    assignor = SoleOwnerAssignor()
    members = [
        GroupMember("a", ("flights",), user_data=assignor.user_data([], -1)),
        GroupMember("b", ("flights",), user_data=assignor.user_data(EVERYTHING, 1)),
    ]
    assert assignor.assign({"flights": 2}, members) == {"a": [], "b": EVERYTHING}
