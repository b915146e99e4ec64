"""The registry, and the paths that a broker creates."""

from __future__ import annotations

import pytest

from tests.golden.znode_dumps import watch
from zk_schema import FAMILIES, PERSISTENT_PATHS, Kind, family_of
from zk_schema.errors import MalformedZNode
from zk_schema.paths_to_create import with_parents


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/controller", "/controller"),
        ("/brokers/ids/7", "/brokers/ids/<id>"),
        ("/brokers/topics/a.b/partitions/12/state", "/brokers/topics/<topic>/partitions/<partition>/state"),
        ("/config/users/u/clients/<default>", "/config/users/<user>/clients/<client>"),
        ("/config/changes/config_change_0000000001", "/config/changes/config_change_<sequence>"),
        ("/kafka-acl-extended/prefixed/Topic/team-", "/kafka-acl-extended/prefixed/<type>/<name>"),
        ("/consumers/g/offsets/t/0", "/consumers/<group>/offsets/<topic>/<partition>"),
    ],
)
def test_a_path_belongs_to_the_family_of_its_pattern(path: str, pattern: str) -> None:
    family = family_of(path)
    assert family is not None
    assert family.pattern == pattern


@pytest.mark.parametrize("path", ["/", "", "/zookeeper/quota", "/brokers/ids/7/x", "/config/queues/q", "/controller/"])
def test_other_paths_belong_to_none(path: str) -> None:
    assert family_of(path) is None


def test_no_path_belongs_to_two_families() -> None:
    for family in FAMILIES:
        sample = family.pattern.replace("<", "a").replace(">", "")
        assert [other.pattern for other in FAMILIES if other.regex.fullmatch(sample)] == [family.pattern]


def test_sequential_families_are_those_with_a_counter() -> None:
    assert {family.pattern for family in FAMILIES if family.kind is Kind.SEQUENTIAL} == {
        family.pattern for family in FAMILIES if family.pattern.endswith("<sequence>")
    }


def test_a_family_without_data_refuses_data() -> None:
    family = family_of("/brokers/seqid")
    assert family is not None
    assert family.decode(None) is None
    assert family.decode(b"") is None
    with pytest.raises(MalformedZNode):
        family.decode(b"1")


def test_null_is_a_state_of_a_nullable_family_only() -> None:
    block, controller = family_of("/latest_producer_id_block"), family_of("/controller")
    assert block is not None
    assert controller is not None
    assert block.decode(None) is None
    with pytest.raises(MalformedZNode):
        controller.decode(None)


def test_a_broker_creates_what_kafka_was_seen_to_create_in_that_order() -> None:
    creations = [change["path"] for change in watch("main") if change.get("event") == "create"]
    assert with_parents() == creations[: creations.index("/cluster")]


def test_every_path_to_create_belongs_to_a_family() -> None:
    assert all(family_of(path) is not None for path in with_parents(PERSISTENT_PATHS))
