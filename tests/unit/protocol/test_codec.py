"""Reading and writing messages: what the golden vectors do not show."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from pykafka_classic.common.file_records import FileRecords
from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.codec import decode, encode, encode_parts
from pykafka_classic.protocol.messages.api_versions import ApiVersionsRequest
from pykafka_classic.protocol.messages.fetch import EpochEndOffset, FetchablePartitionResponse, FetchableTopicResponse, FetchRequest, FetchResponse
from pykafka_classic.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from pykafka_classic.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from pykafka_classic.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from pykafka_classic.protocol.schema import LATEST, Message, SchemaError, Struct, UnsupportedVersion, Versions, join_records


class MemoryFile:
    """A file that counts how often it is read."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.reads = 0

    def read_at(self, position: int, length: int) -> bytes:
        self.reads += 1
        return self.content[position : position + length]

    def fileno(self) -> int:
        return -1

    def unreadable(self, error: OSError) -> None:
        raise AssertionError("nobody reads here") from error


def produce(records: wire.Records | None) -> ProduceRequest:
    partition = PartitionProduceData(index=3, records=records)
    return ProduceRequest(acks=1, timeout_ms=5, topic_data=[TopicProduceData(name="flights", partition_data=[partition])])


def fetched(*records: wire.Records | None) -> FetchResponse:
    partitions = [FetchablePartitionResponse(partition=index, record_set=content) for index, content in enumerate(records)]
    return FetchResponse(responses=[FetchableTopicResponse(topic="flights", partition_responses=partitions)])


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview])
@pytest.mark.parametrize("version", [7, 9])
def test_messages_are_read_from_any_buffer(make: type, version: int) -> None:
    message = produce(b"records")
    assert decode(ProduceRequest, version, make(encode(message, version)))[0] == message


def test_records_are_slices_of_the_buffer_not_copies() -> None:
    buffer = memoryview(bytearray(encode(produce(b"x" * 10), 9)))
    records = decode(ProduceRequest, 9, buffer)[0].topic_data[0].partition_data[0].records
    assert isinstance(records, memoryview)
    assert records.obj is buffer.obj


def test_bytes_fields_are_copies() -> None:
    @dataclass(slots=True)
    class Both(Message):
        VALID_VERSIONS = Versions(0, 0)

        content: bytes = wire.data()
        records: wire.Records | None = wire.records()

    decoded, _ = decode(Both, 0, bytearray(encode(Both(b"content", b"records"), 0)))
    assert type(decoded.content) is bytes
    assert decoded.content == b"content"


def test_decoding_begins_at_the_position_and_tells_where_it_ended() -> None:
    data = b"before" + encode(HeartbeatResponse(error_code=27), 1) + b"behind"
    assert decode(HeartbeatResponse, 1, data, 6) == (HeartbeatResponse(error_code=27), len(data) - 6)


def test_large_records_are_parts_of_their_own() -> None:
    large = memoryview(bytes(5000))
    parts = encode_parts(fetched(large, b"small", bytes(2000)), 12)
    assert [part is large for part in parts] == [False, True, False, False, False]
    assert len(parts[3]) == 2000
    assert join_records(parts) == encode(fetched(large, b"small", bytes(2000)), 12)


def test_records_in_files_are_parts_of_their_own_and_not_read() -> None:
    file = MemoryFile(b"0123456789")
    records = FileRecords(file, 2, 5)
    parts = encode_parts(fetched(records), 11)
    assert parts[1] is records
    assert file.reads == 0


@pytest.mark.parametrize("version", range(13))
def test_records_in_files_are_read_by_encode(version: int) -> None:
    records = FileRecords(MemoryFile(b"0123456789"), 2, 5)
    assert encode(fetched(records, records), version) == encode(fetched(b"23456", b"23456"), version)


def test_lengths_of_parts_add_up_to_the_message() -> None:
    message = fetched(FileRecords(MemoryFile(bytes(9000)), 0, 9000), None, b"", bytes(3000))
    assert sum(map(len, encode_parts(message, 12))) == len(encode(message, 12))


def test_message_without_fields_is_one_empty_part() -> None:
    assert encode_parts(ApiVersionsRequest(), 0) == [b""]


def test_value_that_the_version_cannot_carry_is_refused() -> None:
    with pytest.raises(UnsupportedVersion, match=r"HeartbeatRequest v2: .*group_instance_id"):
        encode(HeartbeatRequest(group_id="g", group_instance_id="i"), 2)


def test_ignorable_value_that_the_version_cannot_carry_is_dropped() -> None:
    assert encode(HeartbeatResponse(throttle_time_ms=5, error_code=27), 0) == bytes((0, 27))


def test_default_value_of_a_missing_field_is_no_error() -> None:
    assert encode(FetchRequest(session_id=0, rack_id="rack"), 4)[:4] == bytes(4)


def test_missing_struct_field_must_have_default_values() -> None:
    message = fetched(None)
    message.responses[0].partition_responses[0].diverging_epoch = EpochEndOffset(epoch=3, end_offset=5)
    with pytest.raises(UnsupportedVersion, match="diverging_epoch"):
        encode(message, 11)


def test_nested_structs_are_checked_too() -> None:
    message = fetched(None)
    message.responses[0].partition_responses[0].preferred_read_replica = 2
    with pytest.raises(UnsupportedVersion, match=r"FetchablePartitionResponse\.preferred_read_replica"):
        encode(message, 10)


@pytest.mark.parametrize("version", [-1, 10, 99])
def test_unknown_versions_are_refused(version: int) -> None:
    with pytest.raises(UnsupportedVersion, match="only 0-9"):
        decode(ProduceRequest, version, b"")
    with pytest.raises(UnsupportedVersion, match="only 0-9"):
        encode(ProduceRequest(), version)


@pytest.mark.parametrize("version", [4, 9])
def test_null_where_the_schema_has_none_is_refused(version: int) -> None:
    with pytest.raises(SchemaError, match=r"TopicProduceData\.partition_data is null|cannot be written"):
        encode(ProduceRequest(topic_data=[TopicProduceData(name=None)]), version)  # type: ignore[arg-type]


def test_number_out_of_range_is_refused() -> None:
    with pytest.raises(SchemaError, match="cannot be written"):
        encode(HeartbeatResponse(error_code=40000), 1)


@pytest.mark.parametrize("version", [3, 4])
def test_too_long_string_is_refused_on_writing(version: int) -> None:
    encode(HeartbeatRequest(group_id="g" * 32767), version)
    with pytest.raises(SchemaError):
        encode(HeartbeatRequest(group_id="g" * 32768), version)


def test_too_long_compact_string_is_refused_on_reading() -> None:
    with pytest.raises(SchemaError, match="32768 bytes is too long"):
        decode(HeartbeatRequest, 4, b"\x81\x80\x02" + b"g" * 40000)


def test_long_compact_strings_are_read() -> None:
    message = HeartbeatRequest(group_id="g" * 32767, member_id="m" * 127)
    assert decode(HeartbeatRequest, 4, encode(message, 4))[0] == message


def test_lone_surrogates_are_written_as_java_does() -> None:
    assert encode(HeartbeatRequest(group_id="a\ud800b"), 0).startswith(b"\0\3a?b")


def test_uuid_of_wrong_length_is_refused() -> None:
    with pytest.raises(SchemaError, match="uuid has 16 bytes, not 15"):
        encode(MetadataRequest(topics=[MetadataRequestTopic(topic_id=bytes(15))]), 10)


def test_array_count_is_bounded_by_the_remaining_bytes() -> None:
    with pytest.raises(SchemaError, match="announces 2147483647 elements in 4 bytes"):
        decode(MetadataRequest, 1, b"\x7f\xff\xff\xff\0\1\0\0")


def test_known_tag_must_fill_its_size() -> None:
    @dataclass(slots=True)
    class Tagged(Message):
        VALID_VERSIONS = Versions(0, 0)
        FLEXIBLE_VERSIONS = Versions(0, LATEST)

        number: int = wire.tagged(0, wire.int32())

    assert decode(Tagged, 0, bytes.fromhex("01000400000007"))[0] == Tagged(7)
    for wrong in ("0100050000000700", "01000300000007"):
        with pytest.raises(SchemaError, match=r"Tagged\.number has not the size"):
            decode(Tagged, 0, bytes.fromhex(wrong))


def test_tagged_structs_and_arrays_are_written_only_if_not_default() -> None:
    @dataclass(slots=True)
    class Inner(Struct):
        number: int = wire.int8(default=-1)

    @dataclass(slots=True)
    class Outer(Message):
        VALID_VERSIONS = Versions(0, 0)
        FLEXIBLE_VERSIONS = Versions(0, LATEST)

        later: list[Inner] = wire.tagged(200, wire.array(Inner))
        early: Inner = wire.tagged(5, wire.struct(Inner))

    assert encode(Outer(), 0).hex() == "00"
    message = Outer(later=[Inner(2)], early=Inner(1))
    assert encode(message, 0).hex() == "02" + "05020100" + "c80103020200"
    assert decode(Outer, 0, encode(message, 0))[0] == message


def test_errors_name_the_message_and_its_version() -> None:
    with pytest.raises(SchemaError, match=r"^HeartbeatRequest v4"):
        decode(HeartbeatRequest, 4, b"\5ab")
