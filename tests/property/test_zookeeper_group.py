"""Groups over ZooKeeper under chance: members come, leave, die, lose their connection or session, and topics grow, while every message takes its own time.

At every step: who reads a partition in a living session has its owner node in that very session, so there are never two; committed offsets never go back.
Once faults stop: every partition has one reader, the owner nodes say so, and nothing is left of those who went.
"""

from __future__ import annotations

import random

import pytest

from pykafka_classic.client.subscription import Subscription
from pykafka_classic.common.topic_partition import TopicPartition
from tests.unit.client.members import Member, World
from zk_schema import consumers

STEPS = 400


class Trial:
    """One seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.world = World({"t": 5, "u": 3}, held=True)
        self.named = 0
        self.graves: list[int] = []  # sessions of killed members that ZooKeeper still keeps

    @property
    def living(self) -> list[Member]:
        return [member for member in self.world.members if member.alive]

    def run(self) -> None:
        for _ in range(STEPS):
            self.act()
            self.check_readers()
        self.calm_down()
        self.check_settled()
        self.check_offsets()

    def act(self) -> None:
        kind = self.random.random()
        if kind < 0.80:
            for _ in range(self.random.randrange(8)):
                self.world.server.step(self.random)
                self.check_readers()
        elif kind < 0.86:
            self.world.clock.advance(self.random.randrange(1500))
        elif kind < 0.91:
            for member in self.living:
                member.readers.read(self.random.randrange(3))
        elif kind < 0.94:
            self.join()
        elif self.living:
            self.disturb(self.random.choice(self.living))

    def join(self) -> None:
        if len(self.living) < 5:
            self.named += 1
            subscription = self.random.choice([Subscription.of_topics(["t", "u"]), Subscription.white_list("t,u"), Subscription.of_topics({"t": 2})])
            # A name that a dead member had, now and then.
            self.world.join(f"m{self.random.randrange(4) if self.random.random() < 0.3 else 100 + self.named}", subscription)

    def disturb(self, member: Member) -> None:
        kind = self.random.randrange(6)
        if kind == 0:
            self.graves.append(member.kill())
        elif kind == 1:
            member.connector.close()
            member.alive = False
        elif kind == 2:
            member.zk.disconnect()
        elif kind == 3:
            member.zk.reconnect()
        elif kind == 4:
            member.zk.expire()
        elif self.graves:
            self.world.server.close_session(self.graves.pop())
        else:
            self.world.set_partitions("t", 5 + self.random.randrange(3))

    def check_readers(self) -> None:
        server = self.world.server
        for member in self.world.members:
            if not server.has_session(member.zk.session_id):
                continue
            for partition in member.reads:
                stat = server.stat(consumers.owner_path("g", partition.topic, partition.partition))
                assert stat.ephemeral_owner == member.zk.session_id, (member.id, partition)

    def calm_down(self) -> None:
        for member in self.world.members:
            member.zk.reconnect()
        for session in self.graves:
            self.world.server.close_session(session)
        self.world.settle()
        failed = [member for member in self.living if member.started.settled and member.started.error() is not None]
        for twin in failed:  # the one of two with one name that came later
            twin.connector.close()
            twin.alive = False
        self.world.settle()

    def check_settled(self) -> None:
        counts = {"t": len(self.world.server.children("/consumers/g/owners/t")) if self.living else 0}
        assert not self.living or counts["t"] >= 5
        reads = [partition for member in self.living for partition in member.reads]
        assert len(reads) == len(set(reads))
        by_nodes = {TopicPartition(topic, number): thread for topic in "tu" for number, thread in self.world.owners(topic).items()}
        assert set(reads) == set(by_nodes)
        assert {member.id for member in self.living} == set(self.world.server.children("/consumers/g/ids")) if self.named else True
        for member in self.living:
            # By session, not by name: of two members with one name, one waits for ever.
            paths = {each: consumers.owner_path("g", each.topic, each.partition) for each in by_nodes}
            assert {each for each, path in paths.items() if self.world.server.stat(path).ephemeral_owner == member.zk.session_id} == member.reads
        registered = [each for each in self.living if self.world.server.stat(consumers.id_path("g", each.id)).ephemeral_owner == each.zk.session_id]
        assert {each.id for each in registered} == {each.id for each in self.living}
        if any("u" in member.connector._subscription.streams or member.connector._subscription.is_filter for member in registered):
            assert {partition for partition in reads if partition.topic == "u"} == {TopicPartition("u", number) for number in range(3)}

    def check_offsets(self) -> None:
        highest: dict[str, int] = {}
        for change in self.world.server.changes("/consumers/g/offsets"):
            if change.data:
                assert int(change.data) >= highest.get(change.path, 0), change
                highest[change.path] = int(change.data)


@pytest.mark.parametrize("seed", [*range(60), 1033])  # 1033: a release was sent twice, and deleted the next owner's node
def test_never_two_readers_and_everything_settles(seed: int) -> None:
    Trial(seed).run()
