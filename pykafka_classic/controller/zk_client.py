"""The controller's way into ZooKeeper: reads in bulk, writes behind a fence.

The fence. Whoever becomes controller raises /controller_epoch in the same transaction that creates /controller. From then on each write of a controller
travels as

    multi [ check(/controller_epoch, the version that I left it at), the write itself ]

so a controller that was deposed without noticing (a long pause, a lost connection) cannot write: the check fails, `ControllerMoved` is raised, and it resigns.
Source: facts/coordination.md 1.3 and 3.1; Kafka's zk/KafkaZkClient.scala (registerControllerAndIncrementControllerEpoch, the controller epoch check).

Differs from Kafka:
* after the end of the session was announced every call raises `SessionExpired`, even where an answer had come; no event handler outlives its session;
* many writes at once share transactions (one check, `WRITES_PER_TRANSACTION` writes): a broker's death then costs a few round trips for thousands of
  partitions. If one write of a transaction fails, all of them are done again, each in a transaction of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from pykafka_classic.common.zookeeper import Check, Code, Create, Delete, Exists, GetData, Multi, Request, Result, SessionExpired, SetData, ZooKeeper
from pykafka_classic.controller.controller_context import ControllerContext
from zk_schema import controller as controller_znode
from zk_schema import controller_epoch as controller_epoch_znode
from zk_schema.controller import ControllerZNode

log = logging.getLogger("kafka.zk.KafkaZkClient")

UNGROUPED_WRITES_MAX: Final = 50  # up to here each write is a transaction of its own, as in Kafka
WRITES_PER_TRANSACTION: Final = 25

INITIAL_CONTROLLER_EPOCH: Final = 0
INITIAL_CONTROLLER_EPOCH_ZK_VERSION: Final = 0


class ControllerMoved(Exception):
    """Another broker is the controller, or has been since: this one may not write any more."""


class KeeperError(Exception):
    """ZooKeeper gave an answer that the caller has no use for."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"ZooKeeper answered {result.code.name} for {result.path}")
        self.code = result.code


def expect(result: Result, *also: Code) -> Result:
    """`result` if its code is OK or one of `also`; raises KeeperError otherwise."""
    if result.ok or result.code in also:
        return result
    raise KeeperError(result)


class ControllerZkClient:
    """One broker's client. The fence stands in the context: `epoch_zk_version`, set by a won election."""

    def __init__(self, zk: ZooKeeper, context: ControllerContext) -> None:
        self._zk = zk
        self._context = context
        self._session_has_expired = False

    # Sessions

    def session_expired(self) -> None:
        """The session has ended: refuse all requests until `session_acknowledged`."""
        self._session_has_expired = True

    def session_acknowledged(self) -> None:
        """The controller has resigned; requests of the next session may begin."""
        self._session_has_expired = False

    def _refuse_if_expired(self) -> None:
        if self._session_has_expired:
            raise SessionExpired("the session under which this controller was elected has ended")

    # Requests

    async def submit(self, requests: Sequence[Request]) -> list[Result]:
        """All answers, in order; raises SessionExpired. Other codes are the caller's matter."""
        if not requests:
            return []
        self._refuse_if_expired()
        results = await self._zk.submit(requests)
        self._refuse_if_expired()
        if any(result.code is Code.SESSION_EXPIRED for result in results):
            raise SessionExpired("the session ended before ZooKeeper answered")
        return results

    async def get(self, path: str, *, watch: bool = False) -> Result:
        """One node's data: OK or NO_NODE; raises KeeperError for any other answer."""
        [result] = await self.submit([GetData(path, watch)])
        return expect(result, Code.NO_NODE)

    async def watch_existence(self, path: str) -> bool:
        """Watch a node for its creation, change or deletion. Returns whether it is there."""
        [result] = await self.submit([Exists(path, watch=True)])
        return expect(result, Code.NO_NODE).ok

    async def fenced(self, writes: Sequence[Create | SetData | Delete], epoch_zk_version: int | None = None) -> list[Result]:
        """Each write behind a check of the controller epoch (by default the present one), pipelined.

        The answers are those of the writes. Raises ControllerMoved.
        """
        check = Check(controller_epoch_znode.PATH, self._context.epoch_zk_version if epoch_zk_version is None else epoch_zk_version)
        size = 1 if len(writes) <= UNGROUPED_WRITES_MAX else WRITES_PER_TRANSACTION
        groups = [writes[start : start + size] for start in range(0, len(writes), size)]
        results: list[Result | None] = []
        for group, answer in zip(groups, await self.submit([Multi((check, *group)) for group in groups]), strict=True):
            _raise_if_deposed(answer, check.version)
            if answer.ok:
                results += answer.results[1:]
            else:
                results += [None] * len(group) if len(group) > 1 else [Result(answer.code, group[0].path)]
        # Of a group that failed nothing was written: each of its writes gets a transaction, and an answer, of its own.
        single = [write for write, result in zip(writes, results, strict=True) if result is None]
        again = iter(await self._fenced_singly(single, check))
        return [next(again) if result is None else result for result in results]

    async def _fenced_singly(self, writes: Sequence[Create | SetData | Delete], check: Check) -> list[Result]:
        answers = await self.submit([Multi((check, write)) for write in writes])
        for answer in answers:
            _raise_if_deposed(answer, check.version)
        return [answer.results[1] if answer.ok else Result(answer.code, write.path) for answer, write in zip(answers, writes, strict=True)]

    async def delete_fenced(self, paths: Sequence[str]) -> None:
        """Delete nodes whatever their version; those that are gone already are no failure."""
        for result in await self.fenced([Delete(path) for path in paths]):
            expect(result, Code.NO_NODE)

    # Election

    async def controller_id(self, *, watch: bool = False) -> int | None:
        """The active controller's broker id; None: there is none. `watch`: tell when that changes, also when there is none now."""
        reads: list[Request] = [GetData(controller_znode.PATH)]
        if watch:
            reads.insert(0, Exists(controller_znode.PATH, watch=True))
        result = expect((await self.submit(reads))[-1], Code.NO_NODE)
        return controller_znode.decode(result.data).broker_id if result.ok else None

    async def register_controller_and_increment_epoch(self, broker_id: int, *, now_ms: int) -> tuple[int, int]:
        """Try to become controller. Returns the new epoch and the version of /controller_epoch, the fence; raises ControllerMoved if another one was faster."""
        current_epoch, expected_version = await self._controller_epoch()
        epoch = current_epoch + 1
        create = Create(controller_znode.PATH, controller_znode.encode(ControllerZNode(broker_id=broker_id, timestamp_ms=now_ms)), ephemeral=True)
        increment = SetData(controller_epoch_znode.PATH, controller_epoch_znode.encode(epoch), expected_version)
        [result] = await self.submit([Multi((create, increment))])
        if result.ok:
            stat = result.results[1].stat
            return epoch, expected_version + 1 if stat is None else stat.version
        if result.code in (Code.NODE_EXISTS, Code.BAD_VERSION):
            return epoch, await self._version_if_mine(broker_id, epoch)
        raise KeeperError(result)

    async def _controller_epoch(self) -> tuple[int, int]:
        """The stored epoch and its node's version; the node is created where it is missing, as in a cluster's first election."""
        result = await self.get(controller_epoch_znode.PATH)
        if not result.ok:
            [created] = await self.submit([Create(controller_epoch_znode.PATH, controller_epoch_znode.encode(INITIAL_CONTROLLER_EPOCH))])
            if created.ok:
                log.info("Successfully created %s with initial epoch %d", controller_epoch_znode.PATH, INITIAL_CONTROLLER_EPOCH)
                return INITIAL_CONTROLLER_EPOCH, INITIAL_CONTROLLER_EPOCH_ZK_VERSION
            expect(created, Code.NODE_EXISTS)
            result = expect(await self.get(controller_epoch_znode.PATH))
        assert result.stat is not None, "an answer with data has a stat"
        return controller_epoch_znode.decode(result.data), result.stat.version

    async def _version_if_mine(self, broker_id: int, epoch: int) -> int:
        """After NODE_EXISTS or BAD_VERSION: the transaction may have been done and its answer lost, in which case both nodes say so."""
        owner, stored = await self.submit([GetData(controller_znode.PATH), GetData(controller_epoch_znode.PATH)])
        if not owner.ok or not stored.ok or stored.stat is None:
            raise ControllerMoved(f"{controller_znode.PATH} went away while checking who won the election")
        if controller_znode.decode(owner.data).broker_id != broker_id or controller_epoch_znode.decode(stored.data) != epoch:
            raise ControllerMoved("another broker won the election")
        return stored.stat.version

    async def delete_controller(self, epoch_zk_version: int) -> None:
        """Give up the office that was won at this version of /controller_epoch, so that every broker tries to win it."""
        [result] = await self.fenced([Delete(controller_znode.PATH)], epoch_zk_version)
        expect(result, Code.NO_NODE)


def _raise_if_deposed(answer: Result, expected_version: int) -> None:
    if not answer.ok and answer.results and answer.results[0].code in (Code.BAD_VERSION, Code.NO_NODE):
        raise ControllerMoved(f"{controller_epoch_znode.PATH} is no longer at version {expected_version}")
