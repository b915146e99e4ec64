"""`/config/<type>/<name>`: what was configured at run time for topics, brokers, clients, users and addresses.

* Kind: persistent.
* Writers: a broker that handles a config request, or a tool with `--zookeeper`; then they create a notification (config_changes.py). The last writer wins.
* Watchers: none. Brokers hear of a change through /config/changes and read the node again.
* Sample: `{"version":1,"config":{"retention.ms":"1000000"}}`; all values are strings.

| entity | path |
|---|---|
| topic | /config/topics/T |
| broker; all brokers | /config/brokers/N; /config/brokers/<default> |
| client id; all others | /config/clients/C; /config/clients/<default> |
| user; all others | /config/users/U; /config/users/<default> |
| client id of a user | /config/users/U/clients/C; either may be <default> |
| address; all others | /config/ips/A; /config/ips/<default> |

Users and client ids are URL-encoded in the path, so that a name with "/" is one node, and a user called <default> is not the default. A user's node above
`clients`, and `clients`, may have null data: no config. Passwords of brokers are encrypted, SCRAM credentials are salted: no text of this family is fit for a
log as it is.

Source: ConfigEntityZNode in 2.8:core/src/main/scala/kafka/zk/ZkData.scala, 2.8:clients/.../common/utils/Sanitizer.java,
2.8:core/src/main/scala/kafka/server/ConfigHandler.scala.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from zk_schema.json_fields import JsonFields, from_json, to_json

PATH: Final = "/config"
FAMILY: Final = "/config/<type>/<name>"
VERSION: Final = 1
TOPICS: Final = "topics"
CLIENTS: Final = "clients"
USERS: Final = "users"
BROKERS: Final = "brokers"
IPS: Final = "ips"
ENTITY_TYPES: Final = (TOPICS, CLIENTS, USERS, BROKERS, IPS)  # in Kafka's order
DEFAULT: Final = "<default>"  # the node of the default entity; never encoded


def sanitize(name: str) -> str:
    """A name as part of a path: URL-encoded as UTF-8, letters, digits and "-", "_", "." aside."""
    return quote(name, safe="", errors="replace").replace("~", "%7E")


def desanitize(part: str) -> str:
    """The name that part of a path stands for."""
    return unquote(part.replace("+", " "))


@dataclass(frozen=True, slots=True)
class ConfigEntity:
    """What a config is for. The names are parts of paths: sanitized, or `<default>`; build it with `of`, `user_client` or `parse`."""

    entity_type: str  # one of ENTITY_TYPES
    name: str
    client: str | None = None  # of a user only

    @staticmethod
    def of(entity_type: str, name: str | None) -> ConfigEntity:
        """An entity by its plain name; None is the default entity."""
        return ConfigEntity(entity_type, _part(entity_type, name))

    @staticmethod
    def user_client(user: str | None, client_id: str | None) -> ConfigEntity:
        """A client id of a user, by plain names."""
        return ConfigEntity(USERS, _part(USERS, user), _part(CLIENTS, client_id))

    @staticmethod
    def parse(entity_path: str) -> ConfigEntity | None:
        """The entity of a path relative to /config (`users/alice/clients/c`), or of a whole path; None where it is none."""
        match entity_path.removeprefix(f"{PATH}/").split("/"):
            case [entity_type, name] if entity_type in ENTITY_TYPES and name:
                return ConfigEntity(entity_type, name)
            case ["users", user, "clients", client] if user and client:
                return ConfigEntity(USERS, user, client)
            case _:
                return None

    @property
    def plain_name(self) -> str | None:
        """The name as people know it; None for the default entity."""
        return _plain(self.entity_type, self.name)

    @property
    def plain_client(self) -> str | None:
        """The client id as people know it; None for the default, and for an entity without client."""
        return None if self.client is None else _plain(CLIENTS, self.client)

    @property
    def entity_path(self) -> str:
        """Relative to /config, as notifications hold it."""
        return f"{self.entity_type}/{self.name}" + ("" if self.client is None else f"/{CLIENTS}/{self.client}")

    @property
    def path(self) -> str:
        """The node."""
        return f"{PATH}/{self.entity_path}"


def _part(entity_type: str, name: str | None) -> str:
    if name is None:
        return DEFAULT
    return sanitize(name) if entity_type in (USERS, CLIENTS) else name


def _plain(entity_type: str, part: str) -> str | None:
    if part == DEFAULT:
        return None
    return desanitize(part) if entity_type in (USERS, CLIENTS) else part


def type_path(entity_type: str) -> str:
    """The parent of all entities of a type."""
    return f"{PATH}/{entity_type}"


def user_clients_path(user: str | None) -> str:
    """The parent of a user's client ids."""
    return f"{ConfigEntity.of(USERS, user).path}/{CLIENTS}"


def topic_path(topic: str) -> str:
    """A topic's config."""
    return ConfigEntity.of(TOPICS, topic).path


def broker_path(broker_id: int | None) -> str:
    """A broker's dynamic config; None: that of all brokers."""
    return ConfigEntity.of(BROKERS, None if broker_id is None else str(broker_id)).path


def client_path(client_id: str | None) -> str:
    """Quotas of a client id; None: of those without their own."""
    return ConfigEntity.of(CLIENTS, client_id).path


def user_path(user: str | None) -> str:
    """Quotas and SCRAM credentials of a user; None: quotas of those without their own."""
    return ConfigEntity.of(USERS, user).path


def user_client_path(user: str | None, client_id: str | None) -> str:
    """Quotas of a client id of a user; None: default."""
    return ConfigEntity.user_client(user, client_id).path


def ip_path(address: str | None) -> str:
    """Connection quota of an address; None: of those without their own."""
    return ConfigEntity.of(IPS, address).path


def encode(value: Mapping[str, str]) -> bytes:
    """The keys in the order given; an empty config is written too."""
    return to_json({"version": VERSION, "config": dict(value)})


def decode(data: bytes | None) -> dict[str, str]:
    """The config; empty where the node has no data, or its JSON no config."""
    if not data:
        return {}
    stored = from_json(data, FAMILY)
    if not isinstance(stored, dict) or not isinstance(stored.get("config"), dict):
        return {}
    return JsonFields(stored["config"], FAMILY).text_map()
