"""`/delegation_token/...`: tokens that let a client act as a user without knowing the user's secret.

| path | kind | data |
|---|---|---|
| /delegation_token/tokens/<token id> | persistent | the token, without its HMAC: brokers compute that from their common secret |
| /delegation_token/token_changes/token_change_<sequence> | persistent, sequential | the token id, plain text: read that token again |

* Writers: the broker that creates, renews or expires a token: the token, then the notification. Any broker deletes notifications older than 15 minutes.
* Watchers: every broker with token authentication (children of token_changes). The parents exist only where it is enabled.
* Timestamps are numbers here; principals are URL-encoded. Kafka 3.9 adds `"tokenRequester":"User%3Aroot"`, version 3.
* Sample (in one line):

      {"issueTimestamp":1795239355740,"renewers":["User%3Abob"],"tokenId":"KvMBbpf1SGGVVr2RqLYM7g","owner":"User%3Aadmin",
       "expiryTimestamp":1795325755740,"maxTimestamp":1795844155740,"version":1}

Source: 2.8:core/src/main/scala/kafka/server/DelegationTokenManager.scala, 3.9:.../DelegationTokenManagerZk.scala; KIP-48, KIP-373.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from zk_schema.configs import desanitize, sanitize
from zk_schema.json_fields import JsonFields, text, to_json
from zk_schema.sequential import sequence_number

PARENT: Final = "/delegation_token"
PATH: Final = f"{PARENT}/tokens"
CHANGES_PATH: Final = f"{PARENT}/token_changes"
CHANGE_PREFIX: Final = "token_change_"
CHANGE_CREATE_PATH: Final = f"{CHANGES_PATH}/{CHANGE_PREFIX}"  # create this one, sequential
FAMILY: Final = f"{PATH}/<token id>"
PATHS_TO_CREATE: Final = (PARENT, CHANGES_PATH, PATH)  # by a broker with token authentication, when it starts


@dataclass(frozen=True, slots=True)
class DelegationTokenZNode:
    """A token; times in ms."""

    token_id: str
    owner: str  # User:admin
    renewers: tuple[str, ...]
    issue_timestamp_ms: int
    max_timestamp_ms: int  # no renewal goes beyond it
    expiry_timestamp_ms: int
    token_requester: str | None = None  # version 3 (3.9) only

    @property
    def version(self) -> int:
        """Of the JSON."""
        return 1 if self.token_requester is None else 3


def path(token_id: str) -> str:
    """A token's node."""
    return f"{PATH}/{token_id}"


def encode(value: DelegationTokenZNode) -> bytes:
    """By `value.version`."""
    fields: dict[str, object] = {
        "issueTimestamp": value.issue_timestamp_ms,
        "renewers": [sanitize(renewer) for renewer in value.renewers],
        "tokenId": value.token_id,
        "owner": sanitize(value.owner),
        "expiryTimestamp": value.expiry_timestamp_ms,
        "maxTimestamp": value.max_timestamp_ms,
        "version": value.version,
    }
    if value.token_requester is not None:
        fields["tokenRequester"] = sanitize(value.token_requester)
    return to_json(fields)


def decode(data: bytes | None) -> DelegationTokenZNode:
    """Versions 1 to 3; 1 and 2 have no requester."""
    fields = JsonFields.of(data, FAMILY)
    version = fields.integer("version")
    if not 1 <= version <= 3:
        fields.fail(f"unsupported version {version}")
    return DelegationTokenZNode(
        token_id=fields.text("tokenId"),
        owner=desanitize(fields.text("owner")),
        renewers=tuple(desanitize(renewer) for renewer in fields.texts("renewers")),
        issue_timestamp_ms=fields.long("issueTimestamp"),
        max_timestamp_ms=fields.long("maxTimestamp"),
        expiry_timestamp_ms=fields.long("expiryTimestamp"),
        token_requester=desanitize(fields.text("tokenRequester")) if version == 3 else None,
    )


def sequence(name: str) -> int:
    """The number of a notification, by its name or path."""
    return sequence_number(name, CHANGE_PREFIX)


def encode_change(value: str) -> bytes:
    """The token id."""
    return value.encode()


def decode_change(data: bytes | None) -> str:
    """The token id."""
    return text(data, f"{CHANGE_CREATE_PATH}<sequence>")
