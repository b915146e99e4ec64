"""The two ends of a connection, against each other and against bytes."""

from __future__ import annotations

import pytest

from pykafka_classic.common.file_records import FileRecords
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.codec import encode
from pykafka_classic.protocol.connection import Answer, ClientConnection, CloseConnection, InFlight, RequestContext, ServerConnection
from pykafka_classic.protocol.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from pykafka_classic.protocol.messages.controlled_shutdown import ControlledShutdownRequest, ControlledShutdownResponse
from pykafka_classic.protocol.messages.fetch import FetchablePartitionResponse, FetchableTopicResponse, FetchRequest, FetchResponse
from pykafka_classic.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from pykafka_classic.protocol.messages.produce import ProduceRequest
from pykafka_classic.protocol.schema import SchemaError, join_records

APIS = {
    ApiKey.PRODUCE: (0, 9),
    ApiKey.FETCH: (4, 12),
    ApiKey.HEARTBEAT: (0, 4),
    ApiKey.API_VERSIONS: (0, 3),
    ApiKey.CONTROLLED_SHUTDOWN: (0, 3),
}


def request_of(server: ServerConnection, data: bytes) -> RequestContext:
    (event,) = server.receive_data(data)
    assert isinstance(event, RequestContext)
    return event


def bytes_of(client: ClientConnection, request: HeartbeatRequest | ApiVersionsRequest | ControlledShutdownRequest, version: int) -> bytes:
    return join_records(client.send(request, version)[1])


@pytest.mark.parametrize("version", range(5))
def test_request_reaches_the_other_end_and_the_response_comes_back(version: int) -> None:
    client, server = ClientConnection("me"), ServerConnection(APIS)
    request = HeartbeatRequest(group_id="g", generation_id=3, member_id="m")
    data = bytes_of(client, request, version)
    context = request_of(server, data)
    assert (context.api_key, context.api_version, context.correlation_id, context.client_id) == (ApiKey.HEARTBEAT, version, 0, "me")
    assert (context.body, context.size) == (request, len(data) - 4)
    response = HeartbeatResponse(error_code=27)
    assert client.receive_data(join_records(server.encode_response(context, response))) == [(0, response)]


def test_controlled_shutdown_v0_has_no_client_id() -> None:
    client, server = ClientConnection("me"), ServerConnection(APIS)
    data = bytes_of(client, ControlledShutdownRequest(broker_id=77), 0)
    assert data.hex() == "0000000c00070000000000000000004d"
    context = request_of(server, data)
    answer = join_records(server.encode_response(context, ControlledShutdownResponse(error_code=8)))
    assert client.receive_data(answer) == [(0, ControlledShutdownResponse(error_code=8))]


def test_api_versions_response_has_no_tags_in_its_header() -> None:
    server = ServerConnection(APIS)
    context = request_of(server, bytes_of(ClientConnection("me"), ApiVersionsRequest("py", "1.0"), 3))
    response = ApiVersionsResponse(api_keys=[ApiVersion(18, 0, 3)])
    # Source: facts/protocol.md 19.
    assert join_records(server.encode_response(context, response)).hex() == "0000001300000000000002001200000003000000000000"


def test_client_reads_the_refusal_of_its_api_versions_version() -> None:
    client = ClientConnection("me")
    request = bytes_of(client, ApiVersionsRequest("py", "1.0"), 3)
    old_broker = ServerConnection(APIS | {ApiKey.API_VERSIONS: (0, 2)})
    (event,) = old_broker.receive_data(request)
    assert isinstance(event, Answer)
    assert client.receive_data(join_records(event.parts)) == [(0, ApiVersionsResponse(error_code=35, api_keys=[ApiVersion(18, 0, 2)]))]


def test_pipelined_requests_come_out_in_order() -> None:
    client, server = ClientConnection("me"), ServerConnection(APIS)
    data = b"".join(bytes_of(client, HeartbeatRequest(generation_id=number), 0) for number in range(3))
    contexts = [event for event in server.receive_data(data) if isinstance(event, RequestContext)]
    assert [context.correlation_id for context in contexts] == [0, 1, 2]
    assert client.in_flight == tuple(InFlight(number, ApiKey.HEARTBEAT, 0) for number in range(3))


def test_requests_before_bad_bytes_are_given_out_first() -> None:
    server = ServerConnection(APIS)
    events = server.receive_data(bytes_of(ClientConnection(None), HeartbeatRequest(), 0) + b"\xff\xff\xff\xff")
    assert [type(event) for event in events] == [RequestContext, CloseConnection]


def test_nothing_is_read_after_a_close() -> None:
    server = ServerConnection(APIS)
    good = bytes_of(ClientConnection(None), HeartbeatRequest(), 0)
    assert [type(event) for event in server.receive_data(b"\0\0\0\1a" + good)] == [CloseConnection]
    assert server.receive_data(good) == []


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("00000002000c", "a request of 2 bytes has no header"),
        ("0000000a03e7000000000001ffff", "API key 999 is not served here"),
        ("0000000a0001000300000001ffff", "Fetch v3 is not served here, only 4 to 12"),
        ("00000006000c00000000", "a request header v1 is cut short"),
        ("0000000b000c000000000001000561", "a request header v1 is cut short"),
        ("0000000c000c000000000001ffff0005", "HeartbeatRequest v0 is cut short"),
    ],
)
def test_reason_for_closing_says_what_is_wrong(data: str, reason: str) -> None:
    (event,) = ServerConnection(APIS).receive_data(bytes.fromhex(data))
    assert isinstance(event, CloseConnection)
    assert event.reason.startswith(reason)


def test_response_with_records_in_a_file_keeps_them_apart() -> None:
    class NoFile:
        def read_at(self, position: int, length: int) -> bytes:
            raise AssertionError("nobody reads here")

        def fileno(self) -> int:
            return -1

        def unreadable(self, error: OSError) -> None:
            raise AssertionError("nobody reads here") from error

    client, server = ClientConnection("me"), ServerConnection(APIS)
    context = request_of(server, join_records(client.send(FetchRequest(), 12)[1]))
    records = FileRecords(NoFile(), 0, 700)
    partition = FetchablePartitionResponse(partition=1, record_set=records)
    parts = server.encode_response(context, FetchResponse(responses=[FetchableTopicResponse("t", [partition])]))
    assert parts[1] is records
    assert isinstance(parts[0], bytes)
    assert int.from_bytes(parts[0][:4], "big") == sum(map(len, parts)) - 4


def test_response_out_of_turn_breaks_the_connection() -> None:
    client = ClientConnection("me")
    client.send(HeartbeatRequest(), 0)
    with pytest.raises(SchemaError, match="response to request 9 came where that to 0 was due"):
        client.receive_data(bytes.fromhex("00000006000000090000"))


def test_response_that_nobody_asked_for_breaks_the_connection() -> None:
    with pytest.raises(SchemaError, match="nobody asked for"):
        ClientConnection("me").receive_data(bytes.fromhex("00000006000000000000"))


def test_response_with_a_wrong_size_breaks_the_connection() -> None:
    with pytest.raises(SchemaError, match="a frame of 0 bytes"):
        ClientConnection("me").receive_data(bytes(4))


def test_produce_without_acknowledgement_is_not_waited_for() -> None:
    client = ClientConnection("me")
    client.send(ProduceRequest(acks=0), 9, expects_response=False)
    correlation_id, _ = client.send(HeartbeatRequest(), 0)
    assert (correlation_id, client.in_flight) == (1, (InFlight(1, ApiKey.HEARTBEAT, 0),))


def test_request_that_cannot_be_written_leaves_the_connection_usable() -> None:
    client = ClientConnection("me")
    with pytest.raises(SchemaError):
        client.send(HeartbeatRequest(group_instance_id="i"), 0)
    assert client.in_flight == ()
    assert client.send(HeartbeatRequest(), 0)[0] == 0


def test_correlation_ids_start_again_after_the_largest() -> None:
    client = ClientConnection("me")
    client._next_correlation_id = 0x7FFFFFFF
    assert [client.send(HeartbeatRequest(), 0)[0] for _ in range(2)] == [0x7FFFFFFF, 0]


def test_client_id_may_be_absent() -> None:
    context = request_of(ServerConnection(APIS), bytes_of(ClientConnection(None), HeartbeatRequest(), 4))
    assert context.client_id is None


def test_body_behind_a_header_with_tags_is_found() -> None:
    body = encode(HeartbeatRequest(group_id="g"), 4)
    header = bytes.fromhex("000c000400000005000161010702aabb")
    frame = header + body
    context = request_of(ServerConnection(APIS), len(frame).to_bytes(4, "big") + frame)
    assert (context.client_id, context.body) == ("a", HeartbeatRequest(group_id="g"))
