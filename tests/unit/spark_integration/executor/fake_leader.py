"""A leader that answers as a test has written it down, and a clock that goes on when somebody sleeps."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.protocol.messages.fetch import FetchablePartitionResponse
from spark_integration.executor.fetching import Patience

Answer = FetchablePartitionResponse | Exception


class FakeLeader:
    """Implements `Leader`. `told` has what was asked: offsets, "earliest", "lose". The last answer repeats."""

    def __init__(self, answers: Iterable[Answer], *, earliest: int = 0) -> None:
        self.told: list[int | str] = []
        self.max_bytes: list[int] = []
        self._answers = deque(answers)
        self._earliest = earliest
        self._under_way = False

    def ask(self, offset: int, *, max_bytes: int) -> None:
        assert not self._under_way, "one at a time"
        self._under_way = True
        self.told.append(offset)
        self.max_bytes.append(max_bytes)

    def answer(self) -> FetchablePartitionResponse:
        assert self._under_way
        self._under_way = False
        answer = self._answers.popleft() if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def earliest(self) -> int:
        assert not self._under_way
        self.told.append("earliest")
        return self._earliest

    def lose(self) -> None:
        self._under_way = False
        self.told.append("lose")


def answer(data: bytes = b"", *, end: int = 1000, stable: int = -1, error: ErrorCode = ErrorCode.NONE) -> FetchablePartitionResponse:
    """What a leader says whose high watermark is `end`."""
    return FetchablePartitionResponse(error_code=error, high_watermark=end, last_stable_offset=stable, record_set=memoryview(data))


def patience(limit_ms: int = 1000) -> Patience:
    """Sleeping takes no time."""
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    return Patience(limit_ms, now=lambda: now[0], sleep=sleep)
