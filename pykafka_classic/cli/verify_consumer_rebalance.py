"""`kafka-run-class.sh kafka.tools.VerifyConsumerRebalance --group G [--zookeeper.connect HOST]`: whether every partition has an owner that is a member.

Differs from Kafka: what is wrong is told, a line each on stderr; Kafka says it in its log.

Source: facts/tools.md 21; 0.8.2 VerifyConsumerRebalance.scala.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pykafka_classic.cli.command import Console, Tool, run_tool
from pykafka_classic.cli.command_options import Argument, Option, Options

if TYPE_CHECKING:
    from pykafka_classic.cli.zookeeper_session import ZooKeeperSession

OPTIONS: Final = (
    Option("zookeeper.connect", "ZooKeeper, host:port,host:port/chroot.", Argument.REQUIRED, default="localhost:2181"),
    Option("group", "The consumer group.", Argument.REQUIRED),
)


def body(options: Options, console: Console) -> None:
    """Tell whether the last rebalance has succeeded. The exit status is 0 in both cases, as with Kafka."""
    from pykafka_classic.cli.zookeeper_session import ZooKeeperSession

    options.require("group")
    with ZooKeeperSession(options.text("zookeeper.connect")) as zk:
        faults = faults_of(zk, options.text("group"))
    for fault in faults:
        console.complain(fault)
    console.say("Rebalance operation failed !" if faults else "Rebalance operation successful !")


def faults_of(zk: ZooKeeperSession, group: str) -> list[str]:
    """What is wrong with the owners of the partitions of all topics that the group reads."""
    from pykafka_classic.cli.zookeeper_groups import partitions_of
    from zk_schema import consumers

    threads = _threads(zk, group)
    faults = []
    for partition in [each for some in partitions_of(zk, sorted(threads)).values() for each in some]:
        owner = zk.data(consumers.owner_path(group, *partition))
        if owner is None:
            faults.append(f"No owner for partition {partition}")
        elif owner.decode() not in threads[partition.topic]:
            faults.append(f"Owner {owner.decode()} for partition {partition} is not a valid member of consumer group {group}")
    return faults


def _threads(zk: ZooKeeperSession, group: str) -> dict[str, set[str]]:
    """By topic, the threads of all members that read it."""
    from pykafka_classic.assignors.zookeeper_assignors import thread_ids
    from pykafka_classic.client.subscription import Subscription
    from zk_schema import consumers, topics

    members = sorted(zk.children(consumers.ids_path(group)))
    existing = zk.children(topics.PATH)
    found: dict[str, set[str]] = {}
    for member, result in zip(members, zk.data_of(consumers.id_path(group, name) for name in members), strict=True):
        if not result.ok:
            continue  # it has just left
        stored = consumers.decode_id(result.data)
        for topic, count in Subscription.of_znode(stored).streams_by_topic(existing, exclude_internal=True).items():
            found.setdefault(topic, set()).update(thread_ids(member, count))
    return found


TOOL: Final = Tool("kafka.tools.VerifyConsumerRebalance", "Validate that all partitions have a consumer for a given consumer group.", OPTIONS, body)


def run() -> None:
    """The console command."""
    run_tool(TOOL)


if __name__ == "__main__":
    run()
