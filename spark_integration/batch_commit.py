"""Commit a batch when its sink is done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from pyspark.sql import DataFrame

from spark_integration.batch_plan import BatchPlan, furthest_ends, plans_in
from spark_integration.cluster import CannotPlan, Cluster
from spark_integration.offsets import Offsets, by_topic
from spark_integration.options import parse_options
from spark_integration.source import NAME

_RELATION: Final = "DataSourceV2Relation"  # Spark's nodes: what a source reads
_CHECKPOINT: Final = "LogicalRDD"  # `frame.checkpoint()` makes one, which has the schema of what it was made of


def commit_batch(frame: DataFrame) -> dict[str, dict[str, int]]:
    """Commit to its group that everything that `frame` was planned to read is done; gives what was committed, by topic and partition.

    `frame` is what `load()` gave, or anything made of it. Call it when the sink has finished, and only then.

    Raises:
        CannotPlan: it was not read by a group; or the group has members, whose offsets nobody else may commit.
    """
    if frame.isStreaming:
        raise CannotPlan("a stream commits by itself: commit_batch is for what spark.read gave")
    plans = [plan for plan in map(BatchPlan.of_json, plans_in(_schemas(frame))) if plan.place]  # a topic without a group may have been joined
    if not plans:
        raise CannotPlan("nothing in this DataFrame was read by a group: give the option 'group.id', and 'columns' instead of a schema of your own")
    problem = next((plan.problem for plan in plans if plan.problem), "")
    if problem:
        raise CannotPlan(f"nothing was read: {problem}")
    committed: Offsets = {}
    for place, ends in furthest_ends(plans):
        names = ",".join(sorted({each.topic for each in ends}))
        if names:
            with Cluster(parse_options(place | {"subscribe": names})) as cluster:
                cluster.commit(ends)
        committed |= ends
    return by_topic(committed)


@contextmanager
def committing(frame: DataFrame) -> Iterator[DataFrame]:
    """Commit the batch at the end of the `with` block, unless an exception ends it.

    >>> with committing(flights) as batch:  # doctest: +SKIP
    ...     batch.write.mode("append").parquet("/data/flights")
    """
    yield frame
    commit_batch(frame)


def _schemas(frame: DataFrame) -> list[dict[str, Any]]:
    """Of all that the frame is made of and this source has read; of the frame alone where there is no JVM to ask (Spark Connect).

    A file that was written keeps the plan of the batch that it came from: what is read from files is history, and not to be committed.
    """
    if not hasattr(frame, "_jdf"):
        return [json.loads(frame.schema.json())]
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves()
    return [json.loads(leaf.schema().json()) for leaf in map(leaves.apply, range(leaves.size())) if _is_read_here(leaf)]


def _is_read_here(leaf: Any) -> bool:
    kind = leaf.getClass().getSimpleName()
    return kind == _CHECKPOINT or (kind == _RELATION and str(leaf.table().name()) == NAME)
