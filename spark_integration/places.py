"""Names for what a batch writes, which make a sink that overwrites exactly-once.

A range of offsets that is read again has its own name again, and no other range of its group has it: the sum of its first offsets. Each range begins where
the one before ended, so the sums rise. What was written but not committed is thereby written over and not beside, also where a checkpoint was lost and a new
one goes on from the group (numbers of batches begin at 0 again then, and would write over what is another batch's). For the one owner of a group, and a table
of its own: of jobs that share a group two may come to the same sum, and so may a topic that was made anew.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from spark_integration.batch_log import read_range_of
from spark_integration.batch_plan import METADATA, BatchPlan
from spark_integration.cluster import CannotPlan
from spark_integration.offsets import Offsets


def batch_place(frame: DataFrame) -> str:
    """The name of the batch that `load()` gave, as `from=40000`. CannotPlan where it is something else."""
    return place_of(plan_of(frame).begins)


def stream_place(batch: DataFrame, checkpoint: str, number: int) -> str:
    """The same in a `foreachBatch`, of the batch that is under way. `checkpoint`: the query's checkpointLocation. UnknownCheckpoint."""
    return place_of(read_range_of(batch.sparkSession, checkpoint, number).begins)


def place_of(begins: Offsets) -> str:
    """See the module. Whoever reads the folder above has the number as column `from`."""
    return f"from={sum(begins.values())}"


def plan_of(frame: DataFrame) -> BatchPlan:
    """From where to where a batch that was loaded reads. CannotPlan where it was not loaded from here, or cannot be read."""
    told = next((each.metadata[METADATA] for each in frame.schema if METADATA in each.metadata), None)
    if told is None:
        raise CannotPlan("this DataFrame does not say what was planned: what load() gave does, without a schema of your own")
    plan = BatchPlan.of_json(told)
    if plan.problem:
        raise CannotPlan(plan.problem)
    return plan
