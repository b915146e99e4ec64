"""Which requests there are: Kafka's API keys, and for each its message classes and who may use it.

Message modules are loaded when their API is first asked for, so that a small command does not pay for all of them.
Source: facts/protocol.md 2 and 4, 2.8:clients/src/main/java/org/apache/kafka/common/protocol/ApiKeys.java; tests/golden compares with Kafka's own table.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from importlib import import_module
from typing import Final

from pykafka_classic.protocol.schema import LATEST, NO_VERSIONS, Message


class CoordinatorType(IntEnum):
    """What FindCoordinator asks for; its `key_type`."""

    GROUP = 0
    TRANSACTION = 1


class ApiKey(IntEnum):
    """The int16 with which a request begins. Names are Kafka's; a module of `messages/` has the name in small letters."""

    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    LEADER_AND_ISR = 4
    STOP_REPLICA = 5
    UPDATE_METADATA = 6
    CONTROLLED_SHUTDOWN = 7
    OFFSET_COMMIT = 8
    OFFSET_FETCH = 9
    FIND_COORDINATOR = 10
    JOIN_GROUP = 11
    HEARTBEAT = 12
    LEAVE_GROUP = 13
    SYNC_GROUP = 14
    DESCRIBE_GROUPS = 15
    LIST_GROUPS = 16
    SASL_HANDSHAKE = 17
    API_VERSIONS = 18
    CREATE_TOPICS = 19
    DELETE_TOPICS = 20
    DELETE_RECORDS = 21
    INIT_PRODUCER_ID = 22
    OFFSET_FOR_LEADER_EPOCH = 23
    ADD_PARTITIONS_TO_TXN = 24
    ADD_OFFSETS_TO_TXN = 25
    END_TXN = 26
    WRITE_TXN_MARKERS = 27
    TXN_OFFSET_COMMIT = 28
    DESCRIBE_ACLS = 29
    CREATE_ACLS = 30
    DELETE_ACLS = 31
    DESCRIBE_CONFIGS = 32
    ALTER_CONFIGS = 33
    ALTER_REPLICA_LOG_DIRS = 34
    DESCRIBE_LOG_DIRS = 35
    SASL_AUTHENTICATE = 36
    CREATE_PARTITIONS = 37
    CREATE_DELEGATION_TOKEN = 38
    RENEW_DELEGATION_TOKEN = 39
    EXPIRE_DELEGATION_TOKEN = 40
    DESCRIBE_DELEGATION_TOKEN = 41
    DELETE_GROUPS = 42
    ELECT_LEADERS = 43
    INCREMENTAL_ALTER_CONFIGS = 44
    ALTER_PARTITION_REASSIGNMENTS = 45
    LIST_PARTITION_REASSIGNMENTS = 46
    OFFSET_DELETE = 47
    DESCRIBE_CLIENT_QUOTAS = 48
    ALTER_CLIENT_QUOTAS = 49
    DESCRIBE_USER_SCRAM_CREDENTIALS = 50
    ALTER_USER_SCRAM_CREDENTIALS = 51
    VOTE = 52
    BEGIN_QUORUM_EPOCH = 53
    END_QUORUM_EPOCH = 54
    DESCRIBE_QUORUM = 55
    ALTER_ISR = 56
    UPDATE_FEATURES = 57
    ENVELOPE = 58
    FETCH_SNAPSHOT = 59
    DESCRIBE_CLUSTER = 60
    DESCRIBE_PRODUCERS = 61
    BROKER_REGISTRATION = 62
    BROKER_HEARTBEAT = 63
    UNREGISTER_BROKER = 64

    @property
    def camel_name(self) -> str:
        """Kafka's other form of the name: LeaderAndIsr."""
        return self.name.title().replace("_", "")


@dataclass(frozen=True, slots=True)
class ApiSpec:
    """What is known of one API."""

    key: ApiKey
    request: type[Message]
    response: type[Message]
    is_cluster_action: bool  # sent by brokers and the controller only; needs CLUSTER_ACTION on the cluster
    is_zk_broker_api: bool  # a broker of a cluster with ZooKeeper may serve it
    min_record_magic: int  # not offered where the inter-broker protocol implies an older record format
    first_flexible: int  # the first version with tag sections, in requests and responses alike; beyond all versions where there is none

    @property
    def min_version(self) -> int:
        """Kafka 2.8's lowest version."""
        return self.request.VALID_VERSIONS.first

    @property
    def max_version(self) -> int:
        """Kafka 2.8's highest version."""
        return self.request.VALID_VERSIONS.last

    def request_header_version(self, version: int) -> int:
        """0, 1 or 2 (with a tag section). ControlledShutdown v0 alone has no client id."""
        if self.key == ApiKey.CONTROLLED_SHUTDOWN and version == 0:
            return 0
        return 2 if version >= self.first_flexible else 1

    def response_header_version(self, version: int) -> int:
        """0, or 1 with a tag section. ApiVersions stays at 0, for a client that guessed a version too new must be able to read the answer (KIP-511)."""
        return 1 if version >= self.first_flexible and self.key != ApiKey.API_VERSIONS else 0


_CLUSTER_ACTIONS: Final = frozenset(
    {
        ApiKey.LEADER_AND_ISR,
        ApiKey.STOP_REPLICA,
        ApiKey.UPDATE_METADATA,
        ApiKey.CONTROLLED_SHUTDOWN,
        ApiKey.WRITE_TXN_MARKERS,
        ApiKey.VOTE,
        ApiKey.BEGIN_QUORUM_EPOCH,
        ApiKey.END_QUORUM_EPOCH,
        ApiKey.DESCRIBE_QUORUM,
        ApiKey.ALTER_ISR,
        ApiKey.ENVELOPE,
        ApiKey.BROKER_REGISTRATION,
        ApiKey.BROKER_HEARTBEAT,
    }
)

_NOT_FOR_ZK_BROKERS: Final = frozenset(
    {
        ApiKey.VOTE,
        ApiKey.BEGIN_QUORUM_EPOCH,
        ApiKey.END_QUORUM_EPOCH,
        ApiKey.DESCRIBE_QUORUM,
        ApiKey.ENVELOPE,
        ApiKey.FETCH_SNAPSHOT,
        ApiKey.BROKER_REGISTRATION,
        ApiKey.BROKER_HEARTBEAT,
        ApiKey.UNREGISTER_BROKER,
    }
)

_MAGIC_2_ONLY: Final = frozenset({ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.ADD_OFFSETS_TO_TXN, ApiKey.END_TXN, ApiKey.WRITE_TXN_MARKERS, ApiKey.TXN_OFFSET_COMMIT})


_specs: Final[dict[int, ApiSpec]] = {}


def spec_of(key: int) -> ApiSpec:
    """The spec of one API, by its ApiKey or its number; loads its message module at the first call. Raises ValueError for a number that is none."""
    found = _specs.get(key)
    if found is None:
        found = _specs[key] = _load_spec(ApiKey(key))
    return found


def _load_spec(key: ApiKey) -> ApiSpec:
    module = import_module(f"pykafka_classic.protocol.messages.{key.name.lower()}")
    request: type[Message] = getattr(module, f"{key.camel_name}Request")
    flexible = request.FLEXIBLE_VERSIONS
    return ApiSpec(
        key=key,
        request=request,
        response=getattr(module, f"{key.camel_name}Response"),
        is_cluster_action=key in _CLUSTER_ACTIONS,
        is_zk_broker_api=key not in _NOT_FOR_ZK_BROKERS,
        min_record_magic=2 if key in _MAGIC_2_ONLY else 0,
        first_flexible=flexible.first if flexible != NO_VERSIONS else LATEST + 1,
    )


def zk_broker_apis(record_version: int = 2) -> dict[ApiKey, tuple[int, int]]:
    """(min, max) of all that a broker with ZooKeeper can offer, given the record format (magic) that its inter-broker protocol implies."""
    specs = (spec_of(key) for key in ApiKey if key not in _NOT_FOR_ZK_BROKERS)
    return {spec.key: (spec.min_version, spec.max_version) for spec in specs if spec.min_record_magic <= record_version}
