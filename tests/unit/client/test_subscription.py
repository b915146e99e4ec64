"""Static subscriptions, white lists and black lists; the formats of both kinds of group."""

from __future__ import annotations

import pytest

from pykafka_classic.client.consumer_settings import ConsumerSettings, name_consumer
from pykafka_classic.client.subscription import InvalidSubscription, Subscription, clean_expression
from tests.unit.client.members import SETTINGS, World


@pytest.mark.parametrize(("written", "stored"), [(" a , b ", "a|b"), ("'a.*'", "a.*"), ('"a"', "a"), ("a'", "a'"), ("'", "'")])
def test_filters_are_cleaned_as_kafka_cleans_them(written: str, stored: str) -> None:
    assert clean_expression(written) == stored


def test_a_filter_matches_whole_names() -> None:
    topics = ["flights", "flights.raw", "x-flights", "__consumer_offsets"]
    assert list(Subscription.white_list("flights").streams_by_topic(topics)) == ["flights"]
    assert list(Subscription.black_list("flights").streams_by_topic(topics)) == ["flights.raw", "x-flights"]
    assert "__consumer_offsets" in Subscription.white_list("__.*").streams_by_topic(topics, exclude_internal=False)


@pytest.mark.parametrize("streams", [{}, {"t": 0}])
def test_a_subscription_to_nothing_is_refused(streams: dict[str, int]) -> None:
    with pytest.raises(InvalidSubscription, match="at least one"):
        Subscription.of_topics(streams)


def test_a_filter_that_is_no_expression_is_refused() -> None:
    with pytest.raises(InvalidSubscription, match="not a regular expression"):
        Subscription.white_list("(")


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"group_id": ""}, "name of a group"),
        ({"group_id": "a/b"}, "name of a group"),
        ({"group_id": "g", "partition_assignment_strategy": "sticky"}, "is not one of range, roundrobin"),
        ({"group_id": "g", "auto_offset_reset": "newest"}, "not earliest, latest or none"),
        ({"group_id": "g", "auto_offset_reset": "none"}, "earliest .smallest. or latest .largest. is"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_a_sentence(keys: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        ConsumerSettings(**keys)  # type: ignore[arg-type]  # all are texts


def test_consumers_are_named_as_kafka_names_them() -> None:
    assert name_consumer(SETTINGS, host="host", now_ms=1600000000000, random_bits=0xAB) == "g_host-1600000000000-000000ab"
    assert name_consumer(ConsumerSettings("g", consumer_id="one"), host="host", now_ms=0, random_bits=0) == "g_one"


def test_members_of_a_pykafka_group_write_as_pykafka_does() -> None:
    world = World({"t": 2, "other": 1})
    world.server.put("/consumers/g/ids/zebra:0000", b"t")
    world.server.put("/consumers/g/ids/elsewhere", b"other")
    member = world.join("ours", settings=ConsumerSettings("g", pykafka_group=True))
    assert world.server.data("/consumers/g/ids/g_ours") == b"t"
    assert world.server.tree("/consumers/g/owners") == {
        "/consumers/g/owners": None,
        "/consumers/g/owners/b't'": None,
        "/consumers/g/owners/b't'/-1-0": b"g_ours",
    }
    member.connector.close().result()
    assert world.server.children("/consumers/g/owners/b't'") == []


def test_a_pykafka_group_has_no_filters() -> None:
    with pytest.raises(InvalidSubscription, match="one topic"):
        World({"t": 1}).join("ours", Subscription.white_list("t"), ConsumerSettings("g", pykafka_group=True))
