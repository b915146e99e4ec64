"""What the sink is told: the rows' columns and the options, checked before anything is written.

| column | type | |
|---|---|---|
| value | string or binary | required |
| key | string or binary | |
| topic | string | required unless the option `topic` says where all rows go, which wins |
| partition | int | null: as the partitioner says |
| headers | array of (key string, value binary) | |

Others are ignored. These are the rules of Spark's own Kafka connector.

| option | default | |
|---|---|---|
| bootstrap.servers | | some brokers; `kafka.` may stand before this and all names below |
| zookeeper.connect | | instead: the brokers are found there |
| topic | | for all rows |
| any setting of our producer | linger.ms 5, batch.size 131072, idempotence where acks and the rest allow it | `partitioner`, `compression.type`, `acks`, ... |

Source: Spark's connector/kafka-0-10-sql/.../KafkaWriter.scala; `client/producing/producer_settings.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, Final

from pyspark.sql.types import ArrayType, BinaryType, DataType, IntegerType, StringType, StructField, StructType

from pykafka_classic.client.client_errors import InvalidSetting
from pykafka_classic.client.client_settings import kafka_name, settings_of
from pykafka_classic.client.producing.producer_settings import ALL_REPLICAS, IDEMPOTENT_IN_FLIGHT_MAX, ProducerSettings
from pykafka_classic.common import topic_name
from pykafka_classic.common.errors import KafkaError

_HEADERS: Final = ArrayType(StructType([StructField("key", StringType()), StructField("value", BinaryType())]))
_COLUMNS: Final[Mapping[str, tuple[DataType, ...]]] = {
    "value": (StringType(), BinaryType()),
    "key": (StringType(), BinaryType()),
    "topic": (StringType(),),
    "partition": (IntegerType(),),
    "headers": (_HEADERS,),
}
_PREFIX: Final = "kafka."
_OURS: Final = ("topic", "zookeeper.connect")
# Spark's own, and those of the official connector that mean nothing here.
_NOT_OURS: Final = frozenset({"checkpointlocation", "path", "queryname", "includeheaders", "key.serializer", "value.serializer"})
_DEFAULTS: Final[Mapping[str, Any]] = {"client.id": "pykafka-classic-spark", "linger.ms": 5, "batch.size": 131_072}


@dataclass(frozen=True, slots=True)
class WriteSettings:
    """All that a task needs to write its rows; picklable."""

    producer: ProducerSettings
    topic: str | None  # None: each row says it
    columns: tuple[str, ...]  # those of the rows that mean something


def write_settings(schema: StructType, options: Mapping[str, str], find_brokers: Callable[[str], str]) -> WriteSettings:
    """Check both. InvalidSetting with a sentence that names the option or column. `find_brokers`: bootstrap.servers of a zookeeper.connect."""
    given = _by_name(options)
    topic = given.pop("topic", None)
    zookeeper = given.pop("zookeeper.connect", None)
    if topic is not None:
        try:
            topic_name.validate(topic)
        except KafkaError as error:
            raise InvalidSetting(f"option 'topic': {error}") from error
    columns = _checked_columns(schema, has_topic=topic is not None)
    if "bootstrap.servers" not in given and zookeeper is not None:
        given["bootstrap.servers"] = find_brokers(zookeeper)
        if not given["bootstrap.servers"]:
            raise InvalidSetting(f"option 'zookeeper.connect': no broker is registered at {zookeeper}")
    return WriteSettings(_producer_settings(given), topic, columns)


def _by_name(options: Mapping[str, str]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for spelled, value in options.items():
        name = spelled.lower().removeprefix(_PREFIX)
        if name in _NOT_OURS:
            continue
        if given.setdefault(name, value) != value:
            raise InvalidSetting(f"options {name!r} and '{_PREFIX}{name}' mean the same, and have two values")
    return given


def _checked_columns(schema: StructType, *, has_topic: bool) -> tuple[str, ...]:
    types = {field.name: field.dataType for field in schema.fields}
    if "value" not in types:
        raise InvalidSetting(f"the rows have no column 'value'; they have {', '.join(types)}")
    if not has_topic and "topic" not in types:
        raise InvalidSetting("where to? Give the option 'topic', or a column 'topic' in every row")
    columns = tuple(name for name in _COLUMNS if name in types and not (name == "topic" and has_topic))
    for name in columns:
        if not any(_same(types[name], allowed) for allowed in _COLUMNS[name]):
            allowed = " or ".join(each.simpleString() for each in _COLUMNS[name])
            raise InvalidSetting(f"column {name!r} is {types[name].simpleString()}; it must be {allowed}")
    return columns


def _same(given: DataType, allowed: DataType) -> bool:
    """Whether null is allowed does not matter."""
    if isinstance(given, ArrayType) and isinstance(allowed, ArrayType):
        return _same(given.elementType, allowed.elementType)
    if isinstance(given, StructType) and isinstance(allowed, StructType):
        pairs = zip(given.fields, allowed.fields, strict=False)
        return len(given.fields) == len(allowed.fields) and all(one.name == other.name and _same(one.dataType, other.dataType) for one, other in pairs)
    return type(given) is type(allowed)


def _producer_settings(given: Mapping[str, Any]) -> ProducerSettings:
    names = [kafka_name(field.name) for field in fields(ProducerSettings)]
    for name in given:
        if name not in names:
            alike = get_close_matches(name, [*names, *_OURS], n=1)
            raise InvalidSetting(f"there is no option {name!r}" + (f"; is {alike[0]!r} meant?" if alike else " for writing"))
    settings = settings_of(ProducerSettings, {**_DEFAULTS, **given})
    if "enable.idempotence" in given or settings.enable_idempotence:
        return settings
    allowed = settings.acks is None or settings.required_acks == ALL_REPLICAS
    if allowed and settings.retries and settings.max_in_flight_requests_per_connection <= IDEMPOTENT_IN_FLIGHT_MAX:
        return settings_of(ProducerSettings, {**_DEFAULTS, **given, "enable.idempotence": True})
    return settings
