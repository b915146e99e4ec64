"""`kafka-leader-election.sh --bootstrap-server HOST:PORT --election-type preferred|unclean ...`: have leaders elected.

Source: facts/tools.md 10; 2.8 LeaderElectionCommand.scala.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pykafka_classic.cli.command import OK, CommandFailed, Console, Tool, run_tool
from pykafka_classic.cli.command_options import Argument, Option, Options
from pykafka_classic.common.topic_partition import TopicPartition

if TYPE_CHECKING:
    from pykafka_classic.client.admin.outcomes import Outcomes
    from pykafka_classic.client.admin.replicas import ElectionType

BOOTSTRAP: Final = "bootstrap-server"
TYPE: Final = "election-type"
FILE: Final = "path-to-json-file"
ALL: Final = "all-topic-partitions"
SCOPES: Final = ("topic", ALL, FILE)
TIMEOUT_MS: Final = 30_000

OPTIONS: Final = (
    Option(BOOTSTRAP, "REQUIRED: the brokers to ask, host:port,host:port.", Argument.REQUIRED, described_as="host:port"),
    Option("admin.config", "File of properties for the connection to brokers.", Argument.REQUIRED, described_as="config file"),
    Option(FILE, 'The partitions: {"partitions":[{"topic":"t","partition":0}]}.', Argument.REQUIRED, described_as="Path to JSON file"),
    Option("topic", "The topic of one partition.", Argument.REQUIRED, described_as="topic name"),
    Option("partition", "The number of that partition.", Argument.REQUIRED, "Integer", "partition id", checked_late=True),
    Option(ALL, "All partitions of the cluster for which there is something to do."),
    Option(
        TYPE,
        "REQUIRED: preferred, to give the lead back to the first replica where another has it; unclean, to let a replica lead that is not in sync where no "
        "other lives, which loses records.",
        Argument.REQUIRED,
        described_as="election type",
    ),
)


def body(options: Options, console: Console) -> int:
    """Do what the command line says."""
    from pykafka_classic.cli.broker_session import open_admin
    from pykafka_classic.common.errors import ErrorCode, KafkaError

    election_type = check(options)
    wanted = _wanted(options)
    with open_admin(options.text(BOOTSTRAP), options.value("admin.config"), api_timeout_ms=TIMEOUT_MS) as admin:
        try:
            outcomes = admin.elect_leaders(election_type, wanted)
        except KafkaError as error:
            known = {
                ErrorCode.REQUEST_TIMED_OUT: "Timeout waiting for election results",
                ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "Not authorized to perform leader election",
            }
            if error.code in known:
                console.say(known[error.code])
                raise CommandFailed(known[error.code]) from error
            raise
    return _tell(outcomes, election_type, console)


def check(options: Options) -> ElectionType:
    """The type; CommandFailed where something is missing or does not go together, in Kafka's order."""
    from pykafka_classic.client.admin.replicas import ElectionType

    missing = [name for name in (TYPE, BOOTSTRAP) if not options.has(name)]
    if missing:
        raise CommandFailed(f"Missing required option(s): {', '.join(missing)}")
    if sum(map(options.has, SCOPES)) != 1:
        raise CommandFailed(f"One and only one of the following options is required: {', '.join(SCOPES)}")
    if options.has("topic") and not options.has("partition"):
        raise CommandFailed("Missing required option(s): partition")
    if options.has("partition") and not options.has("topic"):
        raise CommandFailed("Option partition is only allowed if topic is used")
    election_type = {each.name.lower(): each for each in ElectionType}.get(options.text(TYPE).lower())
    if election_type is None:
        raise CommandFailed(f"Cannot parse argument '{options.text(TYPE)}' of option {TYPE}")
    return election_type


def _wanted(options: Options) -> list[TopicPartition] | None:
    """None: all."""
    if options.has("topic"):
        return [TopicPartition(options.text("topic"), options.integer("partition"))]
    if options.has(ALL):
        return None
    from pykafka_classic.cli.partition_files import partitions_of, read_json, refuse_twice

    name = options.text(FILE)
    stored = read_json(name, otherwise="Replica election data is empty")
    rows = partitions_of(stored, otherwise='Replica election data is missing "partitions" field')
    found = [partition for partition, _ in rows]
    refuse_twice(found, otherwise="Replica election data contains duplicate partitions")
    return found


def _tell(outcomes: Outcomes[TopicPartition, None], election_type: ElectionType, console: Console) -> int:
    from pykafka_classic.cli.scala_order import in_hash_order, topic_partition_hash
    from pykafka_classic.common.errors import ErrorCode
    from pykafka_classic.common.java_errors import as_java

    errors = outcomes.errors()
    failed = {partition: error for partition, error in errors.items() if error.code is not ErrorCode.ELECTION_NOT_NEEDED}
    elected = ", ".join(map(str, in_hash_order(outcomes.values_only(), topic_partition_hash)))
    if elected:
        console.say(f"Successfully completed leader election ({election_type.name}) for partitions {elected}")
    if len(errors) > len(failed):
        console.say(f"Valid replica already elected for partitions {elected}")  # Kafka names those of the line before here; scripts know it so
    for partition in in_hash_order(failed, topic_partition_hash):
        console.say(f"Error completing leader election ({election_type.name}) for partition: {partition}: {as_java(failed[partition])}")
    if failed:
        raise CommandFailed(f"{len(failed)} replica(s) could not be elected")
    return OK


TOOL: Final = Tool(
    "kafka-leader-election",
    "This tool attempts to elect a new leader for a set of topic partitions. The type of elections supported are preferred replicas and unclean replicas.",
    OPTIONS,
    body,
)


def run() -> None:
    """The console command."""
    run_tool(TOOL)


if __name__ == "__main__":
    run()
