"""What a consumer's user has to hear of; every text is a sentence."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pykafka_classic.common.topic_partition import TopicPartition


class NoOffset(Exception):
    """There is nothing to begin at: no offset was committed, or the one there was is gone, and `auto.offset.reset` is none."""

    def __init__(self, message: str, partitions: Collection[TopicPartition]) -> None:
        super().__init__(message)
        self.partitions = tuple(partitions)


class LogTruncated(Exception):
    """Records that were read are no longer in the log: a leader was elected that did not have them (KIP-320), and `auto.offset.reset` is none."""

    def __init__(self, message: str, diverging_offsets: Mapping[TopicPartition, int]) -> None:
        super().__init__(message)
        self.diverging_offsets = dict(diverging_offsets)  # where the log differs from what was read; -1: not known


class CommitFailed(Exception):
    """The group has gone on without this member: others may own its partitions now, and read again what was not committed."""


class RebalanceInProgress(Exception):
    """The group is dividing its partitions anew; the commit may be tried again after the next `poll`."""
