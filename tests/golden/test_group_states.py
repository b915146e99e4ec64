"""Every state of a group x every request: our coordinator answers, and ends up, as Apache Kafka 2.8.2 did (data/groups, asked of a real broker)."""

from __future__ import annotations

import gzip
import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pykafka_classic.common.promise import Promise
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.codec import decode, encode
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.handlers.table import HANDLERS
from pykafka_classic.server.request import Request
from tests.golden.group_states import DATA, REQUESTS, STATES, TOPIC, Answer, run
from tests.unit.coordinator.helpers import Harness

with gzip.open(DATA, "rt", encoding="utf-8") as file:
    RECORDED: list[Answer] = [json.loads(line) for line in file]


class MemoryCall:
    """A request to a handler; its message goes through its bytes, so that what a version lacks is lost on the way."""

    def __init__(self, services: BrokerServices, request: Message, version: int) -> None:
        sent = decode(type(request), version, encode(request, version))[0]
        key = ApiKey(request.API_KEY)
        answer: Any = HANDLERS[key](services, Request(sent, version, "recorder", "PLAINTEXT", "127.0.0.1"))
        self._answer: Promise[Message] = answer if isinstance(answer, Promise) else Promise.resolved(answer)
        self._version = version

    def answer(self) -> Message | None:
        """As it comes from its bytes."""
        if not self._answer.settled:
            return None
        answer = self._answer.result()
        return decode(type(answer), self._version, encode(answer, self._version))[0]


class MemoryDriver:
    """Our coordinator, on a clock that stands still."""

    def __init__(self) -> None:
        self._harness = Harness()
        parts = {
            "config": self._harness.config,
            "clock": self._harness.clock,
            "groups": self._harness.groups,
            "metadata_cache": SimpleNamespace(contains=lambda topic_partition: topic_partition.topic == TOPIC),
        }
        self._services = cast(BrokerServices, SimpleNamespace(**parts))

    def call(self, request: Message, version: int) -> MemoryCall:
        return MemoryCall(self._services, request, version)

    def settle(self) -> None:
        self._harness.clock.advance(0)


def test_every_case_was_recorded() -> None:
    assert {(case["state"], case["request"]) for case in RECORDED} == {(state, request) for state in STATES for request in REQUESTS}


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda case: f"{case['state']} - {case['request']}")
def test_the_group_answers_as_kafka_does(recorded: Answer) -> None:
    assert run(MemoryDriver(), "group", recorded["state"], recorded["request"]) == recorded
