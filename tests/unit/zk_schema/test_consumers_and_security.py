"""consumers, acls, delegation_tokens."""

from __future__ import annotations

import pytest

from zk_schema import acls, consumers, delegation_tokens
from zk_schema.acls import AclEntry, ResourcePattern
from zk_schema.consumers import ConsumerIdZNode
from zk_schema.delegation_tokens import DelegationTokenZNode
from zk_schema.errors import MalformedZNode


def test_consumer_paths() -> None:
    assert consumers.id_path("g", "g_one") == "/consumers/g/ids/g_one"
    assert consumers.owner_path("g", "t", 2) == "/consumers/g/owners/t/2"
    assert consumers.offset_path("g", "t", 2) == "/consumers/g/offsets/t/2"


def test_a_member_subscribes_to_topics_or_to_a_pattern() -> None:
    data = b'{"version":1,"subscription":{"other|__.*":1},"pattern":"black_list","timestamp":"1795239718526"}'
    assert consumers.decode_id(data) == ConsumerIdZNode({"other|__.*": 1}, "black_list", 1795239718526)
    assert consumers.encode_id(consumers.decode_id(data)) == data


@pytest.mark.parametrize(
    "data", [b"", b'{"subscription":{"t":1},"pattern":"gray_list"}', b'{"pattern":"static"}', b'{"subscription":{"t":"1"},"pattern":"static"}']
)
def test_malformed_members(data: bytes) -> None:
    with pytest.raises(MalformedZNode):
        consumers.decode_id(data)


def test_owners_and_offsets_are_plain_text() -> None:
    assert (consumers.encode_owner("g_one-0"), consumers.decode_owner(b"g_one-0")) == (b"g_one-0", "g_one-0")
    assert (consumers.encode_offset(49), consumers.decode_offset(b"49")) == (b"49", 49)
    for data in (None, b"", b"4.9", b"x"):
        with pytest.raises(MalformedZNode):
            consumers.decode_offset(data)


@pytest.mark.parametrize(
    ("resource", "path"),
    [
        (ResourcePattern("TOPIC", "*"), "/kafka-acl/Topic/*"),
        (ResourcePattern("CLUSTER", "kafka-cluster"), "/kafka-acl/Cluster/kafka-cluster"),
        (ResourcePattern("TRANSACTIONAL_ID", "tx-", "PREFIXED"), "/kafka-acl-extended/prefixed/TransactionalId/tx-"),
        (ResourcePattern("DELEGATION_TOKEN", "a"), "/kafka-acl/DelegationToken/a"),
    ],
)
def test_acl_paths_lead_back_to_patterns(resource: ResourcePattern, path: str) -> None:
    assert acls.path(resource) == path
    assert acls.resource_of(path) == resource


@pytest.mark.parametrize("path", ["/kafka-acl", "/kafka-acl/Topic", "/kafka-acl/Queue/q", "/kafka-acl-changes/x", "/kafka-acl-extended/prefixed/Topic"])
def test_other_paths_hold_no_entries(path: str) -> None:
    assert acls.resource_of(path) is None


def test_acl_entries_keep_their_order() -> None:
    entries = (AclEntry("User:b", "Deny", "All", "10.0.0.1"), AclEntry("User:a", "Allow", "Read", "*"))
    assert acls.decode(acls.encode(entries)) == entries


def test_a_node_without_data_has_no_entries() -> None:
    assert (acls.decode(None), acls.decode(b"")) == ((), ())


@pytest.mark.parametrize("data", [b"x", b'{"version":2,"acls":[]}', b'{"version":1,"acls":[{"principal":"User:a"}]}', b'{"version":1}'])
def test_malformed_entries(data: bytes) -> None:
    with pytest.raises(MalformedZNode):
        acls.decode(data)


def test_literal_changes_are_text_and_others_json() -> None:
    literal, prefixed = ResourcePattern("TOPIC", "a:b"), ResourcePattern("GROUP", "g", "PREFIXED")
    assert acls.encode_change(literal) == b"TOPIC:a:b"
    assert acls.encode_change(prefixed) == b'{"version":1,"resourceType":"GROUP","name":"g","patternType":"PREFIXED"}'
    assert acls.decode_literal_change(b"Topic:a:b") == literal
    assert acls.decode_extended_change(acls.encode_change(prefixed)) == prefixed
    assert acls.change_create_path(literal) == "/kafka-acl-changes/acl_changes_"
    assert acls.change_create_path(prefixed) == "/kafka-acl-extended-changes/acl_changes_"
    assert acls.sequence("acl_changes_0000000004") == 4


@pytest.mark.parametrize("data", [None, b"TOPIC", b"QUEUE:q", b"\xff:x"])
def test_malformed_literal_changes(data: bytes | None) -> None:
    with pytest.raises(MalformedZNode):
        acls.decode_literal_change(data)


@pytest.mark.parametrize(
    "data",
    [
        b'{"version":2,"resourceType":"GROUP","name":"g","patternType":"PREFIXED"}',
        b'{"version":1,"resourceType":"QUEUE","name":"g","patternType":"PREFIXED"}',
        b'{"version":1,"resourceType":"GROUP","name":"g","patternType":"MATCH"}',
        b'{"version":1,"resourceType":"GROUP","patternType":"PREFIXED"}',
    ],
)
def test_malformed_extended_changes(data: bytes) -> None:
    with pytest.raises(MalformedZNode):
        acls.decode_extended_change(data)


def test_an_authorizer_creates_its_parents_first() -> None:
    paths = acls.paths_to_create()
    assert len(paths) == 15
    assert all(path.rpartition("/")[0] in ("", *paths[:index]) for index, path in enumerate(paths))


def test_a_token_has_url_encoded_principals_and_numbers() -> None:
    data = (
        b'{"issueTimestamp":1795239355740,"renewers":["User%3Abob"],"tokenId":"KvMBbpf1SGGVVr2RqLYM7g","owner":"User%3Aadmin",'
        b'"expiryTimestamp":1795325755740,"maxTimestamp":1795844155740,"version":1}'
    )
    token = DelegationTokenZNode("KvMBbpf1SGGVVr2RqLYM7g", "User:admin", ("User:bob",), 1795239355740, 1795844155740, 1795325755740)
    assert delegation_tokens.decode(data) == token
    assert delegation_tokens.encode(token) == data
    assert delegation_tokens.path(token.token_id) == "/delegation_token/tokens/KvMBbpf1SGGVVr2RqLYM7g"


def test_a_token_of_3_9_has_a_requester() -> None:
    token = DelegationTokenZNode("t", "User:a", (), 1, 3, 2, "User:r")
    assert delegation_tokens.encode(token).endswith(b'"version":3,"tokenRequester":"User%3Ar"}')
    assert delegation_tokens.decode(delegation_tokens.encode(token)) == token


def test_malformed_tokens() -> None:
    for data in (None, b"{}", b'{"version":4}', b'{"version":1,"tokenId":"t","owner":"User%3Aa","renewers":[],"issueTimestamp":"1"}'):
        with pytest.raises(MalformedZNode):
            delegation_tokens.decode(data)


def test_a_token_change_is_the_token_id() -> None:
    assert (delegation_tokens.encode_change("t"), delegation_tokens.decode_change(b"t")) == (b"t", "t")
    assert delegation_tokens.sequence("token_change_0000000000") == 0
