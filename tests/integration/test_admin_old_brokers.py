"""Our admin client and older brokers of Apache Kafka: it speaks their versions, and says so where they cannot do what is asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pykafka_classic.client.admin.configs import ConfigChange, ConfigResource
from pykafka_classic.client.admin.offsets import EARLIEST, HIGH_WATERMARK, LATEST
from pykafka_classic.client.admin.requests import AdminSettings
from pykafka_classic.client.admin.topics import NewPartitions, NewTopic
from pykafka_classic.client.offset_and_metadata import OffsetAndMetadata
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.admin import Admin
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.protocol.config_numbers import ConfigSource
from tests.integration.apache import MixedCluster
from tests.integration.foreign import Sent, send

RELEASES = ("0.10.2.2", "1.1.1", "2.4.1")
T0 = TopicPartition("t", 0)


@pytest.fixture(scope="module", params=RELEASES)
def old(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Admin]]:
    """A release, and an admin client of one broker of it with a topic of five records."""
    release: str = request.param
    with (
        MixedCluster(tmp_path_factory.mktemp("old"), [release]) as cluster,
        Admin(cluster.bootstrap, settings=AdminSettings(default_api_timeout_ms=20_000)) as admin,
    ):
        admin.create_topics([NewTopic("t", 2, 1)]).check()
        wait_until(lambda: not admin.describe_topics(["t"]).errors(), seconds=20)
        admin.list_offsets({T0: LATEST}).check()
        send(cluster.bootstrap, "t", [Sent(None, b"v", timestamp_ms=1_600_000_000_000 + each) for each in range(5)], partition=0)
        yield release, admin


def serves(release: str, since: str) -> bool:
    def numbers(text: str) -> list[int]:
        return [int(part) for part in text.split(".")]

    return numbers(release) >= numbers(since)


def unsupported(outcome: object) -> bool:
    return isinstance(outcome, KafkaError) and outcome.code is ErrorCode.UNSUPPORTED_VERSION


def test_topics(old: tuple[str, Admin]) -> None:
    release, admin = old
    assert [len(each.partitions) for each in admin.describe_topics(["t"]).check().values()] == [2]
    assert admin.describe_topics(["never-was"]).errors()["never-was"].code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert "never-was" not in admin.list_topics(), "it was created by the question"
    assert admin.create_topics([NewTopic("t", 1, 1)]).errors()["t"].code is ErrorCode.TOPIC_ALREADY_EXISTS
    if serves(release, "2.4"):
        assert admin.create_topics([NewTopic("by-default")]).check()["by-default"].partitions == 1
    else:
        with pytest.raises(KafkaError) as raised:
            admin.create_topics([NewTopic("by-default")])
        assert unsupported(raised.value)
    if serves(release, "1.0"):
        assert admin.create_partitions({"t": NewPartitions(1)}).errors()["t"].code is ErrorCode.INVALID_PARTITIONS


def test_offsets(old: tuple[str, Admin]) -> None:
    release, admin = old
    assert [admin.list_offsets({T0: at}).check()[T0].offset for at in (EARLIEST, LATEST, 1_600_000_000_003)] == [0, 5, 3]
    deleted = admin.delete_records({T0: HIGH_WATERMARK})[T0]
    assert deleted == 5 if serves(release, "0.11") else unsupported(deleted)


def test_groups(old: tuple[str, Admin]) -> None:
    _, admin = old
    admin.alter_group_offsets("g", {T0: OffsetAndMetadata(3, "note")}).check()
    assert admin.list_group_offsets("g") == {T0: OffsetAndMetadata(3, "note")}
    wait_until(lambda: "g" in admin.list_groups(), seconds=20)
    assert admin.describe_groups(["g"]).check()["g"].state == "Empty"


def test_configs(old: tuple[str, Admin]) -> None:
    release, admin = old
    topic = ConfigResource.topic("t")
    if not serves(release, "0.11"):
        with pytest.raises(KafkaError) as raised:
            admin.describe_configs([topic])
        assert unsupported(raised.value)
        return
    admin.alter_configs({topic: {"retention.ms": "86400000"}}).check()
    wait_until(lambda: admin.describe_configs([topic]).check()[topic]["retention.ms"].value == "86400000", seconds=20)
    assert admin.describe_configs([topic]).check()[topic]["retention.ms"].source is ConfigSource.DYNAMIC_TOPIC_CONFIG
    if serves(release, "2.3"):
        admin.incremental_alter_configs({topic: [ConfigChange("retention.ms", "1000000")]}).check()
    else:
        with pytest.raises(KafkaError) as raised:
            admin.incremental_alter_configs({topic: [ConfigChange("retention.ms", "1000000")]})
        assert unsupported(raised.value)


def test_the_cluster(old: tuple[str, Admin]) -> None:
    _, admin = old
    cluster = admin.describe_cluster()
    assert [node.id for node in cluster.nodes] == [0]
    assert cluster.controller == cluster.nodes[0]
    assert (18, 0) in {(each.api_key, each.min_version) for each in admin.api_versions().check()[0]}
