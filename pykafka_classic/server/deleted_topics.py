"""Topics that were deleted while this broker had no session: nobody tells it of them any more.

The controller announces a deletion once, to the brokers that are registered then (leader -2 in UpdateMetadata). A broker whose session has ended keeps its
metadata cache, for it goes on serving; if it has no replica of the topic, the deletion does not wait for it. So after each new registration this broker
compares its cache with the list of topics in ZooKeeper, and forgets those that are gone.

When? After the controller has taken note of the registration, which its next UpdateMetadata shows: what is deleted from then on is announced to us. And where
that came before our own registration was known here, right at once.

Differs from Kafka: 2.8 keeps such topics in its cache until it is restarted, and answers Metadata with them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence

from pykafka_classic.common.promise import spawn
from pykafka_classic.common.zookeeper import GetChildren, ZooKeeper
from pykafka_classic.server.metadata_cache import MetadataCache
from pykafka_classic.server.zk_operations import SessionEnded, raise_unless, read_through_sessions
from zk_schema import topics

log = logging.getLogger("kafka.server.MetadataCache")


class DeletedTopics:
    """Compares cache and ZooKeeper after a registration.

    Invariant: `_suspects` has, for each comparison under way, the topics of which nothing was heard since ZooKeeper was asked.
    """

    def __init__(self, zk: ZooKeeper, metadata_cache: MetadataCache, forget: Callable[[Sequence[str]], None]) -> None:
        self._zk = zk
        self._metadata_cache = metadata_cache
        self._forget = forget
        self._due = False
        self._suspects: list[set[str]] = []

    def registered_again(self) -> None:
        """A new session holds /brokers/ids/N."""
        self._due = True
        self._compare()

    def metadata_updated(self, named: Iterable[str]) -> None:
        """The controller has told of these topics."""
        for suspects in self._suspects:
            suspects.difference_update(named)
        if self._due:
            self._due = False
            self._compare()

    def _compare(self) -> None:
        suspects = set(self._metadata_cache.all_topics())
        self._suspects.append(suspects)
        spawn(self._forget_missing(suspects)).when_settled(lambda _: self._compared(suspects))

    def _compared(self, suspects: set[str]) -> None:
        self._suspects = [each for each in self._suspects if each is not suspects]

    async def _forget_missing(self, suspects: set[str]) -> None:
        try:
            [listed] = await read_through_sessions(self._zk, [GetChildren(topics.PATH)])
        except SessionEnded:
            return  # the next registration compares again
        gone = sorted(suspects.difference(raise_unless(listed).children).intersection(self._metadata_cache.all_topics()))
        if gone:
            log.info("Forgetting topics that were deleted while this broker was not registered: %s", ", ".join(gone))
            self._forget(gone)
