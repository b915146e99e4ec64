"""A broker's session ends at every moment: between any two steps of its start, of its registration, of taking over a config.

`STEPS` is more than any of these stories has: the later numbers are stories in which the session ends when all is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import pytest

from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.zookeeper import Create, GetData
from pykafka_classic.protocol.messages.update_metadata import UpdateMetadataPartitionState, UpdateMetadataRequest, UpdateMetadataTopicState
from pykafka_classic.server.broker_registration import BrokerRegistration, RegistrationFailed
from pykafka_classic.server.deleted_topics import DeletedTopics
from pykafka_classic.server.identity import get_or_create_cluster_id, resolve_broker_id
from pykafka_classic.server.metadata_cache import MetadataCache
from pykafka_classic.server.topic_configs import TopicConfigs
from pykafka_classic.server.zk_operations import SessionEnded, create_persistent_paths, read_through_sessions, through_sessions
from tests.fakes.clock import FakeClock, SeededRandom
from tests.fakes.zookeeper import FakeZooKeeper, FakeZooKeeperServer
from zk_schema import PERSISTENT_PATHS, broker_ids, config_changes, configs
from zk_schema.broker_ids import BrokerIdZNode
from zk_schema.config_changes import ConfigChangeZNode

STEPS: Final = range(40)
CONFIG: Final = KafkaConfig.from_properties({"zookeeper.connect": "unused:2181"})
SESSION_MS: Final = 6000


@pytest.fixture
def server() -> FakeZooKeeperServer:
    server = FakeZooKeeperServer()
    for path in PERSISTENT_PATHS:
        server.put(path)
    return server


def end_session_after(server: FakeZooKeeperServer, zk: FakeZooKeeper, steps: int, begin: Callable[[], object]) -> None:
    """Begin something, let so many things move, end the session, let all move."""
    server.held = True
    begin()
    for _ in range(steps):
        server.step()
    zk.expire()
    server.deliver()
    server.held = False


# Registration


def end_points(port: int = 9092) -> BrokerIdZNode:
    here = [("PLAINTEXT", "here", port, "PLAINTEXT")]
    return broker_ids.registration(end_points=here, rack=None, timestamp_ms=1, ibp=CONFIG.inter_broker_api_version)


@pytest.mark.parametrize("steps", STEPS)
def test_whenever_the_session_ends_the_broker_is_registered_in_the_next_one(server: FakeZooKeeperServer, steps: int) -> None:
    zk = server.connect()
    registration = BrokerRegistration(7, zk, FakeClock(), session_timeout_ms=SESSION_MS)
    outcomes: list[Promise[int]] = []
    end_session_after(server, zk, steps, lambda: outcomes.append(spawn(registration.register(end_points()))))
    if not server.exists(broker_ids.path(7)):  # it was registered before its session ended: the controller module registers it again
        outcomes.append(spawn(registration.register(end_points())))
    stat = server.stat(broker_ids.path(7))
    assert (stat.ephemeral_owner, stat.czxid) == (zk.session_id, outcomes[-1].result())
    assert broker_ids.decode(server.data(broker_ids.path(7))) == end_points()


def test_who_waits_for_its_old_session_while_the_new_one_ends_looks_again(server: FakeZooKeeperServer) -> None:
    old, new = server.connect(), server.connect()
    spawn(BrokerRegistration(7, old, FakeClock(), session_timeout_ms=SESSION_MS).register(end_points())).result()
    waiting = spawn(BrokerRegistration(7, new, FakeClock(), session_timeout_ms=SESSION_MS).register(end_points()))
    assert not waiting.settled
    new.expire()
    assert not waiting.settled
    old.expire(renew=False)
    assert waiting.result() == server.stat(broker_ids.path(7)).czxid


def test_another_brokers_registration_is_left_alone(server: FakeZooKeeperServer) -> None:
    theirs, ours = server.connect(), server.connect()
    spawn(BrokerRegistration(7, theirs, FakeClock(), session_timeout_ms=SESSION_MS).register(end_points(9093))).result()
    refused = spawn(BrokerRegistration(7, ours, FakeClock(), session_timeout_ms=SESSION_MS).register(end_points()))
    assert isinstance(refused.error(), RegistrationFailed)
    assert server.stat(broker_ids.path(7)).ephemeral_owner == theirs.session_id


def test_a_broker_that_closes_its_session_does_not_try_for_ever(server: FakeZooKeeperServer) -> None:
    zk = server.connect()
    zk.close()
    registered = spawn(BrokerRegistration(7, zk, FakeClock(), session_timeout_ms=SESSION_MS).register(end_points()))
    assert isinstance(registered.error(), SessionEnded)
    assert isinstance(spawn(read_through_sessions(zk, [GetData("/controller")])).error(), SessionEnded)


# The start


@pytest.mark.parametrize("steps", STEPS)
def test_whenever_the_session_ends_the_start_comes_to_one_cluster_id_and_one_broker_id(steps: int) -> None:
    server = FakeZooKeeperServer()
    zk = server.connect()

    async def identity() -> tuple[str, int]:
        await create_persistent_paths(zk, PERSISTENT_PATHS)
        cluster_id = await get_or_create_cluster_id(zk, SeededRandom(1))
        return cluster_id, await resolve_broker_id(CONFIG, {}, zk)

    found: list[Promise[tuple[str, int]]] = []
    end_session_after(server, zk, steps, lambda: found.append(spawn(through_sessions(identity, "the start"))))
    cluster_id, broker_id = found[0].result()
    assert spawn(get_or_create_cluster_id(server.connect(), SeededRandom(2))).result() == cluster_id
    assert broker_id - 1000 == server.stat("/brokers/seqid").version, "the last number given is ours: an unanswered one is never used"


# Topic configs: "no answer" is not "no overrides", at which retention would delete what an override keeps


KEPT: Final = {"retention.ms": "-1"}


class Applied:
    """The overrides that were last applied to each topic."""

    def __init__(self) -> None:
        self.overrides: dict[str, Mapping[str, str]] = {}

    def __call__(self, topic: str, overrides: Mapping[str, str]) -> None:
        self.overrides[topic] = overrides


@pytest.fixture
def applied() -> Applied:
    return Applied()


@pytest.mark.parametrize("steps", STEPS)
def test_whenever_the_session_ends_all_overrides_are_loaded_at_start(server: FakeZooKeeperServer, applied: Applied, steps: int) -> None:
    for topic in ("a", "b", "c"):
        server.put(configs.topic_path(topic), configs.encode(KEPT))
    zk = server.connect()
    loaded: list[Promise[dict[str, dict[str, str]]]] = []
    end_session_after(server, zk, steps, lambda: loaded.append(spawn(TopicConfigs(zk, FakeClock(), applied).load_all())))
    assert loaded[0].result() == {"a": KEPT, "b": KEPT, "c": KEPT}


@pytest.mark.parametrize("steps", STEPS)
def test_whenever_the_session_ends_a_new_log_has_its_topics_overrides(server: FakeZooKeeperServer, applied: Applied, steps: int) -> None:
    server.put(configs.topic_path("a"), configs.encode(KEPT))
    zk = server.connect()
    topic_configs = TopicConfigs(zk, FakeClock(), applied)
    end_session_after(server, zk, steps, lambda: spawn(topic_configs.load(["a", "without"])))
    assert applied.overrides == {"a": KEPT, "without": {}}


@pytest.mark.parametrize("steps", STEPS)
def test_whenever_the_session_ends_a_changed_config_is_taken_over(server: FakeZooKeeperServer, applied: Applied, steps: int) -> None:
    zk = server.connect()
    topic_configs = TopicConfigs(zk, FakeClock(), applied)
    topic_configs.scan()

    def change() -> None:
        server.put(configs.topic_path("a"), configs.encode(KEPT))
        server.put(f"{config_changes.CREATE_PATH}0000000000", config_changes.encode(ConfigChangeZNode("topics/a")))

    end_session_after(server, zk, steps, change)
    assert applied.overrides == {"a": KEPT}
    server.put(configs.topic_path("a"), configs.encode({}))
    server.put(f"{config_changes.CREATE_PATH}0000000001", config_changes.encode(ConfigChangeZNode("topics/a")))
    assert applied.overrides == {"a": {}}, "the watch stands in the new session"


# Topics that were deleted meanwhile


def told_of(*names: str) -> UpdateMetadataRequest:
    state = UpdateMetadataPartitionState(partition_index=0, leader=1, isr=[1], replicas=[1])
    return UpdateMetadataRequest(topic_states=[UpdateMetadataTopicState(topic_name=name, partition_states=[state]) for name in names])


class Forgetful:
    """A cache that was told of the topics `kept` and `deleted`; ZooKeeper has `kept` only."""

    def __init__(self, server: FakeZooKeeperServer) -> None:
        self.cache = MetadataCache(1)
        self.cache.update(told_of("kept", "deleted"))
        server.put("/brokers/topics/kept")
        self.zk = server.connect()
        self.deleted_topics = DeletedTopics(self.zk, self.cache, self._forget)

    def _forget(self, names: Sequence[str]) -> None:
        self.cache.forget(names)

    def tell(self, *names: str) -> None:
        """An UpdateMetadata."""
        self.cache.update(told_of(*names))
        self.deleted_topics.metadata_updated(names)


@pytest.fixture
def forgetful(server: FakeZooKeeperServer) -> Forgetful:
    return Forgetful(server)


def test_after_a_new_registration_deleted_topics_are_forgotten(forgetful: Forgetful) -> None:
    forgetful.deleted_topics.registered_again()
    assert forgetful.cache.all_topics() == ["kept"]


def test_a_topic_deleted_between_registration_and_the_controllers_next_word_is_forgotten_with_that(server: FakeZooKeeperServer, forgetful: Forgetful) -> None:
    server.put("/brokers/topics/deleted")
    forgetful.deleted_topics.registered_again()
    server.remove("/brokers/topics/deleted")
    assert forgetful.cache.all_topics() == ["kept", "deleted"]
    forgetful.tell("kept")
    assert forgetful.cache.all_topics() == ["kept"]


def test_without_a_new_registration_nothing_is_compared(forgetful: Forgetful) -> None:
    forgetful.tell("kept")
    assert forgetful.cache.all_topics() == ["kept", "deleted"], "the controller will tell"


def test_a_topic_made_anew_while_zookeeper_answers_is_kept(server: FakeZooKeeperServer, forgetful: Forgetful) -> None:
    server.held = True
    forgetful.deleted_topics.registered_again()
    forgetful.zk.process_one()  # ZooKeeper has said that it is gone
    forgetful.zk.submit([Create("/brokers/topics/deleted")])
    forgetful.tell("deleted")
    server.deliver()
    assert forgetful.cache.all_topics() == ["kept", "deleted"]


@pytest.mark.parametrize("steps", STEPS)
def test_whenever_the_session_ends_again_deleted_topics_are_forgotten(server: FakeZooKeeperServer, forgetful: Forgetful, steps: int) -> None:
    end_session_after(server, forgetful.zk, steps, forgetful.deleted_topics.registered_again)
    assert forgetful.cache.all_topics() == ["kept"]
