"""A request finds its broker, and is sent again as long as that may help: controller, coordinator, any broker, one by id."""

from __future__ import annotations

import pytest

from pykafka_classic.client.admin.requests import AdminSettings
from pykafka_classic.client.admin.topics import NewTopic
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.messages.create_topics import CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse
from pykafka_classic.protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from pykafka_classic.protocol.messages.find_coordinator import FindCoordinatorResponse
from pykafka_classic.protocol.messages.list_groups import ListGroupsResponse
from pykafka_classic.protocol.network import Disconnected, RequestTimedOut
from pykafka_classic.protocol.schema import Message
from tests.fakes.broker_connections import FakeBrokers


def create_at(brokers: FakeBrokers) -> None:
    """Only the controller creates."""

    def create(broker: int, request: CreateTopicsRequest) -> Message:
        code = ErrorCode.NONE if broker == brokers.controller else ErrorCode.NOT_CONTROLLER
        return CreateTopicsResponse(topics=[CreatableTopicResult(each.name, error_code=code) for each in request.topics])

    brokers.on[ApiKey.CREATE_TOPICS] = create


def test_the_controller_is_looked_for_again_after_it_moved() -> None:
    brokers = FakeBrokers()
    create_at(brokers)
    admin = brokers.admin()
    brokers.run(admin.describe_cluster())
    brokers.controller = 2
    brokers.run(admin.create_topics([NewTopic("t", 1, 1)])).check()
    assert brokers.asked(ApiKey.CREATE_TOPICS) == [0, 2]


def test_while_there_is_no_controller_one_is_waited_for() -> None:
    brokers = FakeBrokers()
    create_at(brokers)
    brokers.controller = -1
    brokers.clock.call_later(5_000, lambda: setattr(brokers, "controller", 1))
    brokers.run(brokers.admin().create_topics([NewTopic("t", 1, 1)])).check()
    assert brokers.asked(ApiKey.CREATE_TOPICS) == [1]
    assert 5_000 <= brokers.clock.monotonic_ms() < 5_300


def test_without_a_controller_the_call_times_out_and_says_why() -> None:
    brokers = FakeBrokers()
    brokers.controller = -1
    with pytest.raises(KafkaError, match="The cluster has no controller") as raised:
        brokers.run(brokers.admin(AdminSettings(default_api_timeout_ms=3_000)).create_topics([NewTopic("t", 1, 1)]))
    assert raised.value.code is ErrorCode.REQUEST_TIMED_OUT
    assert brokers.clock.monotonic_ms() <= 3_000


def test_a_dead_controller_is_not_asked_for_ever() -> None:
    brokers = FakeBrokers()
    create_at(brokers)
    admin = brokers.admin()
    brokers.controller = 1
    brokers.run(admin.describe_cluster())
    brokers.dead, brokers.controller = {1}, 2
    brokers.run(admin.create_topics([NewTopic("t", 1, 1)])).check()
    assert brokers.asked(ApiKey.CREATE_TOPICS) == [2]


def test_a_lost_connection_is_a_reason_to_try_again() -> None:
    brokers = FakeBrokers()
    create_at(brokers)
    create, failures = brokers.on[ApiKey.CREATE_TOPICS], [Disconnected("gone"), RequestTimedOut("silent")]
    brokers.on[ApiKey.CREATE_TOPICS] = lambda broker, request: failures.pop() if failures else create(broker, request)
    brokers.run(brokers.admin().create_topics([NewTopic("t", 1, 1)])).check()
    assert brokers.asked(ApiKey.CREATE_TOPICS) == [0, 0, 0]


def test_every_known_broker_is_tried_before_a_call_to_any_fails() -> None:
    brokers = FakeBrokers()
    admin = brokers.admin(AdminSettings(default_api_timeout_ms=1_000))
    brokers.run(admin.describe_cluster())
    brokers.dead = {0, 1}
    assert [node.id for node in brokers.run(admin.describe_cluster()).nodes] == [2]
    brokers.dead = {0, 1, 2}
    with pytest.raises(KafkaError) as raised:
        brokers.run(admin.describe_cluster())
    assert raised.value.code is ErrorCode.REQUEST_TIMED_OUT


def delete_at(brokers: FakeBrokers) -> None:
    """Only the coordinator deletes."""

    def delete(broker: int, request: DeleteGroupsRequest) -> Message:
        code = ErrorCode.NONE if broker == brokers.coordinator else ErrorCode.NOT_COORDINATOR
        return DeleteGroupsResponse(results=[DeletableGroupResult(each, code) for each in request.groups_names])

    brokers.on[ApiKey.DELETE_GROUPS] = delete


def test_the_coordinator_is_looked_for_again_after_it_moved() -> None:
    brokers = FakeBrokers()
    delete_at(brokers)
    told = [1, 2]  # the first answer is out of date
    brokers.coordinator = 2
    brokers.on[ApiKey.FIND_COORDINATOR] = lambda _, __: FindCoordinatorResponse(node_id=told[0], host=f"broker-{told.pop(0)}", port=9092)
    brokers.run(brokers.admin().delete_groups(["g"])).check()
    assert brokers.asked(ApiKey.DELETE_GROUPS) == [1, 2]


def test_a_coordinator_that_loads_is_waited_for() -> None:
    brokers = FakeBrokers()
    delete_at(brokers)
    delete = brokers.on[ApiKey.DELETE_GROUPS]
    loading = DeleteGroupsResponse(results=[DeletableGroupResult("g", ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)])
    brokers.on[ApiKey.DELETE_GROUPS] = lambda broker, request: loading if brokers.clock.monotonic_ms() < 2_000 else delete(broker, request)
    brokers.run(brokers.admin().delete_groups(["g"])).check()
    assert brokers.clock.monotonic_ms() >= 2_000


def test_a_coordinator_that_nobody_can_name_yet_is_waited_for() -> None:
    brokers = FakeBrokers()
    delete_at(brokers)
    find = brokers.on[ApiKey.FIND_COORDINATOR]
    unknown = FindCoordinatorResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
    brokers.on[ApiKey.FIND_COORDINATOR] = lambda broker, request: unknown if brokers.clock.monotonic_ms() < 1_000 else find(broker, request)
    brokers.run(brokers.admin().delete_groups(["g"])).check()
    assert brokers.clock.monotonic_ms() >= 1_000


def test_an_error_that_no_second_try_can_help_is_told_at_once() -> None:
    brokers = FakeBrokers()
    brokers.on[ApiKey.FIND_COORDINATOR] = lambda _, __: FindCoordinatorResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    outcome = brokers.run(brokers.admin().delete_groups(["g"]))["g"]
    assert isinstance(outcome, KafkaError)
    assert outcome.code is ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert brokers.clock.monotonic_ms() == 0


def test_a_code_of_a_newer_kafka_is_told_by_its_number() -> None:
    brokers = FakeBrokers()
    brokers.on[ApiKey.DELETE_GROUPS] = lambda _, __: DeleteGroupsResponse(results=[DeletableGroupResult("g", 119)])
    outcome = brokers.run(brokers.admin().delete_groups(["g"]))["g"]
    assert isinstance(outcome, KafkaError)
    assert (outcome.code, str(outcome)) == (ErrorCode.UNKNOWN_SERVER_ERROR, "error 119")


def test_what_a_broker_does_not_serve_is_unsupported() -> None:
    brokers = FakeBrokers(serve={ApiKey.LIST_GROUPS: (9, 9)})
    with pytest.raises(KafkaError) as raised:
        brokers.run(brokers.admin().list_groups())
    assert raised.value.code is ErrorCode.UNSUPPORTED_VERSION


def test_groups_by_state_are_not_asked_of_a_broker_that_would_list_all() -> None:
    brokers = FakeBrokers(serve={ApiKey.LIST_GROUPS: (0, 3)})
    brokers.on[ApiKey.LIST_GROUPS] = lambda _, __: ListGroupsResponse()
    assert brokers.run(brokers.admin().list_groups()) == {}
    with pytest.raises(KafkaError, match=r"The broker only supports ListGroups v3, but we need v4 or newer to request groups by states\.") as raised:
        brokers.run(brokers.admin().list_groups(["Stable"]))
    assert raised.value.code is ErrorCode.UNSUPPORTED_VERSION
