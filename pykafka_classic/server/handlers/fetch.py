"""Fetch (key 1): what followers and consumers read. facts/protocol.md 9 and 10, coordination.md 4.9 and 4.10.

The answer holds slices of log files; the edge sends them. Only a client that is too old for the stored format has its records rewritten, in a thread.
"""

from __future__ import annotations

from collections.abc import Sequence

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.protocol.messages.fetch import FetchRequest
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.fetch_conversion import FetchConversion
from pykafka_classic.server.fetch_session import FetchContext
from pykafka_classic.server.fetch_values import ClientMetadata, FetchParams, FetchPartitionData, PartitionFetch
from pykafka_classic.server.request import Request

RACK_AWARE_VERSION = 11  # KIP-392: the client tells its rack and may be sent to a follower


def handle(broker: BrokerServices, request: Request) -> Message | Promise[Message]:
    """Read at once, or when there is enough to read, or when the client's patience ends."""
    body = request.expect(FetchRequest)
    is_follower = body.replica_id >= 0
    context = broker.fetch_manager.new_context(body, request.version, is_follower=is_follower)
    if context.error:
        return context.error_response()
    client = None
    if request.version >= RACK_AWARE_VERSION and not is_follower:
        client = ClientMetadata(body.rack_id, request.client_id or "", request.client_host, request.listener)
    params = FetchParams.from_request(body, request.version, fetch_max_bytes=broker.config.fetch_max_bytes, client=client)
    known, unknown = _split(broker, context.partitions)
    if not known:
        return _respond(broker, request, context, unknown)
    if unknown:  # an error is told at once
        params = params.without_waiting()
    outcome = broker.replica_manager.fetch_messages(params, known)
    if isinstance(outcome, Promise):
        return spawn(_respond_later(broker, request, context, outcome))
    return _respond(broker, request, context, [*unknown, *outcome] if unknown else outcome)


async def _respond_later(broker: BrokerServices, request: Request, context: FetchContext, outcome: Promise[list[FetchPartitionData]]) -> Message:
    answer = _respond(broker, request, context, await outcome)
    return await answer if isinstance(answer, Promise) else answer


def _split(broker: BrokerServices, partitions: Sequence[PartitionFetch]) -> tuple[Sequence[PartitionFetch], list[FetchPartitionData]]:
    """Partitions of the metadata cache, and answers for the others."""
    contains = broker.metadata_cache.contains
    unknown = [partition for partition in partitions if not contains(partition.topic_partition)]
    if not unknown:
        return partitions, []
    known = [partition for partition in partitions if contains(partition.topic_partition)]
    return known, [FetchPartitionData.failed(partition.topic_partition, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) for partition in unknown]


def _respond(broker: BrokerServices, request: Request, context: FetchContext, results: Sequence[FetchPartitionData]) -> Message | Promise[Message]:
    conversion = FetchConversion(broker.replica_manager, request)
    rewritings = conversion.apply(results, context.partitions)
    if not rewritings:
        return context.response(results)

    def respond(rewritten: list[bytes | ErrorCode]) -> Message:
        conversion.put(rewritings, rewritten)
        return context.response(results)

    return broker.background.run(lambda: conversion.rewrite(rewritings)).then(respond)
