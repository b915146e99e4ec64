"""How kafka-dump-log turns a record's key and value into text: a decoder class for each, or the records of an internal topic taken apart.

Differs from Kafka: DefaultDecoder prints the bytes in hexadecimal (there it prints the address of a Java object). Other classes than Kafka's own four cannot be
named, for there is no Java here to load them.

Source: 2.8 kafka/serializer/Decoder.scala, GroupMetadataManager.scala and TransactionLog.scala (formatRecordKeyAndValue).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from struct import Struct
from typing import Final, TypeVar

from pykafka_classic.cli.dump_log_records import Decoder
from pykafka_classic.cli.scala_order import in_hash_order, topic_partition_hash
from pykafka_classic.common.java import decode_utf8, string_hash
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.codec import decode
from pykafka_classic.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from pykafka_classic.protocol.messages.group_metadata_key import GroupMetadataKey
from pykafka_classic.protocol.messages.group_metadata_value import GroupMetadataValue
from pykafka_classic.protocol.messages.offset_commit_key import OffsetCommitKey
from pykafka_classic.protocol.messages.offset_commit_value import OffsetCommitValue
from pykafka_classic.protocol.messages.transaction_log_key import TransactionLogKey
from pykafka_classic.protocol.messages.transaction_log_value import TransactionLogValue
from pykafka_classic.protocol.schema import Message, SchemaError
from pykafka_classic.records.record import Record

M = TypeVar("M", bound=Message)

TOMBSTONE: Final = "<DELETE>"
TRANSACTION_STATES: Final = ("Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence")

_VERSION: Final = Struct(">h")
_ESCAPED: Final = re.compile(r"\\(?:u([0-9a-f]{4})|.)")  # Jackson writes capital digits
_INTEGER: Final = Struct(">i")
_LONG: Final = Struct(">q")


def _integer(data: bytes) -> str:
    if len(data) < _INTEGER.size:
        raise ValueError(f"an integer of {len(data)} bytes")
    return str(_INTEGER.unpack_from(data)[0])


def _long(data: bytes) -> str:
    if len(data) < _LONG.size:
        raise ValueError(f"a long of {len(data)} bytes")
    return str(_LONG.unpack_from(data)[0])


DECODER_CLASSES: Final[dict[str, Callable[[bytes], str]]] = {
    "kafka.serializer.StringDecoder": decode_utf8,
    "kafka.serializer.DefaultDecoder": bytes.hex,
    "kafka.serializer.IntegerDecoder": _integer,
    "kafka.serializer.LongDecoder": _long,
}


def decoder_of_classes(key_class: str, value_class: str) -> Decoder:
    """Keys and values by one class each. Raises ValueError for a class that is not known."""
    for name in (key_class, value_class):
        if name not in DECODER_CLASSES:
            raise ValueError(f"There is no decoder class {name}; there are {', '.join(DECODER_CLASSES)}.")
    decode_key, decode_value = DECODER_CLASSES[key_class], DECODER_CLASSES[value_class]

    def decoder(record: Record) -> tuple[str | None, str | None]:
        return None if record.key is None else decode_key(record.key), None if record.value is None else decode_value(record.value)

    return decoder


def decode_group_record(record: Record) -> tuple[str | None, str | None]:
    """A record of __consumer_offsets. Raises ValueError."""
    if record.key is None:
        raise ValueError("Failed to decode message using offset topic decoder (message had a missing key)")
    version = _version(record.key)
    if version in (0, 1):
        offset = _read(OffsetCommitKey, record.key)
        key = f"offset_commit::group={offset.group},partition={offset.topic}-{offset.partition}"
        return key, TOMBSTONE if record.value is None else _offset(_read(OffsetCommitValue, record.value))
    if version == 2:
        key = f"group_metadata::group={_read(GroupMetadataKey, record.key).group}"
        return key, TOMBSTONE if record.value is None else _group(_read(GroupMetadataValue, record.value))
    raise ValueError(f"Unknown group metadata message version: {version}")


def _offset(value: OffsetCommitValue) -> str:
    return f"offset={value.offset},metadata={value.metadata}" if value.metadata else f"offset={value.offset}"


def _group(value: GroupMetadataValue) -> str:
    members = {member.member_id: member.assignment for member in value.members}
    texts = [f"{member_id}={_assignment(value.protocol_type, members[member_id])}" for member_id in in_hash_order(members, string_hash)]
    fields = {"protocolType": value.protocol_type, "protocol": value.protocol, "generationId": value.generation, "assignment": f"{{{','.join(texts)}}}"}
    return _ESCAPED.sub(lambda found: f"\\u{found[1].upper()}" if found[1] else found[0], json.dumps(fields, ensure_ascii=False, separators=(",", ":")))


def _assignment(protocol_type: str, data: bytes) -> str:
    """Only consumers' assignments have a form that is known."""
    if protocol_type != "consumer":
        return _number(data)
    version = min(_version(data), ConsumerProtocolAssignment.VALID_VERSIONS.last)
    found = _message(ConsumerProtocolAssignment, version, data)
    partitions = ", ".join(f"{topic.topic}-{partition}" for topic in found.assigned_partitions for partition in topic.partitions)
    return f"[{partitions}]:{_number(found.user_data)}" if found.user_data else f"[{partitions}]"


def _number(data: bytes) -> str:
    """Bytes as one hexadecimal number: without the zeros at the front."""
    return f"{int.from_bytes(data, 'big'):X}"


def decode_transaction_record(record: Record) -> tuple[str | None, str | None]:
    """A record of __transaction_state. Raises ValueError."""
    if record.key is None:
        raise ValueError("Failed to decode message using transaction log decoder (message had a missing key)")
    key = f"transaction_metadata::transactionalId={_read(TransactionLogKey, record.key).transactional_id}"
    return key, TOMBSTONE if record.value is None else _transaction(_read(TransactionLogValue, record.value))


def _transaction(value: TransactionLogValue) -> str:
    if not 0 <= value.transaction_status < len(TRANSACTION_STATES):
        raise ValueError(f"Unknown transaction state id {value.transaction_status} from the transaction status message")
    state = TRANSACTION_STATES[value.transaction_status]
    topics = value.transaction_partitions if state != "Empty" else ()
    found = [TopicPartition(topic.topic, partition) for topic in topics or () for partition in topic.partition_ids]
    partitions = ",".join(f"{each.topic}-{each.partition}" for each in in_hash_order(found, topic_partition_hash))
    return (
        f"producerId:{value.producer_id},producerEpoch:{value.producer_epoch},state={state},partitions=[{partitions}],"
        f"txnLastUpdateTimestamp={value.transaction_last_update_timestamp_ms},txnTimeoutMs={value.transaction_timeout_ms}"
    )


def _version(data: bytes) -> int:
    if len(data) < _VERSION.size:
        raise ValueError(f"only {len(data)} bytes, where a version should be")
    return int(_VERSION.unpack_from(data)[0])


def _read(kind: type[M], data: bytes) -> M:
    version = _version(data)
    if version not in kind.VALID_VERSIONS:
        raise ValueError(f"{kind.__name__} of version {version}, which is not known")
    return _message(kind, version, data)


def _message(kind: type[M], version: int, data: bytes) -> M:
    try:
        return decode(kind, version, data, _VERSION.size)[0]
    except SchemaError as error:
        raise ValueError(str(error)) from error
