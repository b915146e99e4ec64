"""The registry: every kind of node that a Kafka cluster of the ZooKeeper era has, from 0.8 to 3.9.

A `Family` is one row of the table in facts/coordination.md 1.2: a pattern for its paths, its kind, who writes and who watches it, and its codec.
`family_of(path)` finds the row, so that tools (a monitor, a dump) can show any node. Paths are those below the chroot.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from zk_schema import (
    acls,
    broker_ids,
    broker_seqid,
    cluster_id,
    config_changes,
    configs,
    consumers,
    controller,
    controller_epoch,
    delegation_tokens,
    delete_topics,
    feature,
    isr_change_notification,
    log_dir_event_notification,
    migration,
    partition_state,
    preferred_replica_election,
    producer_id_block,
    reassign_partitions,
    topics,
)
from zk_schema.errors import MalformedZNode


class Kind(Enum):
    """How a node lives."""

    PERSISTENT = "persistent"
    EPHEMERAL = "ephemeral"
    SEQUENTIAL = "persistent, sequential"


@dataclass(frozen=True, slots=True)
class Codec:
    """From bytes to a value and back."""

    decode: Callable[[bytes | None], Any]  # raises MalformedZNode, nothing else
    encode: Callable[[Any], bytes | None]
    json: bool = True  # False: plain text


@dataclass(frozen=True, slots=True)
class Family:
    """One kind of node."""

    pattern: str  # /brokers/ids/<id>: each <word> stands for one name
    kind: Kind
    writers: str  # "": whoever makes a child
    watchers: str  # "": nobody
    codec: Codec | None = None  # None: the node has no data, null or empty
    nullable: bool = False  # True: null is a possible state of a node that has a codec
    regex: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        pieces = re.split(r"<[a-z]+>", self.pattern)
        object.__setattr__(self, "regex", re.compile("[^/]+".join(re.escape(piece) for piece in pieces)))

    def decode(self, data: bytes | None) -> Any:
        """The value; None for a node without data. Raises MalformedZNode."""
        if self.codec is None:
            if data:
                raise MalformedZNode(self.pattern, f"expected no data, not {len(data)} bytes")
            return None
        if data is None and self.nullable:
            return None
        return self.codec.decode(data)


_P, _E, _S = Kind.PERSISTENT, Kind.EPHEMERAL, Kind.SEQUENTIAL
_START: Final = "every broker at start"
_OLD: Final = "old consumers"
_CHANGER: Final = "broker or tool that changes it"
_AUTHORIZER: Final = "authorizer"
_TOKENS: Final = "broker with token authentication"

_CONFIG: Final = Codec(configs.decode, configs.encode)
_ACLS: Final = Codec(acls.decode, acls.encode)
_STATE: Final = Codec(partition_state.decode, partition_state.encode)
_REASSIGNMENT: Final = Codec(reassign_partitions.decode, reassign_partitions.encode)
_ELECTION: Final = Codec(preferred_replica_election.decode, preferred_replica_election.encode)
_ISR_CHANGE: Final = Codec(isr_change_notification.decode, isr_change_notification.encode)
_LOG_DIR: Final = Codec(log_dir_event_notification.decode, log_dir_event_notification.encode)
_BLOCK: Final = Codec(producer_id_block.decode, producer_id_block.encode)
_TOKEN: Final = Codec(delegation_tokens.decode, delegation_tokens.encode)
_TOKEN_CHANGE: Final = Codec(delegation_tokens.decode_change, delegation_tokens.encode_change, json=False)
_LITERAL_CHANGE: Final = Codec(acls.decode_literal_change, acls.encode_change, json=False)
_EXTENDED_CHANGE: Final = Codec(acls.decode_extended_change, acls.encode_change)
_EPOCH: Final = Codec(controller_epoch.decode, controller_epoch.encode, json=False)
_OWNER: Final = Codec(consumers.decode_owner, consumers.encode_owner, json=False)
_OFFSET: Final = Codec(consumers.decode_offset, consumers.encode_offset, json=False)

FAMILIES: Final = (
    Family("/cluster", _P, "first broker", ""),
    Family(cluster_id.PATH, _P, "first broker", "", Codec(cluster_id.decode, cluster_id.encode)),
    Family(controller.PATH, _E, "winner of the election", "every broker", Codec(controller.decode, controller.encode)),
    Family(controller_epoch.PATH, _P, "winner of the election", "", _EPOCH),
    Family("/brokers", _P, _START, ""),
    Family(broker_ids.PATH, _P, _START, "controller; old consumers without a broker"),
    Family("/brokers/ids/<id>", _E, "that broker", "controller", Codec(broker_ids.decode, broker_ids.encode), nullable=True),
    Family(broker_seqid.PATH, _P, "broker without an id", ""),
    Family(topics.PATH, _P, _START, "controller; old consumers with a pattern"),
    Family("/brokers/topics/<topic>", _P, "creator of the topic, then controller", "controller; old consumers", Codec(topics.decode, topics.encode)),
    Family("/brokers/topics/<topic>/partitions", _P, "controller", ""),
    Family("/brokers/topics/<topic>/partitions/<partition>", _P, "controller", ""),
    Family("/brokers/topics/<topic>/partitions/<partition>/state", _P, "controller; leader below 2.7-IV2", "controller while reassigning", _STATE),
    Family("/admin", _P, _START, ""),
    Family(delete_topics.PATH, _P, _START, "controller"),
    Family("/admin/delete_topics/<topic>", _P, "broker or tool that deletes; removed by the controller", ""),
    Family(reassign_partitions.PATH, _P, "tool, then controller", "controller (creation)", _REASSIGNMENT),
    Family(preferred_replica_election.PATH, _P, "tool; removed by the controller", "controller (creation)", _ELECTION),
    Family("/config", _P, _START, ""),
    *(Family(configs.type_path(entity_type), _P, _START, "") for entity_type in configs.ENTITY_TYPES),
    *(Family(f"{configs.type_path(entity_type)}/<name>", _P, _CHANGER, "", _CONFIG, nullable=True) for entity_type in configs.ENTITY_TYPES),
    Family("/config/users/<user>/clients", _P, _CHANGER, ""),
    Family("/config/users/<user>/clients/<client>", _P, _CHANGER, "", _CONFIG, nullable=True),
    Family(config_changes.PATH, _P, _START, "every broker"),
    Family(f"{config_changes.CREATE_PATH}<sequence>", _S, _CHANGER, "", Codec(config_changes.decode, config_changes.encode)),
    Family(isr_change_notification.PATH, _P, _START, "controller"),
    Family(f"{isr_change_notification.CREATE_PATH}<sequence>", _S, "leader below 2.7-IV2", "", _ISR_CHANGE),
    Family(log_dir_event_notification.PATH, _P, _START, "controller"),
    Family(f"{log_dir_event_notification.CREATE_PATH}<sequence>", _S, "broker with a failed disk", "", _LOG_DIR),
    Family(producer_id_block.PATH, _P, "broker that takes a block", "", _BLOCK, nullable=True),
    Family(feature.PATH, _P, "controller", "every broker from 2.7-IV0", Codec(feature.decode, feature.encode)),
    Family(acls.LITERAL_PATH, _P, _AUTHORIZER, ""),
    Family(f"{acls.LITERAL_PATH}/<type>", _P, _AUTHORIZER, ""),
    Family(f"{acls.LITERAL_PATH}/<type>/<name>", _P, _AUTHORIZER, "", _ACLS),
    Family(acls.EXTENDED_PATH, _P, _AUTHORIZER, ""),
    Family(acls.PREFIXED_PATH, _P, _AUTHORIZER, ""),
    Family(f"{acls.PREFIXED_PATH}/<type>", _P, _AUTHORIZER, ""),
    Family(f"{acls.PREFIXED_PATH}/<type>/<name>", _P, _AUTHORIZER, "", _ACLS),
    Family(acls.LITERAL_CHANGES_PATH, _P, _AUTHORIZER, "every authorizer"),
    Family(f"{acls.LITERAL_CHANGES_PATH}/{acls.CHANGE_PREFIX}<sequence>", _S, _AUTHORIZER, "", _LITERAL_CHANGE),
    Family(acls.EXTENDED_CHANGES_PATH, _P, _AUTHORIZER, "every authorizer"),
    Family(f"{acls.EXTENDED_CHANGES_PATH}/{acls.CHANGE_PREFIX}<sequence>", _S, _AUTHORIZER, "", _EXTENDED_CHANGE),
    Family(delegation_tokens.PARENT, _P, _TOKENS, ""),
    Family(delegation_tokens.PATH, _P, _TOKENS, ""),
    Family(f"{delegation_tokens.PATH}/<token>", _P, "broker asked for it", "", _TOKEN),
    Family(delegation_tokens.CHANGES_PATH, _P, _TOKENS, f"every {_TOKENS}"),
    Family(f"{delegation_tokens.CHANGE_CREATE_PATH}<sequence>", _S, "broker that changed a token", "", _TOKEN_CHANGE),
    Family(migration.PATH, _P, "KRaft controller (3.4 to 3.9)", "", Codec(migration.decode, migration.encode)),
    Family(consumers.PATH, _P, _START, ""),
    Family("/consumers/<group>", _P, _OLD, ""),
    Family("/consumers/<group>/ids", _P, _OLD, "the group's consumers"),
    Family("/consumers/<group>/ids/<consumer>", _E, "that consumer", "", Codec(consumers.decode_id, consumers.encode_id)),
    Family("/consumers/<group>/owners", _P, _OLD, ""),
    Family("/consumers/<group>/owners/<topic>", _P, _OLD, ""),
    Family("/consumers/<group>/owners/<topic>/<partition>", _E, "consumer that owns it", "", _OWNER),
    Family("/consumers/<group>/offsets", _P, _OLD, ""),
    Family("/consumers/<group>/offsets/<topic>", _P, _OLD, ""),
    Family("/consumers/<group>/offsets/<topic>/<partition>", _P, "owner of the partition; broker on OffsetCommit 0", "", _OFFSET),
)


def family_of(path: str) -> Family | None:
    """The family of a path below the chroot; None where Kafka has no such node."""
    return next((family for family in FAMILIES if family.regex.fullmatch(path)), None)
