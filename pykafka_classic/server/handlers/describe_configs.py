"""DescribeConfigs (key 32): configurations of topics and of this broker, with sources and synonyms. facts/protocol.md 7 and 9."""

from __future__ import annotations

from collections.abc import Sequence

from pykafka_classic.common import topic_name
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.protocol.config_numbers import ConfigSource, ResourceType
from pykafka_classic.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_loggers import describe_loggers
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.config_entries import ConfigEntry, broker_config_entries, default_broker_config_entries, topic_config_entries
from pykafka_classic.server.request import Request
from pykafka_classic.server.zk_operations import data_or_none
from zk_schema import configs


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """Each resource succeeds or fails on its own."""
    return spawn(_describe_all(broker, request))


async def _describe_all(broker: BrokerServices, request: Request) -> Message:
    body = request.expect(DescribeConfigsRequest)
    return DescribeConfigsResponse(results=[await _describe(broker, request, resource) for resource in body.resources])


async def _describe(broker: BrokerServices, request: Request, resource: DescribeConfigsResource) -> DescribeConfigsResult:
    result = DescribeConfigsResult(resource_type=resource.resource_type, resource_name=resource.resource_name)
    try:
        entries = await _entries(broker, resource)
    except KafkaError as error:
        result.error_code = error.code
        # Kafka names an unknown topic by its code alone.
        result.error_message = "" if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION else str(error)
        return result
    wanted = set(resource.configuration_keys or ())
    result.configs = [_told(entry, request) for entry in entries if not wanted or entry.name in wanted]
    return result


async def _entries(broker: BrokerServices, resource: DescribeConfigsResource) -> Sequence[ConfigEntry]:
    if resource.resource_type == ResourceType.TOPIC:
        name = resource.resource_name
        topic_name.validate(name)
        if not broker.metadata_cache.contains_topic(name):
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        stored = await data_or_none(broker.zk, configs.topic_path(name))
        return topic_config_entries(broker.dynamic_config, dict(configs.decode(stored.data)) if stored is not None and stored.data else {})
    if resource.resource_type == ResourceType.BROKER:
        if not resource.resource_name:
            return default_broker_config_entries(broker.dynamic_config)
        if resource.resource_name != str(broker.config.broker_id):
            raise KafkaError(ErrorCode.INVALID_REQUEST, _unexpected_broker(broker, resource.resource_name))
        return broker_config_entries(broker.dynamic_config)
    if resource.resource_type == ResourceType.BROKER_LOGGER:
        if not resource.resource_name:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Broker id must not be empty")
        if resource.resource_name != str(broker.config.broker_id):
            raise KafkaError(ErrorCode.INVALID_REQUEST, _unexpected_broker(broker, resource.resource_name).replace(" or empty string,", ""))
        return [_logger_entry(name, level) for name, level in describe_loggers().items()]
    raise KafkaError(ErrorCode.INVALID_REQUEST)


def _logger_entry(name: str, level: str) -> ConfigEntry:
    source = ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG
    return ConfigEntry(name, level, source, read_only=False, is_sensitive=False, synonyms=(), type=0, documentation=None)


def _unexpected_broker(broker: BrokerServices, name: str) -> str:
    if not name.lstrip("-").isdigit():
        return f"Broker id must be an integer, but it is: {name}"
    return f"Unexpected broker id, expected {broker.config.broker_id} or empty string, but received {name}"


def _told(entry: ConfigEntry, request: Request) -> DescribeConfigsResourceResult:
    body = request.expect(DescribeConfigsRequest)
    result = DescribeConfigsResourceResult(  # 2.8 never sets is_default, which v0 has
        name=entry.name, value=entry.value, read_only=entry.read_only, is_sensitive=entry.is_sensitive, config_source=entry.source, config_type=entry.type
    )
    if body.include_synonyms:
        result.synonyms = [DescribeConfigsSynonym(name=synonym.name, value=synonym.value, source=synonym.source) for synonym in entry.synonyms]
    result.documentation = entry.documentation if body.include_documentation else None
    return result
