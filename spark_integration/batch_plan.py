"""What a batch read reads: planned once, when the source is loaded, and carried in the schema's metadata.

Every action on the DataFrame, and `commit_batch`, sees the same offsets, though Spark makes the plan of each action anew: ours stands in the metadata of
the first column, as `"kafka_classic.batch"`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pykafka_classic.client.starts import Word
from pykafka_classic.common.topic_partition import TopicPartition
from spark_integration.cluster import CannotPlan, Cluster, check_named
from spark_integration.offsets import BatchEnd, Offsets, by_topic
from spark_integration.options import SourceOptions
from spark_integration.planning import DataLoss, fail_on, find_losses, make_ranges
from spark_integration.ranges import OffsetRange

METADATA: Final = "kafka_classic.batch"


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """From where to where, not included; and where that is to be committed, in the words of the options."""

    begins: Offsets
    ends: Offsets
    place: dict[str, str]  # empty without a group
    problem: str = ""  # why there is no such plan

    def to_json(self) -> dict[str, Any]:
        """For the metadata."""
        return {"begin": by_topic(self.begins), "end": by_topic(self.ends), "place": self.place, "problem": self.problem}

    @classmethod
    def of_json(cls, told: Mapping[str, Any]) -> BatchPlan:
        """From the metadata. MalformedOffsets."""
        return cls(BatchEnd.of_json(told["begin"]).ends, BatchEnd.of_json(told["end"]).ends, dict(told["place"]), told["problem"])

    def ranges(self, options: SourceOptions) -> list[OffsetRange]:
        """What the tasks read. CannotPlan where there is no plan."""
        if self.problem:
            raise CannotPlan(self.problem)
        limits = options.limits
        return make_ranges(self.begins, self.ends, min_partitions=limits.min_partitions, max_per_partition=limits.max_per_partition)


def plan_batch(cluster: Cluster) -> BatchPlan:
    """Ask where the batch begins and ends. CannotPlan where there are no such topics.

    What is wrong with offsets becomes the plan's problem: it is not one of a stream, which is loaded in the same way, and goes on from its checkpoint.
    """
    partitions = cluster.partitions()
    try:
        begins, ends = _offsets(cluster, partitions)
    except (CannotPlan, DataLoss) as error:
        return BatchPlan({}, {}, _place(cluster), str(error))
    return BatchPlan(begins, ends, _place(cluster))


def _offsets(cluster: Cluster, partitions: list[TopicPartition]) -> tuple[Offsets, Offsets]:
    options = cluster.options
    check_named("start", options.start, partitions)
    check_named("end", options.end, partitions)
    default = Word.COMMITTED if options.group is not None else Word.EARLIEST
    begins = cluster.starts(options.start or default, partitions)
    first, last = cluster.bounds(partitions)
    losses = find_losses(begins, first, last)
    if options.fail_on_data_loss:
        fail_on(losses)
    begins |= {each.partition: each.read_on_at for each in losses}
    ends = cluster.ends_at(options.end, partitions) if options.end is not None else last
    return begins, {each: max(begins[each], min(end, last[each])) for each, end in ends.items()}


def _place(cluster: Cluster) -> dict[str, str]:
    group = cluster.options.group
    if group is None:
        return {}
    options = {
        "bootstrap.servers": cluster.bootstrap,
        "group.id": group.group_id,
        "offsets.storage": group.storage.value,
        "client.id": cluster.options.client_id,
    }
    return options | ({"zookeeper.connect": cluster.options.zookeeper_connect} if cluster.options.zookeeper_connect else {})


def furthest_ends(plans: Iterable[BatchPlan]) -> list[tuple[dict[str, str], Offsets]]:
    """What is to be committed where. A frame may hold several batches of one group, in any order: the furthest end of a partition counts."""
    found: list[tuple[dict[str, str], Offsets]] = []
    for plan in plans:
        ends = next((known for place, known in found if place == plan.place), None)
        if ends is None:
            found.append((plan.place, dict(plan.ends)))
        else:
            ends |= {each: max(end, ends.get(each, end)) for each, end in plan.ends.items()}
    return found


def plans_in(schemas: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The plans in the JSON of these schemas, each once."""
    found: list[dict[str, Any]] = []
    for schema in schemas:
        for each in schema.get("fields", ()):
            plan = each.get("metadata", {}).get(METADATA)
            if plan is not None and plan not in found:
                found.append(plan)
    return found
