"""The API's description: the file of the package says what the routes say, and every route of the API is in it."""

from __future__ import annotations

import json

from pykafka_classic.monitor.web import pages
from pykafka_classic.monitor.web.access import SAFE_METHODS, Role
from pykafka_classic.monitor.web.openapi import api_routes, description, description_text
from pykafka_classic.monitor.web.routes import Kind, Route

FORMS_BEFORE_LOGGING_IN = {"/login"}


def routes() -> list[Route]:
    return pages.ROUTES.routes


def test_the_file_says_what_the_routes_say() -> None:
    assert json.loads(description_text()) == description(), "write it anew: python -m pykafka_classic.monitor.web.openapi"


def test_every_route_of_the_api_is_in_it_and_explained() -> None:
    paths = json.loads(description_text())["paths"]
    told = {(method.upper(), pattern) for pattern, methods in paths.items() for method in methods}
    assert told == {(each.method, each.pattern) for each in routes() if each.pattern.startswith("/api/")}
    operations = [operation for methods in paths.values() for operation in methods.values()]
    assert all(each["summary"] and each["tags"][0] for each in operations)
    assert len({each["operationId"] for each in operations}) == len(operations)


def test_references_lead_somewhere() -> None:
    document = json.loads(description_text())
    found: set[str] = set()

    def look(value: object) -> None:
        if isinstance(value, dict):
            found.update([value["$ref"]] if "$ref" in value else [])
            for each in value.values():
                look(each)
        elif isinstance(value, list):
            for each in value:
                look(each)

    look(document)
    assert found
    for reference in found:
        at = document
        for part in reference.removeprefix("#/").split("/"):
            at = at[part]


def test_whatever_changes_a_cluster_takes_the_role_operate() -> None:
    asking = {"/api/v1/clusters/{cluster}/sql", "/c/{cluster}/sql", "/logout"}
    writes = [each for each in routes() if each.method not in SAFE_METHODS and each.pattern not in FORMS_BEFORE_LOGGING_IN | asking]
    assert len(writes) > 15
    assert {each.role for each in writes} == {Role.OPERATE}


def test_nothing_of_a_cluster_is_told_to_anybody() -> None:
    assert {each.pattern for each in routes() if each.role is None} == {"/login", "/static/{file}", "/api/openapi.json"}


def test_every_form_has_its_counterpart_in_the_api() -> None:
    forms = [each for each in routes() if each.pattern.startswith("/c/{cluster}/do/")]
    writes = [each for each in api_routes() if each.kind is Kind.ACTION and each.role is Role.OPERATE]
    assert len(forms) == len(writes) > 8
