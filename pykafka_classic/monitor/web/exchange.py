"""A request and an answer, as values. Pure.

Everything that a browser can send wrongly is refused with a sentence (`Refused`), never with a stack trace.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qs, quote

HTML: Final = "text/html; charset=utf-8"
JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
FIELDS_MAX: Final = 500
INT64_MAX: Final = (1 << 63) - 1


class Refused(Exception):
    """The answer is an error; the text is for the user."""

    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def bad_request(sentence: str) -> Refused:
    """Something in the request is wrong."""
    return Refused(HTTPStatus.BAD_REQUEST, sentence)


def not_found(sentence: str) -> Refused:
    """It is not there."""
    return Refused(HTTPStatus.NOT_FOUND, sentence)


@dataclass(frozen=True, slots=True)
class Request:
    """What came. Header names are in lower case; `parts`: what the route's braces stand for."""

    method: str
    path: str  # as it came, with %2F
    query: Mapping[str, Sequence[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    client: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)
    query_text: str = ""

    @property
    def is_api(self) -> bool:
        """True where a program asks, which wants JSON also for errors."""
        return self.path.startswith("/api/")

    @property
    def address(self) -> str:
        """Path and query."""
        return f"{self.path}?{self.query_text}" if self.query_text else self.path

    def text(self, name: str, default: str = "") -> str:
        """A value of the query; the last one where there are several."""
        found = self.query.get(name)
        return found[-1] if found else default

    def integer(self, name: str, default: int | None = None, *, least: int = 0, most: int = INT64_MAX) -> int | None:
        """A number of the query. Raises Refused."""
        text = self.text(name).strip()
        return default if not text else whole_number(text, name, least=least, most=most)

    def number(self, name: str, default: int, *, least: int = 0, most: int = INT64_MAX) -> int:
        """As `integer`, where there is a default."""
        found = self.integer(name, default, least=least, most=most)
        assert found is not None
        return found

    def form(self) -> Mapping[str, str]:
        """The fields of a form that was sent. Raises Refused."""
        if self.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"A form is sent as {FORM}.")
        return {name: values[-1] for name, values in parsed(self.body.decode("utf-8", "replace")).items()}

    def json(self) -> Mapping[str, Any]:
        """The JSON object that was sent; no body is an empty one. Raises Refused."""
        if self.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"The API takes {JSON}.")
        if not self.body.strip():
            return {}
        try:
            told = json.loads(self.body.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise bad_request(f"The body is no JSON: {error}.") from error
        if not isinstance(told, dict):
            raise bad_request("The body must be a JSON object.")
        return told


def parsed(text: str) -> dict[str, list[str]]:
    """Names and values of a query or a form. Raises Refused."""
    try:
        return parse_qs(text, keep_blank_values=True, max_num_fields=FIELDS_MAX, errors="replace")
    except ValueError as error:
        raise bad_request(f"There are more than {FIELDS_MAX} fields.") from error


def whole_number(text: str, name: str, *, least: int = 0, most: int = INT64_MAX) -> int:
    """Raises Refused."""
    try:
        found = int(text) if len(text) <= 20 else None
    except ValueError:
        found = None
    if found is None or not least <= found <= most:
        raise bad_request(f"{name} must be a whole number from {least} to {most}, not {text[:40]!r}.")
    return found


@dataclass(frozen=True, slots=True)
class Response:
    """What goes back."""

    status: HTTPStatus = HTTPStatus.OK
    body: bytes = b""
    content_type: str = HTML
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Sequence[str] = ()
    stream: str | None = None  # server-sent events about this cluster


def redirect(to: str, *cookies: str) -> Response:
    """Have the browser get another page (303: also after a POST)."""
    return Response(HTTPStatus.SEE_OTHER, headers={"Location": to}, cookies=cookies)


def path_of(*parts: str | int) -> str:
    """An address out of its parts, each of which may hold anything: `path_of("c", "local", "groups", "a/b")` is /c/local/groups/a%2Fb."""
    return "/" + "/".join(quote(str(part), safe="") for part in parts)
