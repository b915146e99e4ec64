"""Runs a transcript of the controller: reads commands, does them on a fake cluster, and says what happened.

A transcript is text. Lines that begin with `#` are for the reader; lines that begin with `> ` are commands (`Story` has a method for each, named
`do_...`); all other lines are what the command led to, in the order in which it happened:

    zk      a change of the tree in ZooKeeper, and which broker made it (`fenced`: behind a check of the controller epoch)
    send    a request of the controller that reached brokers; equal requests to several brokers share a line
    log     what the brokers logged
    answer  what a caller was told
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.events import ApiError, ElectionResult, ElectionType
from pykafka_classic.protocol.messages.alter_isr import AlterIsrRequest, AlterIsrRequestPartitionData, AlterIsrRequestTopicData, AlterIsrResponse
from pykafka_classic.protocol.schema import Message
from tests.fakes.znode_tree import Change
from tests.unit.controller.cluster import ControlCluster, Sent, answer_with, summary
from zk_schema import configs, partition_state, preferred_replica_election, reassign_partitions

LOGGERS = ("kafka.controller", "state.change.logger")
NOT_SHOWN = re.compile(r"/config/|/brokers/ids/\d+$|/feature$|/controller_epoch$")  # of `zk` lines: what a story is rarely about


class _LogLines(logging.Handler):
    def __init__(self, emit: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self._emit = emit

    def emit(self, record: logging.LogRecord) -> None:
        level = "" if record.levelno == logging.INFO else f"{record.levelname}: "
        self._emit(f"{level}{record.getMessage()}")


@contextmanager
def _listening(emit: Callable[[str], None]) -> Iterator[None]:
    handler = _LogLines(emit)
    loggers = [logging.getLogger(name) for name in LOGGERS]
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


def partition_of(text: str) -> TopicPartition:
    """`flights-0`."""
    topic, _, index = text.rpartition("-")
    return TopicPartition(topic, int(index))


def ids_of(text: str) -> tuple[int, ...]:
    """`1,2`; `none` is no id."""
    return () if text == "none" else tuple(map(int, text.split(",")))


class Story:
    """One cluster, and the lines about it."""

    def __init__(self) -> None:
        self.cluster = ControlCluster({"auto.leader.rebalance.enable": "false"})
        self.lines: list[str] = []
        self.shown = {"zk", "send", "answer"}
        self.sessions: dict[int, str] = {0: "a tool"}
        self.paused: dict[int, int] = {}
        self._changes_told = len(self.cluster.server.log)
        self._requests_told = 0
        self._sent_lines: list[tuple[str, list[int]]] = []

    def run(self, text: str) -> str:
        """The same transcript with what really happens."""
        written: list[str] = []
        with _listening(self._log):
            for line in text.splitlines():
                if line.startswith("> "):
                    written += [line, *self._command(line[2:])]
                elif line.startswith("#") or not line:
                    written.append(line)
        return "\n".join(_without_double_blanks(written)).rstrip() + "\n"

    def _command(self, line: str) -> list[str]:
        name, *arguments = line.split()
        getattr(self, f"do_{name.replace('-', '_')}")(*arguments)
        self._settle()
        lines, self.lines = self.lines, []
        return [*lines, ""] if lines else []

    # What happened

    def _say(self, kind: str, text: str) -> None:
        if kind in self.shown:
            self.lines.append(f"{kind:<6} {text}")

    def _log(self, text: str) -> None:
        self._tell()
        self._say("log", text)

    def _settle(self) -> None:
        """Let everything happen, one thing at a time, telling of each."""
        self.cluster.server.deliver()
        self._tell()
        while self.cluster.network.deliver():
            self.cluster.server.deliver()
            self._tell()
        self._flush_sent()

    def _tell(self) -> None:
        for change in self.cluster.server.log[self._changes_told :]:
            if change.event != "check" and (change.closed or not NOT_SHOWN.search(change.path)):
                self._flush_sent()
                self._say("zk", self._change(change))
        self._changes_told = len(self.cluster.server.log)
        for sent in self.cluster.network.sent[self._requests_told :]:
            self._collect(sent)
        self._requests_told = len(self.cluster.network.sent)

    def _collect(self, sent: Sent) -> None:
        name, _, what = summary(sent).partition(f" to {sent.broker_id}: ")
        for line, broker_ids in self._sent_lines:
            if line == f"{name}: {what}" and sent.broker_id not in broker_ids:
                broker_ids.append(sent.broker_id)
                return
        self._sent_lines.append((f"{name}: {what}", [sent.broker_id]))

    def _flush_sent(self) -> None:
        for line, broker_ids in self._sent_lines:
            name, _, what = line.partition(": ")
            self._say("send", f"{name} to {','.join(map(str, sorted(broker_ids)))}: {what}")
        self._sent_lines = []

    def _change(self, change: Change) -> str:
        writer = self.sessions.get(change.session) or self._writer(change.session)
        fenced = " (fenced)" if any(other.zxid == change.zxid and other.event == "check" for other in self.cluster.server.log) else ""
        verb = {"create": "creates", "change": "sets", "delete": "deletes"}[change.event]
        if change.closed:
            return f"{change.path} vanishes with the session of {writer}"
        return f"{writer} {verb} {change.path}{_value(change)}{fenced}"

    def _writer(self, session: int) -> str:
        for node in self.cluster.nodes.values():
            if node.zk.session_id:
                self.sessions[node.zk.session_id] = f"broker {node.broker_id}"
        return self.sessions.get(session, "somebody")

    # Commands about processes

    def do_show(self, *kinds: str) -> None:
        """Which kinds of lines to show from here on."""
        self.shown = {*kinds, "answer"}

    def do_config(self, *settings: str) -> None:
        """Broker configs, before any broker starts."""
        self.cluster.properties |= dict(setting.split("=", 1) for setting in settings)

    def do_start(self, *broker_ids: str) -> None:
        """Brokers start, one after the other."""
        for broker_id in map(int, broker_ids):
            self.cluster.start(broker_id, settle=False)
            self._writer(0)
            self._settle()

    def do_start_at_once(self, *broker_ids: str) -> None:
        """Brokers start; each asks who is controller before any answer has come."""
        self.cluster.server.held = True
        for broker_id in map(int, broker_ids):
            self.cluster.start(broker_id, settle=False)
        self._writer(0)
        self.cluster.server.held = False

    def do_kill(self, broker_id: str) -> None:
        """A process dies, and its session with it (after its time-out)."""
        self._writer(0)
        self.cluster.server.close_session(self.cluster.kill(int(broker_id), expire=False))

    def do_kill_but_session_lives(self, broker_id: str) -> None:
        """A process dies; ZooKeeper does not know yet."""
        self._writer(0)
        self.paused[int(broker_id)] = self.cluster.kill(int(broker_id), expire=False)

    def do_session_times_out(self, broker_id: str) -> None:
        """The session of a process killed before ends."""
        self.cluster.server.close_session(self.paused.pop(int(broker_id)))

    def do_disconnect(self, broker_id: str) -> None:
        """The connection of a broker to ZooKeeper breaks."""
        self.cluster.nodes[int(broker_id)].zk.disconnect()

    def do_reconnect(self, broker_id: str) -> None:
        """It stands again."""
        self.cluster.nodes[int(broker_id)].zk.reconnect()

    def do_session_expires(self, broker_id: str) -> None:
        """ZooKeeper drops the session of a broker that lives; it gets a new one."""
        self._writer(0)
        self.cluster.nodes[int(broker_id)].zk.expire()
        self._writer(0)

    def do_wait(self, seconds: str, unit: str) -> None:
        """Time passes."""
        assert unit == "s"
        self.cluster.clock.advance(float(seconds) * 1000)

    def do_unreachable(self, broker_id: str) -> None:
        """The controller's requests do not reach this broker, though it lives."""
        self.cluster.network.down.add(int(broker_id))

    def do_reachable(self, broker_id: str) -> None:
        """They do again."""
        self.cluster.network.down.discard(int(broker_id))

    def do_disk_fails(self, broker_id: str, *partitions: str) -> None:
        """A broker loses the disk on which it has these partitions, and says so in ZooKeeper."""
        lost = set(map(partition_of, partitions))

        def answer(addressee: int, request: Message, version: int) -> Message:
            def error(partition: TopicPartition) -> int:
                return ErrorCode.KAFKA_STORAGE_ERROR if addressee == int(broker_id) and partition in lost else ErrorCode.NONE

            return answer_with(request, version, error)

        self.cluster.network.answer = answer
        self.cluster.server.put("/log_dir_event_notification/log_dir_event_0000000000", b'{"version":1,"broker":%d,"event":1}' % int(broker_id))

    # Commands about the office

    def do_operator_deletes_controller_node_unheard_by(self, broker_id: str) -> None:
        """/controller goes while one broker hears nothing of it: it believes in its office still."""
        self._writer(0)
        deaf = self.cluster.nodes[int(broker_id)].zk
        self.cluster.server.held = True
        self.cluster.server.remove("/controller")
        others = [node.zk for node in self.cluster.nodes.values() if node.zk is not deaf]
        while any(zk.receive_one() or zk.process_one() for zk in others):
            pass
        deaf._incoming.clear()  # ZooKeeper's own rules do not let this happen; a long pause looks like it
        self.cluster.server.held = False

    def do_who_is_controller(self) -> None:
        """What each broker believes."""
        for broker_id, node in sorted(self.cluster.nodes.items()):
            controller = node.controller
            active = f"is the controller, epoch {controller.epoch}" if controller.is_active else f"believes that broker {controller.active_controller_id} is"
            self._say("answer", f"broker {broker_id} {active}")

    # Commands about topics

    def do_create_topic(self, topic: str, *arguments: str) -> None:
        """`create-topic t 1,2 2,3 [key=value]`: a tool writes the topic's znode."""
        assignment = [ids_of(argument) for argument in arguments if "=" not in argument]
        config = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
        self.cluster.server.held = True
        self.cluster.create_topic(topic, assignment, topic_config=config)
        self.cluster.server.held = False

    def do_delete_topic(self, topic: str) -> None:
        """A tool marks the topic."""
        self.cluster.server.put(f"/admin/delete_topics/{topic}")

    def do_describe(self, *topics: str) -> None:
        """What ZooKeeper says about topics."""
        for topic in topics:
            if not self.cluster.server.exists(f"/brokers/topics/{topic}"):
                self._say("answer", f"there is no topic {topic}")
                continue
            for index, assignment in sorted(self.cluster.topic(topic).assignment.items()):
                state = self.cluster.state(topic, index)
                replicas, isr = (",".join(map(str, ids)) for ids in (assignment.replicas, state.isr))
                self._say("answer", f"{topic}-{index}: leader {state.leader}, epoch {state.leader_epoch}, isr {isr}, replicas {replicas}")

    def do_topic_config(self, topic: str, setting: str) -> None:
        """A topic's config changes, and the brokers hear of it."""
        key, value = setting.split("=", 1)
        self.cluster.server.put(configs.topic_path(topic), configs.encode({key: value}))
        self.cluster.controller.enable_topic_unclean_leader_election(topic)

    # Requests to the controller

    def _answered(self, answer: Promise[object], tell: Callable[[object], str]) -> None:
        def settled(promise: Promise[object]) -> None:
            self._tell()
            self._flush_sent()
            error = promise.error()
            self._say("answer", ErrorCode(error.code).name if isinstance(error, KafkaError) else tell(promise.result()))

        answer.when_settled(settled)

    def do_alter_isr(self, partition: str, isr: str) -> None:
        """The leader reports who is in sync."""
        found = partition_of(partition)
        controller = self.cluster.controller
        current = controller.context.leadership[found]
        epoch = controller.context.broker_epoch(current.leader)
        data = AlterIsrRequestPartitionData(found.partition, current.leader_epoch, list(ids_of(isr)), current.zk_version)
        request = AlterIsrRequest(current.leader, -1 if epoch is None else epoch, [AlterIsrRequestTopicData(found.topic, [data])])
        self._answered(controller.alter_isr(request), _alter_isr)  # type: ignore[arg-type]

    def do_move(self, partition: str, replicas: str) -> None:
        """AlterPartitionReassignments."""
        answer = self.cluster.controller.alter_partition_reassignments({partition_of(partition): ids_of(replicas)})
        self._answered(answer, _partition_errors)  # type: ignore[arg-type]

    def do_cancel_move(self, partition: str) -> None:
        """AlterPartitionReassignments without replicas."""
        answer = self.cluster.controller.alter_partition_reassignments({partition_of(partition): None})
        self._answered(answer, _partition_errors)  # type: ignore[arg-type]

    def do_move_by_znode(self, *moves: str) -> None:
        """`move-by-znode t-0:1,2 t-1:2,3`: as an old tool asks."""
        wanted = {partition_of(move.partition(":")[0]): ids_of(move.partition(":")[2]) for move in moves}
        self.cluster.server.put(reassign_partitions.PATH, reassign_partitions.encode(wanted))

    def do_elect(self, election_type: str, *partitions: str) -> None:
        """ElectLeaders, type `preferred` or `unclean`."""
        answer = self.cluster.controller.elect_leaders(map(partition_of, partitions), ElectionType[election_type.upper()])
        self._answered(answer, _election_results)  # type: ignore[arg-type]

    def do_elect_by_znode(self, *partitions: str) -> None:
        """As an old tool asks for preferred leaders."""
        self.cluster.server.put(preferred_replica_election.PATH, preferred_replica_election.encode(map(partition_of, partitions)))

    def do_leaves(self, broker_id: str, *asked: str) -> None:
        """ControlledShutdown; `leaves 2 asking 1` asks broker 1 whether it is controller or not."""
        controller = self.cluster.nodes[int(asked[1])].controller if asked else self.cluster.controller
        self._answered(controller.controlled_shutdown(int(broker_id), -1), _remaining)  # type: ignore[arg-type]


def _value(change: Change) -> str:
    if change.data is None:
        return ""
    if partition_state.partition_of(change.path):
        stored = partition_state.decode(change.data)
        isr = ",".join(map(str, stored.isr))
        return f": leader {stored.leader}, epoch {stored.leader_epoch}, isr {isr}, controller epoch {stored.controller_epoch}, version {change.version}"
    text = re.sub(r'"topic_id":"[^"]*",|,?"timestamp":"[0-9]+"', "", change.data.decode())
    return f" = {text}"


def _alter_isr(response: AlterIsrResponse) -> str:
    if response.error_code:
        return ErrorCode(response.error_code).name
    [topic] = response.topics
    [partition] = topic.partitions
    error = ErrorCode(partition.error_code)
    return error.name if error is not ErrorCode.NONE else f"isr {','.join(map(str, partition.isr))}, version {partition.current_isr_version}"


def _partition_errors(results: dict[TopicPartition, ApiError]) -> str:
    return ", ".join(f"{partition}: {result.error.name}" + (f" ({result.message})" if result.message else "") for partition, result in results.items())


def _election_results(results: dict[TopicPartition, ElectionResult]) -> str:
    return ", ".join(
        f"{partition}: {result.error.error.name if result.leader is None else f'leader {result.leader}'}" for partition, result in sorted(results.items())
    )


def _remaining(partitions: frozenset[TopicPartition]) -> str:
    return "still leads " + ", ".join(map(str, sorted(partitions))) if partitions else "leads nothing any more: it may stop"


def _without_double_blanks(lines: list[str]) -> Iterator[str]:
    before = "x"
    for line in lines:
        if line or before:
            yield line
        before = line
