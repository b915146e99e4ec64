"""The table of APIs."""

from __future__ import annotations

import pytest

from pykafka_classic.protocol.api_keys import ApiKey, spec_of, zk_broker_apis
from pykafka_classic.protocol.schema import fields_of


@pytest.mark.parametrize("key", list(ApiKey), ids=lambda key: key.name)
def test_message_classes_belong_to_their_key(key: ApiKey) -> None:
    spec = spec_of(key)
    assert (key, key) == (spec.request.API_KEY, spec.response.API_KEY)
    assert spec.request.VALID_VERSIONS == spec.response.VALID_VERSIONS
    assert spec.request.FLEXIBLE_VERSIONS == spec.response.FLEXIBLE_VERSIONS


@pytest.mark.parametrize("key", list(ApiKey), ids=lambda key: key.name)
def test_classes_without_fields_say_nothing(key: ApiKey) -> None:
    assert all(field.name for kind in (spec_of(key).request, spec_of(key).response) for field in fields_of(kind))


def test_camel_name_is_kafkas_other_form() -> None:
    assert ApiKey.LEADER_AND_ISR.camel_name == "LeaderAndIsr"


def test_broker_with_zookeeper_offers_no_raft_api() -> None:
    assert ApiKey.VOTE not in zk_broker_apis()
    assert zk_broker_apis()[ApiKey.PRODUCE] == (0, 9)
