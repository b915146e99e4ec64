"""Decides where each micro-batch of a stream begins and ends. Asks the cluster, touches nothing else; time is an argument."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from typing import Protocol

from pykafka_classic.client.starts import Start, Word
from pykafka_classic.common.topic_partition import TopicPartition
from spark_integration.cluster import CannotPlan, check_named
from spark_integration.offsets import BatchEnd, Offsets, differing
from spark_integration.options import Membership, Resume, SourceOptions
from spark_integration.planning import DataLoss, count_offsets, fail_on, find_losses, share_out

log = logging.getLogger("spark_integration")

Owned = frozenset[TopicPartition] | None  # None: everything
Place = tuple[int, Owned]  # as `Membership.assignment` tells it


class ClusterView(Protocol):
    """What of `Cluster` is needed here."""

    def partitions(self, *, all_there: bool = True) -> list[TopicPartition]:
        """All that the options name, as of now; CannotPlan where `all_there` is wanted, and one is not."""
        ...

    def bounds(self, partitions: Collection[TopicPartition]) -> tuple[Offsets, Offsets]:
        """First offsets and ends."""
        ...

    def ends(self, partitions: Collection[TopicPartition]) -> Offsets:
        """Ends."""
        ...

    def starts(self, start: Start, partitions: Collection[TopicPartition]) -> Offsets:
        """Where a start begins."""
        ...

    def committed(self, partitions: Collection[TopicPartition]) -> Offsets:
        """What the group has committed."""
        ...


class StreamPlan:
    """See the module. One for each run of a query."""

    def __init__(self, options: SourceOptions, *, reader: str) -> None:
        self.reader = reader
        self.latest: Offsets = {}  # ends of the logs, as seen last
        self.position = BatchEnd({})  # the end of the batch planned last
        self.last_done: BatchEnd | None = None
        self._options = options
        self._initial: BatchEnd | None = None  # where a new checkpoint begins
        self._first_seen: frozenset[TopicPartition] = frozenset()  # what was there when a new checkpoint began
        self._resumed = False  # checkpoint and group were compared
        self._replay: tuple[Offsets, BatchEnd] | None = None  # the batch that Spark ran again after a restart
        self._group_begins: Offsets = {}  # where the group lets us begin, against what the checkpoint says
        self._epoch: int | None = None
        self._fixed: Offsets | None = None  # AvailableNow: no further than this
        self._waiting_since_ms: float | None = None
        self._gone: frozenset[TopicPartition] = frozenset()  # partitions that were read and then deleted
        self._anew: frozenset[TopicPartition] = frozenset()  # those of them that are there again, and not read yet: other records under the old offsets

    def initial(self, cluster: ClusterView, owned: Owned) -> BatchEnd:
        """A new checkpoint: from the group, or as `start` says. Spark asks several times until the first batch is done, and must hear the same. CannotPlan."""
        if self._initial is None:
            every = cluster.partitions()
            check_named("start", self._options.start, every)
            self._first_seen, self._resumed = frozenset(every), True
            starts = cluster.starts(self._start(), _of(every, owned))
            self._initial = self.position = self.last_done = BatchEnd(starts, starts)
        return self._initial

    def next_end(self, cluster: ClusterView, start: BatchEnd | None, place: Place, *, now_ms: float, unlimited: bool) -> BatchEnd | None:
        """The end of the next batch; None where there is nothing to read, or not yet enough. CannotPlan, DataLoss."""
        epoch, owned = place
        every = cluster.partitions(all_there=False)
        partitions = _of(every, owned)
        if start is None and not self.position.ends:
            self.initial(cluster, owned)  # Spark 4.1 asks for that only after the first batch was planned, and would have the second one begin there too
        known = start if start is not None else self.position
        if start is None and known.ends and not self._resumed:  # Spark 4.1, which has told of its checkpoint in another way
            self._resumed = True
            self._resume(known, cluster)
        self._check_gone(known, every)
        first, last = cluster.bounds(partitions)
        self.latest = last
        begins = self._begins(cluster, known, partitions, epoch=epoch, first=first)
        begins |= {each: first[each] for each in partitions if each in self._anew}
        losses = find_losses(begins, first, last)
        if self._options.fail_on_data_loss:
            fail_on(losses)
        for each in losses:
            log.warning("Records are lost: %s", each)
            begins[each.partition] = each.read_on_at
        last = {each: max(begins[each], min(end, self._fixed.get(each, begins[each]) if self._fixed is not None else end)) for each, end in last.items()}
        ends = self._limited(begins, last, now_ms=now_ms, unlimited=unlimited)
        if ends is None or not count_offsets(begins, ends):
            return None
        self._waiting_since_ms, self._anew = None, frozenset()
        # The first batch tells all: should it be run again, by another process, that would begin somewhere else ("latest" is later then).
        tells_all = known == self._initial or (start is None and self._initial is not None)
        self.position = BatchEnd(ends, {each: offset for each, offset in begins.items() if tells_all or known.ends.get(each) != offset}, self.reader)
        return self.position

    def seen(self, end: BatchEnd) -> None:
        """Spark says how far its checkpoint has come, before it asks for more; to 4.1 that is the only way."""
        if not self.position.ends:
            self.position = end

    def replayed(self, begins: Offsets, end: BatchEnd) -> None:
        """Spark runs a batch that was planned before it was restarted."""
        self._replay = begins, end
        self.position = end

    def finished(self, end: BatchEnd, cluster: ClusterView) -> None:
        """Everything before `end` is done. At a restart: see who is right, the checkpoint or the group."""
        self.last_done = end
        if not self._resumed:
            self._resumed = True
            self._resume(end, cluster)

    def to_commit(self, end: BatchEnd) -> Offsets:
        """What is to be committed when `end` is reached: not where the group is right."""
        return {each: offset for each, offset in end.ends.items() if each not in self._group_begins}

    def fix_end(self, cluster: ClusterView) -> None:
        """AvailableNow."""
        self._fixed = cluster.ends(cluster.partitions(all_there=False))

    # inside

    def _start(self) -> Start:
        return self._options.start or (Word.COMMITTED if self._options.group is not None else Word.LATEST)

    def _resume(self, checkpoint: BatchEnd, cluster: ClusterView) -> None:
        group = self._options.group
        if group is None or group.resume is Resume.CHECKPOINT:
            return
        committed = cluster.committed(sorted(checkpoint.ends))
        replayed = self._replay[0] if self._replay is not None and self._replay[1] == checkpoint else {}
        # A group that stands where the batch that was just repeated began was left there by the crash, not put there by anybody.
        disagreeing = [each for each in differing(committed, checkpoint.ends, checkpoint.ends) if replayed.get(each) != committed[each]]
        if disagreeing and group.resume is Resume.FAIL:
            each = disagreeing[0]
            raise CannotPlan(
                f"{each}: the checkpoint is at {checkpoint.ends[each]}, group {group.group_id!r} at {committed[each]}, and the option 'resume' is fail:"
                " set it to checkpoint or to group"
            )
        self._group_begins = {each: committed[each] for each in disagreeing}

    def _check_gone(self, known: BatchEnd, every: Iterable[TopicPartition]) -> None:
        there = frozenset(every)
        gone = frozenset(known.ends) - there
        if gone and self._options.fail_on_data_loss:
            raise DataLoss(f"{min(gone)} is not there any more: was its topic deleted? Set the option 'failOnDataLoss' to false to go on without it.")
        if gone - self._gone:
            log.warning("Not there any more: %s", ", ".join(map(str, sorted(gone - self._gone))))
        self._anew |= self._gone & there
        self._gone = (self._gone - there) | gone

    def _begins(self, cluster: ClusterView, known: BatchEnd, partitions: list[TopicPartition], *, epoch: int, first: Offsets) -> Offsets:
        begins = {each: known.ends[each] for each in partitions if each in known.ends} | self._taken(self._group_begins, partitions)
        self._group_begins = {}
        new = [each for each in partitions if each not in begins]
        shares = self._options.group is not None and self._options.group.membership is Membership.SHARING
        is_new_assignment, self._epoch = shares and epoch != self._epoch, epoch
        asked = partitions if is_new_assignment else new
        if not asked:
            return begins
        committed = cluster.committed(asked) if self._options.group is not None else {}
        # Others may have gone on where we had stopped; what we have done ourselves is not done again.
        begins |= {each: max(committed[each], begins.get(each, 0)) for each in asked if each in committed}
        left = [each for each in new if each not in committed]
        from_start = [each for each in left if each in self._first_seen]
        return begins | {each: first[each] for each in left} | (cluster.starts(self._start(), from_start) if from_start else {})

    def _taken(self, offsets: Offsets, partitions: list[TopicPartition]) -> Offsets:
        return {each: offsets[each] for each in partitions if each in offsets}

    def _limited(self, begins: Offsets, last: Offsets, *, now_ms: float, unlimited: bool) -> Offsets | None:
        """Within the options' limits; None: wait for more."""
        limits = self._options.limits
        if unlimited:
            return last
        waiting = count_offsets(begins, last)
        if waiting and limits.min_offsets is not None and self._fixed is None and waiting < limits.min_offsets:
            if self._waiting_since_ms is None:
                self._waiting_since_ms = now_ms
            if now_ms - self._waiting_since_ms < limits.max_delay_ms:
                return None
        return share_out(begins, last, limits.max_offsets) if limits.max_offsets is not None else last


def _of(every: Iterable[TopicPartition], owned: Owned) -> list[TopicPartition]:
    return [each for each in every if owned is None or each in owned]
