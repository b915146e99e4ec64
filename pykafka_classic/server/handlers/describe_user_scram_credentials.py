"""DescribeUserScramCredentials (key 50): which SCRAM mechanisms users have, without the secrets (KIP-554). They lie in /config/users.

Mirrors ZkAdminManager.describeUserScramCredentials of 2.8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

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
from pykafka_classic.server.zk_operations import children_or_none, data_or_none
from zk_schema import configs
from zk_schema.configs import ConfigEntity

MECHANISMS: Final = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """The users asked for, each with its own error; or all that have credentials."""
    return spawn(_describe(broker, request.expect(DescribeUserScramCredentialsRequest)))


async def _describe(broker: BrokerServices, body: DescribeUserScramCredentialsRequest) -> Message:
    times = Counter(user.name for user in body.users or ())
    try:
        if times:
            results = [await _of_one(broker, user, count) for user, count in times.items()]
        else:
            results = [result for result in [await _of_one(broker, user, 1) for user in await _all_users(broker)] if result.credential_infos]
    except KafkaError as error:
        return DescribeUserScramCredentialsResponse(error_code=error.code, error_message=str(error))
    return DescribeUserScramCredentialsResponse(error_message=None, results=results)


async def _all_users(broker: BrokerServices) -> list[str]:
    names = [ConfigEntity(configs.USERS, child).plain_name for child in await children_or_none(broker.zk, configs.type_path(configs.USERS))]
    return sorted(name for name in names if name is not None)


async def _of_one(broker: BrokerServices, user: str, times: int) -> DescribeUserScramCredentialsResult:
    result = DescribeUserScramCredentialsResult(user=user, error_message=None)
    if times > 1:
        result.error_code = ErrorCode.DUPLICATE_RESOURCE
        result.error_message = f"Cannot describe SCRAM credentials for the same user twice in a single request: {user}"
        return result
    stored = await data_or_none(broker.zk, configs.user_path(user)) if user else None
    result.credential_infos = _infos(configs.decode(stored.data)) if stored is not None else []
    if not result.credential_infos:
        result.error_code = ErrorCode.RESOURCE_NOT_FOUND
        result.error_message = f"Attempt to describe a user credential that does not exist: {user}"
    return result


def _infos(config: Mapping[str, str]) -> list[CredentialInfo]:
    """From `salt=...,stored_key=...,server_key=...,iterations=4096`."""
    infos = []
    for mechanism, number in MECHANISMS.items():
        fields = dict(field.partition("=")[::2] for field in config.get(mechanism, "").split(","))
        if fields.get("iterations", "").isdigit():
            infos.append(CredentialInfo(mechanism=number, iterations=int(fields["iterations"])))
    return infos
