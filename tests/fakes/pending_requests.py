"""Requests of the fake ZooKeeper's clients on their way there and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pykafka_classic.common.promise import Promise
from pykafka_classic.common.zookeeper import Code, Request, Result


@dataclass(slots=True)
class Batch:
    """The requests of one `submit`, and the answers so far."""

    answers: list[Result | None]
    promise: Promise[list[Result]] = field(default_factory=Promise)
    missing: int = field(init=False)

    def __post_init__(self) -> None:
        self.missing = len(self.answers)

    def answer(self, index: int, result: Result) -> None:
        """One request is done; with the last the promise is settled."""
        self.missing -= self.answers[index] is None
        self.answers[index] = result
        if not self.missing:
            self.promise.resolve([answer for answer in self.answers if answer is not None])


@dataclass(slots=True)
class PendingRequest:
    """One request on its way, later with its answer."""

    order: int  # global order of arrival in the present queue
    request: Request
    batch: Batch
    index: int
    result: Result | None = None


def answer_expired(outstanding: Sequence[PendingRequest]) -> None:
    """The session is gone, and all these with it."""
    for pending in outstanding:
        pending.batch.answer(pending.index, Result(Code.SESSION_EXPIRED, getattr(pending.request, "path", "")))
