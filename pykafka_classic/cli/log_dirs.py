"""`kafka-log-dirs.sh --bootstrap-server HOST:PORT --describe [--broker-list 0,1] [--topic-list a,b]`: what lies in the log directories, as JSON.

Differs from Kafka: a broker that is not there is refused at once, as Kafka 3 does; 2.8 waits a minute for it.

Source: facts/tools.md 18; 2.8 LogDirsCommand.scala.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from pykafka_classic.cli.command import OK, CommandFailed, Console, Tool, run_tool
from pykafka_classic.cli.command_options import Argument, Option, Options

if TYPE_CHECKING:
    from pykafka_classic.client.admin.replicas import LogDirDescription

BOOTSTRAP: Final = "bootstrap-server"

OPTIONS: Final = (
    Option(BOOTSTRAP, "REQUIRED: the brokers to ask, host:port,host:port.", Argument.REQUIRED, described_as="The server(s) to use for bootstrapping"),
    Option("command-config", "File of properties for the connection to brokers.", Argument.REQUIRED, described_as="Admin client property file"),
    Option("describe", "REQUIRED: tell what is there; the tool can do nothing else."),
    Option("topic-list", "Only these topics, topic1,topic2.", Argument.REQUIRED, described_as="Topic list", default=""),
    Option("broker-list", "Only these brokers, 0,1,2.", Argument.REQUIRED, described_as="Broker list"),
)


def body(options: Options, console: Console) -> int:
    """Do what the command line says."""
    from pykafka_classic.cli.broker_session import open_admin

    options.require(BOOTSTRAP, "describe")
    topics = frozenset(filter(None, options.text("topic-list").split(",")))
    with open_admin(options.text(BOOTSTRAP), options.value("command-config")) as admin:
        alive = [node.id for node in admin.describe_cluster().nodes]
        brokers = _brokers(options, alive)
        console.say("Querying brokers for log directories information")
        described = admin.describe_log_dirs(brokers).check()
    console.say(f"Received log directory information from brokers {','.join(map(str, brokers))}")
    told = [{"broker": broker, "logDirs": _log_dirs(described[broker], topics)} for broker in sorted(described)]
    console.say(json.dumps({"version": 1, "brokers": told}, separators=(",", ":"), ensure_ascii=False))
    return OK


def _brokers(options: Options, alive: Collection[int]) -> list[int]:
    named = options.value("broker-list")
    if named is None:
        return list(alive)
    words = [word for word in named.split(",") if word]
    if not all(word.isascii() and word.isdigit() for word in words):
        raise CommandFailed(f"--broker-list expects broker ids with commas between them, but received: {named}")
    missing = [word for word in words if int(word) not in alive]
    if missing:
        existing = ",".join(map(str, sorted(alive)))
        raise CommandFailed(f"ERROR: The given brokers do not exist from --broker-list: {','.join(missing)}. Current existent brokers: {existing}")
    return [int(word) for word in words]


def _log_dirs(dirs: Mapping[str, LogDirDescription], topics: Collection[str]) -> list[dict[str, Any]]:
    """In the orders of Java's hash maps."""
    from pykafka_classic.cli.scala_order import in_hash_order, topic_partition_hash
    from pykafka_classic.common.java import hash_map_order
    from pykafka_classic.common.java_errors import java_name

    return [
        {
            "logDir": path,
            "error": None if (error := dirs[path].error) is None else java_name(error.code),
            "partitions": [
                {"partition": str(each), "size": replica.size_bytes, "offsetLag": replica.offset_lag, "isFuture": replica.is_future}
                for each in in_hash_order(dirs[path].replicas, topic_partition_hash)
                if not topics or each.topic in topics
                for replica in (dirs[path].replicas[each],)
            ],
        }
        for path in hash_map_order(dirs)
    ]


TOOL: Final = Tool("kafka-log-dirs", "This tool helps to query log directory usage on the specified brokers.", OPTIONS, body)


def run() -> None:
    """The console command."""
    run_tool(TOOL)


if __name__ == "__main__":
    run()
