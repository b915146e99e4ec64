"""Which partition a record goes to, where its sender does not say.

| name | with a key | without |
|---|---|---|
| default | murmur2 of the key, as Java's producer | sticky: one partition until its batch is sent, then another (KIP-480) |
| murmur2_random | murmur2 | any |
| random | any | any |
| round_robin | the next | the next |
| sticky | sticky | sticky |
| string_hash | Java's hash of the key as text, as 0.8's producer | one for all |

"Any" and "the next" are partitions that have a leader, if there are such; murmur2 looks at all, or a key would move whenever a leader is gone.
A partitioner of one's own is a function of (topic, key, value, partition count) that gives a number below the count.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/producer/{RoundRobinPartitioner,UniformStickyPartitioner}.java, internals/StickyPartitionCache.java;
0.8.2:core/src/main/scala/kafka/producer/{DefaultPartitioner,async/DefaultEventHandler}.scala.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from pykafka_classic.client.client_errors import InvalidSetting
from pykafka_classic.common.clock import Random
from pykafka_classic.common.java import abs_java, decode_utf8, string_hash
from pykafka_classic.common.murmur2 import partition_of_key

Partitioner: TypeAlias = Callable[[str, bytes | None, bytes | None, int], int]

_REMEMBERED_KEYS_MAX: Final = 10_000


class Choice:
    """How one producer chooses for one topic. `set_partitions` before anything else."""

    def __init__(self, topic: str, random: Random) -> None:
        self._topic = topic
        self._random = random
        self.partition_count = 0
        self._available: Sequence[int] = ()

    def set_partitions(self, partition_count: int, available: Sequence[int]) -> None:
        """What there is, and which of it has a leader."""
        self.partition_count = partition_count
        self._available = available or range(partition_count)

    def choose(self, key: bytes | None, value: bytes | None) -> int:
        """The partition of a record."""
        raise NotImplementedError

    def batch_filled(self, partition: int) -> None:
        """A batch was closed, and a record needs a new one."""

    def _any(self) -> int:
        return self._available[self._random.randrange(len(self._available))]


class RandomChoice(Choice):
    """Any that has a leader."""

    def choose(self, key: bytes | None, value: bytes | None) -> int:  # noqa: ARG002
        """See the class."""
        return self._any()


class RoundRobinChoice(Choice):
    """One after the other."""

    _next = 0

    def choose(self, key: bytes | None, value: bytes | None) -> int:  # noqa: ARG002
        """See the class."""
        self._next += 1
        return self._available[(self._next - 1) % len(self._available)]


class StickyChoice(Choice):
    """The same until a batch is full."""

    _current: int | None = None

    def set_partitions(self, partition_count: int, available: Sequence[int]) -> None:
        """Leave a partition that has lost its leader."""
        super().set_partitions(partition_count, available)
        if self._current is not None and self._current not in self._available:
            self._current = None

    def choose(self, key: bytes | None, value: bytes | None) -> int:  # noqa: ARG002
        """See the class."""
        if self._current is None:
            self._current = self._any()
        return self._current

    def batch_filled(self, partition: int) -> None:
        """Go on to another."""
        if partition == self._current:
            others = [each for each in self._available if each != partition]
            self._current = others[self._random.randrange(len(others))] if others else partition


class _KeyedChoice(Choice):
    """Murmur2; keys that come again and again are not hashed again."""

    def __init__(self, topic: str, random: Random) -> None:
        super().__init__(topic, random)
        self._known: dict[bytes, int] = {}

    def set_partitions(self, partition_count: int, available: Sequence[int]) -> None:
        """Forget what was right for another number of partitions."""
        if partition_count != self.partition_count:
            self._known = {}
        super().set_partitions(partition_count, available)

    def _of_key(self, key: bytes) -> int:
        partition = self._known.get(key)
        if partition is None:
            if len(self._known) >= _REMEMBERED_KEYS_MAX:
                self._known.clear()
            partition = self._known[key] = partition_of_key(key, partition_count=self.partition_count)
        return partition


class DefaultChoice(_KeyedChoice, StickyChoice):
    """As Java's DefaultPartitioner."""

    def choose(self, key: bytes | None, value: bytes | None) -> int:
        """See the class."""
        return StickyChoice.choose(self, key, value) if key is None else self._of_key(key)


class Murmur2RandomChoice(_KeyedChoice):
    """As librdkafka's murmur2_random."""

    def choose(self, key: bytes | None, value: bytes | None) -> int:  # noqa: ARG002
        """See the class."""
        return self._any() if key is None else self._of_key(key)


class StringHashChoice(StickyChoice):
    """As the producer of 0.8 and 0.9 with keys of text: those who write to the same topic with it stay together."""

    def choose(self, key: bytes | None, value: bytes | None) -> int:
        """See the class."""
        return super().choose(key, value) if key is None else abs_java(string_hash(decode_utf8(key))) % self.partition_count

    def batch_filled(self, partition: int) -> None:
        """It stays: that producer took another one every ten minutes only."""


class CustomChoice(Choice):
    """As the user's function says."""

    def __init__(self, topic: str, random: Random, function: Partitioner) -> None:
        super().__init__(topic, random)
        self._function = function

    def choose(self, key: bytes | None, value: bytes | None) -> int:
        """See the class."""
        return self._function(self._topic, key, value, self.partition_count)


_CHOICES: Final[dict[str, type[Choice]]] = {
    "default": DefaultChoice,
    "murmur2_random": Murmur2RandomChoice,
    "random": RandomChoice,
    "round_robin": RoundRobinChoice,
    "sticky": StickyChoice,
    "string_hash": StringHashChoice,
}


def partitioner_of(setting: str | Partitioner) -> Callable[[str, Random], Choice]:
    """What makes the choices for a topic. InvalidSetting for an unknown name."""
    if callable(setting):
        function = setting
        return lambda topic, random: CustomChoice(topic, random, function)
    if setting not in _CHOICES:
        raise InvalidSetting(f"partitioner is {setting!r}, which is neither a function nor one of {', '.join(_CHOICES)}")
    return _CHOICES[setting]
