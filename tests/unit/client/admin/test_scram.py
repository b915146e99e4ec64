"""SCRAM credentials: the controller is asked, the password never travels, what cannot succeed is not sent."""

from __future__ import annotations

from hashlib import pbkdf2_hmac

from pykafka_classic.client.admin.scram import ScramDeletion, ScramUpsertion
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from tests.fakes.broker_connections import FakeBrokers

ALTER = ApiKey.ALTER_USER_SCRAM_CREDENTIALS


def brokers_that(*codes: ErrorCode) -> FakeBrokers:
    """The controller, broker 1, answers each user with the next of these codes."""
    brokers = FakeBrokers()
    brokers.controller = 1
    left = list(codes)

    def answer(broker: int, request: AlterUserScramCredentialsRequest) -> AlterUserScramCredentialsResponse:
        users = dict.fromkeys([each.name for each in request.deletions] + [each.name for each in request.upsertions])
        return AlterUserScramCredentialsResponse(results=[AlterUserScramCredentialsResult(user, left.pop(0), None) for user in users])

    brokers.on[ALTER] = answer
    return brokers


def test_the_controller_gets_what_stands_for_the_password() -> None:
    brokers = brokers_that(ErrorCode.NONE)
    outcomes = brokers.run(brokers.admin().alter_user_scram_credentials([ScramUpsertion("tower", "secret", "SCRAM-SHA-512", 5000)]))
    assert outcomes == {"tower": None}
    assert brokers.asked(ALTER) == [1]
    (sent,) = brokers.requests(AlterUserScramCredentialsRequest)[0].upsertions
    assert (sent.name, sent.mechanism, sent.iterations, sent.salt) == ("tower", 2, 5000, b"salt")
    assert sent.salted_password == pbkdf2_hmac("sha512", b"secret", b"salt", 5000)  # RFC 5802: SaltedPassword


def test_who_is_no_longer_the_controller_is_not_asked_again() -> None:
    brokers = brokers_that(ErrorCode.NOT_CONTROLLER, ErrorCode.NONE)
    assert brokers.run(brokers.admin().alter_user_scram_credentials([ScramDeletion("tower")])) == {"tower": None}
    assert len(brokers.asked(ALTER)) == 2


def test_a_user_whose_wish_cannot_succeed_is_not_sent_and_others_are() -> None:
    brokers = brokers_that(ErrorCode.RESOURCE_NOT_FOUND)
    wishes: list[ScramDeletion | ScramUpsertion] = [ScramUpsertion("radar", ""), ScramDeletion("radar"), ScramDeletion("", "SCRAM-SHA-512")]
    wishes += [ScramDeletion("gate", "PLAIN"), ScramDeletion("tower")]
    errors = brokers.run(brokers.admin().alter_user_scram_credentials(wishes)).errors()
    assert {user: error.code for user, error in errors.items()} == {
        "radar": ErrorCode.UNACCEPTABLE_CREDENTIAL,
        "": ErrorCode.UNACCEPTABLE_CREDENTIAL,
        "gate": ErrorCode.UNSUPPORTED_SASL_MECHANISM,
        "tower": ErrorCode.RESOURCE_NOT_FOUND,
    }
    assert [each.name for each in brokers.requests(AlterUserScramCredentialsRequest)[0].deletions] == ["tower"]


def test_a_password_is_not_shown() -> None:
    assert "secret" not in repr(ScramUpsertion("tower", "secret"))
