"""Configs of topics, brokers and broker loggers. A broker's own are asked of that broker, all others of any."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pykafka_classic.client.admin.outcomes import Outcomes, missing, outcome
from pykafka_classic.client.admin.requests import AnyBroker, Broker, Call, ClusterRequests, Place
from pykafka_classic.common.promise import gather, spawn
from pykafka_classic.protocol.config_numbers import AlterOp, ConfigSource, ResourceType
from pykafka_classic.protocol.messages import alter_configs, incremental_alter_configs
from pykafka_classic.protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from pykafka_classic.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
)
from pykafka_classic.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse


class ConfigResource(NamedTuple):
    """One of them. A broker's name is its id in digits; "" means all brokers (their dynamic default)."""

    type: ResourceType
    name: str

    @staticmethod
    def topic(name: str) -> ConfigResource:
        """A topic."""
        return ConfigResource(ResourceType.TOPIC, name)

    @staticmethod
    def broker(node_id: int | None) -> ConfigResource:
        """A broker, or (None) the dynamic default of all."""
        return ConfigResource(ResourceType.BROKER, "" if node_id is None else str(node_id))

    def __str__(self) -> str:
        return f"ConfigResource(type={self.type.name}, name='{self.name}')"


class ConfigValue(NamedTuple):
    """A place where a value may come from (Kafka: a synonym)."""

    name: str
    value: str | None
    source: ConfigSource


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """One config."""

    name: str
    value: str | None  # None: not set, or too sensitive to tell
    source: ConfigSource
    is_sensitive: bool = False
    is_read_only: bool = False
    synonyms: tuple[ConfigValue, ...] = ()  # the first wins; only if asked for
    type: int = 0  # 1 boolean, 2 string, 3 int, 4 short, 5 long, 6 double, 7 list, 8 class, 9 password; 0: an old broker did not tell
    documentation: str | None = None  # only if asked for

    @property
    def is_default(self) -> bool:
        """True where nobody has set it."""
        return self.source is ConfigSource.DEFAULT_CONFIG


class ConfigChange(NamedTuple):
    """One change of one config; no value for DELETE."""

    name: str
    value: str | None = None
    operation: AlterOp = AlterOp.SET


class ConfigOperations:
    """The part of the admin client that is about configs."""

    _requests: ClusterRequests

    async def describe_configs(
        self, resources: Iterable[ConfigResource], *, synonyms: bool = False, documentation: bool = False
    ) -> Outcomes[ConfigResource, dict[str, ConfigEntry]]:
        """All configs of each resource, by name, in the broker's order. UNKNOWN_TOPIC_OR_PARTITION, INVALID_REQUEST.

        >>> flights = ConfigResource.topic("flights")
        >>> admin.describe_configs([flights]).check()[flights]["cleanup.policy"].value  # doctest: +SKIP
        'compact'
        """

        async def ask(place: Place, some: list[ConfigResource]) -> DescribeConfigsResponse:
            wanted = [DescribeConfigsResource(each.type, each.name, None) for each in some]

            def build(version: int) -> DescribeConfigsRequest:
                return DescribeConfigsRequest(wanted, synonyms and version >= 1, documentation and version >= 3)

            return await self._requests.ask(place, Call("describeConfigs", DescribeConfigsResponse, build))

        outcomes: Outcomes[ConfigResource, dict[str, ConfigEntry]] = Outcomes()
        groups = by_place(resources)
        for response in await gather([spawn(ask(_place(number), some)) for number, some in groups.items()]):
            for told in response.results:
                entries = {each.name: _entry(each) for each in told.configs}
                outcomes[ConfigResource(ResourceType(told.resource_type), told.resource_name)] = outcome(entries, told.error_code, told.error_message)
        missing({each: None for some in groups.values() for each in some}, outcomes)
        return outcomes

    async def alter_configs(self, configs: Mapping[ConfigResource, Mapping[str, str]], *, validate_only: bool = False) -> Outcomes[ConfigResource, None]:
        """Replace **all** dynamic configs of each resource: what is not named goes back to its default. `incremental_alter_configs` changes single ones."""

        async def ask(place: Place, some: list[ConfigResource]) -> AlterConfigsResponse:
            wanted = [
                alter_configs.AlterConfigsResource(each.type, each.name, [alter_configs.AlterableConfig(*pair) for pair in configs[each].items()])
                for each in some
            ]
            return await self._requests.ask(place, Call("alterConfigs", AlterConfigsResponse, lambda _: AlterConfigsRequest(wanted, validate_only)))

        responses = await gather([spawn(ask(_place(number), some)) for number, some in by_place(configs).items()])
        return _altered(configs, (told for response in responses for told in response.responses))

    async def incremental_alter_configs(
        self, changes: Mapping[ConfigResource, Sequence[ConfigChange]], *, validate_only: bool = False
    ) -> Outcomes[ConfigResource, None]:
        """Change single configs. INVALID_CONFIG, INVALID_REQUEST, UNKNOWN_TOPIC_OR_PARTITION; UNSUPPORTED_VERSION from brokers before 2.3.

        >>> flights = ConfigResource.topic("flights")
        >>> admin.incremental_alter_configs({flights: [ConfigChange("retention.ms", "3600000")]}).check()  # doctest: +SKIP
        """

        async def ask(place: Place, some: list[ConfigResource]) -> IncrementalAlterConfigsResponse:
            wanted = [
                incremental_alter_configs.AlterConfigsResource(
                    each.type, each.name, [incremental_alter_configs.AlterableConfig(change.name, change.operation, change.value) for change in changes[each]]
                )
                for each in some
            ]
            call = Call("incrementalAlterConfigs", IncrementalAlterConfigsResponse, lambda _: IncrementalAlterConfigsRequest(wanted, validate_only))
            return await self._requests.ask(place, call)

        responses = await gather([spawn(ask(_place(number), some)) for number, some in by_place(changes).items()])
        return _altered(changes, (told for response in responses for told in response.responses))


def by_place(resources: Iterable[ConfigResource]) -> dict[int | None, list[ConfigResource]]:
    """Which resources are asked of which broker; None: of any."""
    found: dict[int | None, list[ConfigResource]] = {}
    for each in resources:
        is_of_one = each.type is not ResourceType.TOPIC and each.name.isascii() and each.name.isdigit()
        found.setdefault(int(each.name) if is_of_one else None, []).append(each)
    return found


def _place(number: int | None) -> Place:
    return AnyBroker() if number is None else Broker(number)


def _entry(told: DescribeConfigsResourceResult) -> ConfigEntry:
    source = ConfigSource.of(told.config_source) if told.config_source >= 0 else ConfigSource.DEFAULT_CONFIG if told.is_default else ConfigSource.UNKNOWN
    synonyms = tuple(ConfigValue(each.name, each.value, ConfigSource.of(each.source)) for each in told.synonyms)
    return ConfigEntry(told.name, told.value, source, told.is_sensitive, told.read_only, synonyms, told.config_type, told.documentation)


def _altered(
    wanted: Mapping[ConfigResource, object],
    told: Iterable[alter_configs.AlterConfigsResourceResponse | incremental_alter_configs.AlterConfigsResourceResponse],
) -> Outcomes[ConfigResource, None]:
    outcomes: Outcomes[ConfigResource, None] = Outcomes()
    for each in told:
        outcomes[ConfigResource(ResourceType(each.resource_type), each.resource_name)] = outcome(None, each.error_code, each.error_message)
    missing(wanted, outcomes)
    return outcomes
