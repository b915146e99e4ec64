"""How the console consumer prints what brokers keep in `__consumer_offsets` and `__transaction_state`.

Each takes the records of its own kind, and passes over the others of its topic. ValueError for a record that is none of them.

Source: what toString gives in 2.8 GroupMetadataManager.scala (OffsetsMessageFormatter, GroupMetadataMessageFormatter), GroupMetadata.scala,
MemberMetadata.scala, OffsetAndMetadata.scala, TransactionLog.scala (TransactionLogMessageFormatter), TransactionMetadata.scala.
"""

from __future__ import annotations

from typing import Final, TypeVar

from pykafka_classic.cli.dump_log_decoders import TRANSACTION_STATES
from pykafka_classic.cli.scala_order import in_hash_order, topic_partition_hash
from pykafka_classic.client.fetched_records import ConsumerRecord
from pykafka_classic.common.java import string_hash
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.codec import decode
from pykafka_classic.protocol.messages.group_metadata_key import GroupMetadataKey
from pykafka_classic.protocol.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from pykafka_classic.protocol.messages.offset_commit_key import OffsetCommitKey
from pykafka_classic.protocol.messages.offset_commit_value import OffsetCommitValue
from pykafka_classic.protocol.messages.transaction_log_key import TransactionLogKey
from pykafka_classic.protocol.messages.transaction_log_value import TransactionLogValue
from pykafka_classic.protocol.schema import Message, SchemaError

M = TypeVar("M", bound=Message)

_VERSION_SIZE: Final = 2
_GROUP_KEY_VERSION: Final = 2
_UNKNOWN_GROUP: Final = "Unknown group metadata message version: {}"
_UNKNOWN_TRANSACTION: Final = "Unknown version {} from the transaction log message"
_UNKNOWN_OFFSET_VALUE: Final = "Unknown offset message version: {}"
_UNKNOWN_TRANSACTION_VALUE: Final = "Unknown version {} from the transaction log message value"


def offsets_line(record: ConsumerRecord) -> str:
    """A committed offset."""
    if record.key is None or _version(record.key) == _GROUP_KEY_VERSION:
        return ""
    key = _read(OffsetCommitKey, record.key, _UNKNOWN_GROUP)
    which = f"[{key.group},{key.topic},{key.partition}]"
    if record.value is None:
        return f"{which}::NULL\n"
    value = _read(OffsetCommitValue, record.value, _UNKNOWN_OFFSET_VALUE)
    epoch = "Optional.empty" if value.leader_epoch < 0 else f"Optional[{value.leader_epoch}]"
    expires = "None" if value.expire_timestamp < 0 else f"Some({value.expire_timestamp})"
    parts = f"offset={value.offset}, leaderEpoch={epoch}, metadata={value.metadata}, commitTimestamp={value.commit_timestamp}, expireTimestamp={expires}"
    return f"{which}::OffsetAndMetadata({parts})\n"


def group_line(record: ConsumerRecord) -> str:
    """A group's generation."""
    if record.key is None or _version(record.key) in OffsetCommitKey.VALID_VERSIONS:
        return ""
    group = _read(GroupMetadataKey, record.key, _UNKNOWN_GROUP).group
    return f"{group}::{'NULL' if record.value is None else _group(group, _read(GroupMetadataValue, record.value, _UNKNOWN_GROUP))}\n"


def _group(group: str, value: GroupMetadataValue) -> str:
    members = {member.member_id: member for member in value.members}
    texts = [f"{member_id} -> {_member(members[member_id], value.protocol)}" for member_id in in_hash_order(members, string_hash)]
    protocol_type = f"Some({value.protocol_type})" if value.protocol_type else "None"
    state = "Stable" if members else "Empty"
    return (
        f"GroupMetadata(groupId={group}, generation={value.generation}, protocolType={protocol_type}, currentState={state}, "
        f"members=HashMap({', '.join(texts)}))"
    )


def _member(member: MemberMetadata, protocol: str | None) -> str:
    instance = "None" if member.group_instance_id is None else f"Some({member.group_instance_id})"
    rebalance_ms = member.rebalance_timeout or member.session_timeout  # not known before version 1
    return (
        f"MemberMetadata(memberId={member.member_id}, groupInstanceId={instance}, clientId={member.client_id}, clientHost={member.client_host}, "
        f"sessionTimeoutMs={member.session_timeout}, rebalanceTimeoutMs={rebalance_ms}, supportedProtocols=List({protocol or 'null'}), )"
    )


def transaction_line(record: ConsumerRecord) -> str:
    """What the coordinator knows of a transaction."""
    if record.key is None:
        return ""
    name = _read(TransactionLogKey, record.key, _UNKNOWN_TRANSACTION).transactional_id
    return f"{name}::{'NULL' if record.value is None else _transaction(name, _read(TransactionLogValue, record.value, _UNKNOWN_TRANSACTION_VALUE))}\n"


def _transaction(name: str, value: TransactionLogValue) -> str:
    if not 0 <= value.transaction_status < len(TRANSACTION_STATES):
        raise ValueError(f"Unknown transaction state id {value.transaction_status} from the transaction status message")
    state = TRANSACTION_STATES[value.transaction_status]
    topics = value.transaction_partitions if state != "Empty" else ()
    found = [TopicPartition(topic.topic, partition) for topic in topics or () for partition in topic.partition_ids]
    partitions = ", ".join(str(each) for each in in_hash_order(found, topic_partition_hash))
    return (
        f"TransactionMetadata(transactionalId={name}, producerId={value.producer_id}, producerEpoch={value.producer_epoch}, "
        f"txnTimeoutMs={value.transaction_timeout_ms}, state={state}, pendingState=None, topicPartitions=HashSet({partitions}), "
        f"txnStartTimestamp={value.transaction_start_timestamp_ms}, txnLastUpdateTimestamp={value.transaction_last_update_timestamp_ms})"
    )


def _version(data: bytes) -> int:
    return int.from_bytes(data[:_VERSION_SIZE], "big", signed=True)


def _read(kind: type[M], data: bytes, complaint: str) -> M:
    """A message behind its version; ValueError with the complaint for a version that is not known."""
    version = _version(data)
    if len(data) < _VERSION_SIZE or version not in kind.VALID_VERSIONS:
        raise ValueError(complaint.format(version))
    try:
        return decode(kind, version, data, _VERSION_SIZE)[0]
    except SchemaError as error:
        raise ValueError(str(error)) from error
