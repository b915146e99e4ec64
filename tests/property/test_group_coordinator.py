"""The coordinator's protocol under seeds of faults: members come, leave, die and sleep too long, coordinators change and die, messages are lost.

Never two owners of a partition in one generation; no commit of a fenced member, a replaced static one included, stands in the log behind its successor's;
nothing acknowledged is lost and no record is skipped; and when the faults stop, all partitions are shared out among those who live, and go forward.
"""

from __future__ import annotations

import pytest

from pykafka_classic.coordinator.group.group_metadata import GroupState
from tests.property.group_members import SESSION_MS, Member
from tests.property.group_world import GROUP, PARTITIONS, World

SEEDS = 60
STEPS = 100
MEMBERS_MAX = 5


class Trial:
    """One seed."""

    def __init__(self, seed: int) -> None:
        self.world = World(seed)
        self.random = self.world.random
        self.members: list[Member] = []
        self.named = 0
        self.visible: dict[int, int] = {}

    @property
    def running(self) -> list[Member]:
        return [member for member in self.members if member.running]

    def run(self) -> None:
        for _ in range(STEPS):
            self.act()
            self.pass_time(self.random.randrange(1_500))
        self.world.calm = True
        if not self.running:
            self.join()
        self.pass_time(60_000)  # all sessions and rebalances of the faults' time are over
        self.check_settled()

    def pass_time(self, ms: int) -> None:
        self.world.clock.advance(ms)
        if self.world.leader.groups.store.owned:
            now = self.world.committed()
            assert all(now[partition] >= offset for partition, offset in self.visible.items()), "a committed offset went back"
            self.visible = now

    def act(self) -> None:
        kind = self.random.random()
        if kind < 0.12 and len(self.running) < MEMBERS_MAX:
            self.join()
        elif kind < 0.14:
            self.world.fail_over()
        elif kind < 0.15:
            self.world.crash()
        elif kind < 0.35 and self.running:
            self.disturb(self.random.choice(self.running))

    def join(self) -> None:
        self.named += 1
        instance_id = f"instance-{self.named}" if self.random.random() < 0.4 else None
        self.members.append(Member(self.world, f"member-{self.named}", instance_id=instance_id))

    def disturb(self, member: Member) -> None:
        kind = self.random.random()
        if kind < 0.10:
            member.crash()
        elif kind < 0.20:
            member.leave()
        elif kind < 0.80 or member.instance_id is None:
            member.pause(self.random.randrange(500, 2 * SESSION_MS))
        else:  # a new process takes the place; the former one may go on for a while, not knowing it
            if self.random.random() < 0.5:
                member.crash()
            self.members.append(Member(self.world, member.name, instance_id=member.instance_id, incarnation=member.incarnation + 1))

    def check_settled(self) -> None:
        group = self.world.leader.groups.store.get(GROUP)
        assert group is not None and group.state is GroupState.STABLE
        assert sorted(group.members) == sorted(member.member_id for member in self.running)
        assert {member.generation for member in self.running} == {group.generation_id}
        assert sorted(partition for member in self.running for partition in member.positions) == list(range(PARTITIONS))
        before = self.world.committed()
        self.pass_time(10_000)
        assert all(offset > before[partition] for partition, offset in self.world.committed().items())
        self.world.check_log()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_group_survives_its_faults(seed: int) -> None:
    Trial(seed).run()
