"""The small language in which configuration keys are defined: a type, a default, what is allowed, how much it matters, and what it means.

A class of keys is a frozen dataclass whose fields are made by `key`; the key's name is the field's name with '_' as '.'. `parse_type` reads a text as Kafka
does, `render` writes a value as DescribeConfigs shows it.

Source: 2.8:clients/src/main/java/org/apache/kafka/common/config/ConfigDef.java (types, ranges and the texts of errors, which clients see).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum, IntEnum
from typing import Any, Final, Protocol, TypeVar

from pykafka_classic.common.api_version import ALL_VERSIONS, ApiVersion
from pykafka_classic.common.errors import ErrorCode, KafkaError

T = TypeVar("T")


class ConfigType(IntEnum):
    """Types as DescribeConfigs numbers them (KIP-569)."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Importance(Enum):
    """How much a key matters to those who run a cluster."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class UpdateMode(Enum):
    """Where a broker key may be changed while the broker runs (KIP-226)."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER_WIDE = "cluster-wide"


class ConfigError(KafkaError):
    """A value that is not allowed; `str()` is the text that Kafka gives. Carries INVALID_CONFIG.

    `key` and `value` as given; `allowed` says what the key takes, for people.
    """

    def __init__(self, key: str, value: object, complaint: str, *, allowed: str = "") -> None:
        super().__init__(ErrorCode.INVALID_CONFIG, f"Invalid value {'null' if value is None else value} for configuration {key}: {complaint}")
        self.key = key
        self.value = value
        self.allowed = allowed or complaint


class Allowed(Protocol):
    """What a key takes, beyond its type."""

    def complaint(self, name: str, value: Any) -> tuple[object, str] | None:
        """The offending value and Kafka's words for it, or None where the value is fine."""
        ...

    def describe(self) -> str:
        """In the form of Kafka's tables of keys: `[1,...]`, `[none, gzip]`; "" where all is allowed."""
        ...


@dataclass(frozen=True, slots=True)
class Anything:
    """No limit but the type."""

    def complaint(self, name: str, value: Any) -> tuple[object, str] | None:  # noqa: ARG002
        """None, always."""
        return None

    def describe(self) -> str:
        """Nothing to say."""
        return ""


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from `lowest` to `highest`, both included; None is no limit."""

    lowest: int | None = None
    highest: int | None = None

    def complaint(self, name: str, value: Any) -> tuple[object, str] | None:  # noqa: ARG002
        """Kafka's words for a number out of the range."""
        if self.lowest is not None and value < self.lowest:
            return value, f"Value must be at least {self.lowest}"
        if self.highest is not None and value > self.highest:
            return value, f"Value must be no more than {self.highest}"
        return None

    def describe(self) -> str:
        """`[lowest,...,highest]`."""
        return "[" + ",".join(str(part) for part in (self.lowest, "...", self.highest) if part is not None) + "]"


@dataclass(frozen=True, slots=True)
class OneOf:
    """One text of a list, or a list of such texts. Case counts."""

    choices: tuple[str, ...]

    def complaint(self, name: str, value: Any) -> tuple[object, str] | None:  # noqa: ARG002
        """Kafka's words for the first text that is not among the choices."""
        texts = (value,) if isinstance(value, str) else value
        for text in texts:
            if text not in self.choices:
                return text, f"String must be one of: {', '.join(self.choices)}"
        return None

    def describe(self) -> str:
        """`[a, b, c]`."""
        return f"[{', '.join(self.choices)}]"


@dataclass(frozen=True, slots=True)
class KafkaVersion:
    """A version of Kafka: 2.8, 2.8-IV1, 0.10.2.1 ..."""

    def complaint(self, name: str, value: Any) -> tuple[object, str] | None:  # noqa: ARG002
        """Kafka's words for a version that it does not know."""
        try:
            ApiVersion.parse(value)
        except ValueError as error:
            return value, str(error)
        return None

    def describe(self) -> str:
        """Every full version."""
        return f"[{', '.join(version.version for version in ALL_VERSIONS)}]"


@dataclass(frozen=True, slots=True)
class ThrottledReplicas:
    """`*`, or `partition:broker` pairs (facts/coordination.md 1.2, topic configs)."""

    def complaint(self, name: str, value: Any) -> tuple[object, str] | None:
        """Kafka's words for a list of another form."""
        joined = ",".join(value).strip()
        if joined in ("", "*") or all(re.fullmatch(r"[0-9]+:[0-9]+", replica.strip()) for replica in value):
            return None
        form = "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
        return "[" + ", ".join(value) + "]", f"{name} must be the literal '*' or a list of replicas in the following format: {form}"

    def describe(self) -> str:
        """The form of one pair."""
        return "[partitionId]:[brokerId],[partitionId]:[brokerId],..."


def at_least(lowest: int) -> Range:
    """Numbers from `lowest` up."""
    return Range(lowest=lowest)


def one_of(*choices: str) -> OneOf:
    """One of these texts (for a LIST: each of them)."""
    return OneOf(choices)


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """All that is known of one key."""

    type: ConfigType
    default: Any
    importance: Importance
    doc: str  # one or more sentences of ours; units are in it or in the name
    allowed: Allowed
    name: str = ""

    @property
    def attribute(self) -> str:
        """The field that holds the value: the name with '.' as '_'."""
        return self.name.replace(".", "_")

    @property
    def takes(self) -> str:
        """What the key takes, for people: `an INT in [1,...]`."""
        article = "an" if self.type is ConfigType.INT else "a"
        limits = self.allowed.describe()
        return f"{article} {self.type.name}" + (f" in {limits}" if limits else "")

    def parse(self, text: str) -> Any:
        """The value of a text. Raises ConfigError."""
        try:
            value = parse_type(self.type, text)
        except ValueError as error:
            raise ConfigError(self.name, text, str(error), allowed=self.takes) from None
        return self.validated(value)

    def validated(self, value: Any) -> Any:
        """The value itself, if it is allowed. Raises ConfigError."""
        complaint = None if value is None else self.allowed.complaint(self.name, value)
        if complaint is not None:
            raise ConfigError(self.name, complaint[0], complaint[1], allowed=self.takes)
        return value


ANYTHING: Final = Anything()


def key(kind: ConfigType, default: T, importance: Importance, doc: str, allowed: Allowed = ANYTHING) -> T:
    """The definition of one field; typed as its value so that `num_partitions: int = key(...)` reads as a default."""
    return field(default=default, metadata={"key": ConfigKey(kind, default, importance, doc, allowed)})


def keys_of(cls: type) -> dict[str, ConfigKey]:
    """The keys that a dataclass defines, by name, in the order of definition."""
    named = ((each.name.replace("_", "."), each.metadata["key"]) for each in fields(cls) if "key" in each.metadata)
    return {name: replace(definition, name=name) for name, definition in named}


_BITS: Final = {ConfigType.SHORT: 16, ConfigType.INT: 32, ConfigType.LONG: 64}
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")


def parse_type(kind: ConfigType, text: str) -> Any:
    """A text as a value of a type; white space around it does not count. Raises ValueError with Kafka's words."""
    text = text.strip()
    if kind in _BITS:
        return _parse_integer(kind, text)
    match kind:
        case ConfigType.BOOLEAN:
            if text.lower() not in ("true", "false"):
                raise ValueError("Expected value to be either true or false")
            return text.lower() == "true"
        case ConfigType.DOUBLE:
            return _parse_double(text)
        case ConfigType.LIST:
            return tuple(re.split(r"\s*,\s*", text)) if text else ()
        case _:
            return text


def _parse_integer(kind: ConfigType, text: str) -> int:
    limit = 1 << (_BITS[kind] - 1)
    if not _INTEGER.fullmatch(text) or not -limit <= int(text) < limit:
        raise ValueError(f"Not a number of type {kind.name}")
    return int(text)


def _parse_double(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("Not a number of type DOUBLE") from None


def render(kind: ConfigType, value: Any) -> str | None:
    """A value as Kafka writes it in answers; None for null and for secrets."""
    if value is None or kind is ConfigType.PASSWORD:
        return None
    match kind:
        case ConfigType.BOOLEAN:
            return "true" if value else "false"
        case ConfigType.LIST:
            return ",".join(value)
        case ConfigType.DOUBLE:
            return repr(float(value)).replace("e+", "E").replace("e", "E")
        case _:
            return str(value)


def parse_all(definitions: Mapping[str, ConfigKey], properties: Mapping[str, str]) -> dict[str, Any]:
    """Values by attribute for those properties that are defined; the others are left out. Raises ConfigError."""
    return {definitions[name].attribute: definitions[name].parse(text) for name, text in properties.items() if name in definitions}
