"""DescribeUserScramCredentials (key 50): which SCRAM mechanisms users have, without the secrets (KIP-554). Any broker answers: they lie in ZooKeeper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.protocol.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request
from pykafka_classic.server.scram_credentials import Credential


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """The users asked for, each with its own error; or all that have credentials."""
    return spawn(_describe(broker, request.expect(DescribeUserScramCredentialsRequest)))


async def _describe(broker: BrokerServices, body: DescribeUserScramCredentialsRequest) -> Message:
    times = Counter(user.name for user in body.users or ())
    try:
        if not times:
            found = await broker.scram_credentials.describe_all()
            return DescribeUserScramCredentialsResponse(results=[_told(user, credentials) for user, credentials in found.items()])
        return DescribeUserScramCredentialsResponse(results=[await _of_one(broker, user, count) for user, count in times.items()])
    except KafkaError as error:
        return DescribeUserScramCredentialsResponse(error_code=error.code, error_message=str(error))


async def _of_one(broker: BrokerServices, user: str, times: int) -> DescribeUserScramCredentialsResult:
    if times > 1:
        message = f"Cannot describe SCRAM credentials for the same user twice in a single request: {user}"
        return DescribeUserScramCredentialsResult(user=user, error_code=ErrorCode.DUPLICATE_RESOURCE, error_message=message)
    try:
        return _told(user, await broker.scram_credentials.describe(user))
    except KafkaError as error:
        return DescribeUserScramCredentialsResult(user=user, error_code=error.code, error_message=str(error))


def _told(user: str, credentials: Sequence[Credential]) -> DescribeUserScramCredentialsResult:
    infos = [CredentialInfo(mechanism=each.mechanism, iterations=each.iterations) for each in credentials]
    return DescribeUserScramCredentialsResult(user=user, credential_infos=infos)
