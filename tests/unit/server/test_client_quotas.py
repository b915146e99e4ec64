"""Quotas are found by filters, and written as Kafka writes them (facts/observed.md: doubles as Java prints them, byte rates whole)."""

from __future__ import annotations

import pytest

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import spawn
from pykafka_classic.server.client_quotas import ANY, DEFAULT, EXACT, ClientQuotas, FilterComponent, java_double
from tests.fakes.zookeeper import FakeZooKeeperServer
from zk_schema import configs


class Stored:
    def __init__(self) -> None:
        self.server = FakeZooKeeperServer()
        self.server.put("/config/changes")
        self.quotas = ClientQuotas(self.server.connect())

    def alter(self, entity: dict[str, str | None], *, validate_only: bool = False, **changes: float | None) -> None:
        spawn(self.quotas.alter(entity, changes, validate_only=validate_only)).result()

    def find(self, *components: FilterComponent, strict: bool = False) -> list[tuple[tuple[str, str | None], ...]]:
        return [quota.entity for quota in spawn(self.quotas.describe(components, strict=strict)).result()]


@pytest.fixture
def stored() -> Stored:
    made = Stored()
    made.alter({"user": "alice/x"}, producer_byte_rate=10)
    made.alter({"user": "alice/x", "client-id": None}, producer_byte_rate=20)
    made.alter({"user": None}, request_percentage=200)
    made.alter({"client-id": "c"}, controller_mutation_rate=0.5)
    made.alter({"ip": "10.0.0.1"}, connection_creation_rate=3)
    return made


def test_values_are_written_as_kafka_writes_them_and_announced(stored: Stored) -> None:
    assert stored.server.data("/config/users/alice%2Fx") == configs.encode({"producer_byte_rate": "10"})
    assert stored.server.data("/config/users/<default>") == configs.encode({"request_percentage": "200.0"})
    assert stored.server.data("/config/users/alice%2Fx/clients") is None
    assert stored.server.data("/config/changes/config_change_0000000001") == b'{"version":2,"entity_path":"users/alice%2Fx/clients/<default>"}'


def test_deleting_the_last_key_leaves_an_empty_config(stored: Stored) -> None:
    stored.alter({"client-id": "c"}, controller_mutation_rate=None)
    assert stored.server.data("/config/clients/c") == configs.encode({})
    assert stored.find(FilterComponent("client-id", EXACT, "c")) == []


@pytest.mark.parametrize(
    ("components", "strict", "found"),
    [
        ([], False, 5),
        ([FilterComponent("user", EXACT, "alice/x")], False, 2),
        ([FilterComponent("user", EXACT, "alice/x")], True, 1),
        ([FilterComponent("user", DEFAULT)], False, 1),
        ([FilterComponent("user", ANY)], False, 3),
        ([FilterComponent("user", ANY), FilterComponent("client-id", DEFAULT)], True, 1),
        ([FilterComponent("client-id", ANY)], False, 2),
        ([FilterComponent("client-id", ANY)], True, 1),
        ([FilterComponent("ip", ANY)], False, 1),
    ],
)
def test_filters(stored: Stored, components: list[FilterComponent], strict: bool, found: int) -> None:
    assert len(stored.find(*components, strict=strict)) == found


def test_nothing_is_written_to_validate(stored: Stored) -> None:
    stored.alter({"user": "new"}, validate_only=True, producer_byte_rate=1)
    assert not stored.server.exists("/config/users/new")


@pytest.mark.parametrize(
    ("entity", "changes"),
    [
        ({}, {"producer_byte_rate": 1.0}),
        ({"user": ""}, {"producer_byte_rate": 1.0}),
        ({"group": "g"}, {"producer_byte_rate": 1.0}),
        ({"user": "u", "ip": "1.2.3.4"}, {"producer_byte_rate": 1.0}),
        ({"user": "u"}, {"connection_creation_rate": 1.0}),
        ({"user": "u"}, {"producer_byte_rate": 1.5}),
    ],
)
def test_bad_wishes_are_refused(stored: Stored, entity: dict[str, str | None], changes: dict[str, float | None]) -> None:
    with pytest.raises(KafkaError) as raised:
        spawn(stored.quotas.alter(entity, changes, validate_only=False)).result()
    assert raised.value.code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("value", "text"),  # java.lang.Double.toString's documented forms
    [(200.0, "200.0"), (0.5, "0.5"), (0.001, "0.001"), (0.0001, "1.0E-4"), (10_000_000.0, "1.0E7"), (12345678.5, "1.23456785E7"), (9999999.0, "9999999.0")],
)
def test_doubles_as_java_prints_them(value: float, text: str) -> None:
    assert java_double(value) == text
