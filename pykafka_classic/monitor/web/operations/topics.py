"""Topics: create, delete, enlarge, configure, elect; and one record to try them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final

from pykafka_classic.client.admin.configs import ConfigChange, ConfigResource
from pykafka_classic.client.admin.replicas import ElectionType
from pykafka_classic.client.admin.topics import NewPartitions, NewTopic
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.clients.twisted_producer import TwistedProducer
from pykafka_classic.monitor.web.exchange import bad_request, path_of
from pykafka_classic.monitor.web.fields import FLAG, NUMBER, PAIRS, TEXT, Field
from pykafka_classic.monitor.web.formats import plural
from pykafka_classic.monitor.web.operations.alter import DELETE, alter_op
from pykafka_classic.monitor.web.operations.operation import Address, Done, operation
from pykafka_classic.monitor.web.work import Work

INT32_MAX: Final = (1 << 31) - 1
PARTITIONS_MAX: Final = 1_000  # what somebody may ask of a cluster by a slip of the hand; kafka-topics.sh makes more
INT16_MAX: Final = (1 << 15) - 1
CONFIG_FIELDS: Final = (
    Field("name", TEXT, "The config's name, as retention.ms.", required=True),
    Field("value", TEXT, "Its value; missing: back to the default."),
)


@operation(
    "create-topic",
    Address("POST", "/topics", "topics"),
    "Create a topic.",
    (
        Field("name", TEXT, "Of the topic: letters, digits, . _ -", required=True),
        Field("partitions", NUMBER, "How many; missing: the broker's num.partitions.", least=1, most=PARTITIONS_MAX),
        Field("replication_factor", NUMBER, "How many replicas of each; missing: the broker's default.", least=1, most=INT16_MAX),
        Field("configs", PAIRS, "Configs of its own, by name."),
    ),
)
async def create_topic(work: Work, values: Mapping[str, Any]) -> Done:
    """See the summary."""
    configs = {name: value for name, value in (values["configs"] or {}).items() if value is not None}
    topic = NewTopic(values["name"], values["partitions"], values["replication_factor"], configs=configs)
    created = (await work.collector.admin.core.create_topics([topic])).check()[topic.name]
    size = f": {plural(created.partitions, 'partition')}, {plural(created.replication_factor, 'replica')} of each" if created.partitions > 0 else ""
    return Done(f"Topic {topic.name} is created{size}.", path_of("c", work.cluster, "topics", topic.name))


@operation("delete-topic", Address("DELETE", "/topics/{topic}", "topics"), "Delete a topic, with all its records.")
async def delete_topic(work: Work, _: Mapping[str, Any]) -> Done:
    """See the summary."""
    name = work.request.parts["topic"]
    (await work.collector.admin.core.delete_topics([name])).check()
    return Done(f"Topic {name} is being deleted.", path_of("c", work.cluster, "topics"))


@operation(
    "add-partitions",
    Address("POST", "/topics/{topic}/partitions", "topics"),
    "Give a topic more partitions. Keys may go to others than before.",
    (Field("total", NUMBER, "How many it shall have in the end.", required=True, least=1, most=PARTITIONS_MAX),),
)
async def add_partitions(work: Work, values: Mapping[str, Any]) -> Done:
    """See the summary."""
    name = work.request.parts["topic"]
    (await work.collector.admin.core.create_partitions({name: NewPartitions(values["total"])})).check()
    return Done(f"Topic {name} has {plural(values['total'], 'partition')} now.")


@operation("alter-topic", Address("POST", "/topics/{topic}/configs", "topics"), "Set a config of a topic, or take it back to its default.", CONFIG_FIELDS)
async def alter_topic(work: Work, values: Mapping[str, Any]) -> Done:
    """See the summary."""
    name = work.request.parts["topic"]
    change = ConfigChange(values["name"], values["value"], alter_op(values["value"]))
    (await work.collector.admin.core.incremental_alter_configs({ConfigResource.topic(name): [change]})).check()
    return Done(f"Topic {name}: {change.name} is {'back to its default' if change.operation is DELETE else change.value}.")


@operation(
    "elect-leaders",
    Address("POST", "/elect-leaders", "topics"),
    "Have the preferred replicas elected as leaders, where they are in sync.",
    (
        Field("topic", TEXT, "Of this topic only; missing: of all."),
        Field("partition", NUMBER, "Of this partition only.", most=INT32_MAX),
    ),
)
async def elect_leaders(work: Work, values: Mapping[str, Any]) -> Done:
    """See the summary."""
    wanted = None
    if values["topic"]:
        states = await work.read(lambda: work.app.monitor.reader.partitions_at(work.cluster, topic=values["topic"]))
        wanted = [TopicPartition(each.topic, each.partition) for each in states if values["partition"] in (None, each.partition)]
        if not wanted:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    elif values["partition"] is not None:
        raise bad_request("A partition needs its topic.")
    outcomes = await work.collector.admin.core.elect_leaders(ElectionType.PREFERRED, wanted)
    failed = {each: error for each, error in outcomes.errors().items() if error.code is not ErrorCode.ELECTION_NOT_NEEDED}
    elected = len(outcomes.values_only())
    if failed and not elected:
        partition, error = next(iter(failed.items()))
        raise KafkaError(error.code, f"{partition}: {error}")
    others = f"{plural(len(failed), 'partition has', 'partitions have')} no preferred replica in sync" if failed else "elsewhere there was no need"
    return Done(f"{plural(elected, 'preferred leader was', 'preferred leaders were')} elected; {others}.", details={"elected": elected, "failed": len(failed)})


@operation(
    "produce",
    Address("POST", "/topics/{topic}/messages", "messages"),
    "Produce one record.",
    (
        Field("partition", NUMBER, "Where to; missing: as the key says.", most=INT32_MAX),
        Field("key", TEXT, "Text, or base64:... for bytes; missing: none."),
        Field("value", TEXT, "Text, or base64:... for bytes; missing: empty."),
        Field("tombstone", FLAG, "Send no value at all, which in a compacted topic deletes the key."),
        Field("headers", PAIRS, "Names and texts."),
    ),
)
async def produce(work: Work, values: Mapping[str, Any]) -> Done:
    """See the summary."""
    topic = work.request.parts["topic"]
    known = await work.read(lambda: work.app.monitor.reader.partitions_at(work.cluster, topic=topic))
    if not known:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)  # asking a broker about it might create it
    if values["partition"] is not None and all(each.partition != values["partition"] for each in known):
        raise bad_request(f"{topic} has no partition {values['partition']}.")
    value = None if values["tombstone"] else as_bytes(values["value"] or "", "value")
    headers = [(name, None if told is None else told.encode()) for name, told in (values["headers"] or {}).items()]
    addresses = [f"{host}:{port}" for host, port in filter(None, work.collector.view.brokers.values())]
    if not addresses:
        raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE, "No broker is registered.")
    producer = TwistedProducer(work.app.reactor, ",".join(addresses), client_id="monitor", acks="all", delivery_timeout_ms=8_000, request_timeout_ms=4_000)
    try:
        await settled(producer.start())
        sent = producer.send(topic, value, as_bytes(values["key"], "key"), headers=headers, partition=values["partition"])
        where = await settled(sent)
    finally:
        producer.close(timeout_ms=1_000).addErrback(lambda _: None)
    place = {"partition": where.partition, "offset": where.offset}
    back = f"{path_of('c', work.cluster, 'topics', topic, 'messages')}?partition={where.partition}&offset={where.offset}"
    return Done(f"The record lies in {topic}-{where.partition} at offset {where.offset}.", back, place)


def as_bytes(told: str | None, name: str) -> bytes | None:
    """Raises Refused."""
    if told is None or not told.startswith("base64:"):
        return None if told is None else told.encode()
    try:
        return base64.b64decode(told.removeprefix("base64:"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise bad_request(f"{name} is no base64: {error}.") from error


async def settled(deferred: Any) -> Any:
    """What a Deferred fires with, for a coroutine over promises."""
    promise: Promise[Any] = Promise()
    deferred.addCallbacks(promise.resolve, lambda failure: promise.fail(failure.value))
    return await promise
