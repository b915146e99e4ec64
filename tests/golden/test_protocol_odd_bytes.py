"""Odd and bad bytes: our end of the connection answers, refuses and closes where a real broker did."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from pykafka_classic.protocol.api_keys import ApiKey, spec_of, zk_broker_apis
from pykafka_classic.protocol.codec import decode
from pykafka_classic.protocol.connection import Answer, CloseConnection, RequestContext, ServerConnection, ServerEvent
from pykafka_classic.protocol.framing import FrameBuffer
from pykafka_classic.protocol.headers import read_response_header
from pykafka_classic.protocol.messages.produce import ProduceRequest
from pykafka_classic.protocol.schema import join_records
from tests.golden.protocol_data import lines

ERRORS = [(line["case"], line["send"], line["answers"], line["closed"]) for line in lines("errors")]
# The first: Kafka's handler answered twice and closed the connection, a defect. The second: its answer came after the recording.
NOT_TO_COMPARE = {"null-records-produce", "create-unknown-broker"}
ODD = [
    (line["case"], [line["sent"]], [bytes(frame).hex() for frame in FrameBuffer().feed(bytes.fromhex(line["answer"]))], line["then"] == "closed")
    for line in lines("odd_requests")
    if line["case"] not in NOT_TO_COMPARE
]


def feed(connection: ServerConnection, pieces: Iterable[str]) -> list[ServerEvent]:
    return [event for piece in pieces for event in connection.receive_data(bytes.fromhex(piece))]


def wants_no_answer(event: ServerEvent) -> bool:
    return isinstance(event, RequestContext) and isinstance(event.body, ProduceRequest) and event.body.acks == 0


@pytest.mark.parametrize(("case", "pieces", "answers", "closed"), ERRORS + ODD, ids=[case[0] for case in ERRORS + ODD])
def test_broker_answers_and_closes_where_kafka_did(case: str, pieces: list[str], answers: list[str], closed: bool) -> None:
    connection = ServerConnection(zk_broker_apis())
    events = feed(connection, pieces)
    closes = any(isinstance(event, CloseConnection) for event in events)
    if closed and any(wants_no_answer(event) for event in events):
        assert not closes  # a failed produce with acks=0: it is the handler that closes
        return
    assert closes == closed
    to_answer = [event for event in events if not isinstance(event, CloseConnection) and not wants_no_answer(event)]
    assert len(to_answer) == len(answers)
    for event, answer in zip(to_answer, answers, strict=True):
        assert written_again(connection, event, bytes.fromhex(answer)).hex() == answer


def written_again(connection: ServerConnection, event: RequestContext | Answer, answer: bytes) -> bytes:
    """Our frame for the message that Kafka answered with; what we answer ourselves, as it is."""
    if isinstance(event, Answer):
        return join_records(event.parts)[4:]
    spec = spec_of(event.api_key)
    correlation_id, start = read_response_header(memoryview(answer), spec.response_header_version(event.api_version))
    assert correlation_id == event.correlation_id
    # After a refused software name (error 42) Kafka writes the v3 body without supported versions, like any other.
    response, _ = decode(spec.response, event.api_version, answer, start)
    return join_records(connection.encode_response(event, response))[4:]


def test_client_id_that_is_not_utf_8_is_replaced() -> None:
    (event,) = feed(ServerConnection(zk_broker_apis()), ["0000000c00120000000000030002fffe"])
    assert isinstance(event, RequestContext)
    assert event.client_id == "\ufffd\ufffd"


def test_reason_for_closing_names_the_api_that_is_not_served() -> None:
    events: list[Any] = feed(ServerConnection({ApiKey.API_VERSIONS: (0, 3)}), ["00000010000300010000000100066162636465660000"])
    assert events == [CloseConnection("API key 3 is not served here")]
