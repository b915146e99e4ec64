"""Settings that all clients have, and how they are read: as keywords (`linger_ms=5`) or by Kafka's own names (`{"linger.ms": "5"}`).

Times are in ms, sizes in bytes; defaults are Kafka 2.8's.
Source: 2.8:clients/src/main/java/org/apache/kafka/clients/{CommonClientConfigs,producer/ProducerConfig,consumer/ConsumerConfig}.java.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, TypeVar, get_args, get_type_hints

from pykafka_classic.client.bootstrap import parse_bootstrap
from pykafka_classic.client.client_errors import InvalidSetting

S = TypeVar("S", bound="ClientSettings")

_BOOLEANS: Final = {"true": True, "false": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """What every client needs to know. InvalidSetting for a value that makes no sense."""

    bootstrap_servers: str
    client_id: str = "pykafka-classic"
    request_timeout_ms: int = 30_000  # how long a broker may take for an answer
    retry_backoff_ms: int = 100
    reconnect_backoff_ms: int = 50
    reconnect_backoff_max_ms: int = 1_000
    metadata_max_age_ms: int = 300_000

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        parse_bootstrap(self.bootstrap_servers)
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name.endswith("_ms") and isinstance(value, int) and value < 0:
                raise InvalidSetting(f"{kafka_name(field.name)} is {value}; a time is not negative")

    @property
    def bootstrap(self) -> list[tuple[str, int]]:
        """The addresses."""
        return parse_bootstrap(self.bootstrap_servers)


def kafka_name(name: str) -> str:
    """Kafka's name of a setting: `linger.ms` of `linger_ms`."""
    return name.replace("_", ".")


def keywords_of(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Kafka's own names as keywords; bootstrap.servers is always among them, if only to be refused."""
    return {"bootstrap_servers": ""} | {name.replace(".", "_"): value for name, value in properties.items()}


def settings_of(kind: type[S], given: Mapping[str, Any]) -> S:
    """Settings from names of either spelling; text is read as the setting's type. InvalidSetting for an unknown name, or a text that is no such value."""
    hints = get_type_hints(kind)
    names = {field.name for field in dataclasses.fields(kind)}
    values = {}
    for spelled, value in given.items():
        name = spelled.replace(".", "_").replace("-", "_")
        if name not in names:
            alike = get_close_matches(name, names, n=1)
            raise InvalidSetting(f"there is no setting {spelled!r}" + (f"; is {alike[0]!r} meant?" if alike else ""))
        values[name] = _read(spelled, value, hints[name]) if isinstance(value, str) else value
    if "bootstrap_servers" not in values:
        raise InvalidSetting("bootstrap.servers is missing: where is a broker?")
    return kind(**values)


def _read(name: str, text: str, hint: Any) -> Any:
    kinds = set(get_args(hint) or (hint,))
    if bool in kinds and text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    if int in kinds:
        try:
            return int(text)
        except ValueError:
            if str not in kinds:
                raise InvalidSetting(f"{name} is {text!r}, which is not a whole number") from None
    if bool in kinds:
        raise InvalidSetting(f"{name} is {text!r}, not true or false")
    return text
