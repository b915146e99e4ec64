"""`kafka-delete-records.sh --bootstrap-server HOST:PORT --offset-json-file FILE`: delete the records before an offset, partition by partition.

What failed for one partition is told in its line; the exit status is 0 all the same, as with Kafka.

Source: facts/tools.md 12; 2.8 DeleteRecordsCommand.scala.
"""

from __future__ import annotations

from typing import Final

from pykafka_classic.cli.command import OK, CommandFailed, Console, Tool, run_tool
from pykafka_classic.cli.command_options import Argument, Option, Options
from pykafka_classic.common.topic_partition import TopicPartition

FILE: Final = "offset-json-file"
VERSION: Final = 1

OPTIONS: Final = (
    Option("bootstrap-server", "REQUIRED: the brokers to ask, host:port,host:port.", Argument.REQUIRED, described_as="server(s) to use for bootstrapping"),
    Option(
        FILE,
        'REQUIRED: the partitions, and the offset that shall be the first in each (-1: delete all): {"partitions":[{"topic":"t","partition":0,"offset":10}],'
        '"version":1}.',
        Argument.REQUIRED,
        described_as="Offset json file path",
    ),
    Option("command-config", "File of properties for the connection to brokers.", Argument.REQUIRED, described_as="command config property file path"),
)


def body(options: Options, console: Console) -> int:
    """Do what the command line says."""
    from pykafka_classic.cli.broker_session import leaderless, open_admin
    from pykafka_classic.cli.scala_order import in_hash_order, topic_partition_hash
    from pykafka_classic.common.java_errors import as_java

    options.require("bootstrap-server", FILE)
    wanted = read_offsets(options.text(FILE))
    with open_admin(options.text("bootstrap-server"), options.value("command-config")) as admin:
        console.say("Executing records delete operation")
        outcomes = admin.delete_records(wanted)
        failed = {partition: as_java(leaderless(admin, partition, error)) for partition, error in outcomes.errors().items()}
    console.say("Records delete operation completed:")
    for partition in in_hash_order(outcomes, topic_partition_hash):
        said = f"error: {failed[partition]}" if partition in failed else f"low_watermark: {outcomes[partition]}"
        console.say(f"partition: {partition}\t{said}")
    return OK


def read_offsets(name: str) -> dict[TopicPartition, int]:
    """The offsets that a file names. Raises CommandFailed."""
    from pykafka_classic.cli.partition_files import number_of, partitions_of, read_json, refuse_twice

    stored = read_json(name, otherwise="The input string is not a valid JSON")
    version = number_of(stored, "version", "Int") if "version" in stored else VERSION
    if version != VERSION:
        raise CommandFailed(f"Not supported version field value {version}")
    rows = partitions_of(stored, otherwise="Missing partitions field")
    refuse_twice((partition for partition, _ in rows), otherwise="Offset json file contains duplicate topic partitions")
    return {partition: number_of(row, "offset", "Long") for partition, row in rows}


TOOL: Final = Tool("kafka-delete-records", "This tool helps to delete records of the given partitions down to the specified offset.", OPTIONS, body)


def run() -> None:
    """The console command."""
    run_tool(TOOL)


if __name__ == "__main__":
    run()
