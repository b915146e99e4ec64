"""Requests, fields and routes: what is right is read, what is wrong is refused with a sentence."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pytest

from pykafka_classic.monitor.web.exchange import FORM, JSON, Refused, Request, parsed, path_of
from pykafka_classic.monitor.web.fields import FLAG, NUMBER, PAIRS, TEXT, Field, read_form, read_json
from pykafka_classic.monitor.web.pages import ROUTES
from pykafka_classic.monitor.web.routes import Kind, Route, RouteTable

FIELDS = (
    Field("name", TEXT, "Of the topic.", required=True),
    Field("partitions", NUMBER, "How many.", least=1, most=10),
    Field("configs", PAIRS, "Its configs."),
    Field("preview", FLAG, "Change nothing."),
    Field("to", TEXT, "Where to.", default="earliest", choices=("earliest", "latest")),
)


def test_a_form_and_a_json_body_are_read_to_the_same_values() -> None:
    form = {"name": "flights", "partitions": " 3 ", "configs": "retention.ms=5\n\n a.b = c=d \n", "preview": "1", "to": "latest"}
    body = {"name": "flights", "partitions": 3, "configs": {"retention.ms": "5", "a.b": "c=d"}, "preview": True, "to": "latest"}
    assert read_form(FIELDS, form) == read_json(FIELDS, body) == body


def test_what_is_not_given_has_its_default() -> None:
    expected = {"name": "x", "partitions": None, "configs": None, "preview": None, "to": "earliest"}
    assert read_json(FIELDS, {"name": "x"}) == expected
    assert read_form(FIELDS, {"name": "x", "partitions": "", "to": ""}) == {**expected, "preview": False}


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, "name is missing"),
        ({"name": ""}, "name is empty"),
        ({"name": 3}, "name must be a JSON string"),
        ({"name": "x", "partitions": 0}, "partitions must be from 1 to 10, not 0"),
        ({"name": "x", "partitions": True}, "partitions must be a JSON integer"),
        ({"name": "x", "configs": {"a": 1}}, "must be strings"),
        ({"name": "x", "to": "elsewhere"}, "to must be one of earliest, latest"),
        ({"name": "x", "nmae": "y"}, "There is no field 'nmae'"),
    ],
)
def test_a_wrong_body_is_refused_with_a_sentence(body: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Refused, match=sentence) as refused:
        read_json(FIELDS, body)
    assert refused.value.status is HTTPStatus.BAD_REQUEST


@pytest.mark.parametrize("text", ["x", "0", "11", "1.5", "9" * 30, "٣٣"])
def test_a_wrong_number_in_a_form_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="partitions must be a whole number from 1 to 10"):
        read_form(FIELDS, {"name": "x", "partitions": text})


def test_lines_of_a_form_are_names_and_values() -> None:
    with pytest.raises(Refused, match="NAME=VALUE"):
        read_form(FIELDS, {"name": "x", "configs": "retention.ms 5"})


@pytest.mark.parametrize(("body", "what"), [(b"{", "no JSON"), (b"[]", "JSON object"), (b"\xff", "no JSON"), (b"[" * 100_000, "no JSON")])
def test_a_body_that_is_no_json_object_is_refused(body: bytes, what: str) -> None:
    with pytest.raises(Refused, match=what):
        Request("POST", "/api", headers={"content-type": JSON}, body=body).json()


def test_bodies_of_another_kind_are_refused() -> None:
    for read in (Request("POST", "/", headers={"content-type": FORM}).json, Request("POST", "/", headers={"content-type": JSON}).form):
        with pytest.raises(Refused) as refused:
            read()
        assert refused.value.status is HTTPStatus.UNSUPPORTED_MEDIA_TYPE


def test_the_last_of_several_values_counts_and_numbers_are_checked() -> None:
    request = Request("GET", "/", parsed("at=1&at=2&limit=x&big=99999999999999999999"))
    assert request.number("at", 0) == 2
    for name in ("limit", "big"):
        with pytest.raises(Refused, match=f"{name} must be a whole number"):
            request.integer(name)


def test_too_many_fields_are_refused() -> None:
    with pytest.raises(Refused, match="more than 500 fields"):
        parsed("&".join("a=1" for _ in range(501)))


def test_a_path_carries_any_name_and_routes_find_it_again() -> None:
    name = "a/b ?#é%2F.."
    route, parts = ROUTES.find("GET", path_of("c", "here", "groups", name))
    assert route.pattern == "/c/{cluster}/groups/{group}" and parts == {"cluster": "here", "group": name}


def test_a_fixed_address_comes_before_one_with_a_name_in_it() -> None:
    table = RouteTable()
    for pattern in ("/znodes/{name}", "/znodes/changes"):
        table.add(Route("GET", pattern, Kind.DATA, lambda _: None))
    assert table.find("GET", "/znodes/changes")[0].pattern == "/znodes/changes"
    assert table.find("HEAD", "/znodes/x")[0].pattern == "/znodes/{name}"


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/nowhere", 404), ("POST", "/clusters", 405), ("TRACE", "/", 405), ("GET", "/c//topics", 404)])
def test_addresses_that_are_none_are_told(method: str, path: str, status: int) -> None:
    with pytest.raises(Refused) as refused:
        ROUTES.find(method, path)
    assert refused.value.status == status
