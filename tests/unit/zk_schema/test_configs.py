"""configs and config_changes."""

from __future__ import annotations

import pytest

from zk_schema import config_changes, configs
from zk_schema.config_changes import ConfigChangeZNode
from zk_schema.configs import ConfigEntity
from zk_schema.errors import MalformedZNode


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (configs.topic_path("t"), "/config/topics/t"),
        (configs.broker_path(3), "/config/brokers/3"),
        (configs.broker_path(None), "/config/brokers/<default>"),
        (configs.client_path("client a*b+c/d"), "/config/clients/client%20a%2Ab%2Bc%2Fd"),
        (configs.client_path(None), "/config/clients/<default>"),
        (configs.user_path("CN=bob,O=x y"), "/config/users/CN%3Dbob%2CO%3Dx%20y"),
        (configs.user_path("<default>"), "/config/users/%3Cdefault%3E"),
        (configs.user_client_path("alice", None), "/config/users/alice/clients/<default>"),
        (configs.user_client_path(None, "c1"), "/config/users/<default>/clients/c1"),
        (configs.user_clients_path("a b"), "/config/users/a%20b/clients"),
        (configs.ip_path("10.1.2.3"), "/config/ips/10.1.2.3"),
        (configs.ip_path(None), "/config/ips/<default>"),
    ],
)
def test_paths(path: str, expected: str) -> None:
    assert path == expected


@pytest.mark.parametrize(
    ("name", "part"), [("a-b_c.d", "a-b_c.d"), ("~", "%7E"), ("é", "%C3%A9"), ("+ *", "%2B%20%2A"), ("100%", "100%25"), ("😀", "%F0%9F%98%80")]
)
def test_names_are_url_encoded_as_java_does(name: str, part: str) -> None:
    assert configs.sanitize(name) == part
    assert configs.desanitize(part) == name


def test_an_entity_is_read_back_from_its_path() -> None:
    for entity in (
        ConfigEntity.of("topics", "t"),
        ConfigEntity.of("users", "a/b"),
        ConfigEntity.of("users", None),
        ConfigEntity.user_client("a/b", None),
        ConfigEntity.user_client(None, "c"),
        ConfigEntity.of("ips", "::1"),
    ):
        assert ConfigEntity.parse(entity.entity_path) == entity
        assert ConfigEntity.parse(entity.path) == entity


def test_an_entity_has_plain_names() -> None:
    entity = ConfigEntity.user_client("a/b", "c d")
    assert (entity.plain_name, entity.plain_client, entity.entity_path) == ("a/b", "c d", "users/a%2Fb/clients/c%20d")
    default = ConfigEntity.user_client(None, None)
    assert (default.plain_name, default.plain_client, default.client) == (None, None, "<default>")


@pytest.mark.parametrize("path", ["", "topics", "topics/", "queues/q", "topics/t/u", "users/a/clients", "clients/c/users/u", "users//clients/c"])
def test_other_paths_are_no_entities(path: str) -> None:
    assert ConfigEntity.parse(path) is None


def test_a_config_is_a_map_of_strings() -> None:
    assert configs.encode({}) == b'{"version":1,"config":{}}'
    assert configs.encode({"b": "2", "a": "1"}) == b'{"version":1,"config":{"b":"2","a":"1"}}'
    assert configs.decode(b'{"config":{"b":"2","a":"1"},"version":1}') == {"a": "1", "b": "2"}


@pytest.mark.parametrize("data", [None, b"", b"{}", b"[]", b'{"version":1,"config":null}'])
def test_a_node_without_a_config_is_an_empty_config(data: bytes | None) -> None:
    assert configs.decode(data) == {}


@pytest.mark.parametrize("data", [b"{", b'{"version":1,"config":{"a":1}}', b'{"config":{"a":null}}'])
def test_malformed_configs(data: bytes) -> None:
    with pytest.raises(MalformedZNode):
        configs.decode(data)


def test_change_version_2_holds_a_path() -> None:
    change = config_changes.decode(b'{"version":2,"entity_path":"users/a%2Fb/clients/c"}')
    assert change == ConfigChangeZNode("users/a%2Fb/clients/c")
    assert (change.entity_type, change.entity_name, change.entity) == ("users", "a%2Fb/clients/c", ConfigEntity.user_client("a/b", "c"))


def test_change_version_1_holds_type_and_name() -> None:
    data = b'{"version":1,"entity_type":"topics","entity_name":"t"}'
    assert config_changes.decode(data) == ConfigChangeZNode("topics/t", 1)
    assert config_changes.encode(ConfigChangeZNode("topics/t", 1)) == data


def test_change_of_0_8_is_a_bare_topic() -> None:
    assert config_changes.decode(b'"t"') == ConfigChangeZNode("topics/t", 0)
    assert config_changes.encode(ConfigChangeZNode("topics/t", 0)) == b'"t"'


@pytest.mark.parametrize(
    "data",
    [
        None,
        b"1",
        b'{"version":3,"entity_path":"topics/t"}',
        b'{"entity_path":"topics/t"}',
        b'{"version":2}',
        b'{"version":2,"entity_path":"topics"}',
        b'{"version":2,"entity_path":"queues/q"}',
        b'{"version":1,"entity_type":"users","entity_name":"u"}',
        b'{"version":1,"entity_type":"topics"}',
    ],
)
def test_malformed_changes(data: bytes | None) -> None:
    with pytest.raises(MalformedZNode):
        config_changes.decode(data)


def test_the_change_of_an_entity_names_its_path() -> None:
    assert config_changes.encode(config_changes.change_of(ConfigEntity.of("topics", "by-broker"))) == b'{"version":2,"entity_path":"topics/by-broker"}'
    assert config_changes.sequence("config_change_0000000012") == 12
