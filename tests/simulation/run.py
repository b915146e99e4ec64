"""One run: a seed decides the size of the cluster, the load, and what goes wrong and when; in the end all is mended, and the cluster must become whole.

What may go wrong: SIGKILL, loss of power (unsynced bytes gone), SIGSTOP, controlled shutdown, links between machines cut, ZooKeeper cut off, sessions expired,
/controller deleted; meanwhile replicas are moved, preferred leaders elected, and a topic is created and deleted again and again.

Classic Kafka does not survive everything: a member of the ISR that returns with a shorter log than it had (loss of power), while it still counts as in sync,
may be elected (KIP-966 and KIP-903 came later). So a disk loses its unsynced bytes only if at the restart nobody counts its broker as in sync any more; else
the machine was, as it turns out, only restarted.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial

from pykafka_classic.common.promise import spawn
from pykafka_classic.common.topic_partition import TopicPartition
from tests.fakes.znode_tree import Change
from tests.simulation.checkers import NOT_KEPT, Expectations, ReplicaChecker, Violation, ZooKeeperChecker, require
from tests.simulation.clients import Administrator, Client, Consumer, Producer
from tests.simulation.cluster import SimBroker, SimCluster
from tests.simulation.world import Process, World

FAULTS_FROM_MS = 6_000
FAULTS_UNTIL_MS = 45_000
REST_WITHIN_MS = 120_000
LOST_AFTER_MS = 3_000  # a machine that was off for so long may have lost its unsynced bytes: all that it sent before has arrived
STEPS_MAX = 400_000


@dataclass(slots=True)
class Outcome:
    """What a run was like."""

    seed: int
    schedule: list[str]
    violation: str | None = None
    steps: int = 0
    sent: int = 0
    acknowledged: int = 0
    elections: int = 0
    signature: int = 0  # of all changes in ZooKeeper: equal for equal runs


class ErrorLog(logging.Handler):
    """Errors with a traceback are bugs, wherever they are caught."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        if record.exc_info and record.exc_info[1] is not None:
            self.records.append(record)


@contextmanager
def watching_the_log() -> Iterator[ErrorLog]:
    """The errors that are logged meanwhile."""
    handler, root = ErrorLog(), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(min(level, logging.ERROR) if level else logging.ERROR)
    try:
        yield handler
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


@dataclass(slots=True)
class Down:
    """A machine whose process was killed."""

    since_ms: float
    power_lost: bool


@dataclass
class Run:
    """See the module."""

    seed: int
    properties: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.world = World(self.seed)
        chance = self.world.random
        properties = dict(self.properties)
        if chance.random() < 0.2:
            properties.setdefault("inter.broker.protocol.version", chance.choice(["2.7-IV1", "2.6", "2.3"]))
        self.cluster = SimCluster(self.world, chance.choice([3, 3, 4, 5]), properties)
        self.expectations = Expectations()
        self.zookeeper_checker = ZooKeeperChecker(self.cluster)
        self.replica_checker = ReplicaChecker(self.zookeeper_checker, self.expectations)
        self.producers = [Producer(self.cluster, f"producer {number}", self.expectations) for number in range(2)]
        self.consumer = Consumer(self.cluster, "consumer", self.expectations)
        self.administrator = Administrator(self.cluster)
        self.schedule: list[str] = []
        self.down: dict[int, Down] = {}
        self.mending = False
        self._fault_every_ms = 0
        self._errors: ErrorLog | None = None
        self.world.after_step = self._after_step

    # The run

    def run(self) -> Outcome:
        """All of it."""
        violation = None
        with watching_the_log() as self._errors:
            try:
                self._start()
                self._load()
                self.world.run_until(FAULTS_UNTIL_MS)
                self._mend()
                self._rest()
            except Violation as error:
                violation = str(error)
            except Exception as error:
                logging.getLogger(__name__).debug("a bug", exc_info=True)
                violation = f"{type(error).__name__}: {error}"
        return self._outcome(violation)

    def _outcome(self, violation: str | None) -> Outcome:
        log = self.cluster.zookeeper.log
        return Outcome(
            seed=self.seed,
            schedule=self.schedule,
            violation=violation,
            steps=self.world.steps,
            sent=sum(each.sent for each in self.producers),
            acknowledged=sum(each.acknowledged for each in self.producers),
            elections=len(self.zookeeper_checker.leaders),
            signature=_signature(log),
        )

    def _after_step(self, owner: Process | None) -> None:
        self.cluster.pump()
        self.zookeeper_checker.look()
        if owner is None:
            for broker in self.cluster.brokers.values():
                self.replica_checker.look(broker)
        elif owner.node in self.cluster.brokers:
            self.replica_checker.look(self.cluster.brokers[owner.node])
        self._look_for_bugs()

    def _look_for_bugs(self) -> None:
        require(self.world.steps < STEPS_MAX, f"still busy after {STEPS_MAX} steps")
        if self.cluster.failures:
            error = self.cluster.failures[0]
            raise Violation(f"a broker's start or stop failed: {type(error).__name__}: {error}")
        if self._errors is not None and self._errors.records:
            record = self._errors.records[0]
            assert record.exc_info is not None
            error_text = logging.Formatter().formatException(record.exc_info)
            raise Violation(f"a bug was logged: {record.getMessage()}\n{error_text}")

    def _start(self) -> None:
        for machine in self.cluster.machines:
            self.cluster.start(machine)
        self.cluster.pump()
        require(self.world.run_until(20_000, done=lambda: all(each.started for each in self.cluster.brokers.values())), "the brokers do not start")

    def _load(self) -> None:
        chance, machines = self.world.random, self.cluster.machines
        for topic in ("a", "b"):
            assignment = [chance.sample(machines, 3) for _ in range(chance.randint(1, 2))]
            created = spawn(self.administrator.create(topic, assignment))
            require(self.world.run_until(self.world.now_ms + 20_000, done=partial(lambda each: each.settled, created)), "no topic can be created")
        for producer in self.producers:
            producer.start(chance.choice([60, 150, 400]))
        self.consumer.start(300)
        self._fault_every_ms = chance.choice([600, 1500, 4000])
        self.world.schedule(FAULTS_FROM_MS, self._next_fault)

    # Faults

    def _next_fault(self) -> None:
        if self.mending:
            return
        chance = self.world.random
        faults: list[Callable[[], str | None]] = [
            self._kill, self._kill, self._pause, self._cut, self._cut, self._cut_zookeeper, self._expire, self._stop,
            self._move, self._move, self._elect, self._create_or_delete, self._create_or_delete,
            self._delete_controller, self._kill_controller, self._kill_leader, self._kill_leader,
        ]  # fmt: skip
        told = chance.choice(faults)()
        if told is not None:
            self._tell(told)
        self.world.schedule(chance.random() * 2 * self._fault_every_ms, self._next_fault)

    def _tell(self, text: str) -> None:
        self.schedule.append(f"{self.world.now_ms / 1000:8.3f} s  {text}")

    def _duration_ms(self) -> float:
        chance = self.world.random
        return chance.random() * chance.choice([500, 3000, 10_000, 15_000])

    def _some_broker(self) -> SimBroker | None:
        up = [each for _, each in sorted(self.cluster.brokers.items()) if each.started and not each.process.paused]
        return self.world.random.choice(up) if up else None

    def _kill(self, broker: SimBroker | None = None) -> str | None:
        broker = broker or self._some_broker()
        if broker is None:
            return None
        power = self.world.random.random() < 0.5
        back_ms = self._duration_ms()
        self.cluster.kill(broker.id)
        self.down[broker.id] = Down(self.world.now_ms, power)
        self.world.schedule(back_ms, lambda: self._restart(broker.id))
        return f"{'power of' if power else 'kill'} {broker.id}"

    def _kill_controller(self) -> str | None:
        return self._kill(next((each for _, each in sorted(self.cluster.brokers.items()) if each.parts and each.parts.controller.is_active), None))

    def _kill_leader(self) -> str | None:
        partition = self._some_partition()
        state = None if partition is None else self.cluster.state(partition)
        return None if state is None else self._kill(self.cluster.brokers.get(state.leader))

    def _restart(self, broker_id: int) -> None:
        if broker_id in self.cluster.brokers or broker_id not in self.down:
            return
        down = self.down.pop(broker_id)
        lossy = down.power_lost and self.world.now_ms - down.since_ms >= LOST_AFTER_MS and not self._counts_as_in_sync(broker_id)
        if lossy:
            self.cluster.disks[broker_id].crash(self.world.random)
        self._tell(f"start {broker_id}" + (", its unsynced bytes lost" if lossy else ""))
        self.cluster.start(broker_id)

    def _counts_as_in_sync(self, broker_id: int) -> bool:
        """In ZooKeeper, with a leader, or in a request that may still be carried out."""
        states = [self.cluster.state(each) for each in self.cluster.partitions()]
        if any(state is None or broker_id in state.isr for state in states):
            return True
        for broker in self.cluster.brokers.values():
            if broker.parts is None:
                continue
            if not broker.parts.controller.is_idle or broker.zk.outgoing:
                return True
            led = [each for each in broker.parts.replica_manager.partitions() if each.is_leader]
            if any(broker_id in each.in_sync.state.maximal_isr for each in led):
                return True
        return False

    def _stop(self) -> str | None:
        broker = self._some_broker()
        if broker is None:
            return None
        broker.started = False
        self.cluster.stop(broker.id)
        self.down[broker.id] = Down(self.world.now_ms, power_lost=False)
        self._restart_when_stopped(broker, self._duration_ms())
        return f"stop {broker.id}"

    def _restart_when_stopped(self, broker: SimBroker, after_ms: float) -> None:
        def look() -> None:
            if broker.process.alive:
                self._restart_when_stopped(broker, 500)
            else:
                self._restart(broker.id)

        self.world.schedule(after_ms, look)

    def _pause(self) -> str | None:
        broker = self._some_broker()
        if broker is None:
            return None
        self.cluster.pause(broker.id)
        self.world.schedule(self._duration_ms(), lambda: self._resume(broker))
        return f"pause {broker.id}"

    def _resume(self, broker: SimBroker) -> None:
        if broker.process.alive and broker.process.paused:
            self._tell(f"resume {broker.id}")
            self.cluster.resume(broker.id)

    def _cut(self) -> str | None:
        chance, machines = self.world.random, (0, *self.cluster.machines)
        if chance.random() < 0.5:
            pairs = {tuple(sorted(chance.sample(machines, 2)))}
        else:
            alone = chance.choice(self.cluster.machines)
            pairs = {tuple(sorted((alone, other))) for other in machines if other != alone}
        new = {(one, other) for one, other in pairs} - self.cluster.wires.cut
        self.cluster.wires.cut |= new
        text = " ".join(f"{one}-{other}" for one, other in sorted(new))
        self.world.schedule(self._duration_ms(), lambda: self._heal(new, text))
        return f"cut {text}" if new else None

    def _heal(self, pairs: set[tuple[int, int]], text: str) -> None:
        if pairs & self.cluster.wires.cut:
            self._tell(f"heal {text}")
            self.cluster.wires.cut -= pairs

    def _cut_zookeeper(self) -> str | None:
        broker = self._some_broker()
        if broker is None or not broker.zk.is_connected:
            return None
        self.cluster.cut_from_zookeeper(broker)
        self.world.schedule(self._duration_ms(), lambda: self._reconnect(broker))
        return f"cut {broker.id}-zookeeper"

    def _reconnect(self, broker: SimBroker) -> None:
        if broker.process.alive and not broker.process.paused:
            if not broker.zk.is_connected:
                self._tell(f"heal {broker.id}-zookeeper")
            broker.zk.reconnect()
        elif broker.process.alive:
            self.world.schedule(1000, lambda: self._reconnect(broker))

    def _expire(self) -> str | None:
        broker = self._some_broker()
        if broker is None or not broker.zk.is_connected:
            return None
        broker.zk.expire()
        return f"session of {broker.id} expires"

    def _delete_controller(self) -> str | None:
        if not self.cluster.zookeeper.exists("/controller"):
            return None
        self.cluster.zookeeper.remove("/controller")
        return "delete /controller"

    def _some_partition(self) -> TopicPartition | None:
        partitions = [each for each in self.cluster.partitions() if each.topic not in NOT_KEPT]
        return self.world.random.choice(partitions) if partitions else None

    def _move(self) -> str | None:
        partition, chance = self._some_partition(), self.world.random
        if partition is None:
            return None
        target = chance.sample(self.cluster.machines, 3) if chance.random() < 0.85 else None
        spawn(self.administrator.move(partition, target))
        return f"move {partition} to {target}" if target else f"cancel the move of {partition}"

    def _create_or_delete(self) -> str:
        chance = self.world.random
        if "scratch" in self.cluster.topics():
            spawn(self.administrator.delete("scratch"))
            return "delete the topic scratch"
        assignment = [chance.sample(self.cluster.machines, chance.randint(1, 3)) for _ in range(chance.randint(1, 3))]
        spawn(self.administrator.create("scratch", assignment))
        return f"create the topic scratch {assignment}"

    def _elect(self) -> str | None:
        partition = self._some_partition()
        if partition is None:
            return None
        spawn(self.administrator.elect(partition))
        return f"elect the preferred leader of {partition}"

    # The end

    def _mend(self) -> None:
        self.mending = True
        self._tell("mend everything")
        self.cluster.wires.cut.clear()
        for broker in list(self.cluster.brokers.values()):
            self._resume(broker)
            self._reconnect(broker)
        for broker_id in list(self.down):
            if self.down[broker_id].power_lost or broker_id not in self.cluster.brokers:
                self._restart(broker_id)

    def _rest(self) -> None:
        clients: list[Client] = [*self.producers, self.consumer]
        self.world.run_until(self.world.now_ms + 10_000)
        for client in clients:
            client.stopped = True
        if not self.world.run_until(self.world.now_ms + REST_WITHIN_MS, done=self._is_whole):
            raise Violation(f"the cluster does not become whole: {self._why_not_whole()}")
        for broker in self.cluster.brokers.values():
            self.replica_checker.look(broker)
        self.expectations.require_complete()

    def _is_whole(self) -> bool:
        return self.world.steps % 50 == 0 and self._why_not_whole() is None

    def _why_not_whole(self) -> str | None:
        brokers = self.cluster.brokers
        away = [machine for machine in self.cluster.machines if machine not in brokers or not brokers[machine].started]
        if away:
            return f"not started: {away}"
        active = [broker.id for broker in brokers.values() if broker.parts is not None and broker.parts.controller.is_active]
        if len(active) != 1:
            return f"active controllers: {active}"
        deleted = self.cluster.zookeeper.children("/admin/delete_topics")
        if deleted:
            return f"not deleted yet: {deleted}"
        for topic_partition in self.cluster.partitions():
            why_not = self._why_partition_not_whole(topic_partition)
            if why_not is not None:
                return f"{topic_partition}: {why_not}"
        return None

    def _why_partition_not_whole(self, topic_partition: TopicPartition) -> str | None:
        state, replicas = self.cluster.state(topic_partition), self.cluster.assignment(topic_partition)
        if state is None or set(state.isr) != set(replicas) or state.leader not in replicas:
            return f"state {state}, replicas {replicas}"
        for broker_id in replicas:
            parts = self.cluster.brokers[broker_id].parts
            assert parts is not None
            partition = parts.replica_manager.online_partition(topic_partition)
            leader_parts = self.cluster.brokers[state.leader].parts
            assert leader_parts is not None
            leader_log = leader_parts.replica_manager.local_log(topic_partition)
            if partition is None or partition.log is None or leader_log is None:
                return f"broker {broker_id} has no log"
            if (partition.leader_id, partition.leader_epoch) != (state.leader, state.leader_epoch):
                return (
                    f"broker {broker_id} follows {partition.leader_id} in epoch {partition.leader_epoch}, the leader is {state.leader} in {state.leader_epoch}"
                )
            if not partition.log.high_watermark == partition.log.log_end_offset == leader_log.log_end_offset:
                ends = f"high watermark {partition.log.high_watermark}, end {partition.log.log_end_offset}"
                return f"broker {broker_id} has {ends}, the leader's end is {leader_log.log_end_offset}"
        return None


def _signature(log: list[Change]) -> int:
    return zlib.crc32("\n".join(map(repr, log)).encode())


def run_seed(seed: int, variant: AbstractContextManager[object] | None = None) -> Outcome:
    """One run, of the code as it is or of a broken variant."""
    with variant or nullcontext():
        return Run(seed).run()


def story_of(outcome: Outcome) -> str:
    """What happened, for a reader who has to find out why."""
    lines = [f"seed {outcome.seed}: {outcome.violation or 'all well'}", *outcome.schedule]
    counts = f"{outcome.steps} steps, {outcome.sent} batches sent, {outcome.acknowledged} acknowledged, {outcome.elections} leader epochs"
    lines.append(f"{counts}; signature {outcome.signature:08x}")
    if outcome.violation:
        lines.append(f"again: make simulate SEED={outcome.seed}")
    return "\n".join(lines)
