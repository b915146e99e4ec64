"""`kafka-cluster.sh cluster-id|unregister --bootstrap-server HOST:PORT`: the cluster's id; `unregister` is for clusters without ZooKeeper, and says so.

Source: 2.8 ClusterTool.scala.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pykafka_classic.cli.command import OK, CommandFailed, Console, Tool, run_tool
from pykafka_classic.cli.command_options import Argument, Option, Options, UsageError

if TYPE_CHECKING:
    from pykafka_classic.edges.admin import Admin

CLUSTER_ID: Final = "cluster-id"
UNREGISTER: Final = "unregister"
UNKNOWN_ID: Final = "-1"  # brokers without the API refuse whatever is asked, as with Kafka

OPTIONS: Final = (
    Option("bootstrap-server", "REQUIRED: the brokers to ask, host:port,host:port.", Argument.REQUIRED, described_as="BOOTSTRAP_SERVER"),
    Option("b", "The same as --bootstrap-server.", Argument.REQUIRED, described_as="BOOTSTRAP_SERVER"),
    Option("config", "File of properties for the connection to brokers.", Argument.REQUIRED, described_as="CONFIG"),
    Option("c", "The same as --config.", Argument.REQUIRED, described_as="CONFIG"),
    Option("id", "With unregister: the id of the broker.", Argument.REQUIRED, "Integer", "ID"),
    Option("i", "The same as --id.", Argument.REQUIRED, "Integer", "ID"),
)


def body(options: Options, console: Console) -> int:
    """Do what the command line says."""
    from pykafka_classic.cli.broker_session import open_admin, read_properties

    if list(options.left_over) not in ([CLUSTER_ID], [UNREGISTER]):
        raise UsageError(f"One of the commands {CLUSTER_ID} and {UNREGISTER} is wanted.", with_help=True)
    file = options.value("config") or options.value("c")
    bootstrap = options.value("bootstrap-server") or options.value("b") or (read_properties(file).get("bootstrap.servers") if file else None)
    if bootstrap is None:
        raise CommandFailed("Please specify --bootstrap-server.")
    with open_admin(bootstrap, file) as admin:
        if options.left_over[0] == UNREGISTER:
            return _unregister(admin, options, console)
        cluster_id = admin.describe_cluster().cluster_id
    console.say("No cluster ID found. The Kafka version is probably too old." if cluster_id is None else f"Cluster ID: {cluster_id}")
    return OK


def _unregister(admin: Admin, options: Options, console: Console) -> int:
    from pykafka_classic.common.errors import ErrorCode, KafkaError

    number = options.value("id") or options.value("i") or UNKNOWN_ID
    try:
        admin.unregister_broker(int(number))
    except KafkaError as error:
        if error.code is not ErrorCode.UNSUPPORTED_VERSION:
            raise
        console.say("The target cluster does not support the broker unregistration API.")
    else:
        console.say(f"Broker {number} is no longer registered.")
    return OK


TOOL: Final = Tool("kafka-cluster", f"The Kafka cluster tool: kafka-cluster.sh {CLUSTER_ID}|{UNREGISTER} [option]...", OPTIONS, body)


def run() -> None:
    """The console command."""
    run_tool(TOOL)


if __name__ == "__main__":
    run()
