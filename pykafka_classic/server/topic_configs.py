"""Configs: read from `/config` at start, and again whenever `/config/changes` says that one has changed: of topics, of brokers, and quotas.

A notification is only a hint: the config node is read again. A read that was not answered, because the session ended, never counts as "no overrides": that
would let retention delete what an override keeps. Every broker handles the notifications in the order of their numbers, again after each new
session, and deletes those older than 15 minutes (facts/coordination.md 1.7).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from pykafka_classic.common.clock import Clock
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.zookeeper import Delete, GetChildren, GetData, SessionEvent, WatchEvent, ZooKeeper
from pykafka_classic.server.zk_operations import SessionEnded, read_through_sessions
from zk_schema import config_changes, configs
from zk_schema.configs import ConfigEntity
from zk_schema.errors import MalformedZNode

log = logging.getLogger("kafka.server.DynamicConfigManager")

CHANGE_EXPIRATION_MS = 15 * 60 * 1000


def _nothing(*_: object) -> None:
    """Until somebody wants to be told."""


class TopicConfigs:
    """Follows the overrides of all topics, and what is configured for other entities.

    `on_change` hears of changes only, `apply` also of what is loaded; `on_entity` hears of brokers, clients, users and addresses.

    Invariant: `_last_executed` is the number of the last notification that was handled, -1 before the first.
    """

    def __init__(self, zk: ZooKeeper, clock: Clock, apply: Callable[[str, Mapping[str, str]], None]) -> None:
        self._zk = zk
        self._clock = clock
        self._apply = apply  # topic, overrides: all of them; a missing key is back at its default
        self.on_change: Callable[[str, Mapping[str, str]], None] = _nothing
        self.on_entity: Callable[[ConfigEntity, Mapping[str, str]], None] = _nothing
        self._last_executed = -1
        self._scanning: Promise[None] | None = None
        self._scan_again = False
        zk.add_watch_listener(self._on_watch)
        zk.add_session_listener(self._on_session)

    async def load_all(self) -> dict[str, dict[str, str]]:
        """Overrides of every topic that has a config node, for the logs to start with."""
        [listed] = await read_through_sessions(self._zk, [GetChildren(configs.type_path(configs.TOPICS))])
        names = sorted(listed.children)
        found = await read_through_sessions(self._zk, [GetData(configs.topic_path(name)) for name in names])
        return {name: self._decode(name, result.data) for name, result in zip(names, found, strict=True) if result.ok}

    async def load(self, topics: Sequence[str]) -> None:
        """Apply the overrides of these topics, before their first logs are made: a new topic's config node has no notification."""
        found = await read_through_sessions(self._zk, [GetData(configs.topic_path(name)) for name in topics])
        for name, result in zip(topics, found, strict=True):
            self._apply(name, self._decode(name, result.data) if result.ok else {})

    def scan(self) -> None:
        """Handle new notifications; a scan under way is followed by another one."""
        if self._scanning is not None:
            self._scan_again = True
            return
        self._scanning = spawn(self._scan())
        self._scanning.when_settled(self._scanned)

    def _scanned(self, outcome: Promise[None]) -> None:
        error = outcome.error()
        if isinstance(error, SessionEnded):
            log.info("Handling config change notifications goes on in the next session")
        elif error is not None:
            log.error("Handling config change notifications failed", exc_info=error)
        self._scanning = None
        if self._scan_again:
            self._scan_again = False
            self.scan()

    async def _scan(self) -> None:
        [listed] = await read_through_sessions(self._zk, [GetChildren(config_changes.PATH, watch=True)])
        numbered = sorted(_numbered(listed.children))
        results = await read_through_sessions(self._zk, [GetData(f"{config_changes.PATH}/{name}") for _, name in numbered])
        outdated = []
        for (number, name), result in zip(numbered, results, strict=True):
            if result.ok and number > self._last_executed:
                await self._handle(name, result.data or b"")
                self._last_executed = number
            if result.stat is not None and self._clock.now_ms() - result.stat.ctime_ms > CHANGE_EXPIRATION_MS:
                outdated.append(Delete(f"{config_changes.PATH}/{name}"))
        if outdated:
            await self._zk.submit(outdated)  # every broker tries; all but one find nothing to delete

    async def _handle(self, name: str, data: bytes) -> None:
        try:
            change = config_changes.decode(data)
        except MalformedZNode as error:
            log.error("The notification %s can't be read: %s", name, error)
            return
        if change.entity_type != configs.TOPICS:
            if change.entity is None:
                log.error("The notification %s names no entity: %s", name, change.entity_path)
            else:
                await self._reload(change.entity)
            return
        [result] = await read_through_sessions(self._zk, [GetData(configs.topic_path(change.entity_name))])
        overrides = self._decode(change.entity_name, result.data) if result.ok else {}
        log.info("Processing override for entityPath: topics/%s with config: %s", change.entity_name, overrides)
        self._apply(change.entity_name, overrides)
        self.on_change(change.entity_name, overrides)

    async def reload_broker(self, broker_id: int) -> None:
        """Tell `on_entity` what is stored for all brokers, and for this one."""
        for name in (None, str(broker_id)):
            await self._reload(ConfigEntity.of(configs.BROKERS, name))

    async def _reload(self, entity: ConfigEntity) -> None:
        [result] = await read_through_sessions(self._zk, [GetData(entity.path)])
        try:
            stored = configs.decode(result.data) if result.ok else {}
        except MalformedZNode as error:
            log.error("The config of %s can't be read and counts as empty: %s", entity.entity_path, error)
            stored = {}
        # Values stay out of the log: among them may be passwords and SCRAM credentials.
        log.info("Processing override for entityPath: %s with keys: %s", entity.entity_path, ", ".join(stored))
        self.on_entity(entity, stored)

    def _decode(self, topic: str, data: bytes | None) -> dict[str, str]:
        try:
            return dict(configs.decode(data or b""))
        except MalformedZNode as error:
            log.error("The config of topic %s can't be read and counts as empty: %s", topic, error)
            return {}

    def _on_watch(self, event: WatchEvent) -> None:
        if event.path == config_changes.PATH:
            self.scan()

    def _on_session(self, event: SessionEvent) -> None:
        if event is SessionEvent.RENEWED:
            self.scan()


def _numbered(children: Sequence[str]) -> list[tuple[int, str]]:
    """Notifications by number; what else lies there is somebody's mistake, and must not keep the others from being handled."""
    numbered = []
    for name in children:
        try:
            numbered.append((config_changes.sequence(name), name))
        except ValueError:
            log.warning("%s/%s is no config change notification: skipped", config_changes.PATH, name)
    return numbered
