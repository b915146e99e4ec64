"""SCRAM credentials of users (KIP-554): told without their secrets, made from a password that never travels, and deleted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from pykafka_classic.client.admin.outcomes import Outcomes, missing, outcome
from pykafka_classic.client.admin.requests import AnyBroker, Call, ClusterRequests, Controller, raise_error
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.scram import BY_NAME, ITERATIONS_MIN, MECHANISMS
from pykafka_classic.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from pykafka_classic.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    UserName,
)

DrawSalt: TypeAlias = Callable[[], bytes]


class ScramInfo(NamedTuple):
    """A SCRAM credential without its secret."""

    mechanism: str
    iterations: int


class ScramDeletion(NamedTuple):
    """A credential that is to go. `mechanism`: SCRAM-SHA-256 or SCRAM-SHA-512."""

    user: str
    mechanism: str = "SCRAM-SHA-256"


@dataclass(frozen=True, slots=True)
class ScramUpsertion:
    """A credential that is to be there, whether there was one or not. `salt` None: drawn by lot, as it should be."""

    user: str
    password: str = field(repr=False)
    mechanism: str = "SCRAM-SHA-256"
    iterations: int = ITERATIONS_MIN  # 4096 to 16384
    salt: bytes | None = None


class ScramOperations:
    """The part of the admin client that is about SCRAM credentials."""

    _requests: ClusterRequests
    _draw_salt: DrawSalt

    async def describe_user_scram_credentials(self, users: Sequence[str] | None = None) -> Outcomes[str, tuple[ScramInfo, ...]]:
        """By user (None: all that have some) the SCRAM credentials. RESOURCE_NOT_FOUND."""
        names = None if users is None else [UserName(user) for user in users]
        call = Call("describeUserScramCredentials", DescribeUserScramCredentialsResponse, lambda _: DescribeUserScramCredentialsRequest(names))
        response = await self._requests.ask(AnyBroker(), call)
        raise_error(response.error_code, response.error_message)
        outcomes: Outcomes[str, tuple[ScramInfo, ...]] = Outcomes()
        for each in response.results:
            found = tuple(ScramInfo(_mechanism_name(info.mechanism), info.iterations) for info in each.credential_infos)
            outcomes[each.user] = outcome(found, each.error_code, each.error_message)
        return outcomes

    async def alter_user_scram_credentials(self, changes: Sequence[ScramDeletion | ScramUpsertion]) -> Outcomes[str, None]:
        """Set and delete credentials: all of a user's changes together, or none.

        RESOURCE_NOT_FOUND for one that is not there to delete, UNACCEPTABLE_CREDENTIAL (no name, no password, too few or too many iterations),
        UNSUPPORTED_SASL_MECHANISM, DUPLICATE_RESOURCE for two changes of the same credential; UNSUPPORTED_VERSION from brokers before 2.7.

        >>> admin.alter_user_scram_credentials([ScramUpsertion("tower", "secret", "SCRAM-SHA-512")]).check()  # doctest: +SKIP
        """
        outcomes: Outcomes[str, None] = Outcomes({each.user: error for each in changes if (error := _complaint(each)) is not None})
        sent = [each for each in changes if each.user not in outcomes]
        if not sent:
            return outcomes
        deletions = [ScramCredentialDeletion(each.user, BY_NAME[each.mechanism].number) for each in sent if isinstance(each, ScramDeletion)]
        upsertions = [self._salted(each) for each in sent if isinstance(each, ScramUpsertion)]

        def build(_: int) -> AlterUserScramCredentialsRequest:
            return AlterUserScramCredentialsRequest(deletions, upsertions)

        call = Call("alterUserScramCredentials", AlterUserScramCredentialsResponse, build, lambda told: [each.error_code for each in told.results])
        response = await self._requests.ask(Controller(), call)
        for told in response.results:
            outcomes[told.user] = outcome(None, told.error_code, told.error_message)
        missing({each.user: None for each in sent}, outcomes)
        return outcomes

    def _salted(self, wanted: ScramUpsertion) -> ScramCredentialUpsertion:
        mechanism = BY_NAME[wanted.mechanism]
        salt = self._draw_salt() if wanted.salt is None else wanted.salt
        salted = mechanism.salted_password(wanted.password, salt, max(wanted.iterations, 1))
        return ScramCredentialUpsertion(wanted.user, mechanism.number, wanted.iterations, salt, salted)


def _mechanism_name(number: int) -> str:
    return MECHANISMS[number].name if number in MECHANISMS else "UNKNOWN"


def _complaint(wanted: ScramDeletion | ScramUpsertion) -> KafkaError | None:
    """What need not be asked; in the words of Java's client."""
    if not wanted.user:
        return KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if wanted.mechanism not in BY_NAME:
        return KafkaError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    if isinstance(wanted, ScramUpsertion) and not wanted.password:
        return KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Password must not be empty")
    return None
