"""What happens in a cluster, in sentences."""

from __future__ import annotations

import pytest

from pykafka_classic.monitor.sentences import Teller, is_wanted
from pykafka_classic.monitor.znodes import Change, Node
from zk_schema import configs, consumers, controller, partition_state, topics
from zk_schema.topics import ReplicaAssignment, TopicZNode

# As Kafka writes it (zk_schema/broker_ids.py).
BROKER = (
    b'{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},"endpoints":["PLAINTEXT://host:9092"],"jmx_port":-1,"features":{},"host":"host",'
    b'"timestamp":"1","port":9092,"version":5}'
)


def sentences(path: str, before: bytes | Node | None, after: bytes | Node | None, *, nodes: dict[str, Node] | None = None) -> list[str]:
    """What is told of one change."""
    was, now = (Node(each) if isinstance(each, bytes) else each for each in (before, after))
    change = Change(path, was, now)
    return [event.sentence for event in Teller(nodes or {}).tell(change)]


def state(leader: int, *isr: int, epoch: int = 1) -> bytes:
    return partition_state.encode(partition_state.TopicPartitionStateZNode(leader, epoch, isr, 1))


def topic(*assignments: ReplicaAssignment) -> bytes:
    return topics.encode(TopicZNode("AAAAAAAAAAAAAAAAAAAAAA", dict(enumerate(assignments))))


ON_1_2 = ReplicaAssignment((1, 2))


def test_brokers_come_and_go() -> None:
    path = "/brokers/ids/3"
    assert sentences(path, None, BROKER) == ["Broker 3 joined, at host:9092"]
    assert sentences(path, BROKER, None) == ["Broker 3 left"]
    assert sentences(path, Node(BROKER, czxid=1), Node(BROKER, czxid=2)) == ["Broker 3 left and joined again, at host:9092"]
    assert sentences(path, BROKER, BROKER.replace(b"host:9092", b"other:1")) == ["Broker 3 registered anew, at other:1"]


def test_leaders_move() -> None:
    path = "/brokers/topics/flights/partitions/0/state"
    assert sentences(path, state(1, 1, 2), state(2, 1, 2)) == ["Leader of flights-0 moved from broker 1 to broker 2"]
    assert sentences(path, state(1, 1), state(-1, 1)) == ["flights-0 has no leader: broker 1 led it"]
    assert sentences(path, state(-1, 1), state(1, 1)) == ["flights-0 has a leader again: broker 1"]
    assert sentences(path, state(1, 1, 2), state(1, 1, 2, epoch=9)) == []


def test_isrs_shrink_and_expand() -> None:
    path = "/brokers/topics/flights/partitions/0/state"
    assert sentences(path, state(1, 1, 2, 3), state(1, 1, 3)) == ["ISR of flights-0 shrunk to brokers 1, 3: broker 2 fell out"]
    assert sentences(path, state(1, 1), state(1, 1, 2, 3)) == ["ISR of flights-0 expanded to brokers 1, 2, 3: brokers 2, 3 came in"]
    assert sentences(path, state(1, 1, 2), state(1, 2, 1)) == []
    assert len(sentences(path, state(1, 1, 2), state(2, 2, 3))) == 3  # leader, one out, one in


def test_the_first_state_of_a_partition_belongs_to_its_topics_creation() -> None:
    assert sentences("/brokers/topics/flights/partitions/0/state", None, state(1, 1)) == []
    assert sentences("/brokers/topics/flights/partitions", None, b"") == []


def test_the_controller_moves() -> None:
    one, two = (controller.encode(controller.ControllerZNode(number, 5)) for number in (1, 2))
    teller = Teller({"/controller": Node(one)})
    told = [teller.tell(change)[0] for change in (Change("/controller", Node(one), None), Change("/controller", None, Node(two)))]
    assert [event.sentence for event in told] == ["Broker 1 is no longer the controller", "The controller moved from broker 1 to broker 2"]
    assert sentences("/controller", one, two, nodes={"/controller": Node(one)}) == ["The controller moved from broker 1 to broker 2"]
    assert sentences("/controller", None, one) == ["Broker 1 is the controller"]
    assert sentences("/controller", None, one, nodes={"/controller": Node(one)}) == ["Broker 1 is the controller again"]


def test_topics_come_grow_move_and_go() -> None:
    path = "/brokers/topics/flights"
    assert sentences(path, None, topic(ON_1_2, ON_1_2)) == ["Topic flights was created: 2 partitions, 2 replicas of each"]
    assert sentences(path, topic(ON_1_2), topic(ON_1_2, ON_1_2)) == ["Topic flights has 2 partitions now, 1 before"]
    moving = ReplicaAssignment((1, 2, 3), (3,), (1,))
    assert sentences(path, topic(ON_1_2), topic(moving)) == ["flights-0 is being moved to broker 3, from broker 1"]
    assert sentences(path, topic(moving), topic(ReplicaAssignment((2, 3)))) == ["flights-0 has its replicas on brokers 2, 3 now"]
    assert sentences("/admin/delete_topics/flights", None, Node(None)) == ["Topic flights is marked for deletion"]
    assert sentences("/admin/delete_topics/flights", Node(None), None) == []
    assert sentences(path, topic(ON_1_2), None) == ["Topic flights was deleted"]


def test_configs_change_and_secrets_are_not_told() -> None:
    before, now = configs.encode({"retention.ms": "1000", "cleanup.policy": "compact"}), configs.encode({"retention.ms": "2000"})
    assert sentences("/config/topics/flights", before, now) == ["Config of topic flights: cleanup.policy removed (was compact), retention.ms = 2000 (was 1000)"]
    assert sentences("/config/topics/flights", None, configs.encode({})) == []
    assert sentences("/config/brokers/<default>", None, now) == ["Config of all brokers by default: retention.ms = 2000"]
    assert sentences("/config/users/alice", None, configs.encode({"SCRAM-SHA-256": "salt=abc,stored_key=def"})) == [
        "Config of user alice: SCRAM-SHA-256 = (secret)"
    ]
    password = configs.encode({"listener.name.x.ssl.key.password": "hidden"})
    assert "hidden" not in sentences("/config/brokers/1", None, password)[0]
    assert sentences("/config/users/alice/clients/app", None, now) == ["Config of user alice with client app: retention.ms = 2000"]


def test_members_of_zookeepers_groups_come_and_go_and_own() -> None:
    member = consumers.encode_id(consumers.ConsumerIdZNode({"flights": 1}, consumers.STATIC, 5))
    assert sentences("/consumers/radar/ids/radar_a-1", None, member) == ["Group radar: radar_a-1 joined, for flights"]
    assert sentences("/consumers/radar/ids/radar_a-1", member, None) == ["Group radar: radar_a-1 left"]
    assert sentences("/consumers/radar/owners/flights/2", None, b"radar_a-1-0") == ["Group radar: flights-2 is read by radar_a-1-0"]
    assert sentences("/consumers/radar/owners/flights/2", b"radar_a-1-0", None) == []


@pytest.mark.parametrize("path", ["/brokers/ids/1", "/controller", "/brokers/topics/t", "/brokers/topics/t/partitions/0/state", "/consumers/g/ids/m"])
def test_a_node_that_holds_something_else_is_told_of(path: str) -> None:
    assert [sentence.startswith(f"{path} holds what nobody can read") for sentence in sentences(path, b"not json", b"{")] == [True]


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/", True),
        ("/brokers", True),
        ("/brokers/topics/t/partitions/0/state", True),
        ("/brokers/seqid", False),
        ("/config/changes", False),
        ("/config/users/alice/clients/c", True),
        ("/consumers/g/offsets", False),  # written with every commit
        ("/consumers/g/owners/t/0", True),
        ("/isr_change_notification", False),
        ("/controller_epoch", False),
    ],
)
def test_only_nodes_that_tell_something_are_watched(path: str, wanted: bool) -> None:
    assert is_wanted(path) is wanted
