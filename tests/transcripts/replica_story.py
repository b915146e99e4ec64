"""Runs a transcript of whole brokers: reads commands, does them on the simulation's cluster (tests/simulation), and says what happened.

The form is that of controller_story.py. Here nothing is left to chance: every message takes the same time. The lines:

    zk      a change of a partition's state, of /controller or of a broker's znode, and which broker made it
    log     what partitions and fetchers logged
    answer  what a caller was told, or what a question found
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.log.log import Log
from pykafka_classic.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from pykafka_classic.protocol.schema import Message
from pykafka_classic.records.record_batch import iterate_batches
from tests.fakes.znode_tree import Change
from tests.simulation.clients import PRODUCE_VERSION, TIMEOUT_MS, Administrator, Client
from tests.simulation.cluster import SimBroker, SimCluster
from tests.simulation.world import SteadyRandom, World
from tests.transcripts.controller_story import ids_of, partition_of
from tests.unit.log.helpers import batch
from zk_schema import configs, partition_state

LOGGERS = ("kafka.cluster.Partition", "kafka.server.ReplicaFetcherThread", "kafka.log.LogSegment")
SETTLE_MS = 1500  # after each command: longer than a fetch waits at the leader, shorter than a session or a lagging follower lives
QUIET = ("Starting", "Shutting down", "Shutdown completed", "Stopped")
STORY_PROPERTIES = {"min.insync.replicas": "1", "auto.leader.rebalance.enable": "false", "log.segment.bytes": "1000000", "replica.lag.time.max.ms": "10000"}


class _LogLines(logging.Handler):
    def __init__(self, emit: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self._emit = emit

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if not text.endswith(QUIET):
            self._emit(text)


@contextmanager
def _listening(emit: Callable[[str], None]) -> Iterator[None]:
    handler, loggers = _LogLines(emit), [logging.getLogger(name) for name in LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)


class ReplicaStory:
    """One cluster of three machines, and the lines about it."""

    def __init__(self) -> None:
        self.world = World(0)
        self.world.random = SteadyRandom(0)
        self.cluster = SimCluster(self.world, 3, STORY_PROPERTIES)
        self.client = Client(self.cluster, 0, "client")
        self.administrator = Administrator(self.cluster)
        self.lines: list[str] = []
        self.shown = {"zk", "log", "answer"}
        self.sessions: dict[int, str] = {0: "a tool"}
        self._told = 0
        self._asked: Promise[Message | None] = Promise()
        self.world.after_step = lambda _: self._after_step()

    def run(self, text: str) -> str:
        """The same transcript with what really happens."""
        written: list[str] = []
        with _listening(lambda text: self._say("log", text)):
            for line in text.splitlines():
                if line.startswith("> "):
                    written += [line, *self._command(line[2:])]
                elif line.startswith("#") or (not line and written and written[-1]):
                    written.append(line)
        return "\n".join(written).rstrip() + "\n"

    def _command(self, line: str) -> list[str]:
        name, *arguments = line.split()
        getattr(self, f"do_{name.replace('-', '_')}")(*arguments)
        self._after_step()
        lines, self.lines = self.lines, []
        return [*lines, ""] if lines else []

    # What happened

    def _say(self, kind: str, text: str) -> None:
        if kind in self.shown:
            self.lines.append(f"{kind:<6} {text}")

    def _settle(self, ms: float = SETTLE_MS) -> None:
        self.cluster.pump()
        self.world.run_until(self.world.now_ms + ms)

    def _after_step(self) -> None:
        self.cluster.pump()
        for broker in self.cluster.brokers.values():
            if broker.zk.session_id:
                self.sessions[broker.zk.session_id] = f"broker {broker.id}"
        log = self.cluster.zookeeper.log
        for change in log[self._told :]:
            text = self._change(change)
            if text is not None:
                self._say("zk", text)
        self._told = len(log)
        assert not self.cluster.failures, self.cluster.failures

    def _change(self, change: Change) -> str | None:
        partition = partition_state.partition_of(change.path)
        writer = self.sessions.get(change.session, "somebody")
        if partition is not None and change.data is not None:
            state = partition_state.decode(change.data)
            told = f"leader {state.leader}, epoch {state.leader_epoch}, isr {','.join(map(str, state.isr))}"
            return f"{writer} writes the state of {partition[0]}-{partition[1]}: {told}"
        if change.closed and (change.path == "/controller" or change.path.startswith("/brokers/ids/")):
            return f"{change.path} vanishes with the session of {writer}"
        if change.path == "/controller" and change.event == "create":
            return f"{writer} is the controller"
        return None

    # Commands about processes

    def do_show(self, *kinds: str) -> None:
        """Which kinds of lines to show from here on."""
        self.shown = {*kinds, "answer"}

    def do_start(self, *broker_ids: str) -> None:
        """Processes start, one after the other."""
        for broker_id in map(int, broker_ids):
            self.cluster.start(broker_id)
            self._settle()

    def do_kill(self, broker_id: str) -> None:
        """A process dies; its session ends when its time-out has passed."""
        self.cluster.kill(int(broker_id))
        self._settle()

    def do_power_lost(self, broker_id: str) -> None:
        """A machine loses power: what was not synced is gone."""
        self.cluster.kill(int(broker_id))
        self.cluster.disks[int(broker_id)].crash()
        self._settle()

    def do_pause(self, broker_id: str) -> None:
        """SIGSTOP."""
        self.cluster.pause(int(broker_id))
        self._settle()

    def do_resume(self, broker_id: str) -> None:
        """SIGCONT; only what was waiting for the process has happened, so that a story can look at what it believes."""
        self.cluster.resume(int(broker_id))
        self._settle(1)

    def do_cut(self, *pairs: str) -> None:
        """`cut 1-2 1-3`: nothing gets through between these machines."""
        self.cluster.wires.cut |= {_pair(each) for each in pairs}
        self._settle()

    def do_heal(self, *pairs: str) -> None:
        """It does again."""
        self.cluster.wires.cut -= {_pair(each) for each in pairs}
        self._settle()

    def do_wait(self, seconds: str, unit: str) -> None:
        """Time passes."""
        assert unit == "s"
        self._settle(float(seconds) * 1000)

    # Commands about topics

    def do_create_topic(self, topic: str, *assignment: str) -> None:
        """`create-topic t 1,2,3`: replicas of each partition."""
        spawn(self.administrator.create(topic, [list(ids_of(each)) for each in assignment]))
        self._settle()

    def do_topic_config(self, topic: str, setting: str) -> None:
        """A topic's configuration is written and announced, as a tool does."""
        key, value = setting.split("=", 1)
        self.cluster.zookeeper.put(configs.topic_path(topic), configs.encode({key: value}))
        self.cluster.zookeeper.put("/config/changes/config_change_0000000000", b'{"version":2,"entity_path":"topics/%s"}' % topic.encode())
        self._settle()

    def do_produce(self, partition: str, *arguments: str) -> None:
        """`produce t-0 a b to 1 acks all`: one batch of these values, sent to that broker; acks is 1 or all."""
        self.do_produce_unanswered(partition, *arguments)
        self.world.run_until(self.world.now_ms + 2 * TIMEOUT_MS, done=lambda: self._asked.settled)
        self.do_answer_of_before()

    def do_answer_of_before(self) -> None:
        """What became of the last `produce-unanswered`."""
        self._say("answer", _verdict(self._asked.result()) if self._asked.settled else "none yet")

    def do_produce_unanswered(self, partition: str, *arguments: str) -> None:
        """As `produce`, without waiting for the answer."""
        values, broker_id, acks = arguments[:-4], int(arguments[-3]), arguments[-1]
        where = partition_of(partition)
        data = memoryview(batch([(None, value.encode()) for value in values], timestamp=self.client.process.clock.now_ms()))
        topic = TopicProduceData(where.topic, [PartitionProduceData(where.partition, data)])
        request = ProduceRequest(acks=-1 if acks == "all" else int(acks), timeout_ms=TIMEOUT_MS, topic_data=[topic])
        self._asked = spawn(self.client.ask(broker_id, request, PRODUCE_VERSION))
        self._settle(100)

    def do_logs(self, partition: str) -> None:
        """What each machine has: values with the leader epochs under which they were written, `|` at the high watermark."""
        for broker_id, broker in sorted(self.cluster.brokers.items()):
            self._say("answer", f"broker {broker_id} {self._role(broker, partition)}")

    def _role(self, broker: SimBroker, partition: str) -> str:
        found = broker.parts.replica_manager.online_partition(partition_of(partition)) if broker.parts is not None else None
        if found is None or found.log is None:
            return f"has not been told of {partition}"
        isr = ",".join(map(str, found.in_sync.state.isr))
        role = f"leads in epoch {found.leader_epoch}, isr {isr}" if found.is_leader else f"follows {found.leader_id} in epoch {found.leader_epoch}"
        return f"{role}: {_values(found.log)}"

    def do_state(self, partition: str) -> None:
        """What ZooKeeper says."""
        state = self.cluster.state(partition_of(partition))
        assert state is not None
        self._say("answer", f"{partition}: leader {state.leader}, epoch {state.leader_epoch}, isr {','.join(map(str, state.isr))}")


def _pair(text: str) -> tuple[int, int]:
    one, other = sorted(map(int, text.split("-")))
    return one, other


def _verdict(answer: object) -> str:
    if not isinstance(answer, ProduceResponse):
        return "no answer"
    result = answer.responses[0].partition_responses[0]
    return f"written at offset {result.base_offset}" if not result.error_code else ErrorCode(result.error_code).name


def _values(log: Log) -> str:
    texts: list[str] = []
    for offset, epoch, value in _records(log):
        if offset == log.high_watermark:
            texts.append("|")
        texts.append(f"{value}/{epoch}")
    if log.high_watermark == log.log_end_offset:
        texts.append("|")
    return " ".join(texts)


def _records(log: Log) -> Sequence[tuple[int, int, str]]:
    if log.log_end_offset == log.log_start_offset:
        return []
    info = log.read(log.log_start_offset, max_length=1 << 20, max_offset=log.log_end_offset, min_one_message=True, include_aborted=False)
    assert info.records is not None
    batches = iterate_batches(info.records.read())
    return [(record.offset, each.partition_leader_epoch, (record.value or b"").decode()) for each in batches for record in each.records()]
