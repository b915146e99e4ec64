"""SCRAM credentials of users in ZooKeeper; the errors are those that a broker of Kafka 2.8.2 gave to the same wishes."""

from __future__ import annotations

import pytest

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import spawn
from pykafka_classic.server.scram_credentials import Credential, Deletion, ScramCredentials, Upsertion
from tests.fakes.zookeeper import FakeZooKeeperServer
from zk_schema import configs


class Stored:
    def __init__(self) -> None:
        self.server = FakeZooKeeperServer()
        self.server.put("/config/changes")
        self.credentials = ScramCredentials(self.server.connect())

    def alter(self, *wanted: Deletion | Upsertion) -> dict[str, ErrorCode]:
        deletions = [each for each in wanted if isinstance(each, Deletion)]
        upsertions = [each for each in wanted if isinstance(each, Upsertion)]
        outcomes = spawn(self.credentials.alter(deletions, upsertions)).result()
        return {user: ErrorCode.NONE if error is None else error.code for user, error in outcomes.items()}

    def users(self) -> dict[str, list[Credential]]:
        return spawn(self.credentials.describe_all()).result()


def wish(user: str = "u", mechanism: int = 1, iterations: int = 4096) -> Upsertion:
    return Upsertion(user, mechanism, iterations, b"salt", b"salted password")


@pytest.fixture
def stored() -> Stored:
    made = Stored()
    assert made.alter(wish("both", 1), wish("both", 2, 5000)) == {"both": ErrorCode.NONE}
    return made


def test_what_is_stored_is_told_without_secrets(stored: Stored) -> None:
    assert stored.users() == {"both": [Credential(1, 4096), Credential(2, 5000)]}


def test_quotas_of_the_user_stay(stored: Stored) -> None:
    stored.server.put("/config/users/u", configs.encode({"producer_byte_rate": "7"}))
    stored.alter(wish())
    assert stored.alter(Deletion("u", 1)) == {"u": ErrorCode.NONE}
    assert stored.server.data("/config/users/u") == configs.encode({"producer_byte_rate": "7"})


def test_a_users_changes_are_one_write_and_one_notification(stored: Stored) -> None:
    stored.server.log.clear()
    stored.alter(Deletion("both", 1), wish("both", 2))
    assert [(change.event, change.path) for change in stored.server.log] == [
        ("change", "/config/users/both"),
        ("create", "/config/changes/config_change_0000000001"),
    ]


@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        ([wish("")], ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ([Deletion("", 9)], ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ([wish(mechanism=3)], ErrorCode.UNSUPPORTED_SASL_MECHANISM),
        ([wish(mechanism=0)], ErrorCode.UNSUPPORTED_SASL_MECHANISM),
        ([Deletion("u", 3)], ErrorCode.UNSUPPORTED_SASL_MECHANISM),
        ([wish(iterations=4095)], ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ([wish(iterations=16385)], ErrorCode.UNACCEPTABLE_CREDENTIAL),
        ([Upsertion("u", 1, 4096, b"salt", b"")], ErrorCode.UNKNOWN_SERVER_ERROR),
        ([wish(), wish()], ErrorCode.DUPLICATE_RESOURCE),
        ([Deletion("both", 1), wish("both", 1)], ErrorCode.DUPLICATE_RESOURCE),
        ([Deletion("u", 1)], ErrorCode.RESOURCE_NOT_FOUND),
        ([Deletion("u", 1), wish(mechanism=2)], ErrorCode.RESOURCE_NOT_FOUND),
        ([wish(iterations=1), wish(mechanism=2)], ErrorCode.UNACCEPTABLE_CREDENTIAL),
    ],
)
def test_bad_wishes_change_nothing(stored: Stored, wanted: list[Deletion | Upsertion], error: ErrorCode) -> None:
    before = stored.users()
    assert stored.alter(*wanted) == {wanted[0].user: error}
    assert stored.users() == before


def test_one_users_mistake_does_not_stop_the_others(stored: Stored) -> None:
    assert stored.alter(wish("good"), wish("bad", 9)) == {"bad": ErrorCode.UNSUPPORTED_SASL_MECHANISM, "good": ErrorCode.NONE}
