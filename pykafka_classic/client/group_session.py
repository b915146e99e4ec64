"""Requests that belong to one ZooKeeper session and die with it.

A member owns partitions in a session. Once the ensemble has dropped it, another may own them, so nothing that the member still has to say about them may
reach ZooKeeper: neither a release (it would delete the other's node) nor a commit (it would take the other's offset back). The adapter answers
SESSION_EXPIRED to all that was under way; this class refuses what would be sent afterwards, in the next session.
"""

from __future__ import annotations

from collections.abc import Sequence

from pykafka_classic.common.zookeeper import Code, Create, Request, Result, SessionExpired, SetData, ZooKeeper


class GroupSession:
    """The session in which the adapter is now. All methods raise SessionExpired once it is over."""

    def __init__(self, zk: ZooKeeper) -> None:
        self._zk = zk
        self.id = zk.session_id

    @property
    def is_over(self) -> bool:
        """True once the adapter knows that the session has ended."""
        return self.id == 0 or self._zk.session_id != self.id

    def check(self) -> None:
        """Raise SessionExpired where it has ended."""
        if self.is_over:
            raise SessionExpired

    async def submit(self, requests: Sequence[Request]) -> list[Result]:
        """All answers, pipelined."""
        self.check()
        results = await self._zk.submit(requests)
        if any(result.code is Code.SESSION_EXPIRED for result in results):
            raise SessionExpired
        self.check()
        return results

    async def one(self, request: Request) -> Result:
        """One answer."""
        return (await self.submit([request]))[0]

    async def create_all(self, requests: Sequence[Create]) -> list[Result]:
        """Create nodes; parents that are missing are made first, with null data as 0.8.2 makes them."""
        results = await self.submit(requests)
        orphans = [index for index, result in enumerate(results) if result.code is Code.NO_NODE]
        if orphans:
            await self._create_parents([requests[index].path for index in orphans])
            for index, result in zip(orphans, await self.submit([requests[index] for index in orphans]), strict=True):
                results[index] = result
        return results

    async def write_all(self, requests: Sequence[SetData]) -> list[Result]:
        """Set data; nodes that are missing are created, with their parents."""
        results = await self.submit(requests)
        missing = [index for index, result in enumerate(results) if result.code is Code.NO_NODE]
        if missing:
            created = await self.create_all([Create(requests[index].path, requests[index].data) for index in missing])
            for index, result in zip(missing, created, strict=True):
                results[index] = result
        return results

    async def _create_parents(self, paths: Sequence[str]) -> None:
        """One level after the other, from the root."""
        parents = {"/".join(parts[:depth]) for parts in (path.split("/") for path in paths) for depth in range(2, len(parts))}
        for depth in sorted({path.count("/") for path in parents}):
            await self.submit([Create(path) for path in sorted(parents) if path.count("/") == depth])
