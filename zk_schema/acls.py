"""`/kafka-acl/...`: who may do what to which topic, group, cluster, transactional id or delegation token.

| path | kind | data |
|---|---|---|
| /kafka-acl/<Type>/<name> | persistent | the entries of one resource, or of `*` (every resource of the type) |
| /kafka-acl-extended/prefixed/<Type>/<name> | persistent | the entries of all resources whose name begins so |
| /kafka-acl-changes/acl_changes_<sequence> | persistent, sequential | `TOPIC:flights`: entries of a literal pattern have changed; plain text |
| /kafka-acl-extended-changes/acl_changes_<sequence> | persistent, sequential | `{"version":1,"resourceType":"TOPIC","name":"team-","patternType":"PREFIXED"}` |

* Writers: a broker's authorizer (or kafka-acls --authorizer-properties): the entries by compare-and-set, then the notification. The node goes with its last
  entry. Any broker deletes notifications older than 15 minutes. The parents are made by the authorizer when it starts, so they are absent where there is
  none.
* Watchers: the authorizer of every broker (children of both parents of changes).
* Sample: `{"version":1,"acls":[{"principal":"User:alice","permissionType":"Allow","operation":"Read","host":"*"}]}`.

Types are written `Topic` in paths and `TOPIC` in notifications.

Source: ZkAclStore, ResourceZNode, ExtendedAclChangeEvent in 2.8:core/src/main/scala/kafka/zk/ZkData.scala;
2.8:core/src/main/scala/kafka/security/authorizer/AclEntry.scala; KIP-290.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from zk_schema.errors import MalformedZNode
from zk_schema.json_fields import JsonFields, text, to_json
from zk_schema.sequential import sequence_number

LITERAL_PATH: Final = "/kafka-acl"
EXTENDED_PATH: Final = "/kafka-acl-extended"
PREFIXED_PATH: Final = f"{EXTENDED_PATH}/prefixed"
LITERAL_CHANGES_PATH: Final = "/kafka-acl-changes"
EXTENDED_CHANGES_PATH: Final = "/kafka-acl-extended-changes"
CHANGE_PREFIX: Final = "acl_changes_"
FAMILY: Final = "/kafka-acl/<Type>/<name>"
VERSION: Final = 1
LITERAL: Final = "LITERAL"
PREFIXED: Final = "PREFIXED"

# by the type's name in notifications (and in Kafka's ResourceType): the node's name
RESOURCE_TYPES: Final = {"TOPIC": "Topic", "GROUP": "Group", "CLUSTER": "Cluster", "TRANSACTIONAL_ID": "TransactionalId", "DELEGATION_TOKEN": "DelegationToken"}
_TYPE_OF_NODE: Final = {node: name for name, node in RESOURCE_TYPES.items()}


@dataclass(frozen=True, slots=True)
class ResourcePattern:
    """What entries are about."""

    resource_type: str  # a key of RESOURCE_TYPES
    name: str  # "*": every resource of the type, where literal
    pattern_type: str = LITERAL  # or PREFIXED


@dataclass(frozen=True, slots=True)
class AclEntry:
    """One permission or prohibition; the texts are as stored."""

    principal: str  # User:alice
    permission_type: str  # Allow or Deny
    operation: str  # Read, DescribeConfigs, All, ...
    host: str  # address, or * for all


def path(resource: ResourcePattern) -> str:
    """The node of a pattern's entries."""
    parent = LITERAL_PATH if resource.pattern_type == LITERAL else PREFIXED_PATH
    return f"{parent}/{RESOURCE_TYPES[resource.resource_type]}/{resource.name}"


def resource_of(acl_path: str) -> ResourcePattern | None:
    """The pattern whose entries this node holds; None for any other path."""
    for parent, pattern_type in ((PREFIXED_PATH, PREFIXED), (LITERAL_PATH, LITERAL)):
        node, _, name = acl_path.removeprefix(f"{parent}/").partition("/")
        if acl_path.startswith(f"{parent}/") and node in _TYPE_OF_NODE and name:
            return ResourcePattern(_TYPE_OF_NODE[node], name, pattern_type)
    return None


def paths_to_create() -> list[str]:
    """What an authorizer creates when it starts, parents first; existing ones are left alone."""
    types = list(RESOURCE_TYPES.values())
    parents = [LITERAL_PATH, *(f"{LITERAL_PATH}/{name}" for name in types), EXTENDED_PATH, PREFIXED_PATH, *(f"{PREFIXED_PATH}/{name}" for name in types)]
    return [*parents, LITERAL_CHANGES_PATH, EXTENDED_CHANGES_PATH]


def encode(value: Iterable[AclEntry]) -> bytes:
    """The entries, in the order given."""
    entries = [{"principal": e.principal, "permissionType": e.permission_type, "operation": e.operation, "host": e.host} for e in value]
    return to_json({"version": VERSION, "acls": entries})


def decode(data: bytes | None) -> tuple[AclEntry, ...]:
    """The entries in the order stored; none where the node has no data."""
    if not data:
        return ()
    fields = JsonFields.of(data, FAMILY)
    if fields.integer("version") != VERSION:
        fields.fail("the version is not 1")
    return tuple(AclEntry(e.text("principal"), e.text("permissionType"), e.text("operation"), e.text("host")) for e in fields.objects("acls"))


def change_create_path(resource: ResourcePattern) -> str:
    """Create this one, sequential, after the change of a pattern's entries."""
    return f"{LITERAL_CHANGES_PATH if resource.pattern_type == LITERAL else EXTENDED_CHANGES_PATH}/{CHANGE_PREFIX}"


def sequence(name: str) -> int:
    """The number of a notification of either kind, by its name or path."""
    return sequence_number(name, CHANGE_PREFIX)


def encode_change(value: ResourcePattern) -> bytes:
    """Plain text for a literal pattern, JSON for any other."""
    if value.pattern_type == LITERAL:
        return f"{value.resource_type}:{value.name}".encode()
    return to_json({"version": VERSION, "resourceType": value.resource_type, "name": value.name, "patternType": value.pattern_type})


def decode_literal_change(data: bytes | None) -> ResourcePattern:
    """`TOPIC:flights`; the name may have colons of its own."""
    family = f"{LITERAL_CHANGES_PATH}/{CHANGE_PREFIX}<sequence>"
    resource_type, colon, name = text(data, family).partition(":")
    if not colon:
        raise MalformedZNode(family, "expected <type>:<name>")
    return ResourcePattern(_known(resource_type, family), name)


def decode_extended_change(data: bytes | None) -> ResourcePattern:
    """The JSON kind."""
    family = f"{EXTENDED_CHANGES_PATH}/{CHANGE_PREFIX}<sequence>"
    fields = JsonFields.of(data, family)
    if fields.integer("version") > VERSION:
        fields.fail("unsupported version")
    pattern_type = fields.text("patternType").upper()
    if pattern_type != PREFIXED:
        fields.fail(f"patternType {pattern_type:.80} is not PREFIXED")
    return ResourcePattern(_known(fields.text("resourceType"), family), fields.text("name"), pattern_type)


def _known(resource_type: str, family: str) -> str:
    if resource_type.upper() not in RESOURCE_TYPES:
        raise MalformedZNode(family, f"{resource_type!r:.80} is no type of resource")
    return resource_type.upper()
