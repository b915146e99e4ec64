"""Small ZooKeeper idioms that several parts of the broker share, over the `ZooKeeper` seam.

All follow facts/coordination.md 1.3: whoever writes re-reads before it believes in a failure, and "set or create" is last-writer-wins.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.zookeeper import Code, Create, Exists, GetChildren, GetData, Request, Result, SetData, ZooKeeper

log = logging.getLogger("kafka.zk.KafkaZkClient")

T = TypeVar("T")

SESSIONS_MAX: Final = 10  # that many ended one after the other: something else is wrong


async def submit_one(zk: ZooKeeper, request: Request) -> Result:
    """The answer to a single request."""
    return (await zk.submit([request]))[0]


class SessionEnded(KafkaError):
    """The broker's session ended before ZooKeeper answered: whether the request was carried out is not known.

    A client sees NOT_CONTROLLER, which is true then, and asks the new controller (Kafka answers UNKNOWN_SERVER_ERROR, at which clients give up).
    """

    def __init__(self, path: str) -> None:
        super().__init__(ErrorCode.NOT_CONTROLLER, f"The broker's ZooKeeper session ended before {path} was answered.")


def raise_unless(result: Result, *accepted: Code) -> Result:
    """`result`, if its code is OK or accepted; else UNKNOWN_SERVER_ERROR with ZooKeeper's word, as Kafka answers a client whose request failed there.

    Raises SessionEnded where that was the reason.
    """
    if result.ok or result.code in accepted:
        return result
    raise_if_session_ended(result)
    raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"ZooKeeper answered {result.code.name} for {result.path}")


async def read_through_sessions(zk: ZooKeeper, reads: Sequence[GetData | GetChildren | Exists]) -> list[Result]:
    """The answers to reads; those whose session ended are asked again in the next one, for a read that was not answered says nothing.

    Raises SessionEnded after SESSIONS_MAX sessions, or where the broker is closing its last one.
    """
    answers = await zk.submit(reads)
    for _ in range(SESSIONS_MAX - 1):
        again = [index for index, answer in enumerate(answers) if answer.code is Code.SESSION_EXPIRED]
        if not again:
            break
        for index, answer in zip(again, await zk.submit([reads[index] for index in again]), strict=True):
            answers[index] = answer
    return [raise_if_session_ended(answer) for answer in answers]


def raise_if_session_ended(result: Result) -> Result:
    """`result`, if it is ZooKeeper's answer; SessionEnded if there was none."""
    if result.code is Code.SESSION_EXPIRED:
        raise SessionEnded(result.path)
    return result


async def through_sessions(step: Callable[[], Awaitable[T]], what: str) -> T:
    """Do something that may be done twice, again where the session ended meanwhile; SessionEnded after SESSIONS_MAX sessions."""
    for _ in range(SESSIONS_MAX - 1):
        try:
            return await step()
        except SessionEnded as error:
            log.warning("%s; %s begins again in the next session", error, what)
    return await step()


async def create_persistent_paths(zk: ZooKeeper, paths: Sequence[str]) -> None:
    """Create nodes without data, parents first, and leave existing ones alone: ZooKeeper's null data, not an empty string (facts 1.1)."""
    wanted: dict[str, None] = {}
    for path in paths:
        parts = path.strip("/").split("/")
        for depth in range(1, len(parts) + 1):
            wanted["/" + "/".join(parts[:depth])] = None
    for result in await zk.submit([Create(path) for path in wanted]):
        raise_unless(result, Code.NODE_EXISTS)


async def set_or_create(zk: ZooKeeper, path: str, data: bytes) -> None:
    """Write `data` whatever the node holds; create it, with its parents, where it is missing."""
    result = await submit_one(zk, SetData(path, data))
    if result.code is Code.NO_NODE:
        parent = path.rpartition("/")[0]
        if parent:
            await create_persistent_paths(zk, [parent])
        result = await submit_one(zk, Create(path, data))
        if result.code is Code.NODE_EXISTS:  # somebody was faster; the last writer wins
            result = await submit_one(zk, SetData(path, data))
    raise_unless(result)


async def children_or_none(zk: ZooKeeper, path: str) -> tuple[str, ...]:
    """The children's names; none where the node is missing."""
    return raise_unless(await submit_one(zk, GetChildren(path)), Code.NO_NODE).children


async def data_or_none(zk: ZooKeeper, path: str) -> Result | None:
    """The node's data and stat, or None where it is missing."""
    result = raise_unless(await submit_one(zk, GetData(path)), Code.NO_NODE)
    return result if result.ok else None
