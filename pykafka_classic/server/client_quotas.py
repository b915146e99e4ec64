"""Client quotas: what a user, a client id, a client id of a user, or an address may use (KIP-546). Stored below /config/{clients,users,ips}.

A filter names kinds of entity. For each: an exact name, the default entity, or any; a kind that is not named matches everything, or with `strict` only
entities without it. Whichever broker is asked reads and writes.

Mirrors ZkAdminManager.{describeClientQuotas,alterClientQuotas} of 2.8; facts/observed.md (how values are written).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from ipaddress import IPv4Address
from math import isfinite, isnan
from typing import Final

from pykafka_classic.common.config_def import ConfigType
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.java import properties_order
from pykafka_classic.common.zookeeper import ZooKeeper
from pykafka_classic.server.config_admin import write_config
from pykafka_classic.server.zk_operations import children_or_none, data_or_none
from zk_schema import configs
from zk_schema.configs import ConfigEntity

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"
_CALLED: Final = {USER: "user", CLIENT_ID: "client", IP: "ip"}  # in complaints

EXACT, DEFAULT, ANY = range(3)  # how a filter matches

_CLIENT_KEYS: Final = {
    "producer_byte_rate": ConfigType.LONG,
    "consumer_byte_rate": ConfigType.LONG,
    "request_percentage": ConfigType.DOUBLE,
    "controller_mutation_rate": ConfigType.DOUBLE,
}
_IP_KEYS: Final = {"connection_creation_rate": ConfigType.INT}
_QUOTA_KEYS: Final = _CLIENT_KEYS | _IP_KEYS
_WHOLE_MAX: Final = {ConfigType.LONG: float(1 << 63), ConfigType.INT: float((1 << 31) - 1)}
_NUMBERS: Final = re.compile(r"[0-9.]+")
_EPSILON: Final = 1e-6  # what a whole number may be off by, on its way as a double


@dataclass(frozen=True, slots=True)
class FilterComponent:
    """One kind of entity that is looked for; `name` where `match` is EXACT."""

    entity_type: str
    match: int
    name: str | None = None

    def matches(self, part: str | None) -> bool:
        """Whether part of a path (sanitized, or <default>) is meant; None: the entity has no such part."""
        if self.match == ANY:
            return part is not None
        return part == (configs.DEFAULT if self.match == DEFAULT else _sanitized(self.entity_type, self.name or ""))


@dataclass(frozen=True, slots=True)
class Quota:
    """An entity, as (type, name) with None for the default one, and its quotas by key."""

    entity: tuple[tuple[str, str | None], ...]
    values: Mapping[str, float]


class ClientQuotas:
    """Reads and writes quotas in ZooKeeper."""

    def __init__(self, zk: ZooKeeper) -> None:
        self._zk = zk

    async def describe(self, components: Sequence[FilterComponent], *, strict: bool) -> list[Quota]:
        """All quotas that the filter lets through. Raises INVALID_REQUEST, UNSUPPORTED_VERSION."""
        wanted = _by_type(components)
        if IP in wanted and len(wanted) > 1:
            message = "Invalid entity filter component combination, IP filter component should not be used with user or clientId filter component."
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)
        found = []
        for entity in await self._entities(wanted):
            if not _passes(entity, wanted, strict=strict):
                continue
            stored = await self._read(entity)
            values = {key: float(stored[key]) for key in properties_order(stored) if key in _QUOTA_KEYS}  # clients show them in this order
            if values:
                found.append(Quota(_described(entity), values))
        return found

    async def _entities(self, wanted: Mapping[str, FilterComponent]) -> list[ConfigEntity]:
        entities = []
        if IP not in wanted:
            users = await self._children(configs.type_path(configs.USERS))
            entities += [ConfigEntity(configs.USERS, user) for user in users]
            entities += [ConfigEntity(configs.CLIENTS, client) for client in await self._children(configs.type_path(configs.CLIENTS))]
            for user in users:
                clients = await self._children(f"{ConfigEntity(configs.USERS, user).path}/{configs.CLIENTS}")
                entities += [ConfigEntity(configs.USERS, user, client) for client in clients]
        if not wanted or IP in wanted:
            entities += [ConfigEntity(configs.IPS, address) for address in await self._children(configs.type_path(configs.IPS))]
        return entities

    async def _children(self, path: str) -> list[str]:
        return sorted(await children_or_none(self._zk, path))

    async def _read(self, entity: ConfigEntity) -> dict[str, str]:
        stored = await data_or_none(self._zk, entity.path)
        return configs.decode(stored.data) if stored is not None else {}

    async def alter(self, entity: Mapping[str, str | None], changes: Mapping[str, float | None], *, validate_only: bool) -> None:
        """Set the quotas of one entity (type -> name, None: the default one); a value of None removes. Raises KafkaError."""
        target = _entity_of(entity)
        keys = _IP_KEYS if target.entity_type == configs.IPS else _CLIENT_KEYS
        stored = await self._read(target)
        for key, value in changes.items():
            if value is None:
                stored.pop(key, None)
            elif key not in keys:
                raise KafkaError(ErrorCode.INVALID_REQUEST, f"Invalid configuration key {key}")
            else:
                stored[key] = _as_stored(key, keys[key], value)
        if not validate_only:
            await write_config(self._zk, target, stored)


def _by_type(components: Sequence[FilterComponent]) -> dict[str, FilterComponent]:
    wanted: dict[str, FilterComponent] = {}
    for component in components:
        if component.entity_type in wanted:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Duplicate {_CALLED[component.entity_type]} filter component entity type")
        if not component.entity_type:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Unexpected empty filter component entity type")
        if component.entity_type not in _CALLED:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"Custom entity type '{component.entity_type}' not supported")
        if component.match not in (EXACT, DEFAULT, ANY):
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unexpected match type: {component.match}")
        if component.match == EXACT and component.name is None:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"An exact {component.entity_type} is looked for, but not named")
        wanted[component.entity_type] = component
    return wanted


def _parts(entity: ConfigEntity) -> dict[str, str]:
    """Type -> name as it stands in the path."""
    match entity.entity_type:
        case configs.USERS:
            return {USER: entity.name} if entity.client is None else {USER: entity.name, CLIENT_ID: entity.client}
        case configs.CLIENTS:
            return {CLIENT_ID: entity.name}
        case _:
            return {IP: entity.name}


def _passes(entity: ConfigEntity, wanted: Mapping[str, FilterComponent], *, strict: bool) -> bool:
    parts = _parts(entity)
    return all(component.matches(parts.get(kind)) for kind, component in wanted.items()) and not (strict and parts.keys() - wanted.keys())


def _described(entity: ConfigEntity) -> tuple[tuple[str, str | None], ...]:
    names = [entity.plain_name] if entity.client is None else [entity.plain_name, entity.plain_client]
    return tuple(zip(_parts(entity), names, strict=True))


def _sanitized(entity_type: str, name: str) -> str:
    return name if entity_type == IP else configs.sanitize(name)


def _entity_of(entity: Mapping[str, str | None]) -> ConfigEntity:
    if not entity:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Invalid empty client quota entity")
    for kind, name in entity.items():
        if kind not in _CALLED:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unhandled client quota entity type: {kind}")
        if name == "":
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Empty {kind} not supported")
    if IP in entity:
        if len(entity) > 1:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Invalid quota entity combination, IP entity should not be used with user/client ID entity.")
        _check_address(entity[IP])
        return ConfigEntity.of(configs.IPS, entity[IP])
    if USER in entity:
        return ConfigEntity.user_client(entity[USER], entity[CLIENT_ID]) if CLIENT_ID in entity else ConfigEntity.of(configs.USERS, entity[USER])
    return ConfigEntity.of(configs.CLIENTS, entity[CLIENT_ID])


def _check_address(name: str | None) -> None:
    """Kafka looks names up; here they only must look like one. IPv6 addresses are none for Kafka either: it has encoded their colons by then."""
    if name is None:
        return
    told = configs.sanitize(name)
    if "%" in told or (_NUMBERS.fullmatch(told) and not _is_ipv4(told)):
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{told} is not a valid IP or resolvable host.")


def _is_ipv4(text: str) -> bool:
    try:
        IPv4Address(text)
    except ValueError:
        return False
    return True


def _as_stored(key: str, kind: ConfigType, value: float) -> str:
    if kind is ConfigType.DOUBLE:
        return java_double(value)
    whole = int(value + _EPSILON) if abs(value) <= _WHOLE_MAX[kind] else None  # neither NaN nor infinite, either
    if whole is None or abs(whole - value) > _EPSILON:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Configuration {key} must be a {kind.name} value")
    return str(whole)


def java_double(value: float) -> str:
    """As Java's Double.toString: plain from 10^-3 up to 10^7, else d.dddEn."""
    if not isfinite(value):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(float(value))
    sign, digits, _ = Decimal(repr(value)).normalize().as_tuple()
    exponent = Decimal(repr(value)).adjusted()
    rest = "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{digits[0]}.{rest}E{exponent}"
