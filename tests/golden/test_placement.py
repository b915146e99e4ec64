"""Replica placement and Java's hashes equal what Kafka's own classes computed."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from pykafka_classic.assignors.replica_placement import BrokerMetadata, assign_replicas_to_brokers, rack_alternated_list
from pykafka_classic.common.errors import KafkaError
from pykafka_classic.common.java import abs_java, string_hash

DATA = Path(__file__).parent / "data" / "placement"


def lines(name: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


ASSIGNMENTS = [line for line in lines("replica_assignment.jsonl.gz") if "partitions" in line]
ORDERS = [line for line in lines("replica_assignment.jsonl.gz") if "list" in line]
TEXTS = [line for line in lines("hash.jsonl.gz") if "java_hash" in line]


def assigned(line: dict[str, Any]) -> dict[str, list[int]]:
    brokers = [BrokerMetadata(broker["id"], broker["rack"]) for broker in line["brokers"]]
    first = max(0, line["start_partition_id"])
    found = assign_replicas_to_brokers(
        brokers,
        partitions=range(first, first + line["partitions"]),
        replication_factor=line["replication_factor"],
        random=random.Random(0),
        fixed_start_index=line["fixed_start_index"],
    )
    return {str(partition): list(replicas) for partition, replicas in found.items()}


@pytest.mark.parametrize("line", ASSIGNMENTS, ids=lambda line: line["name"])
def test_replicas_are_placed_as_kafka_places_them(line: dict[str, Any]) -> None:
    if "error" in line:
        with pytest.raises(KafkaError) as refused:
            assigned(line)
        assert str(refused.value) == line["error"].partition(": ")[2]
    else:
        assert assigned(line) == line["assignment"]


@pytest.mark.parametrize("line", ORDERS, ids=str)
def test_brokers_alternate_racks(line: dict[str, Any]) -> None:
    assert rack_alternated_list({broker["id"]: broker["rack"] for broker in line["brokers"]}) == line["list"]


@pytest.mark.parametrize("line", TEXTS, ids=lambda line: repr(line["text"])[:30])
def test_strings_hash_as_in_java(line: dict[str, Any]) -> None:
    assert string_hash(line["text"]) == line["java_hash"]
    assert abs_java(line["java_hash"]) == line["abs"]
    for count, partition in line["coordinator_partition"].items():
        assert abs_java(string_hash(line["text"])) % int(count) == partition


def test_every_kind_of_line_was_met() -> None:
    assert len(ASSIGNMENTS) == 69
    assert len(ORDERS) == 3
    assert len(TEXTS) > 100
