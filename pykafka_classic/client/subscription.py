"""What a member of a ZooKeeper group reads: topics by name, or all that match (white list) or do not match (black list) a regular expression.

The expression is written in the member's znode, and every member evaluates everybody's; so its meaning must not depend on who reads it. It is Java's, of
which the part that names of topics need is Python's as well; it must match the whole name. As Kafka does, blanks are dropped, a pair of quotes around it
too, and a comma means "or".

Source: 0.8.2:core/src/main/scala/kafka/consumer/{TopicFilter,TopicCount}.scala; facts/coordination.md 5.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from zk_schema.consumers import BLACK_LIST, STATIC, WHITE_LIST, ConsumerIdZNode

INTERNAL_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state"})


class InvalidSubscription(ValueError):
    """A subscription that means nothing; the text is for the user."""


def clean_expression(text: str) -> str:
    """A filter as the user wrote it, as it is stored and matched."""
    cleaned = text.strip().replace(",", "|").replace(" ", "")
    quoted = len(cleaned) >= 2 and cleaned[0] == cleaned[-1] and cleaned[0] in "\"'"
    return cleaned[1:-1] if quoted else cleaned


@dataclass(frozen=True, slots=True)
class Subscription:
    """What one member reads. Make it by `of_topics`, `white_list` or `black_list`."""

    pattern: str  # zk_schema.consumers: STATIC, WHITE_LIST, BLACK_LIST
    streams: Mapping[str, int]  # by topic, or by the one expression: how many threads the member counts for

    @staticmethod
    def of_topics(topics: Iterable[str] | Mapping[str, int]) -> Subscription:
        """Topics by name; of a mapping, with the number of threads for each."""
        streams = dict(topics) if isinstance(topics, Mapping) else dict.fromkeys(topics, 1)
        if not streams or any(count < 1 for count in streams.values()):
            raise InvalidSubscription("a subscription names at least one topic, and each topic has at least one stream")
        return Subscription(STATIC, streams)

    @staticmethod
    def white_list(expression: str, *, streams: int = 1) -> Subscription:
        """All topics that match, those created later too."""
        return Subscription._of_filter(WHITE_LIST, expression, streams)

    @staticmethod
    def black_list(expression: str, *, streams: int = 1) -> Subscription:
        """All topics that do not match."""
        return Subscription._of_filter(BLACK_LIST, expression, streams)

    @staticmethod
    def of_znode(znode: ConsumerIdZNode) -> Subscription:
        """What a member wrote down. InvalidSubscription where its expression is none."""
        if znode.pattern == STATIC:
            return Subscription(STATIC, znode.subscription)
        if len(znode.subscription) != 1:
            raise InvalidSubscription(f"a {znode.pattern} has one expression, not {len(znode.subscription)}")
        expression, streams = next(iter(znode.subscription.items()))
        _compiled(expression)
        return Subscription(znode.pattern, {expression: streams})

    @property
    def is_filter(self) -> bool:
        """True where topics that appear later may belong to it."""
        return self.pattern != STATIC

    def znode(self, timestamp_ms: int) -> ConsumerIdZNode:
        """As it is written down."""
        return ConsumerIdZNode(self.streams, self.pattern, timestamp_ms)

    def streams_by_topic(self, topics: Iterable[str], *, exclude_internal: bool = True) -> dict[str, int]:
        """Threads by topic. `topics`: all that there are; topics named by a static subscription need not be among them."""
        if not self.is_filter:
            return dict(self.streams)
        ((expression, streams),) = self.streams.items()
        matches = _compiled(expression).fullmatch
        wanted = self.pattern == WHITE_LIST
        return {topic: streams for topic in sorted(topics) if (matches(topic) is not None) == wanted and not (exclude_internal and topic in INTERNAL_TOPICS)}

    @staticmethod
    def _of_filter(pattern: str, expression: str, streams: int) -> Subscription:
        if streams < 1:
            raise InvalidSubscription("a member has at least one stream")
        cleaned = clean_expression(expression)
        _compiled(cleaned)
        return Subscription(pattern, {cleaned: streams})


def _compiled(expression: str) -> re.Pattern[str]:
    try:
        return re.compile(clean_expression(expression))
    except re.error as error:
        raise InvalidSubscription(f"{expression!r:.80} is not a regular expression: {error}") from error
