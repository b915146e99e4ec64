"""Who saw what happen, and when: watches on ZooKeeper's nodes, and the lines that ZooKeeper and the brokers wrote.

Times are those of the observed: a node's own change time, the time in a log line. A node that vanishes leaves no time: there it is when the watch told us.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from pykafka_classic.common.zookeeper import Exists, GetChildren, GetData
from pykafka_classic.edges.blocking_zookeeper import BlockingZooKeeper
from zk_schema import broker_ids, controller, partition_state

LOOK_MS: Final = 100


@dataclass(frozen=True, slots=True, order=True)
class Sighting:
    """One line of the timeline."""

    time_ms: float
    who: str
    what: str


class ZooKeeperWitness:
    """Watches the brokers' nodes, the controller's and the states of a topic's partitions, in a thread with a session of its own."""

    def __init__(self, connect: str, topic: str, partitions: int) -> None:
        self.sightings: list[Sighting] = []
        self.states: dict[int, partition_state.TopicPartitionStateZNode] = {}
        self._connect = connect
        self._topic = topic
        self._partitions = range(partitions)
        self._brokers: frozenset[str] = frozenset()
        self._controller: int | None = None
        self._told = False  # the first look is no news
        self._stop = threading.Event()
        self._looked = threading.Event()
        self._thread = threading.Thread(target=self._run, name="zookeeper-witness", daemon=True)

    def start(self) -> None:
        """Begin, and return once all watches are set."""
        self._thread.start()
        self._looked.wait(30)

    def stop(self) -> None:
        """End the session."""
        self._stop.set()
        self._thread.join(10)

    def _run(self) -> None:
        with BlockingZooKeeper(self._connect) as zk:
            while not self._stop.is_set():
                self._look(zk)
                self._told = True
                self._looked.set()
                while not self._stop.is_set() and zk.next_event(seconds=LOOK_MS / 1000) is None:
                    pass

    def _look(self, zk: BlockingZooKeeper) -> None:
        """Read everything again, watches set: so nothing is missed between an event and the next look."""
        now = time.time() * 1000
        paths = [partition_state.path(self._topic, number) for number in self._partitions]
        brokers, _, at_controller = zk.submit(GetChildren(broker_ids.PATH, watch=True), Exists(controller.PATH, watch=True), GetData(controller.PATH))
        states = zk.submit(*(GetData(path, watch=True) for path in paths))
        self._see_brokers(frozenset(brokers.children), now)
        chosen = controller.decode(at_controller.data).broker_id if at_controller.data else None
        self._see_controller(chosen, float(at_controller.stat.mtime_ms) if at_controller.stat else now)
        for number, answer in zip(self._partitions, states, strict=True):
            if answer.data is not None and answer.stat is not None:
                self._see_state(number, partition_state.decode(answer.data), answer.stat.mtime_ms)

    def _see_brokers(self, brokers: frozenset[str], now: float) -> None:
        for broker in sorted(self._brokers - brokers):
            self._tell(now, f"/brokers/ids/{broker} is gone: it was ephemeral, and its session is over")
        for broker in sorted(brokers - self._brokers):
            self._tell(now, f"/brokers/ids/{broker} is there again")
        self._brokers = brokers

    def _see_controller(self, chosen: int | None, now: float) -> None:
        if chosen != self._controller:
            self._tell(now, "/controller is gone: the election is open" if chosen is None else f"/controller names broker {chosen}")
        self._controller = chosen

    def _see_state(self, number: int, state: partition_state.TopicPartitionStateZNode, now: float) -> None:
        before = self.states.get(number)
        if before is not None and before != state:
            self._tell(now, f"{self._topic}-{number}/state: {_change(before, state)}")
        self.states[number] = state

    def _tell(self, now: float, what: str) -> None:
        if self._told:
            self.sightings.append(Sighting(now, "ZooKeeper", what))


def _change(before: partition_state.TopicPartitionStateZNode, after: partition_state.TopicPartitionStateZNode) -> str:
    pairs = (("leader", before.leader, after.leader), ("leader epoch", before.leader_epoch, after.leader_epoch), ("ISR", before.isr, after.isr))
    return ", ".join(f"{name} {_listed(old)} -> {_listed(new)}" if old != new else f"{name} {_listed(new)}" for name, old, new in pairs)


def _listed(value: int | Sequence[int]) -> str:
    return str(value) if isinstance(value, int) else f"[{','.join(map(str, value))}]"


# ZooKeeper: 2026-11-21T09:16:15.055516212Z SessionTracker INFO Expiring session 0x1000, timeout of 6000ms exceeded
_EXPIRED: Final = re.compile(r"^(\S+)Z .*Expiring session (0x[0-9a-f]+), timeout of (\d+)ms exceeded", re.MULTILINE)

# Brokers: [2026-11-21 09:16:16,458] INFO [Controller id=0] Broker failure callback for 1 (kafka.controller.KafkaController)
_BROKER_LINE: Final = re.compile(r"^\[([^\]]+)\] [A-Z]+ (.*) \([\w.]+\)$", re.MULTILINE)

_NOTABLE: Final = re.compile(
    r"\[Controller id=\d+\] (?:Broker failure callback|New broker startup callback|\d+ successfully elected|Ready to serve)"
    r"|(?:Leader|Follower) \S+ starts at leader epoch|\[KafkaServer id=\d+\] (?:starting|started)|Loaded \d+ logs|ISR updated"
)


def expired_sessions(log: str) -> Iterator[Sighting]:
    """The sessions that ZooKeeper gave up, from its log."""
    for moment, session, timeout_ms in _EXPIRED.findall(log):
        time_ms = datetime.fromisoformat(moment[:26]).replace(tzinfo=UTC).timestamp() * 1000
        yield Sighting(time_ms, "ZooKeeper", f"session {session} expired: no heartbeat for {timeout_ms} ms")


def notable_lines(broker_id: int, log: str, wanted: Callable[[str], bool]) -> Iterator[Sighting]:
    """Those lines of a broker's log that belong in the timeline."""
    for moment, text in _BROKER_LINE.findall(log):
        if _NOTABLE.search(text) and wanted(text):
            yield Sighting(_local_ms(moment), f"broker {broker_id}", text.partition(" with high watermark")[0])


def _local_ms(moment: str) -> float:
    return datetime.strptime(moment, "%Y-%m-%d %H:%M:%S,%f").astimezone().timestamp() * 1000
