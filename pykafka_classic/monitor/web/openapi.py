"""The API's description (OpenAPI 3.1), made of the table of routes: `python -m pykafka_classic.monitor.web.openapi` writes what stands in openapi.json.

The file is kept in the package, so that it can be read without a monitor; a test holds that it is what the routes say.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, Final

from pykafka_classic.monitor.web.access import Role
from pykafka_classic.monitor.web.fields import Field
from pykafka_classic.monitor.web.jsonable import schema_of
from pykafka_classic.monitor.web.routes import ROUTES, Route

FILE: Final = "openapi.json"
PREFIX: Final = "/api/"
ERRORS: Final[Mapping[str, str]] = {
    "400": "Something in the request is wrong.",
    "401": "Nobody has logged in.",
    "403": "It takes another role, or the request may not be what its user wanted.",
    "404": "It is not there.",
    "409": "The cluster refused.",
    "413": "The body is too large.",
    "415": "The body is no JSON.",
    "421": "The monitor is asked by a name that is not its own.",
    "429": "Too many at once.",
    "503": "The cluster cannot be asked at this moment.",
}
INTRODUCTION: Final = (
    "What the monitor knows of its clusters, and what it can do to them. Times are ms since 1970. Reading takes the role read, all that changes something "
    "the role operate: with Basic authentication, or a session's cookie and its token in X-CSRF-Token. Without a password file it listens on loopback only, "
    "and whoever reaches it may do both. A write's body is application/json. Every write is in the audit log."
)


def description() -> dict[str, Any]:
    """The document."""
    schemas: dict[str, Any] = {"Error": {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"], "additionalProperties": False}}
    paths: dict[str, dict[str, Any]] = {}
    for route in api_routes():
        paths.setdefault(route.pattern, {})[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "pykafka_classic monitor", "version": "1", "description": INTRODUCTION},
        "servers": [{"url": "/"}],
        "security": [{"basic": []}, {"session": []}, {}],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "responses": {code: {"description": text, "content": {"application/json": {"schema": _error()}}} for code, text in ERRORS.items()},
            "securitySchemes": {"basic": {"type": "http", "scheme": "basic"}, "session": {"type": "apiKey", "in": "cookie", "name": "monitor_session"}},
        },
    }


def api_routes() -> list[Route]:
    """The routes that it describes."""
    return [each for each in ROUTES.routes if each.pattern.startswith(PREFIX)]


def description_text() -> str:
    """The package's file."""
    return resources.files("pykafka_classic.monitor.web").joinpath(FILE).read_text(encoding="utf-8")


def _operation(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    parameters = [
        {"name": part[1:-1], "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}} for part in route.segments if part.startswith("{")
    ]
    parameters += [_parameter(each) for each in route.query]
    answer = schema_of(route.answers, schemas) if route.answers is not None else {}
    found: dict[str, Any] = {
        "operationId": _name(route),
        "summary": route.summary,
        "tags": [route.tag],
        "parameters": parameters,
        "responses": {
            "200": {"description": "Done." if route.method != "GET" else "The answer.", "content": {"application/json": {"schema": answer}}},
            **{code: {"$ref": f"#/components/responses/{code}"} for code in _errors(route)},
        },
    }
    if route.role is Role.OPERATE:
        found["description"] = "Takes the role operate."
    if route.body:
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": _body(route.body)}}}
    return found


def _errors(route: Route) -> Sequence[str]:
    if route.role is None:
        return ["421"]
    return [code for code in ERRORS if route.method != "GET" or code not in ("413", "415")]


def _parameter(each: Field) -> dict[str, Any]:
    schema = {name: value for name, value in each.schema().items() if name != "description"}
    schema["type"] = each.kind
    if each.choices:
        schema["enum"] = [*each.choices]
    if each.default is not None:
        schema["default"] = each.default
    return {"name": each.name, "in": "query", "required": each.required, "description": each.description, "schema": schema}


def _body(fields: Sequence[Field]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {each.name: each.schema() for each in fields},
        "required": [each.name for each in fields if each.required],
        "additionalProperties": False,
    }


def _error() -> dict[str, Any]:
    return {"$ref": "#/components/schemas/Error"}


def _name(route: Route) -> str:
    words = [part.strip("{}").replace("-", "_") for part in route.segments[2:]] or ["root"]
    return "_".join([route.method.lower(), *words]).replace(".", "_")


if __name__ == "__main__":
    from pykafka_classic.monitor.web import pages

    assert pages.ROUTES is ROUTES
    sys.stdout.write(json.dumps(description(), indent=1, ensure_ascii=False) + "\n")
