"""One queue for each broker, one request under way, the same request again until it is answered."""

from __future__ import annotations

from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.controller.channel_manager import RETRY_BACKOFF_MS, ControllerChannelManager
from pykafka_classic.controller.controller_context import LiveBroker
from pykafka_classic.protocol.messages.update_metadata import UpdateMetadataRequest
from pykafka_classic.protocol.schema import Message
from tests.fakes.clock import FakeClock
from tests.unit.controller.cluster import BrokersNetwork, answer_done
from zk_schema.broker_ids import BrokerIdZNode, EndPoint, SecurityProtocol


def live_broker(broker_id: int, *listeners: str) -> LiveBroker:
    endpoints = tuple(
        EndPoint(name, f"b{broker_id}", 9090 + broker_id + 100 * index, SecurityProtocol.PLAINTEXT) for index, name in enumerate(listeners or ("PLAINTEXT",))
    )
    return LiveBroker(BrokerIdZNode(endpoints), epoch=broker_id)


class Setting:
    """A manager with broker 1, whose answers wait for `network.deliver`."""

    def __init__(self, properties: dict[str, str] | None = None) -> None:
        config = KafkaConfig.from_properties({"zookeeper.connect": "fake:1", **(properties or {})})
        self.network = BrokersNetwork()
        self.clock = FakeClock()
        self.manager = ControllerChannelManager(config, 7, self.network, self.clock)
        self.responses: list[Message] = []

    def send(self, broker_id: int, controller_epoch: int) -> None:
        """Send a request that is known by its controller epoch."""
        self.manager.send_request(broker_id, UpdateMetadataRequest(controller_epoch=controller_epoch), 7, self.responses.append)

    def arrived(self, broker_id: int) -> list[int]:
        """The requests that reached a broker."""
        return [each.request.controller_epoch for each in self.network.sent if each.broker_id == broker_id]  # type: ignore[attr-defined]


def test_the_next_request_leaves_only_when_the_one_before_was_answered() -> None:
    setting = Setting()
    setting.manager.add_broker(1, live_broker(1))
    setting.send(1, 100)
    setting.send(1, 101)
    assert setting.arrived(1) == [100]
    setting.network.deliver()
    assert setting.arrived(1) == [100, 101]


def test_brokers_do_not_wait_for_each_other() -> None:
    setting = Setting()
    setting.manager.startup({1: live_broker(1), 2: live_broker(2)})
    setting.network.answer = lambda broker_id, request, version: None if broker_id == 1 else answer_done(broker_id, request, version)
    for epoch in (100, 101):
        setting.send(1, epoch)
        setting.send(2, epoch)
    while setting.network.deliver():
        pass
    assert (setting.arrived(1), setting.arrived(2)) == ([100], [100, 101])


def test_a_response_goes_to_whom_it_belongs() -> None:
    setting = Setting()
    setting.manager.add_broker(1, live_broker(1))
    setting.send(1, 100)
    setting.network.deliver()
    assert len(setting.responses) == 1


def test_the_client_id_is_the_controllers_broker_id() -> None:
    setting = Setting()
    setting.manager.add_broker(1, live_broker(1))
    assert setting.network.opened == [(1, "7")]


def test_a_request_that_fails_is_sent_again_every_100_ms_until_it_gets_through() -> None:
    setting = Setting()
    setting.manager.add_broker(1, live_broker(1))
    setting.network.down.add(1)
    setting.send(1, 100)
    setting.send(1, 101)
    setting.clock.advance(10 * RETRY_BACKOFF_MS)
    assert setting.arrived(1) == []
    setting.network.down.clear()
    setting.clock.advance(RETRY_BACKOFF_MS)
    while setting.network.deliver():
        pass
    assert setting.arrived(1) == [100, 101]


def test_a_removed_broker_is_sent_nothing_more() -> None:
    setting = Setting()
    setting.manager.add_broker(1, live_broker(1))
    setting.network.down.add(1)
    setting.send(1, 100)
    setting.manager.remove_broker(1)
    setting.network.down.clear()
    setting.clock.advance(1000)
    assert setting.arrived(1) == []
    assert setting.clock.pending == 0


def test_a_response_that_comes_after_the_removal_is_dropped() -> None:
    setting = Setting()
    setting.manager.add_broker(1, live_broker(1))
    setting.send(1, 100)
    setting.manager.remove_broker(1)
    setting.network.deliver()
    assert setting.responses == []


def test_a_request_to_an_unknown_broker_is_dropped() -> None:
    setting = Setting()
    setting.send(1, 100)
    assert setting.arrived(1) == []


def test_adding_a_broker_twice_keeps_its_queue() -> None:
    setting = Setting()
    setting.manager.add_broker(1, live_broker(1))
    setting.send(1, 100)
    setting.manager.add_broker(1, live_broker(1))
    assert setting.manager.total_queue_size == 1


def test_the_control_plane_listener_is_used_where_there_is_one() -> None:
    setting = Setting(
        {
            "control.plane.listener.name": "CONTROL",
            "listeners": "PLAINTEXT://:9092,CONTROL://:9093",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROL:PLAINTEXT",
        }
    )
    setting.manager.add_broker(1, live_broker(1, "PLAINTEXT", "CONTROL"))
    assert setting.network.opened == [(101, "7")]


def test_a_broker_without_the_listener_gets_no_queue() -> None:
    setting = Setting()
    setting.manager.add_broker(1, live_broker(1, "OTHER"))
    assert setting.manager.broker_ids == []


def test_shutdown_closes_all() -> None:
    setting = Setting()
    setting.manager.startup({1: live_broker(1), 2: live_broker(2)})
    setting.manager.shutdown()
    assert setting.manager.broker_ids == []
