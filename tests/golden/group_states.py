"""Every state of a consumer group x every request of its members and admins: what a coordinator answers, and what becomes of the group.

The same steps run against a broker over sockets (tests/integration/record_group_states.py; what Apache Kafka 2.8.2 did is in data/groups/states.jsonl.gz) and
against our coordinator in memory.

A group of three: `L` the leader, `F` a dynamic follower, `S` a static one (instance `s`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

from pykafka_classic.protocol.codec import encode
from pykafka_classic.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from pykafka_classic.protocol.messages.delete_groups import DeleteGroupsRequest
from pykafka_classic.protocol.messages.describe_groups import DescribeGroupsRequest
from pykafka_classic.protocol.messages.heartbeat import HeartbeatRequest
from pykafka_classic.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from pykafka_classic.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from pykafka_classic.protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from pykafka_classic.protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from pykafka_classic.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from pykafka_classic.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from pykafka_classic.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic
from pykafka_classic.protocol.schema import Message

DATA: Final = Path(__file__).parent / "data" / "groups" / "states.jsonl.gz"
TOPIC: Final = "t"
METADATA: Final = bytes(2) + encode(ConsumerProtocolSubscription(topics=[TOPIC]), 0)
OTHER_METADATA: Final = bytes(2) + encode(ConsumerProtocolSubscription(topics=[TOPIC, "u"]), 0)
GARBAGE: Final = b"\xff\xff\x00"
HELD: Final = "held"

Answer = dict[str, Any]


class Call(Protocol):
    """A request on its way."""

    def answer(self) -> Message | None:
        """None while it is held."""
        ...


class Driver(Protocol):
    """A coordinator."""

    def call(self, request: Message, version: int) -> Call:
        """Send."""
        ...

    def settle(self) -> None:
        """Let what happens by itself happen; no time-out passes."""
        ...


@dataclass
class Group:
    """One group under test. `ids`: names of members -> member ids; `held`: their open requests."""

    driver: Driver
    group_id: str
    ids: dict[str, str] = field(default_factory=dict)
    generation: int = -1
    held: dict[str, Call] = field(default_factory=dict)

    def join(self, name: str, *, version: int | None = None, instance: str | None = None, metadata: bytes = METADATA, **changes: Any) -> Call:
        """Newcomers in a version that does not ask them to come again; others in one that can name static members to a leader."""
        request = JoinGroupRequest(
            group_id=self.group_id,
            session_timeout_ms=30_000,
            rebalance_timeout_ms=60_000,
            member_id=self.ids.get(name, ""),
            group_instance_id=instance,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol("range", metadata), JoinGroupRequestProtocol("roundrobin", metadata)],
        )
        for key, value in changes.items():
            setattr(request, key, value)
        known = instance is not None or request.member_id
        return self.driver.call(request, version or (7 if known else 3))

    def sync(self, name: str, *, instance: str | None = None, generation: int | None = None, version: int = 5, **changes: Any) -> Call:
        request = SyncGroupRequest(
            group_id=self.group_id,
            generation_id=self.generation if generation is None else generation,
            member_id=self.ids.get(name, name),
            group_instance_id=instance,
            protocol_type="consumer",
            protocol_name="range",
        )
        for key, value in changes.items():
            setattr(request, key, value)
        return self.driver.call(request, version)

    def assignment(self, *names: str) -> list[SyncGroupRequestAssignment]:
        return [SyncGroupRequestAssignment(self.ids.get(name, name), name.encode()) for name in names]

    def heartbeat(self, name: str, *, instance: str | None = None, generation: int | None = None) -> Call:
        generation = self.generation if generation is None else generation
        return self.driver.call(HeartbeatRequest(self.group_id, generation, self.ids.get(name, name), instance), 3)

    def leave(self, *members: tuple[str, str | None]) -> Call:
        identities = [MemberIdentity(self.ids.get(name, name), instance) for name, instance in members]
        return self.driver.call(LeaveGroupRequest(group_id=self.group_id, members=identities), 4)

    def commit(self, name: str, *, generation: int | None = None, instance: str | None = None, topic: str = TOPIC, metadata: str = "") -> Call:
        places = [OffsetCommitRequestTopic(topic, [OffsetCommitRequestPartition(partition_index=0, committed_offset=7, committed_metadata=metadata)])]
        generation = self.generation if generation is None else generation
        return self.driver.call(OffsetCommitRequest(self.group_id, generation, self.ids.get(name, name), instance, topics=places), 8)

    def transactional_commit(self, name: str, *, generation: int = -1, instance: str | None = None) -> Call:
        places = [TxnOffsetCommitRequestTopic(TOPIC, [TxnOffsetCommitRequestPartition(0, 8, -1, "")])]
        return self.driver.call(TxnOffsetCommitRequest("x", self.group_id, 4711, 0, generation, self.ids.get(name, name), instance, places), 3)

    def state(self) -> list[Any]:
        """The state's name and the number of members."""
        [told] = answered(self.driver, self.driver.call(DescribeGroupsRequest([self.group_id]), 5)).groups
        return [told.error_code, told.group_state, len(told.members)]


def answered(driver: Driver, call: Call) -> Any:
    """The answer, which has to come."""
    for _ in range(40):
        answer = call.answer()
        if answer is not None:
            return answer
        driver.settle()
    raise AssertionError("no answer")


def wait(group: Group, state: str, members: int) -> None:
    """Until the group is like that."""
    for _ in range(40):
        if group.state() == [0, state, members]:
            return
        group.driver.settle()
    raise AssertionError(f"not {state} with {members} members")


# states


def nothing(group: Group) -> None:
    """The group does not exist."""


def simple(group: Group) -> None:
    """Empty: a consumer without membership has committed."""
    answered(group.driver, group.commit("", generation=-1))


def pending(group: Group) -> None:
    """Empty, with a member that was told its id."""
    group.ids["L"] = answered(group.driver, group.join("", version=5)).member_id


def joined(group: Group, metadata: bytes = METADATA) -> None:
    """CompletingRebalance: all have joined."""
    first = answered(group.driver, group.join("L", metadata=metadata))
    group.ids["L"] = first.member_id
    calls = {"F": group.join("F", metadata=metadata), "S": group.join("S", instance="s", metadata=metadata)}
    wait(group, "PreparingRebalance", 3)
    calls["L"] = group.join("L", metadata=metadata)
    answers = {name: answered(group.driver, call) for name, call in calls.items()}
    group.ids.update({name: answer.member_id for name, answer in answers.items()})
    group.generation = answers["L"].generation_id


def completing(group: Group) -> None:
    """CompletingRebalance: the static member waits for its assignment."""
    joined(group)
    group.held["S"] = group.sync("S", instance="s")
    group.driver.settle()


def stable(group: Group, metadata: bytes = METADATA) -> None:
    """Stable."""
    joined(group, metadata)
    calls = [group.sync("F"), group.sync("S", instance="s"), group.sync("L", assignments=group.assignment("L", "F", "S"))]
    assert [answered(group.driver, call).error_code for call in calls] == [0, 0, 0]


def preparing(group: Group) -> None:
    """PreparingRebalance: a fourth member, N, waits for the three."""
    stable(group)
    group.held["N"] = group.join("N")
    wait(group, "PreparingRebalance", 4)


def left(group: Group) -> None:
    """Empty: all members have left."""
    stable(group)
    answered(group.driver, group.leave(("L", None), ("F", None), ("S", "s")))
    wait(group, "Empty", 0)


STATES: Final[Mapping[str, Callable[[Group], None]]] = {
    "none": nothing,
    "simple": simple,
    "pending": pending,
    "left": left,
    "preparing": preparing,
    "completing": completing,
    "stable": stable,
    "stable with garbage": partial(stable, metadata=GARBAGE),
}

# requests

OTHER_PROTOCOLS: Final = [JoinGroupRequestProtocol("sticky", METADATA)]


def delete_offsets(group: Group, *topics: str) -> Call:
    places = [OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(0)]) for topic in topics]
    return group.driver.call(OffsetDeleteRequest(group.group_id, places), 0)


REQUESTS: Final[Mapping[str, Callable[[Group], Call]]] = {
    "join: newcomer before v4": lambda group: group.join("new"),
    "join: newcomer": lambda group: group.join("new", version=5),
    "join: newcomer, static": lambda group: group.join("new", instance="n"),
    "join: newcomer, garbage as metadata": lambda group: group.join("new", metadata=GARBAGE),
    "join: leader": lambda group: group.join("L"),
    "join: leader, changed": lambda group: group.join("L", metadata=OTHER_METADATA),
    "join: follower": lambda group: group.join("F"),
    "join: follower, changed": lambda group: group.join("F", metadata=OTHER_METADATA),
    "join: static": lambda group: group.join("S", instance="s"),
    "join: static, replaced": lambda group: group.join("", instance="s"),
    "join: static, replaced and changed": lambda group: group.join("", instance="s", metadata=OTHER_METADATA),
    "join: static, replaced with another protocol": lambda group: group.join("", instance="s", protocols=[JoinGroupRequestProtocol("roundrobin", METADATA)]),
    "join: fenced": lambda group: group.join("F", instance="s"),
    "join: unknown instance": lambda group: group.join("F", instance="other"),
    "join: unknown": lambda group: group.join("new", member_id="stranger"),
    "join: no common protocol": lambda group: group.join("new", protocols=OTHER_PROTOCOLS),
    "join: follower without a common protocol": lambda group: group.join("F", protocols=OTHER_PROTOCOLS),
    "join: no protocol": lambda group: group.join("new", protocols=[]),
    "join: other protocol type": lambda group: group.join("new", protocol_type="connect"),
    "join: no protocol type": lambda group: group.join("new", protocol_type=""),
    "join: short session": lambda group: group.join("new", session_timeout_ms=5_999),
    "join: long session": lambda group: group.join("new", session_timeout_ms=1_800_001),
    "join: empty group id": lambda group: group.join("new", group_id=""),
    "sync: leader": lambda group: group.sync("L", assignments=group.assignment("L", "F", "S")),
    "sync: leader, assignment of another size": lambda group: group.sync("L", assignments=group.assignment("L", "stranger")),
    "sync: leader, no assignment": lambda group: group.sync("L"),
    "sync: follower": lambda group: group.sync("F"),
    "sync: static": lambda group: group.sync("S", instance="s"),
    "sync: unknown": lambda group: group.sync("stranger"),
    "sync: old generation": lambda group: group.sync("F", generation=0),
    "sync: fenced": lambda group: group.sync("F", instance="s"),
    "sync: other protocol": lambda group: group.sync("F", protocol_name="roundrobin"),
    "sync: other protocol type": lambda group: group.sync("F", protocol_type="connect"),
    "sync: no protocol": lambda group: group.sync("F", protocol_name=None),
    "sync: before v5": lambda group: group.sync("F", version=4),
    "sync: empty group id": lambda group: group.sync("F", group_id=""),
    "heartbeat: leader": lambda group: group.heartbeat("L"),
    "heartbeat: follower": lambda group: group.heartbeat("F"),
    "heartbeat: static": lambda group: group.heartbeat("S", instance="s"),
    "heartbeat: fenced": lambda group: group.heartbeat("F", instance="s"),
    "heartbeat: unknown instance": lambda group: group.heartbeat("F", instance="other"),
    "heartbeat: unknown": lambda group: group.heartbeat("stranger"),
    "heartbeat: old generation": lambda group: group.heartbeat("F", generation=0),
    "heartbeat: later generation": lambda group: group.heartbeat("F", generation=99),
    "leave: leader": lambda group: group.leave(("L", None)),
    "leave: follower": lambda group: group.leave(("F", None)),
    "leave: static": lambda group: group.leave(("S", "s")),
    "leave: by instance alone": lambda group: group.leave(("", "s")),
    "leave: fenced": lambda group: group.leave(("F", "s")),
    "leave: unknown": lambda group: group.leave(("stranger", None)),
    "leave: unknown instance": lambda group: group.leave(("", "other")),
    "leave: member and unknown instance": lambda group: group.leave(("F", "other")),
    "leave: several": lambda group: group.leave(("F", None), ("stranger", None), ("", "s")),
    "leave: all": lambda group: group.leave(("L", None), ("F", None), ("S", "s")),
    "commit: simple": lambda group: group.commit("", generation=-1),
    "commit: leader": lambda group: group.commit("L"),
    "commit: static": lambda group: group.commit("S", instance="s"),
    "commit: fenced": lambda group: group.commit("F", instance="s"),
    "commit: unknown": lambda group: group.commit("stranger"),
    "commit: unknown, no generation": lambda group: group.commit("stranger", generation=-1),
    "commit: a generation, no member": lambda group: group.commit("", generation=3),
    "commit: old generation": lambda group: group.commit("F", generation=0),
    "commit: no generation": lambda group: group.commit("F", generation=-1),
    "commit: unknown topic": lambda group: group.commit("F", topic="missing"),
    "commit: long metadata": lambda group: group.commit("F", metadata="\U0001f600" * 2049),
    "transactional commit: no member": lambda group: group.transactional_commit(""),
    "transactional commit: follower": lambda group: group.transactional_commit("F", generation=group.generation),
    "transactional commit: unknown": lambda group: group.transactional_commit("stranger"),
    "transactional commit: old generation": lambda group: group.transactional_commit("F", generation=0),
    "transactional commit: fenced": lambda group: group.transactional_commit("F", instance="s"),
    "fetch": lambda group: group.driver.call(OffsetFetchRequest(group.group_id, [OffsetFetchRequestTopic(TOPIC, [0])]), 6),
    "fetch: all": lambda group: group.driver.call(OffsetFetchRequest(group.group_id, None), 6),
    "delete": lambda group: group.driver.call(DeleteGroupsRequest([group.group_id]), 2),
    "delete offsets": lambda group: delete_offsets(group, TOPIC),
    "delete offsets: another topic": lambda group: delete_offsets(group, "u"),
    "delete offsets: missing topic": lambda group: delete_offsets(group, "missing"),
    "describe": lambda group: group.driver.call(DescribeGroupsRequest([group.group_id]), 5),
}


def run(driver: Driver, group_id: str, state: str, request: str) -> Answer:
    """One case: the answer (or `held`), the group's state afterwards, and the answers to what was held before."""
    group = Group(driver, group_id)
    STATES[state](group)
    names = {member_id: name for name, member_id in group.ids.items()}
    call = REQUESTS[request](group)
    driver.settle()
    return {
        "state": state,
        "request": request,
        "answer": told(call, names),
        "then": group.state(),
        "others": {name: told(held, names) for name, held in group.held.items()},
    }


def told(call: Call, names: Mapping[str, str]) -> Any:
    """An answer without what differs from run to run: member ids by the members' names."""
    answer = call.answer()
    return HELD if answer is None else plain(answer, names)


IGNORED: Final = {"throttle_time_ms", "unknown_tagged_fields", "client_host", "client_id", "error_message"}


def plain(value: Any, names: Mapping[str, str]) -> Any:
    """A message as JSON."""
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    if isinstance(value, str):
        return names.get(value, "a new id" if len(value) > 36 and value[-36:].count("-") == 4 else value.rstrip("0123456789-") or value)
    if isinstance(value, list):
        items = [plain(item, names) for item in value]
        return sorted(items, key=json.dumps)
    if hasattr(value, "__slots__"):
        fields = [name for base in type(value).__mro__ for name in getattr(base, "__slots__", ())]
        return {name: plain(getattr(value, name), names) for name in sorted(fields) if name not in IGNORED}
    return value
