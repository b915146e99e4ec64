"""Groups: reset what they have committed (with a preview), move their offsets between ZooKeeper and Kafka, delete them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from pykafka_classic.client.admin.offsets import EARLIEST, LATEST
from pykafka_classic.client.group_offsets.group_offsets import GroupOffsetsCore
from pykafka_classic.client.group_offsets.stores import ZooKeeperStore
from pykafka_classic.client.group_offsets.values import Action, Store
from pykafka_classic.client.offset_and_metadata import OffsetAndMetadata
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.monitor.web.exchange import INT64_MAX, Refused, bad_request, path_of
from pykafka_classic.monitor.web.fields import FLAG, NUMBER, TEXT, Field
from pykafka_classic.monitor.web.formats import plural
from pykafka_classic.monitor.web.operations.operation import Address, Done, operation
from pykafka_classic.monitor.web.work import Work

STORES: Final = ("kafka", "zookeeper")
TARGETS: Final = ("earliest", "latest", "offset", "time", "shift")
PREVIEW: Final = Field("preview", FLAG, "Only say what would be done.")
RESET_FIELDS: Final = (
    Field("topic", TEXT, "Of which topic.", required=True),
    Field("partition", NUMBER, "Of this partition only; missing: of all.", most=(1 << 31) - 1),
    Field(
        "to",
        TEXT,
        "Where to: the log's ends, an offset, the first record since a time (ms since 1970), or forth and back by a number.",
        True,
        choices=TARGETS,
    ),
    Field("number", NUMBER, "The offset, time, or shift.", least=-INT64_MAX),
    Field("store", TEXT, "Where the group keeps its offsets.", default="kafka", choices=STORES),
    PREVIEW,
)
MIGRATE_FIELDS: Final = (
    Field("source", TEXT, "Where they are taken from.", default="zookeeper", choices=STORES),
    Field("force", FLAG, "Although members are alive, and although the target is newer."),
    PREVIEW,
)


@operation(
    "reset-offsets",
    Address("POST", "/groups/{group}/offsets", "groups"),
    "Set what a group has committed. It must have no members, who would write over it. `details.steps`: before and after, for each partition.",
    RESET_FIELDS,
)
async def reset_offsets(work: Work, values: Mapping[str, Any]) -> Done:
    """See the summary."""
    group, topic = work.request.parts["group"], values["topic"]
    if values["to"] in ("offset", "time", "shift") and values["number"] is None:
        raise bad_request(f"number is missing: which {values['to']}?")
    states = await work.read(lambda: work.app.monitor.reader.partitions_at(work.cluster, topic=topic))
    partitions = [TopicPartition(topic, each.partition) for each in states if values["partition"] in (None, each.partition)]
    if not partitions:
        raise bad_request(f"Cluster {work.cluster} has no such partition of {topic!r}.")
    await _refuse_members(work, group, values["store"])
    before = await _committed(work, group, values["store"])
    after = await _targets(work, partitions, values, before)
    steps = [{"topic": topic, "partition": each.partition, "before": before.get(each), "after": after[each]} for each in partitions]
    if values["preview"]:
        return Done(f"{plural(len(steps), 'offset')} of group {group} would be set; nothing was changed.", details={"steps": steps})
    await _write(work, group, values["store"], after)
    return Done(f"{plural(len(steps), 'offset')} of group {group} {'is' if len(steps) == 1 else 'are'} set.", _page(work, group), {"steps": steps})


@operation(
    "migrate-group",
    Address("POST", "/groups/{group}/migrate", "groups"),
    "Copy a group's offsets from one store to the other, where they are newer. `details.steps`: what, for each partition.",
    MIGRATE_FIELDS,
)
async def migrate(work: Work, values: Mapping[str, Any]) -> Done:
    """See the summary."""
    group, source = work.request.parts["group"], Store(values["source"])
    core = GroupOffsetsCore(work.collector.admin.core, work.collector.zk)
    migration = await core.migrate(group, source=source, force=bool(values["force"]), dry_run=bool(values["preview"]))
    steps = [
        {
            "topic": step.partition.topic,
            "partition": step.partition.partition,
            "action": step.action.name.lower(),
            "source": step.source.offset if step.source is not None else None,
            "before": step.before.offset if step.before is not None else None,
            "failed": step.failed,
        }
        for step in migration.steps
    ]
    copied = sum(step.action is Action.COPY and not step.failed for step in migration.steps)
    verb = "would be copied" if values["preview"] else "copied"
    sentence = f"Group {group}: {plural(copied, 'offset')} of {len(steps)} {verb} from {source.value} to {source.other.value}."
    return Done(sentence, _page(work, group), {"steps": steps})


@operation("delete-group", Address("DELETE", "/groups/{group}", "groups"), "Delete a group at its coordinator, with its offsets there. It must be empty.")
async def delete_group(work: Work, _: Mapping[str, Any]) -> Done:
    """See the summary."""
    group = work.request.parts["group"]
    (await work.collector.admin.core.delete_groups([group])).check()
    return Done(f"Group {group} is deleted.", path_of("c", work.cluster, "groups"))


async def _committed(work: Work, group: str, store: str) -> dict[TopicPartition, int]:
    if store == "zookeeper":
        found = await ZooKeeperStore(work.collector.zk).read(group)
        return {partition: each.offset for partition, each in found.offsets.items()}
    committed = await work.collector.admin.core.list_group_offsets(group)
    return {partition: each.offset for partition, each in committed.items()}


async def _refuse_members(work: Work, group: str, store: str) -> None:
    """Raise Refused where somebody would write over it."""
    if store == "zookeeper":
        members: Sequence[str] = (await ZooKeeperStore(work.collector.zk).read(group)).members
    else:
        described = (await work.collector.admin.core.describe_groups([group])).check()[group]
        members = [each.member_id for each in described.members]
    if members:
        told = f"Group {group} has {plural(len(members), 'living member')} ({', '.join(members[:3])}): stop them first, for they would write over it."
        raise Refused(HTTPStatus.CONFLICT, told)


async def _targets(work: Work, partitions: list[TopicPartition], values: Mapping[str, Any], before: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
    """Where each partition's offset goes; never outside of the log. Raises KafkaError."""
    admin = work.collector.admin.core
    starts = (await admin.list_offsets(dict.fromkeys(partitions, EARLIEST))).check()
    ends = (await admin.list_offsets(dict.fromkeys(partitions, LATEST))).check()
    at = (await admin.list_offsets(dict.fromkeys(partitions, values["number"]))).check() if values["to"] == "time" and values["number"] >= 0 else {}
    found = {}
    for each in partitions:
        start, end = starts[each].offset, ends[each].offset
        timed = at[each].offset if each in at else end
        wanted = {
            "earliest": start,
            "latest": end,
            "offset": values["number"],
            "time": timed if timed >= 0 else end,
            "shift": before.get(each, start) + (values["number"] or 0),
        }[values["to"]]
        found[each] = min(max(wanted, start), end)
    return found


async def _write(work: Work, group: str, store: str, offsets: Mapping[TopicPartition, int]) -> None:
    if store == "kafka":
        (await work.collector.admin.core.alter_group_offsets(group, {each: OffsetAndMetadata(offset) for each, offset in offsets.items()})).check()
        return
    zookeeper = ZooKeeperStore(work.collector.zk)
    found = await zookeeper.read(group)
    failed = await zookeeper.write(group, offsets, {each: found.offsets[each] for each in offsets if each in found.offsets})
    if failed:
        raise bad_request("; ".join(f"{partition}: {why}" for partition, why in failed.items()))


def _page(work: Work, group: str) -> str:
    return path_of("c", work.cluster, "groups", group)
