"""The admin APIs answer what Apache Kafka 2.8.2 answered: 630 requests, good and bad, each in all its versions, error texts included.

Recorded by admin_answers.py. Two rules for what may differ: where Kafka failed with an exception (UNKNOWN_SERVER_ERROR), ours may name the error; where its
text shows Java's or Scala's inside, ours may say it in words of its own. Whatever else differs does so on purpose, and stands in `ON_PURPOSE`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import pytest

from pykafka_classic.common.errors import ErrorCode
from tests.integration.admin_answers import OVERRIDES, AdminCluster, Json, answers, recorded
from tests.integration.apache import OURS
from tests.integration.conftest import assert_no_stack_traces

ERROR: Final = "error_code"
MESSAGE: Final = "error_message"
INSIDE: Final = re.compile(r"requirement failed|HashSet\(|begin 0, end|For input string|class class|must not end with /")

ON_PURPOSE: Final = {
    '"broker_ids": []': "a partition without replicas is refused; Kafka makes a topic that nobody can ever lead",
    '"value": NaN': "a rate that is no number is refused; Kafka takes it for 0",
    '"cleanup.policy", "config_operation": 2, "value": "burn"': "appending to an empty list gives a list of one; Kafka's has an empty element before it",
    '{"name": null, "topic_id": "zeros"}': "a topic without name and id is an invalid request; Kafka says that it is not authorized",
    '"match_type": 0, "match": ""}], "strict": true': "an empty name is not found, strictly or not; Kafka fails when asked strictly",
    '"listener.name.external.ssl.': "TLS does not exist here: its keys are refused; Kafka stores them for a listener that it does not have",
}


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Json]]:
    with AdminCluster(tmp_path_factory.mktemp("ours"), [OURS] * 3, overrides=OVERRIDES) as cluster:
        yield {each.label: each.answer for each in answers(cluster)}
    assert_no_stack_traces(cluster)


def test_all_requests_are_answered_as_recorded(answered: dict[str, Json]) -> None:
    expected = recorded()
    assert answered.keys() == expected.keys()
    others = [label for label in expected if not any(part in label for part in ON_PURPOSE)]
    different = {label: (expected[label], answered[label]) for label in others if not alike(expected[label], answered[label])}
    assert different == {}


def test_what_differs_on_purpose_differs(answered: dict[str, Json]) -> None:
    expected = recorded()
    for part in ON_PURPOSE:
        labels = [label for label in expected if part in label]
        assert labels, f"no request has {part}"
        assert any(expected[label] != answered[label] for label in labels), part


def alike(kafka: Json, ours: Json) -> bool:
    """Equal, or different as the rules allow."""
    if isinstance(kafka, dict) and isinstance(ours, dict):
        if kafka.get(ERROR) == ErrorCode.UNKNOWN_SERVER_ERROR:
            return ours.get(ERROR) not in (ErrorCode.NONE, None)
        told = kafka.get(MESSAGE)
        if isinstance(told, str) and INSIDE.search(told):
            return ours.get(ERROR) not in (ErrorCode.NONE, None) and bool(ours.get(MESSAGE))
        return kafka.keys() == ours.keys() and all(alike(kafka[name], ours[name]) for name in kafka)
    if isinstance(kafka, list) and isinstance(ours, list):
        return len(kafka) == len(ours) and all(map(alike, kafka, ours))
    return kafka == ours


def test_an_answer_that_is_none_of_kafkas_is_noticed() -> None:
    kafka: Json = {"results": [{ERROR: 42, MESSAGE: "No."}]}
    assert not alike(kafka, {"results": [{ERROR: 3, MESSAGE: "No."}]})
    assert not alike(kafka, {"results": [{ERROR: 42, MESSAGE: "Never."}]})
    assert not alike(kafka, {"results": []})
    assert not alike({ERROR: -1, MESSAGE: None}, {ERROR: 0, MESSAGE: None})
