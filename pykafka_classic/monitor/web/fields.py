"""What a form or a JSON body consists of, declared once: how it is read, and how the API's description tells of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pykafka_classic.monitor.web.exchange import INT64_MAX, bad_request, whole_number

TEXT, NUMBER, FLAG, PAIRS = "string", "integer", "boolean", "object"
TEXT_MAX: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Field:
    """One field. `kind`: TEXT, NUMBER, FLAG, or PAIRS (names and texts; in a form: lines NAME=VALUE)."""

    name: str
    kind: str
    description: str
    required: bool = False
    default: Any = None
    least: int = 0
    most: int = INT64_MAX
    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        """As JSON schema."""
        found: dict[str, Any] = {"type": self.kind if self.required else [self.kind, "null"], "description": self.description}
        if self.kind == NUMBER:
            found |= {"minimum": self.least, "maximum": self.most}
        if self.kind == PAIRS:
            found |= {"additionalProperties": {"type": ["string", "null"]}}
        if self.choices:
            found |= {"enum": [*self.choices] if self.required else [*self.choices, None]}
        return found

    def from_form(self, text: str | None) -> Any:
        """Its value from a form. Raises Refused."""
        if self.kind == FLAG:
            return text is not None and text.lower() not in ("", "false", "0", "no")
        if text is None or (text == "" and not (self.kind == TEXT and self.required)):
            return self._absent()
        if self.kind == PAIRS:
            return self._checked(_pairs(text, self.name))
        return self._checked(whole_number(text.strip(), self.name, least=self.least, most=self.most) if self.kind == NUMBER else text)

    def from_json(self, value: Any) -> Any:
        """Its value from JSON. Raises Refused."""
        if value is None:
            return self._absent()
        right = {TEXT: isinstance(value, str), NUMBER: _is_number(value), FLAG: isinstance(value, bool), PAIRS: isinstance(value, dict)}[self.kind]
        if not right:
            raise bad_request(f"{self.name} must be a JSON {self.kind}.")
        return self._checked(value)

    def _absent(self) -> Any:
        if self.required:
            raise bad_request(f"{self.name} is missing: {self.description}")
        return self.default

    def _checked(self, value: Any) -> Any:
        if self.kind == NUMBER and not self.least <= value <= self.most:
            raise bad_request(f"{self.name} must be from {self.least} to {self.most}, not {value}.")
        if self.kind == TEXT and self.required and not value:
            raise bad_request(f"{self.name} is empty: {self.description}")
        if self.kind == TEXT and len(value) > TEXT_MAX:
            raise bad_request(f"{self.name} is longer than {TEXT_MAX} characters.")
        if self.choices and value not in self.choices:
            raise bad_request(f"{self.name} must be one of {', '.join(self.choices)}.")
        if self.kind == PAIRS and not all(isinstance(each, str) or each is None for each in value.values()):
            raise bad_request(f"The values in {self.name} must be strings or null.")
        return value


def read_form(fields: Sequence[Field], given: Mapping[str, str]) -> dict[str, Any]:
    """All values. Raises Refused."""
    return {each.name: each.from_form(given.get(each.name)) for each in fields}


def read_json(fields: Sequence[Field], given: Mapping[str, Any]) -> dict[str, Any]:
    """All values. Raises Refused; also for names that nobody knows, which are mistyped ones."""
    unknown = sorted(given.keys() - {each.name for each in fields})
    if unknown:
        raise bad_request(f"There is no field {unknown[0]!r} here; there is: {', '.join(each.name for each in fields) or 'none'}.")
    return {each.name: each.from_json(given.get(each.name)) for each in fields}


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _pairs(text: str, name: str) -> dict[str, str]:
    found = {}
    for line in filter(None, (each.strip() for each in text.splitlines())):
        key, equals, value = line.partition("=")
        if not equals or not key.strip():
            raise bad_request(f"{name}: write each line as NAME=VALUE, not {line[:60]!r}.")
        found[key.strip()] = value.strip()
    return found
