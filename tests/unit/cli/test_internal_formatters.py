"""Records of the internal topics as lines. What is expected was printed by the console consumer of Apache Kafka 2.8.2 (tests/golden/data/cli/
kafka-console-consumer-formatters.json, "groups" and "offsets")."""

from __future__ import annotations

import pytest

from pykafka_classic.cli.console_formatters import formatter
from pykafka_classic.client.fetched_records import ConsumerRecord
from pykafka_classic.protocol.codec import encode
from pykafka_classic.protocol.messages.group_metadata_key import GroupMetadataKey
from pykafka_classic.protocol.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from pykafka_classic.protocol.messages.offset_commit_key import OffsetCommitKey
from pykafka_classic.protocol.messages.transaction_log_key import TransactionLogKey
from pykafka_classic.protocol.messages.transaction_log_value import PartitionsSchema, TransactionLogValue
from pykafka_classic.protocol.schema import Message

GROUPS = formatter("kafka.coordinator.group.GroupMetadataManager$GroupMetadataMessageFormatter", {})
OFFSETS = formatter("kafka.coordinator.group.GroupMetadataManager$OffsetsMessageFormatter", {})
TRANSACTIONS = formatter("kafka.coordinator.transaction.TransactionLog$TransactionLogMessageFormatter", {})
MEMBER = "consumer-g-1-3bad2d69-e53c-48e7-8c05-a4f74c586e9c"


def versioned(message: Message, version: int) -> bytes:
    return version.to_bytes(2, "big") + encode(message, version)


def record(key: bytes | None, value: bytes | None) -> ConsumerRecord:
    return ConsumerRecord("__consumer_offsets", 0, 0, 0, key, value, ())


GROUP_KEY = versioned(GroupMetadataKey(group="g"), 2)
OFFSET_KEY = versioned(OffsetCommitKey(group="g", topic="t", partition=0), 1)


def test_a_group_with_a_member() -> None:
    member = MemberMetadata(
        member_id=MEMBER,
        client_id="consumer-g-1",
        client_host="/127.0.0.1",
        rebalance_timeout=300_000,
        session_timeout=10_000,
        subscription=b"",
        assignment=b"",
    )
    value = GroupMetadataValue(protocol_type="consumer", generation=1, protocol="range", leader=MEMBER, members=[member])
    assert GROUPS(record(GROUP_KEY, versioned(value, 3))) == (
        "g::GroupMetadata(groupId=g, generation=1, protocolType=Some(consumer), currentState=Stable, members=HashMap("
        f"{MEMBER} -> MemberMetadata(memberId={MEMBER}, groupInstanceId=None, clientId=consumer-g-1, clientHost=/127.0.0.1, "
        "sessionTimeoutMs=10000, rebalanceTimeoutMs=300000, supportedProtocols=List(range), )))\n"
    )


def test_an_empty_group_and_one_that_was_deleted() -> None:
    empty = GroupMetadataValue(protocol_type="consumer", generation=2, protocol=None, leader=None, members=[])
    line = "g::GroupMetadata(groupId=g, generation=2, protocolType=Some(consumer), currentState=Empty, members=HashMap())\n"
    assert GROUPS(record(GROUP_KEY, versioned(empty, 3))) == line
    assert GROUPS(record(GROUP_KEY, None)) == "g::NULL\n"


def test_a_transaction() -> None:
    topics = [PartitionsSchema(topic="t", partition_ids=[0])]
    value = TransactionLogValue(
        producer_id=0,
        producer_epoch=0,
        transaction_timeout_ms=60_000,
        transaction_status=2,
        transaction_partitions=topics,
        transaction_last_update_timestamp_ms=1795278897002,
        transaction_start_timestamp_ms=1795278896923,
    )
    key = versioned(TransactionLogKey(transactional_id="tx"), 0)
    assert TRANSACTIONS(record(key, versioned(value, 0))) == (  # printed there too
        "tx::TransactionMetadata(transactionalId=tx, producerId=0, producerEpoch=0, txnTimeoutMs=60000, state=PrepareCommit, pendingState=None, "
        "topicPartitions=HashSet(t-0), txnStartTimestamp=1795278896923, txnLastUpdateTimestamp=1795278897002)\n"
    )
    assert TRANSACTIONS(record(key, None)) == "tx::NULL\n"


def test_each_passes_over_what_is_the_others() -> None:
    assert GROUPS(record(OFFSET_KEY, None)) == ""
    assert OFFSETS(record(GROUP_KEY, None)) == ""
    assert OFFSETS(record(OFFSET_KEY, None)) == "[g,t,0]::NULL\n"
    assert [shown(record(None, b"v")) for shown in (GROUPS, OFFSETS, TRANSACTIONS)] == ["", "", ""]


def test_a_record_of_another_topic_is_told_in_kafkas_words() -> None:
    for shown in (GROUPS, OFFSETS):
        with pytest.raises(ValueError, match=r"^Unknown group metadata message version: 27440$"):
            shown(record(b"k0", b"v0"))
    with pytest.raises(ValueError, match=r"^Unknown version 27440 from the transaction log message$"):
        TRANSACTIONS(record(b"k0", b"v0"))
