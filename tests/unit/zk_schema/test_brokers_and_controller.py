"""controller, controller_epoch, broker_ids, broker_seqid, cluster_id, feature, migration, producer_id_block."""

from __future__ import annotations

import pytest

from pykafka_classic.common.api_version import ApiVersion
from zk_schema import broker_ids, cluster_id, controller, controller_epoch, feature, migration, producer_id_block
from zk_schema.broker_ids import BrokerIdZNode, EndPoint, SecurityProtocol
from zk_schema.controller import ControllerZNode
from zk_schema.errors import MalformedZNode
from zk_schema.feature import FeatureZNode
from zk_schema.migration import MigrationZNode
from zk_schema.producer_id_block import ProducerIdBlock

PLAIN = EndPoint("PLAINTEXT", "host", 9092, SecurityProtocol.PLAINTEXT)


def test_the_controller_of_2_8_and_of_3_9() -> None:
    assert controller.decode(b'{"version":1,"brokerid":7,"timestamp":"123"}') == ControllerZNode(7, 123)
    newer = b'{"version":2,"brokerid":7,"timestamp":"123","kraftControllerEpoch":-1}'
    assert controller.decode(newer) == ControllerZNode(7, 123, -1)
    assert controller.encode(ControllerZNode(7, 123, -1)) == newer


def test_only_the_broker_id_of_a_controller_must_be_there() -> None:
    assert controller.decode(b'{"brokerid":7}') == ControllerZNode(7, -1)
    with pytest.raises(MalformedZNode):
        controller.decode(b'{"version":1}')


def test_a_controller_epoch_is_a_bare_number_of_32_bits() -> None:
    assert (controller_epoch.encode(12), controller_epoch.decode(b"12")) == (b"12", 12)
    for data in (None, b"", b"x", b"2147483648", b'{"epoch":1}'):
        with pytest.raises(MalformedZNode):
            controller_epoch.decode(data)


def test_the_version_of_a_cluster_id_is_a_string() -> None:
    assert cluster_id.encode("oZ2m7zLQRfm2OIZooXRTfw") == b'{"version":"1","id":"oZ2m7zLQRfm2OIZooXRTfw"}'
    assert cluster_id.decode(b'{"id":"x","version":"1"}') == "x"


@pytest.mark.parametrize(
    ("ibp", "version"), [("0.8.2", 2), ("0.9.0", 2), ("0.10.0-IV0", 2), ("0.10.0-IV1", 4), ("2.2", 4), ("2.6", 4), ("2.7-IV0", 5), ("2.8", 5)]
)
def test_the_registration_version_follows_inter_broker_protocol_version(ibp: str, version: int) -> None:
    registration = broker_ids.registration(end_points=[("PLAINTEXT", "h", 1, "PLAINTEXT")], rack="r", timestamp_ms=5, ibp=ApiVersion.parse(ibp))
    assert (registration.version, registration.rack) == (version, "r" if version > 2 else None)


def test_registration_version_1_is_one_plaintext_listener() -> None:
    data = b'{"jmx_port":9999,"timestamp":"2233345666","host":"host","version":1,"port":9092}'
    assert broker_ids.decode(data) == BrokerIdZNode((PLAIN,), 2233345666, None, 9999, {}, 1)
    assert broker_ids.decode(broker_ids.encode(broker_ids.decode(data))) == broker_ids.decode(data)


def test_below_version_4_a_listener_is_named_after_its_protocol() -> None:
    data = b'{"endpoints":["PLAINTEXT://host:9092","sasl_ssl://[::1]:9093"],"jmx_port":-1,"port":9092,"host":"host","version":3,"timestamp":"1","rack":"dc1"}'
    decoded = broker_ids.decode(data)
    assert decoded.endpoints == (PLAIN, EndPoint("SASL_SSL", "::1", 9093, SecurityProtocol.SASL_SSL))
    assert decoded.rack == "dc1"


def test_without_a_plaintext_endpoint_host_is_null_and_port_minus_1() -> None:
    secure = BrokerIdZNode((EndPoint("OUT", "host", 9093, SecurityProtocol.SSL),), 1)
    data = broker_ids.encode(secure)
    assert b'"port":-1,"host":null' in data
    assert broker_ids.decode(data) == secure


def test_host_and_port_are_those_of_the_first_plaintext_endpoint() -> None:
    value = BrokerIdZNode((EndPoint("S", "a", 1, SecurityProtocol.SSL), EndPoint("P", "b", 2, SecurityProtocol.PLAINTEXT), PLAIN), 1)
    assert b'"port":2,"host":"b"' in broker_ids.encode(value)


def test_an_ipv6_address_stands_in_brackets() -> None:
    end_point = EndPoint("P", "2001:db8::1", 9092, SecurityProtocol.PLAINTEXT)
    assert str(end_point) == "P://[2001:db8::1]:9092"
    assert broker_ids.decode(broker_ids.encode(BrokerIdZNode((end_point,), 1))).endpoints == (end_point,)


def test_supported_features_are_kept() -> None:
    data = b'{"version":5,"host":"h","port":1,"jmx_port":-1,"endpoints":[],"features":{"f":{"min_version":1,"first_active_version":2,"max_version":3}}}'
    assert broker_ids.decode(data).features == {"f": (1, 3)}


@pytest.mark.parametrize(
    "data",
    [
        b'{"version":0,"host":"h","port":1,"jmx_port":-1}',
        b'{"version":1,"host":null,"port":1,"jmx_port":-1}',
        b'{"version":2,"jmx_port":-1,"endpoints":["h:1"]}',
        b'{"version":2,"jmx_port":-1,"endpoints":["OUT://h:1"]}',
        b'{"version":4,"jmx_port":-1,"endpoints":["OUT://h:1"],"listener_security_protocol_map":{"IN":"SSL"}}',
        b'{"version":4,"jmx_port":-1,"endpoints":["OUT://h:1"],"listener_security_protocol_map":{"OUT":"TLS"}}',
        b'{"version":4,"endpoints":[],"listener_security_protocol_map":{}}',
    ],
)
def test_a_registration_without_usable_endpoints_is_malformed(data: bytes) -> None:
    with pytest.raises(MalformedZNode):
        broker_ids.decode(data)


def test_an_endpoint_is_found_by_its_listener() -> None:
    value = BrokerIdZNode((PLAIN,))
    assert value.endpoint("PLAINTEXT") is PLAIN
    assert value.endpoint("SSL") is None


def test_broker_paths_lead_back_to_ids() -> None:
    assert broker_ids.path(1001) == "/brokers/ids/1001"
    assert (broker_ids.broker_id_of("1001"), broker_ids.broker_id_of("/brokers/ids/7")) == (1001, 7)
    for child in ("", "x", "-1", "99999999999"):
        with pytest.raises(MalformedZNode):
            broker_ids.broker_id_of(child)


def test_features_of_version_1_have_a_minimum_and_those_of_version_2_have_not() -> None:
    first = FeatureZNode(True, {"f": (1, 2)})
    assert feature.encode(first) == b'{"features":{"f":{"min_version_level":1,"max_version_level":2}},"version":1,"status":1}'
    assert feature.decode(feature.encode(first)) == first
    second = b'{"features":{"f":{"max_version_level":2}},"version":2,"status":0}'
    assert feature.decode(second) == FeatureZNode(False, {"f": (2, 2)}, 2)
    assert feature.encode(feature.decode(second)) == second


@pytest.mark.parametrize(
    "data",
    [
        b'{"features":{},"version":0,"status":1}',
        b'{"features":{},"version":3,"status":1}',
        b'{"features":{},"version":1,"status":2}',
        b'{"version":1,"status":1}',
        b'{"features":{"f":{"max_version_level":2}},"version":1,"status":1}',
        b'{"features":{"f":{"min_version_level":0,"max_version_level":2}},"version":1,"status":1}',
        b'{"features":{"f":{"min_version_level":3,"max_version_level":2}},"version":1,"status":1}',
    ],
)
def test_malformed_features(data: bytes) -> None:
    with pytest.raises(MalformedZNode):
        feature.decode(data)


def test_producer_id_blocks_follow_each_other() -> None:
    first = producer_id_block.next_block(None, broker=2)
    assert first == ProducerIdBlock(2, 0, 999)
    assert producer_id_block.next_block(first, broker=1) == ProducerIdBlock(1, 1000, 1999)
    assert producer_id_block.encode(first) == b'{"version":1,"broker":2,"block_start":"0","block_end":"999"}'


@pytest.mark.parametrize("data", [None, b"", b'{"version":1,"broker":2,"block_start":0,"block_end":999}', b'{"broker":2,"block_start":"0","block_end":"1e3"}'])
def test_the_bounds_of_a_producer_id_block_are_strings_of_digits(data: bytes | None) -> None:
    with pytest.raises(MalformedZNode):
        producer_id_block.decode(data)


def test_migration_state_round_trips() -> None:
    data = b'{"version":0,"kraft_metadata_offset":-1,"kraft_controller_id":3000,"kraft_metadata_epoch":-1,"kraft_controller_epoch":1}'
    assert migration.decode(data) == MigrationZNode(3000, 1, -1, -1)
    assert migration.encode(migration.decode(data)) == data
    with pytest.raises(MalformedZNode):
        migration.decode(data.replace(b'"version":0', b'"version":1'))
