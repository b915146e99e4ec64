"""What the coordinator writes to `__consumer_offsets` is what Apache Kafka writes, byte for byte; and what Apache wrote is taken over.

Two kinds of expected values: messages encoded by Kafka's own classes (data/protocol), and logs that brokers of 2.8.2 wrote (data/logs) with what their tools
said of the groups (golden/logs/groups/describe.txt, formats/about.md, and the consumers of the transactions).
"""

from __future__ import annotations

import base64
from typing import Any, Final

import pytest

from pykafka_classic.common.api_version import ApiVersion
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group import group_records
from pykafka_classic.coordinator.group.group_metadata import GroupMetadata, GroupState, Member
from pykafka_classic.coordinator.group.group_offsets import FetchedOffset
from pykafka_classic.coordinator.group.group_records import GroupKey, OffsetAndMetadata, OffsetKey
from pykafka_classic.protocol.codec import decode
from pykafka_classic.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from pykafka_classic.protocol.schema import SchemaError
from pykafka_classic.records.record_batch import RecordBatch, iterate_batches, stamp_base_offset, stamp_partition_leader_epoch
from tests.fakes.clock import FakeClock
from tests.golden import log_data, protocol_data
from tests.unit.coordinator.helpers import FakeInternalTopic, Harness

# The newest inter.broker.protocol.version that still writes a version of a value.
IBP_OF_OFFSET: Final = {1: "2.0-IV1", 2: "2.1-IV0", 3: "2.8-IV1"}
IBP_OF_GROUP: Final = {0: "0.10.0-IV1", 1: "2.0-IV1", 2: "2.2-IV1", 3: "2.8-IV1"}

LOGS: Final = [("groups", "data"), ("formats", "broker-0"), ("transactions", "data")]


def vectors(api: str) -> list[dict[str, Any]]:
    return [line for line in protocol_data.lines("vectors") if line["api"] == api]


def whole(vector: dict[str, Any]) -> bytes:
    """As it stands in a record: behind its version."""
    return int(vector["version"]).to_bytes(2, "big") + bytes.fromhex(vector["hex"])


def ids(vector: dict[str, Any]) -> str:
    return f"v{vector['version']}-{vector['case']}"


@pytest.mark.parametrize("vector", vectors("OffsetCommitKey"), ids=ids)
def test_keys_of_offsets(vector: dict[str, Any]) -> None:
    place = TopicPartition(vector["json"]["topic"], vector["json"]["partition"])
    assert group_records.read_key(whole(vector)) == OffsetKey(vector["json"]["group"], place)
    assert group_records.current_key(whole(vector)) == group_records.offset_key(vector["json"]["group"], place)
    if vector["version"] == 1:
        assert group_records.offset_key(vector["json"]["group"], place) == whole(vector)


def test_very_many_keys_of_offsets_are_read_as_one_is() -> None:
    keys = group_records.OffsetKeys()
    for vector in [each for each in vectors("OffsetCommitKey") if each["version"] == 1] * 2:
        assert keys.split(whole(vector)) == group_records.read_key(whole(vector))
        for size in range(2, len(whole(vector))):
            with pytest.raises(SchemaError):
                keys.split(whole(vector)[:size])
    assert keys.split(group_records.group_key("g")) is None


@pytest.mark.parametrize("vector", vectors("GroupMetadataKey"), ids=ids)
def test_keys_of_groups(vector: dict[str, Any]) -> None:
    assert group_records.group_key(vector["json"]["group"]) == whole(vector)
    assert group_records.read_key(whole(vector)) == GroupKey(vector["json"]["group"])


@pytest.mark.parametrize("vector", vectors("OffsetCommitValue"), ids=ids)
def test_committed_offsets(vector: dict[str, Any]) -> None:
    told, version = vector["json"], vector["version"]
    expiry = told.get("expireTimestamp", -1)
    committed = OffsetAndMetadata(told["offset"], told["metadata"], told["commitTimestamp"], told.get("leaderEpoch", -1), None if expiry == -1 else expiry)
    assert group_records.read_offset_value(whole(vector)) == committed
    assert group_records.is_readable(group_records.OFFSET_KEY_PREFIX, whole(vector))
    if version in IBP_OF_OFFSET:
        assert group_records.offset_value(committed, ApiVersion.parse(IBP_OF_OFFSET[version])) == whole(vector)


def test_an_expiry_asked_for_is_written_whatever_the_brokers_speak() -> None:
    [vector] = [each for each in vectors("OffsetCommitValue") if (each["version"], each["case"]) == (1, "filled")]
    told = vector["json"]
    committed = OffsetAndMetadata(told["offset"], told["metadata"], told["commitTimestamp"], 7, told["expireTimestamp"])
    assert group_records.offset_value(committed, ApiVersion.parse("2.8-IV1")) == whole(vector)


@pytest.mark.parametrize("vector", vectors("OffsetCommitValue"), ids=ids)
def test_a_committed_offset_that_is_cut_is_never_readable(vector: dict[str, Any]) -> None:
    for size in range(len(whole(vector))):
        assert not group_records.is_readable(group_records.OFFSET_KEY_PREFIX, whole(vector)[:size])


@pytest.mark.parametrize("vector", [each for each in vectors("GroupMetadataValue") if each["case"] == "nulls"], ids=ids)
def test_a_group_with_members_but_without_a_protocol_can_be_read(vector: dict[str, Any]) -> None:
    """No coordinator writes one."""
    group = group_records.read_group_value("g", whole(vector))
    assert (group.protocol_name, group.leader_id, list(group.members)) == (None, None, [vector["json"]["members"][0]["memberId"]])


@pytest.mark.parametrize("vector", [each for each in vectors("GroupMetadataValue") if each["case"] != "nulls"], ids=ids)
def test_groups(vector: dict[str, Any]) -> None:
    told, version = vector["json"], vector["version"]
    since_ms = told.get("currentStateTimestamp")
    group = GroupMetadata("g", GroupState.STABLE, told["protocolType"], told["generation"], told["leader"], told["protocol"], since_ms)
    assignments = {}
    for each in told["members"]:
        member = Member(
            each["memberId"],
            each.get("groupInstanceId"),
            each["clientId"],
            each["clientHost"],
            each.get("rebalanceTimeout", each["sessionTimeout"]),
            each["sessionTimeout"],
            told["protocolType"],
            ((told["protocol"], base64.b64decode(each["subscription"])),),
        )
        assignments[member.member_id] = base64.b64decode(each["assignment"])
        group.members[member.member_id] = member
    assert group_records.group_value(group, assignments, ApiVersion.parse(IBP_OF_GROUP[version])) == whole(vector)
    read = group_records.read_group_value("g", whole(vector))
    assert group_records.group_value(read, assignments, ApiVersion.parse(IBP_OF_GROUP[version])) == whole(vector)


def test_a_group_without_members_is_stored_as_kafka_stores_it() -> None:
    """Recorded: group console of golden/logs/groups after its member left."""
    batch = batches("groups", "data", 1)[2]
    [record] = batch.records()
    assert record.value is not None
    group = group_records.read_group_value("console", record.value)
    assert (group.state, group.generation_id, group.protocol_type, group.protocol_name, group.leader_id) == (GroupState.EMPTY, 2, "consumer", None, None)


# whole batches


def batches(scenario: str, root: str, partition: int) -> list[RecordBatch]:
    raw = log_data.members(scenario)[f"{root}/__consumer_offsets-{partition}/00000000000000000000.log"]
    found = list(iterate_batches(raw))
    assert all(isinstance(batch, RecordBatch) for batch in found)
    return found  # type: ignore[return-value]


ALL_BATCHES: Final = [
    pytest.param(batch, id=f"{scenario}-{partition}@{batch.base_offset}")
    for scenario, root in LOGS
    for partition in (0, 1)
    for batch in batches(scenario, root, partition)
    if not batch.is_control
]


@pytest.mark.parametrize("recorded", ALL_BATCHES)
def test_our_store_writes_the_batch_that_kafka_wrote(recorded: RecordBatch) -> None:
    harness = Harness(clock=FakeClock(recorded.max_timestamp))
    store_again(harness, recorded)
    [(_, written)] = harness.topic.batches
    ours = bytearray(written)
    stamp_base_offset(ours, recorded.base_offset)
    stamp_partition_leader_epoch(ours, recorded.partition_leader_epoch)
    assert bytes(ours) == bytes(recorded.buffer)


def store_again(harness: Harness, recorded: RecordBatch) -> None:
    """What the records say, through the store."""
    store, keys = harness.groups.store, [group_records.read_key(record.key or b"") for record in recorded.records()]
    values = [record.value for record in recorded.records()]
    group_id = next(key.group_id for key in keys if key is not None)
    if values[0] is None:
        places = [key.topic_partition for key in keys if isinstance(key, OffsetKey)]
        store.store_tombstones(group_id, places, group_too=GroupKey(group_id) in keys)
    elif isinstance(keys[0], GroupKey):
        group = group_records.read_group_value(group_id, values[0])
        store.store_group(group, {member.member_id: member.assignment for member in group.members.values()})
    else:
        commits = {
            key.topic_partition: group_records.read_offset_value(value or b"") for key, value in zip(keys, values, strict=True) if isinstance(key, OffsetKey)
        }
        producer = (recorded.producer_id, recorded.producer_epoch)
        store.store_offsets(store.create(group_id), commits, producer)


# loading


class RecordedTopic(FakeInternalTopic):
    """`__consumer_offsets` as a broker left it."""

    def __init__(self, scenario: str, root: str) -> None:
        super().__init__(partitions=2)
        manager = log_data.Recording(scenario, root).load()
        found = [manager.get_log(TopicPartition("__consumer_offsets", partition)) for partition in (0, 1)]
        self.logs = found  # type: ignore[assignment]  # real logs


def taken_over(scenario: str, root: str) -> Harness:
    harness = Harness(topic=RecordedTopic(scenario, root))
    for partition in (0, 1):
        harness.groups.loader.on_election(partition, 1)
    harness.clock.advance(0)
    assert harness.groups.store.owned == {0, 1}
    return harness


def offsets(harness: Harness, group_id: str) -> dict[tuple[str, int], tuple[int, str]]:
    error, found = harness.groups.offsets.fetch(group_id, None, require_stable=True)
    assert error is ErrorCode.NONE and not any(each.error for each in found.values())
    return {tuple(place): (each.offset, each.metadata) for place, each in found.items()}  # type: ignore[misc]


def test_the_groups_of_a_kafka_are_taken_over_as_kafka_described_them() -> None:
    """golden/logs/groups/describe.txt; metadata as the recording program committed it (librdkafka sends the terminating zero, too)."""
    harness = taken_over("groups", "data")
    states = {group.group_id: group.state.value for group in harness.groups.admin.list([])[1]}
    assert states == {"console": "Empty", "static": "Stable", "dynamic": "Empty", "simple": "Empty", "in-transaction": "Empty"}
    assert offsets(harness, "console") == {("in", number): (10, "") for number in range(3)}
    assert offsets(harness, "static") == {("in", number): (10, "") for number in range(3)}
    assert offsets(harness, "dynamic") == {("in", 0): (4, "again\0")}
    assert offsets(harness, "simple") == {("in", 2): (9, "")}
    assert offsets(harness, "in-transaction") == {("in", 0): (5, "")}
    assert offsets(harness, "deleted") == {}


def test_a_static_member_is_taken_over_with_its_assignment_and_goes_on() -> None:
    harness = taken_over("groups", "data")
    _, group = harness.groups.admin.describe("static")
    assert group is not None
    [member] = group.members.values()
    assert member.member_id == "instance-1-8cb3ad1d-0d9b-442e-9ab6-d31054b74e49"
    assert (member.group_instance_id, member.client_id, member.client_host, group.protocol_name) == ("instance-1", "rdkafka", "/127.0.0.1", "roundrobin")
    [topic] = decode(ConsumerProtocolAssignment, 0, member.assignment, 2)[0].assigned_partitions
    assert (topic.topic, sorted(topic.partitions)) == ("in", [0, 1, 2])
    assert harness.groups.coordinator.heartbeat("static", member.member_id, "instance-1", group.generation_id) is ErrorCode.NONE


def test_a_loaded_group_is_stored_again_as_it_was() -> None:
    harness = taken_over("groups", "data")
    _, group = harness.groups.admin.describe("static")
    [recorded] = batches("groups", "data", 0)[0].records()
    assert group is not None and recorded.value is not None
    assignments = {member.member_id: member.assignment for member in group.members.values()}
    assert group_records.group_value(group, assignments, harness.config.inter_broker_api_version) == recorded.value


def test_committed_and_aborted_transactions_of_a_kafka_are_honoured() -> None:
    """The first transaction of group txn-group was committed, the second aborted; both said offset 5, so the commit's own offset tells which one counts."""
    harness = taken_over("transactions", "data")
    assert offsets(harness, "txn-group") == {("txn", 0): (5, "")}
    assert harness.groups.store.offsets_of("txn-group").acknowledged[TopicPartition("txn", 0)].record_offset == 0


def test_the_groups_of_the_formats_recording_are_taken_over() -> None:
    harness = taken_over("formats", "broker-0")
    for group_id in ("g1", "g2"):
        assert offsets(harness, group_id) == {("v2-none", 0): (20, "")}
    assert harness.groups.offsets.fetch("nobody", [TopicPartition("t", 0)], require_stable=True)[1] == {TopicPartition("t", 0): FetchedOffset()}
