"""Offsets in checkpoints."""

from __future__ import annotations

from typing import Any

import pytest

from pykafka_classic.common.topic_partition import TopicPartition
from spark_integration.offsets import BatchEnd, MalformedOffsets

A, B = TopicPartition("flights", 0), TopicPartition("flights", 1)


def test_a_checkpoint_of_the_official_connector_can_be_gone_on_with() -> None:
    # Spark's documentation of startingOffsets, and what its KafkaSourceOffset writes
    assert BatchEnd.of_json({"flights": {"0": 23, "1": 45}}) == BatchEnd({A: 23, B: 45})


def test_what_is_written_is_read_again() -> None:
    end = BatchEnd({A: 23, B: 45}, {B: 40}, "f3a9")
    assert end.to_json() == {"flights": {"0": 23, "1": 45}, "@begin": {"flights": {"1": 40}}, "@reader": "f3a9"}
    assert BatchEnd.of_json(end.to_json()) == end


def test_a_batch_begins_where_the_one_before_ended_unless_it_says_otherwise() -> None:
    start = BatchEnd({A: 10, B: 30})
    assert BatchEnd({A: 23, B: 45}, {B: 40}).begins_after(start) == {A: 10, B: 40}


def test_a_partition_without_a_beginning_has_nothing_to_read() -> None:
    assert BatchEnd({B: 45}).begins_after(BatchEnd({A: 10})) == {B: 45}


@pytest.mark.parametrize("told", [{"flights": 5}, {"flights": {"x": 5}}, {"flights": {"0": "5"}}, {"@begin": []}])
def test_anything_else_is_refused(told: dict[str, Any]) -> None:
    with pytest.raises(MalformedOffsets):
        BatchEnd.of_json(told)
