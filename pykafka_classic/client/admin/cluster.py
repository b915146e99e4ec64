"""The cluster itself: its brokers and controller, what each broker can do, quotas of clients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from pykafka_classic.client.admin.outcomes import Outcomes, missing, outcome
from pykafka_classic.client.admin.requests import AnyBroker, Broker, Call, ClusterRequests, Controller, raise_error
from pykafka_classic.cluster.broker import Node
from pykafka_classic.common.errors import KafkaError
from pykafka_classic.common.promise import gather, spawn
from pykafka_classic.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntityData,
    AlterClientQuotasRequestEntryData,
    AlterClientQuotasResponse,
    OpData,
)
from pykafka_classic.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from pykafka_classic.protocol.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest, DescribeClientQuotasResponse
from pykafka_classic.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"

# The parts of a quota's owner, sorted by type: (("client-id", "app"), ("user", None)); None is the default of that type.
QuotaEntity: TypeAlias = tuple[tuple[str, str | None], ...]

EXACT: Final = 0
DEFAULT: Final = 1
ANY: Final = 2


@dataclass(frozen=True, slots=True)
class ClusterDescription:
    """The brokers that are alive."""

    cluster_id: str | None
    controller: Node | None  # None: there is none at present
    nodes: tuple[Node, ...]


class ApiVersionRange(NamedTuple):
    """What a broker serves of one API, known to us or not."""

    api_key: int
    min_version: int
    max_version: int


class QuotaFilter(NamedTuple):
    """A condition on one part of a quota's owner: this name, the default (`match` DEFAULT), or any (ANY)."""

    entity_type: str
    match: int = ANY
    name: str | None = None


def quota_entity(parts: Mapping[str, str | None]) -> QuotaEntity:
    """The owner of a quota, from {"user": "alice", "client-id": None}."""
    return tuple(sorted(parts.items()))


class ClusterOperations:
    """The part of the admin client that is about the cluster."""

    _requests: ClusterRequests

    async def describe_cluster(self) -> ClusterDescription:
        """Id, controller and live brokers.

        >>> admin.describe_cluster().controller.id  # doctest: +SKIP
        1
        """
        await self._requests.metadata(())
        nodes = self._requests.nodes
        return ClusterDescription(self._requests.cluster_id, nodes.get(self._requests.controller_id), tuple(nodes.values()))

    async def api_versions(self, brokers: Iterable[int] | None = None) -> Outcomes[int, tuple[ApiVersionRange, ...]]:
        """What each broker (None: all that are alive) serves, in its order."""

        async def ask(broker: int) -> tuple[ApiVersionRange, ...] | KafkaError:
            call = Call("apiVersions", ApiVersionsResponse, lambda _: ApiVersionsRequest("pykafka-classic", "1.0"))
            try:
                response = await self._requests.ask(Broker(broker), call)
                raise_error(response.error_code)
            except KafkaError as error:
                return error
            return tuple(ApiVersionRange(each.api_key, each.min_version, each.max_version) for each in response.api_keys)

        if brokers is None:
            brokers = [node.id for node in (await self.describe_cluster()).nodes]
        wanted = list(brokers)
        return Outcomes(dict(zip(wanted, await gather([spawn(ask(broker)) for broker in wanted]), strict=True)))

    async def describe_client_quotas(self, conditions: Iterable[QuotaFilter] = (), *, strict: bool = False) -> dict[QuotaEntity, dict[str, float]]:
        """The quotas whose owners fulfil all conditions; with `strict`, owners that have further parts do not. Without conditions all."""
        components = [ComponentData(each.entity_type, each.match, each.name) for each in conditions]
        call = Call("describeClientQuotas", DescribeClientQuotasResponse, lambda _: DescribeClientQuotasRequest(components, strict))
        response = await self._requests.ask(AnyBroker(), call)
        raise_error(response.error_code, response.error_message)
        return {
            quota_entity({part.entity_type: part.entity_name for part in entry.entity}): {each.key: each.value for each in entry.values}
            for entry in response.entries or ()
        }

    async def alter_client_quotas(
        self, changes: Mapping[QuotaEntity, Mapping[str, float | None]], *, validate_only: bool = False
    ) -> Outcomes[QuotaEntity, None]:
        """Set quotas, or (None) remove them. INVALID_REQUEST.

        Keys: `producer_byte_rate`, `consumer_byte_rate`, `request_percentage`, `controller_mutation_rate`,
        `connection_creation_rate`.
        """
        entries = [AlterClientQuotasRequestEntryData(_parts(entity), _operations(values)) for entity, values in changes.items()]
        call = Call("alterClientQuotas", AlterClientQuotasResponse, lambda _: AlterClientQuotasRequest(entries, validate_only))
        response = await self._requests.ask(AnyBroker(), call)
        outcomes: Outcomes[QuotaEntity, None] = Outcomes()
        for entry in response.entries:
            entity = quota_entity({part.entity_type: part.entity_name for part in entry.entity})
            outcomes[entity] = outcome(None, entry.error_code, entry.error_message)
        missing(changes, outcomes)
        return outcomes

    async def unregister_broker(self, broker: int) -> None:
        """Forget a broker that is gone, in a cluster without ZooKeeper; in all others UNSUPPORTED_VERSION."""
        call = Call("unregisterBroker", UnregisterBrokerResponse, lambda _: UnregisterBrokerRequest(broker), lambda told: [told.error_code])
        response = await self._requests.ask(Controller(), call)
        raise_error(response.error_code, response.error_message)


def _parts(entity: QuotaEntity) -> list[AlterClientQuotasRequestEntityData]:
    return [AlterClientQuotasRequestEntityData(*part) for part in entity]


def _operations(values: Mapping[str, float | None]) -> list[OpData]:
    return [OpData(key, 0.0 if value is None else value, remove=value is None) for key, value in values.items()]
