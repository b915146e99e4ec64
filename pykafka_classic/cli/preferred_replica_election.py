"""`kafka-preferred-replica-election.sh --zookeeper HOST|--bootstrap-server HOST:PORT [--path-to-json-file FILE]`: leaders back to the first replicas.

With --zookeeper /admin/preferred_replica_election is the order, and the controller carries it out; without a file, for every partition of the cluster.

Source: facts/tools.md 10; 2.8 PreferredReplicaLeaderElectionCommand.scala.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pykafka_classic.cli.command import OK, CommandFailed, Console, Tool, run_tool
from pykafka_classic.cli.command_options import Argument, Option, Options, UsageError
from pykafka_classic.common.topic_partition import TopicPartition

if TYPE_CHECKING:
    from pykafka_classic.cli.zookeeper_session import ZooKeeperSession

ZOOKEEPER: Final = "zookeeper"
BOOTSTRAP: Final = "bootstrap-server"
FILE: Final = "path-to-json-file"
DEPRECATED: Final = "This tool is deprecated. Please use kafka-leader-election tool. Tracking issue: KAFKA-8405"
ZOOKEEPER_DEPRECATED: Final = (
    "Warning: --zookeeper is deprecated and will be removed in a future version of Kafka.\nUse --bootstrap-server instead to specify a broker to connect to."
)

OPTIONS: Final = (
    Option(
        FILE,
        'The partitions: {"partitions":[{"topic":"t","partition":0}]}. Without it, all.',
        Argument.REQUIRED,
        described_as="list of partitions for which preferred replica leader election needs to be triggered",
    ),
    Option(ZOOKEEPER, "DEPRECATED: ZooKeeper, host:port,host:port/chroot; without a port 2181 is meant.", Argument.REQUIRED, described_as="urls"),
    Option(BOOTSTRAP, "The broker to ask, host:port,host:port.", Argument.REQUIRED, described_as="host:port"),
    Option("admin.config", "File of properties for the connection to brokers.", Argument.REQUIRED, described_as="config file"),
)


def body(options: Options, console: Console) -> int:
    """Do what the command line says."""
    if options.has(BOOTSTRAP) == options.has(ZOOKEEPER):
        raise UsageError("Exactly one of '[bootstrap-server]' or '[zookeeper]' must be provided", with_help=True)
    wanted = read_partitions(options.text(FILE)) if options.has(FILE) else None
    if options.has(ZOOKEEPER):
        from pykafka_classic.cli.zookeeper_session import ZooKeeperSession

        console.say(ZOOKEEPER_DEPRECATED)
        with ZooKeeperSession(options.text(ZOOKEEPER)) as zk:
            order(zk, wanted, console)
        return OK
    return elect(options, wanted, console)


def read_partitions(name: str) -> list[TopicPartition]:
    """The partitions of a file. Raises CommandFailed."""
    from pykafka_classic.cli.partition_files import partitions_of, read_json, refuse_twice

    stored = read_json(name, otherwise="Preferred replica election data is empty", why=False)
    found = [partition for partition, _ in partitions_of(stored, otherwise="Preferred replica election data is empty")]
    refuse_twice(found, otherwise="Preferred replica election data contains duplicate partitions")
    return found


def order(zk: ZooKeeperSession, wanted: Sequence[TopicPartition] | None, console: Console) -> None:
    """Write the order for those partitions that are there."""
    from pykafka_classic.cli.scala_order import in_immutable_map_order, set_name, topic_partition_hash
    from pykafka_classic.common.zookeeper import Code, Create
    from zk_schema import preferred_replica_election, topics

    names = sorted({partition.topic for partition in wanted}) if wanted is not None else zk.children(topics.PATH)
    stored = zip(names, zk.data_of(map(topics.path, names)), strict=True)
    existing = [TopicPartition(name, number) for name, found in stored if found.ok for number in sorted(topics.decode(found.data).assignment)]
    chosen = existing if wanted is None else [partition for partition in wanted if partition in existing]
    valid = in_immutable_map_order(chosen, topic_partition_hash)  # a set of Scala's is walked, and named, like a map
    zk.create_parents(preferred_replica_election.PATH)
    created = zk.one(Create(preferred_replica_election.PATH, preferred_replica_election.encode(valid)), Code.NODE_EXISTS)
    if created.code is Code.NODE_EXISTS:
        under_way = [TopicPartition(*each) for each in preferred_replica_election.decode(zk.data(preferred_replica_election.PATH))]
        partitions = ",".join(map(str, under_way))
        raise CommandFailed(f"Preferred replica leader election currently in progress for {partitions}. Aborting operation")
    console.say(f"Created preferred replica election path with {','.join(map(str, valid))}")
    console.say(f"Successfully started preferred replica election for partitions {set_name(valid)}({', '.join(map(str, valid))})")
    for partition in wanted or ():
        if partition not in valid:
            console.say(f"Skipping preferred replica leader election for partition {partition} since it doesn't exist.")


def elect(options: Options, wanted: Sequence[TopicPartition] | None, console: Console) -> int:
    """Have the brokers elect them."""
    from pykafka_classic.cli.broker_session import open_admin
    from pykafka_classic.client.admin.replicas import ElectionType
    from pykafka_classic.common.errors import ErrorCode

    with open_admin(options.text(BOOTSTRAP), options.value("admin.config")) as admin:
        outcomes = admin.elect_leaders(ElectionType.PREFERRED, wanted)
    failed = outcomes.errors()
    led = [partition for partition, error in failed.items() if error.code is ErrorCode.ELECTION_NOT_NEEDED]
    elected = ", ".join(map(str, outcomes.values_only()))
    if elected:
        console.say(f"Successfully completed preferred leader election for partitions {elected}")
    if led:
        console.say(f"Preferred replica already elected for partitions {elected}")  # Kafka names those of the line before here; scripts know it so
    failed = {partition: error for partition, error in failed.items() if partition not in led}
    for partition, error in failed.items():
        console.say(f"Error completing preferred leader election for partition: {partition}: {error}")
    if failed:
        raise CommandFailed(f"{len(failed)} preferred replica(s) could not be elected")
    return OK


TOOL: Final = Tool(
    "kafka-preferred-replica-election",
    "This tool helps to causes leadership for each partition to be transferred back to the 'preferred replica', "
    "it can be used to balance leadership among the servers.",
    OPTIONS,
    body,
    notice=DEPRECATED,
)


def run() -> None:
    """The console command."""
    run_tool(TOOL)


if __name__ == "__main__":
    run()
