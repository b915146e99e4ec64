"""Kafka's tables of APIs and error codes."""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.protocol.api_keys import ApiKey, spec_of, zk_broker_apis
from tests.golden.protocol_data import lines


def test_api_table_is_that_of_kafka() -> None:
    for line in lines("apis"):
        spec = spec_of(ApiKey(line["key"]))
        assert (spec.key.camel_name, spec.min_version, spec.max_version) == (line["name"], line["min"], line["max"])
        assert spec.is_cluster_action == line["cluster_action"]
        assert spec.is_zk_broker_api == ("ZK_BROKER" in line["listeners"])
        assert spec.min_record_magic == line["min_record_magic"]


def test_api_keys_are_those_of_kafka() -> None:
    assert [key.value for key in ApiKey] == [line["key"] for line in lines("apis")]


def test_header_versions_are_those_of_kafka() -> None:
    for line in lines("apis"):
        spec = spec_of(ApiKey(line["key"]))
        versions = range(line["min"], line["max"] + 1)
        assert [[spec.request_header_version(version), spec.response_header_version(version)] for version in versions] == line["headers"]


def test_brokers_with_old_records_offer_no_transactions() -> None:
    missing = zk_broker_apis().keys() - zk_broker_apis(record_version=1).keys()
    assert {int(key) for key in missing} == {line["key"] for line in lines("apis") if line["min_record_magic"] == 2}


def test_error_codes_are_those_of_kafka() -> None:
    for line in lines("error_codes"):
        code = ErrorCode(line["code"])
        assert (code.name, code.message) == (line["name"], line["message"])
        assert (code.retriable, code.invalid_metadata) == (line["retriable"], line["invalid_metadata"])
    assert len(ErrorCode) == len(lines("error_codes"))
