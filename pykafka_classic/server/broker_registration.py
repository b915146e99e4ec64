"""`/brokers/ids/N`: the ephemeral znode that says "broker N lives", and the broker epoch that its creation gives.

The znode is made by a multi: create it empty, then set its data expecting version 0; the czxid of the creation is the broker epoch (facts/coordination.md
1.4), so a later change of listeners may only ever set the data. What an existing node means (2.2):

* it belongs to the current session: our own create, its reply lost; take it;
* it belongs to the session that this process had before: a leftover (ZOOKEEPER-2985); delete it and create again;
* it belongs to another session but names our very endpoints: this broker was killed and came back before its old session ended. Kafka 2.8 dies here; ours
  says so and waits until ZooKeeper drops the old session;
* anything else: another broker runs under our id; starting would be a mistake.
"""

from __future__ import annotations

import logging

from pykafka_classic.common import broker_events
from pykafka_classic.common.clock import Clock
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.zookeeper import (
    Code,
    Create,
    Delete,
    Exists,
    GetData,
    Multi,
    Result,
    SessionEvent,
    SetData,
    WatchEvent,
    WatchKind,
    ZooKeeper,
    session_name,
)
from pykafka_classic.server.zk_operations import raise_if_session_ended, submit_one, through_sessions
from zk_schema import broker_ids
from zk_schema.broker_ids import BrokerIdZNode

log = logging.getLogger("kafka.zk.KafkaZkClient")


class RegistrationFailed(Exception):
    """This broker can't be registered; the text says why and what to do."""


class BrokerRegistration:
    """Registers one broker, again after each session expiry.

    `epoch`: czxid of the current registration, -1 before the first.
    """

    def __init__(self, broker_id: int, zk: ZooKeeper, clock: Clock, *, session_timeout_ms: int) -> None:
        self.epoch = -1
        self._broker_id = broker_id
        self._path = broker_ids.path(broker_id)
        self._zk = zk
        self._clock = clock
        self._session_timeout_ms = session_timeout_ms
        self._session_id = 0  # the session of the last registration
        self._deletion: Promise[bool] | None = None
        zk.add_watch_listener(self._on_watch)
        zk.add_session_listener(self._on_session)

    async def register(self, info: BrokerIdZNode) -> int:
        """Create the znode and return the new broker epoch; raises RegistrationFailed.

        Where the session ends before ZooKeeper has answered, the next one is registered.
        """
        return await through_sessions(lambda: self._register(info), "its registration")

    async def _register(self, info: BrokerIdZNode) -> int:
        data = broker_ids.encode(info)
        waited_ms = 0.0
        while True:
            [result] = await self._zk.submit([Multi((Create(self._path, None, ephemeral=True), SetData(self._path, data, 0)))])
            if result.code is Code.NODE_EXISTS:
                result = await self._resolve_conflict(info, data)
            if result.ok:
                return self._registered(await submit_one(self._zk, Exists(self._path)))
            if result.code is Code.NODE_EXISTS:
                waited_ms += await self._wait_for_old_session(waited_ms)
            elif raise_if_session_ended(result).code is not Code.NO_NODE:  # NO_NODE: the node vanished between two looks; try again
                raise RegistrationFailed(f"Registering broker {self._broker_id} at {self._path} failed: ZooKeeper answered {result.code.name}")

    async def update(self, info: BrokerIdZNode) -> None:
        """Change the data (listeners), keeping node and epoch."""
        await submit_one(self._zk, SetData(self._path, broker_ids.encode(info)))

    def _registered(self, result: Result) -> int:
        raise_if_session_ended(result)
        if not result.ok or result.stat is None:
            raise RegistrationFailed(f"{self._path} vanished right after its creation ({result.code.name})")
        self.epoch, self._session_id = result.stat.czxid, result.stat.ephemeral_owner
        log.info("Registered broker %d at path %s with czxid (broker epoch): %d", self._broker_id, self._path, self.epoch)
        broker_events.emit(broker_events.BROKER_REGISTERED, session=session_name(self._session_id), broker_epoch=self.epoch)
        return self.epoch

    async def _resolve_conflict(self, info: BrokerIdZNode, data: bytes) -> Result:
        """OK: the node is ours. NO_NODE: try to create again. NODE_EXISTS: an old session of this broker holds it still."""
        found = await submit_one(self._zk, GetData(self._path))
        if found.stat is None:
            return found
        owner = found.stat.ephemeral_owner
        if owner == self._zk.session_id:
            return await submit_one(self._zk, SetData(self._path, data))
        if owner == self._session_id:
            log.info("Deleting %s, left over from this broker's previous session 0x%x", self._path, owner)
            deleted = await submit_one(self._zk, Delete(self._path, found.stat.version))
            return Result(Code.NO_NODE) if deleted.ok else deleted
        if found.data and broker_ids.decode(found.data).endpoints == info.endpoints:
            return Result(Code.NODE_EXISTS)
        raise RegistrationFailed(
            f"Broker id {self._broker_id} is taken: {self._path} belongs to session 0x{owner:x} of another broker"
            f" ({_endpoints(found)}). Stop that broker or give this one another broker.id."
        )

    async def _wait_for_old_session(self, waited_ms: float) -> float:
        """Wait until the znode is deleted; the time that took, in ms."""
        limit_ms = 2 * self._session_timeout_ms + 5000  # ZooKeeper rounds a session's end up to its ticks, and may itself have been away
        if waited_ms >= limit_ms:
            raise RegistrationFailed(
                f"{self._path} is still held by another session after {waited_ms / 1000:.0f} s: is a second broker running with this broker.id?"
            )
        log.info(
            "Broker %d was here before and its old session has not ended yet: waiting until ZooKeeper removes %s (zookeeper.session.timeout.ms is %d)",
            self._broker_id,
            self._path,
            self._session_timeout_ms,
        )
        started_ms = self._clock.monotonic_ms()
        self._deletion = Promise()
        deletion = self._deletion
        if raise_if_session_ended(await submit_one(self._zk, Exists(self._path, watch=True))).code is not Code.NO_NODE:
            timer = self._clock.call_later(limit_ms - waited_ms, lambda: None if deletion.settled else deletion.resolve(False))
            await deletion
            timer.cancel()
        self._deletion = None
        return max(1.0, self._clock.monotonic_ms() - started_ms)

    def _on_watch(self, event: WatchEvent) -> None:
        if event.path == self._path and event.kind is WatchKind.DELETED and self._deletion is not None and not self._deletion.settled:
            self._deletion.resolve(True)

    def _on_session(self, event: SessionEvent) -> None:
        if event is SessionEvent.EXPIRED and self._deletion is not None and not self._deletion.settled:
            self._deletion.resolve(False)  # the watch went with the session: look again


def _endpoints(found: Result) -> str:
    return ", ".join(str(endpoint) for endpoint in broker_ids.decode(found.data).endpoints) if found.data else "no endpoints yet"
