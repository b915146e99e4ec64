"""AlterUserScramCredentials (key 51): set and delete users' SCRAM credentials (KIP-554). Only the controller writes them."""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request
from pykafka_classic.server.scram_credentials import Deletion, Upsertion


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """Each user succeeds or fails on its own."""
    return spawn(_alter(broker, request.expect(AlterUserScramCredentialsRequest)))


async def _alter(broker: BrokerServices, body: AlterUserScramCredentialsRequest) -> Message:
    if not broker.controller.is_active:
        users = dict.fromkeys([each.name for each in body.upsertions] + [each.name for each in body.deletions])
        refused = [AlterUserScramCredentialsResult(user=user, error_code=ErrorCode.NOT_CONTROLLER, error_message=None) for user in users]
        return AlterUserScramCredentialsResponse(results=refused)
    deletions = [Deletion(each.name, each.mechanism) for each in body.deletions]
    upsertions = [Upsertion(each.name, each.mechanism, each.iterations, each.salt, each.salted_password) for each in body.upsertions]
    outcomes = await broker.scram_credentials.alter(deletions, upsertions)
    return AlterUserScramCredentialsResponse(results=[_result(user, error) for user, error in outcomes.items()])


def _result(user: str, error: KafkaError | None) -> AlterUserScramCredentialsResult:
    if error is None:
        return AlterUserScramCredentialsResult(user=user)
    return AlterUserScramCredentialsResult(user=user, error_code=error.code, error_message=str(error))
