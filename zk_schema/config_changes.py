"""`/config/changes/config_change_<sequence>`: a config has changed, read it again.

* Kind: persistent, sequential.
* Writers: whoever changed a config, after the config's own node. Any broker deletes those older than 15 minutes.
* Watchers: every broker (children of /config/changes). What is there at a broker's start is handled too.

| version | written by | sample |
|---|---|---|
| 2 | 0.10.1 and later | `{"version":2,"entity_path":"users/alice/clients/c1"}` |
| 1 | 0.9, 0.10.0 | `{"version":1,"entity_type":"topics","entity_name":"t"}` (topics and clients only) |
| 0 | 0.8 | `"t"`: the topic, a bare JSON string |

Source: ConfigEntityChangeNotificationSequenceZNode in 2.8:core/src/main/scala/kafka/zk/ZkData.scala,
2.8:core/src/main/scala/kafka/server/DynamicConfigManager.scala; KIP-55.

Differs from Kafka: 2.8 answers version 0 with an error in its log; we read it as the change of a topic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from zk_schema.configs import CLIENTS, ENTITY_TYPES, TOPICS, ConfigEntity
from zk_schema.json_fields import JsonFields, from_json, to_json
from zk_schema.sequential import sequence_number

PATH: Final = "/config/changes"
PREFIX: Final = "config_change_"
CREATE_PATH: Final = f"{PATH}/{PREFIX}"  # create this one, sequential
FAMILY: Final = f"{CREATE_PATH}<sequence>"


@dataclass(frozen=True, slots=True)
class ConfigChangeZNode:
    """Which entity's config to read again."""

    entity_path: str  # relative to /config
    version: int = 2  # of the notification's JSON; 0 is a bare string

    @property
    def entity_type(self) -> str:
        """topics, clients, users, brokers or ips."""
        return self.entity_path.partition("/")[0]

    @property
    def entity_name(self) -> str:
        """The rest of the path, sanitized: `t`, or `alice/clients/c1`."""
        return self.entity_path.partition("/")[2]

    @property
    def entity(self) -> ConfigEntity | None:
        """The entity; None where the path is too long or too short for one."""
        return ConfigEntity.parse(self.entity_path)


def sequence(name: str) -> int:
    """The number of a notification, by its name or path."""
    return sequence_number(name, PREFIX)


def change_of(entity: ConfigEntity) -> ConfigChangeZNode:
    """The notification to write after changing an entity's config."""
    return ConfigChangeZNode(entity.entity_path)


def encode(value: ConfigChangeZNode) -> bytes:
    """By `value.version`."""
    if value.version == 0:
        return to_json(value.entity_name)
    if value.version == 1:
        return to_json({"version": 1, "entity_type": value.entity_type, "entity_name": value.entity_name})
    return to_json({"version": 2, "entity_path": value.entity_path})


def decode(data: bytes | None) -> ConfigChangeZNode:
    """Any of the three versions."""
    stored = from_json(data, FAMILY)
    if isinstance(stored, str):
        return ConfigChangeZNode(f"{TOPICS}/{stored}", version=0)
    fields = JsonFields(stored, FAMILY)
    version = fields.integer("version")
    if version == 1:
        entity_type = fields.text("entity_type")
        if entity_type not in (TOPICS, CLIENTS):
            fields.fail(f"entity_type {entity_type!r:.80} is neither topics nor clients")
        return ConfigChangeZNode(f"{entity_type}/{fields.text('entity_name')}", version=1)
    if version != 2:
        fields.fail(f"version {version} is neither 1 nor 2")
    entity_path = fields.text("entity_path")
    if "/" not in entity_path or entity_path.partition("/")[0] not in ENTITY_TYPES:
        fields.fail(f"entity_path {entity_path!r:.80} does not begin with one of {', '.join(ENTITY_TYPES)}")
    return ConfigChangeZNode(entity_path)
