"""`kafka-consumer-offset-checker.sh --group G [--zookeeper HOST] [--topic a,b] [--broker-info]`: how far a group is behind, as in Kafka 0.8.

The offset is the one committed to Kafka; where there is none, the one in ZooKeeper. The owner is the thread that has registered itself in ZooKeeper.

Source: facts/tools.md 21; 0.8.2 ConsumerOffsetChecker.scala.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pykafka_classic.cli.command import OK, CommandFailed, Console, Tool, run_tool
from pykafka_classic.cli.command_options import Argument, Option, Options

if TYPE_CHECKING:
    from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
    from pykafka_classic.common.topic_partition import TopicPartition
    from pykafka_classic.edges.admin import Admin

ROW: Final = "{:<15} {:<30} {:<3} {:<15} {:<15} {:<15} {}"
HEADER: Final = ROW.format("Group", "Topic", "Pid", "Offset", "logSize", "Lag", "Owner")
UNKNOWN: Final = -1

OPTIONS: Final = (
    Option("zookeeper", "ZooKeeper, host:port,host:port/chroot.", Argument.REQUIRED, default="localhost:2181"),
    Option("topic", "Topics, with commas between them; all that the group has owners in if absent.", Argument.REQUIRED),
    Option("group", "The consumer group.", Argument.REQUIRED),
    Option("socket.timeout.ms", "Time, in ms, to wait for a broker.", Argument.REQUIRED, "Integer", default="6000"),
    Option("retry.backoff.ms", "Pause, in ms, before a broker is asked again.", Argument.REQUIRED, "Integer", default="3000"),
    Option("broker-info", "Tell which brokers there are."),
)


def body(options: Options, console: Console) -> int:
    """Print the table. As with Kafka 0.8 the exit status is 0 for what goes wrong after the command line was understood."""
    from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
    from pykafka_classic.common.errors import KafkaError

    options.require("group")
    try:
        with ZooKeeperSession(options.text("zookeeper")) as zk:
            check(zk, options, console)
    except (CommandFailed, KafkaError) as error:
        console.say(f"Exiting due to: {str(error).rstrip('.')}.")
    return OK


def check(zk: ZooKeeperSession, options: Options, console: Console) -> None:
    """Print the table of one group. Raises CommandFailed, KafkaError."""
    from pykafka_classic.cli.zookeeper_groups import admin_of, broker_addresses, partitions_of

    group = options.text("group")
    named = options.value("topic")
    names = named.split(",") if named is not None else _owned_topics(zk, group)
    partitions = partitions_of(zk, names)
    everything = [partition for name in sorted(partitions) for partition in partitions[name]]
    with admin_of(zk) as admin:
        offsets = _offsets(zk, admin, group, everything)
        console.say(HEADER)
        for line in _rows(zk, admin, group, offsets):
            console.say(line)
    if options.has("broker-info"):
        console.say("BROKER INFO")
        for broker, (host, port) in broker_addresses(zk).items():
            console.say(f"{broker} -> {host}:{port}")


def _owned_topics(zk: ZooKeeperSession, group: str) -> list[str]:
    from zk_schema import consumers

    path = f"{consumers.group_path(group)}/owners"
    if not zk.exists(path):
        raise CommandFailed(f"KeeperErrorCode = NoNode for {path}")
    return list(zk.children(path))


def _offsets(zk: ZooKeeperSession, admin: Admin, group: str, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
    from pykafka_classic.cli.zookeeper_groups import group_offset
    from zk_schema import consumers

    committed = admin.list_group_offsets(group, partitions) if partitions else {}
    found = {}
    for partition in partitions:
        if partition in committed:
            found[partition] = committed[partition].offset
            continue
        stored = group_offset(zk, group, partition)
        if stored is None and not zk.exists(consumers.offsets_path(group, partition.topic)):
            raise CommandFailed(f"KeeperErrorCode = NoNode for {consumers.offset_path(group, *partition)}")
        found[partition] = UNKNOWN if stored is None else stored
    return found


def _rows(zk: ZooKeeperSession, admin: Admin, group: str, offsets: Mapping[TopicPartition, int]) -> list[str]:
    from pykafka_classic.client.admin.offsets import LATEST
    from pykafka_classic.common.errors import KafkaError
    from zk_schema import consumers

    ends = admin.list_offsets(dict.fromkeys(offsets, LATEST)) if offsets else {}
    lines = []
    for partition, offset in offsets.items():
        end = ends[partition]
        if isinstance(end, KafkaError):
            lines.append(f"No broker for partition {partition.topic} - {partition.partition}")
            continue
        owner = zk.data(consumers.owner_path(group, *partition))
        lag = "unknown" if offset == UNKNOWN else end.offset - offset
        lines.append(ROW.format(group, partition.topic, partition.partition, offset, end.offset, lag, "none" if owner is None else owner.decode()))
    return lines


TOOL: Final = Tool("kafka-consumer-offset-checker", "Check the offset of your consumers.", OPTIONS, body)


def run() -> None:
    """The console command."""
    run_tool(TOOL)


if __name__ == "__main__":
    run()
