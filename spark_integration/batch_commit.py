"""Commit a batch when its sink is done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame

from spark_integration.batch_plan import BatchPlan, plans_in
from spark_integration.cluster import CannotPlan, Cluster
from spark_integration.options import parse_options


def commit_batch(frame: DataFrame) -> dict[str, dict[str, int]]:
    """Commit to its group that everything that `frame` was planned to read is done; gives what was committed, by topic and partition.

    `frame` is what `load()` gave, or anything made of it. Call it when the sink has finished, and only then.

    Raises:
        CannotPlan: it was not read by a group; or the group has members, whose offsets nobody else may commit.
    """
    if frame.isStreaming:
        raise CannotPlan("a stream commits by itself: commit_batch is for what spark.read gave")
    plans = [BatchPlan.of_json(each) for each in plans_in(_schemas(frame))]
    if not plans or not all(plan.place for plan in plans):
        raise CannotPlan("nothing in this DataFrame was read by a group: give the option 'group.id', and 'columns' instead of a schema of your own")
    problem = next((plan.problem for plan in plans if plan.problem), "")
    if problem:
        raise CannotPlan(f"nothing was read: {problem}")
    committed: dict[str, dict[str, int]] = {}
    for plan in plans:
        names = ",".join(sorted({each.topic for each in plan.ends}))
        with Cluster(parse_options(plan.place | {"subscribe": names})) as cluster:
            cluster.commit(plan.ends)
        for topic, offsets in plan.to_json()["end"].items():
            committed.setdefault(topic, {}).update(offsets)
    return committed


@contextmanager
def committing(frame: DataFrame) -> Iterator[DataFrame]:
    """Commit the batch at the end of the `with` block, unless an exception ends it.

    >>> with committing(flights) as batch:  # doctest: +SKIP
    ...     batch.write.mode("append").parquet("/data/flights")
    """
    yield frame
    commit_batch(frame)


def _schemas(frame: DataFrame) -> list[dict[str, Any]]:
    """Of all relations that the frame is made of; of the frame alone where there is no JVM to ask (Spark Connect)."""
    if not hasattr(frame, "_jdf"):
        return [json.loads(frame.schema.json())]
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves()
    return [json.loads(leaves.apply(index).schema().json()) for index in range(leaves.size())]
