"""Every value comes back from its bytes, and no bytes raise anything but MalformedZNode."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zk_schema import FAMILIES, Family, MalformedZNode
from zk_schema.acls import PREFIXED, RESOURCE_TYPES, AclEntry, ResourcePattern
from zk_schema.broker_ids import BrokerIdZNode, EndPoint, SecurityProtocol
from zk_schema.config_changes import ConfigChangeZNode
from zk_schema.configs import ENTITY_TYPES
from zk_schema.consumers import PATTERNS, ConsumerIdZNode
from zk_schema.controller import ControllerZNode
from zk_schema.delegation_tokens import DelegationTokenZNode
from zk_schema.feature import FeatureZNode
from zk_schema.log_dir_event_notification import LogDirEventZNode
from zk_schema.migration import MigrationZNode
from zk_schema.partition_state import TopicPartitionStateZNode
from zk_schema.producer_id_block import ProducerIdBlock
from zk_schema.topics import ReplicaAssignment, TopicZNode

INTS: Final = st.integers(-(2**31), 2**31 - 1)
NATURALS: Final = st.integers(0, 2**31 - 1)
LONGS: Final = st.integers(-(2**63), 2**63 - 1)
TEXTS: Final = st.text()
NAMES: Final = st.text(min_size=1)
IDS: Final = st.lists(INTS).map(tuple)
PAIRS: Final = st.tuples(TEXTS, INTS)
HOSTS: Final = st.from_regex(r"[0-9a-z.\-:]{1,20}", fullmatch=True)
END_POINTS: Final = st.builds(EndPoint, st.from_regex(r"[A-Z_]{1,10}", fullmatch=True), HOSTS, st.integers(0, 65535), st.sampled_from(SecurityProtocol))
LEVELS: Final = st.tuples(st.integers(1, 9), st.integers(9, 20))
TYPES: Final = st.sampled_from(sorted(RESOURCE_TYPES))
REPLICAS: Final = st.builds(ReplicaAssignment, IDS, IDS, IDS)
CHANGES: Final = st.builds(ConfigChangeZNode, st.builds("{}/{}".format, st.sampled_from(ENTITY_TYPES), TEXTS), st.just(2))

VALUES: Final[dict[str, st.SearchStrategy[Any]]] = {
    "/cluster/id": TEXTS,
    "/controller": st.builds(ControllerZNode, INTS, LONGS, st.none() | INTS),
    "/controller_epoch": INTS,
    "/brokers/ids/<id>": st.builds(
        BrokerIdZNode,
        st.lists(END_POINTS, unique_by=lambda each: each.listener_name).map(tuple),
        LONGS,
        st.none() | TEXTS,
        INTS,
        st.dictionaries(TEXTS, st.tuples(INTS, INTS)),
        st.just(5),
    ),
    "/brokers/topics/<topic>": st.builds(TopicZNode, st.none() | TEXTS, st.dictionaries(NATURALS, REPLICAS)),
    "/brokers/topics/<topic>/partitions/<partition>/state": st.builds(TopicPartitionStateZNode, INTS, INTS, IDS, INTS, st.integers(0, 1)),
    "/admin/reassign_partitions": st.dictionaries(PAIRS, IDS),
    "/admin/preferred_replica_election": st.lists(PAIRS, unique=True).map(tuple),
    "/config/users/<user>/clients/<client>": st.dictionaries(TEXTS, TEXTS),
    **{f"/config/{entity_type}/<name>": st.dictionaries(TEXTS, TEXTS) for entity_type in ENTITY_TYPES},
    "/config/changes/config_change_<sequence>": CHANGES,
    "/isr_change_notification/isr_change_<sequence>": st.lists(PAIRS, unique=True).map(tuple),
    "/log_dir_event_notification/log_dir_event_<sequence>": st.builds(LogDirEventZNode, INTS, INTS),
    "/latest_producer_id_block": st.builds(ProducerIdBlock, INTS, LONGS, LONGS),
    "/feature": st.builds(FeatureZNode, st.booleans(), st.dictionaries(TEXTS, LEVELS), st.just(1)),
    "/kafka-acl/<type>/<name>": st.lists(st.builds(AclEntry, TEXTS, TEXTS, TEXTS, TEXTS)).map(tuple),
    "/kafka-acl-extended/prefixed/<type>/<name>": st.lists(st.builds(AclEntry, TEXTS, TEXTS, TEXTS, TEXTS)).map(tuple),
    "/kafka-acl-changes/acl_changes_<sequence>": st.builds(ResourcePattern, TYPES, TEXTS),
    "/kafka-acl-extended-changes/acl_changes_<sequence>": st.builds(ResourcePattern, TYPES, TEXTS, st.just(PREFIXED)),
    "/delegation_token/tokens/<token>": st.builds(DelegationTokenZNode, TEXTS, TEXTS, st.lists(TEXTS).map(tuple), LONGS, LONGS, LONGS, st.none() | TEXTS),
    "/delegation_token/token_changes/token_change_<sequence>": NAMES,
    "/migration": st.builds(MigrationZNode, INTS, INTS, LONGS, INTS),
    "/consumers/<group>/ids/<consumer>": st.builds(ConsumerIdZNode, st.dictionaries(TEXTS, INTS), st.sampled_from(PATTERNS), LONGS),
    "/consumers/<group>/owners/<topic>/<partition>": NAMES,
    "/consumers/<group>/offsets/<topic>/<partition>": LONGS,
}
WITH_DATA: Final = [family for family in FAMILIES if family.codec is not None]
KEYS: Final = st.sampled_from(
    [
        "version",
        "brokerid",
        "timestamp",
        "partitions",
        "topic_id",
        "0",
        "leader",
        "isr",
        "config",
        "entity_path",
        "acls",
        "features",
        "status",
        "endpoints",
        "a",
    ]
)
JSON_VALUES: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)


def _ids(family: Family) -> str:
    return family.pattern


def test_every_family_with_data_has_a_strategy() -> None:
    assert {family.pattern for family in WITH_DATA} == set(VALUES)


@pytest.mark.parametrize("family", WITH_DATA, ids=_ids)
@given(st.data())
def test_what_is_encoded_is_decoded(family: Family, data: st.DataObject) -> None:
    assert family.codec is not None
    value = data.draw(VALUES[family.pattern])
    assert family.decode(family.codec.encode(value)) == value


def _decodes_or_is_malformed(decode: Callable[[bytes | None], Any], data: bytes | None) -> None:
    try:
        decode(data)
    except MalformedZNode:
        return


@given(st.sampled_from(FAMILIES), st.none() | st.binary())
def test_garbage_is_malformed_and_nothing_worse(family: Family, data: bytes | None) -> None:
    _decodes_or_is_malformed(family.decode, data)


@given(JSON_VALUES)
def test_strange_json_is_malformed_and_nothing_worse(value: object) -> None:
    data = json.dumps(value).encode()
    for family in FAMILIES:
        _decodes_or_is_malformed(family.decode, data)


@given(st.sampled_from(WITH_DATA), st.data())
def test_a_value_of_the_wrong_type_is_malformed_and_nothing_worse(family: Family, data: st.DataObject) -> None:
    assert family.codec is not None
    if not family.codec.json:
        return
    stored = json.loads(family.codec.encode(data.draw(VALUES[family.pattern])) or b"null")
    if isinstance(stored, dict) and stored:
        stored[data.draw(st.sampled_from(sorted(stored)))] = data.draw(JSON_VALUES)
    _decodes_or_is_malformed(family.decode, json.dumps(stored).encode())
