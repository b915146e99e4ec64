"""Topic names (facts/tools.md 2)."""

from __future__ import annotations

import pytest

from pykafka_classic.common import topic_name
from pykafka_classic.common.errors import ErrorCode, KafkaError


@pytest.mark.parametrize("name", ["a", "flights", "a.b_c-D9", "x" * 249, "...", "__consumer_offsets"])
def test_a_legal_name_is_accepted(name: str) -> None:
    topic_name.validate(name)


@pytest.mark.parametrize("name", ["", ".", "..", "x" * 250, "a b", "a/b", "ü", "a\n", "a:b"])
def test_an_illegal_name_is_refused_with_its_code(name: str) -> None:
    with pytest.raises(KafkaError) as refused:
        topic_name.validate(name)
    assert refused.value.code is ErrorCode.INVALID_TOPIC_EXCEPTION


def test_names_that_differ_only_in_dot_and_underscore_collide() -> None:
    assert topic_name.has_collision("a.b_c", "a_b.c")
    assert not topic_name.has_collision("a.b", "a-b")


def test_only_the_two_internal_topics_are_internal() -> None:
    assert [name for name in ("__consumer_offsets", "__transaction_state", "__other") if topic_name.is_internal(name)] == [
        "__consumer_offsets",
        "__transaction_state",
    ]
