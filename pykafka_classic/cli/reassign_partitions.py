"""`kafka-reassign-partitions.sh --bootstrap-server HOST:PORT|--zookeeper HOST --generate|--execute|--verify|--cancel|--list ...`.

Reading order: this module, `reassign_plan` (files, throttles), `reassign_zookeeper` and `reassign_broker` (who does it).

Source: facts/tools.md 9; 2.8 ReassignPartitionsCommand.scala.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Protocol, Self

from pykafka_classic.cli.command import FAILED, OK, CommandFailed, Console, Tool, run_tool
from pykafka_classic.cli.command_options import Argument, Option, Options, UsageError
from pykafka_classic.common.topic_partition import TopicPartition

ZOOKEEPER: Final = "zookeeper"
BOOTSTRAP: Final = "bootstrap-server"
PLAN: Final = "reassignment-json-file"
TOPICS: Final = "topics-to-move-json-file"
BROKERS: Final = "broker-list"
THROTTLE: Final = "throttle"
DIRS_THROTTLE: Final = "replica-alter-log-dirs-throttle"
NO_THROTTLE: Final = -1

OPTIONS: Final = (
    Option(BOOTSTRAP, "The broker to ask, host:port,host:port.", Argument.REQUIRED, described_as="Server(s) to use for bootstrapping"),
    Option(ZOOKEEPER, "DEPRECATED: ZooKeeper, host:port,host:port/chroot; without a port 2181 is meant.", Argument.REQUIRED, described_as="urls"),
    Option("command-config", "File of properties for the connection to brokers.", Argument.REQUIRED, described_as="Admin client property file"),
    Option("generate", "Propose where the partitions of some topics could go. Nothing is moved."),
    Option("execute", "Begin to move partitions as the file says."),
    Option("verify", "Tell whether what the file says has been done; where it has, throttles are lifted."),
    Option("cancel", "Call a move off."),
    Option("list", "List the moves under way."),
    Option(
        PLAN,
        'The plan: {"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2],"log_dirs":["any","any"]}]}. '
        "log_dirs may be left out; it names a directory for each replica, or any.",
        Argument.REQUIRED,
        described_as="manual assignment json file path",
    ),
    Option(
        TOPICS,
        'With --generate, the topics: {"version":1,"topics":[{"topic":"t"}]}.',
        Argument.REQUIRED,
        described_as="topics to reassign json file path",
    ),
    Option(BROKERS, 'With --generate, the brokers that shall hold them: "0,1,2".', Argument.REQUIRED, described_as="brokerlist"),
    Option("disable-rack-aware", "Place replicas without regard to racks."),
    Option(THROTTLE, "Bytes per second at which brokers copy from each other; -1: no limit.", Argument.REQUIRED, "Long", "throttle", "-1", checked_late=True),
    Option(
        DIRS_THROTTLE,
        "Bytes per second from one directory of a broker to another.",
        Argument.REQUIRED,
        "Long",
        "replicaAlterLogDirsThrottle",
        "-1",
        checked_late=True,
    ),
    Option("timeout", "How long, in ms, to wait until moves between directories can begin.", Argument.REQUIRED, "Long", "timeout", "10000", checked_late=True),
    Option("additional", "Begin though other moves are under way; or give those of the plan another throttle."),
    Option("preserve-throttles", "Leave throttles as they are."),
)

_SERVERS: Final = (BOOTSTRAP, "command-config")
REQUIRED: Final = {"generate": (TOPICS, BROKERS), "execute": (PLAN,), "verify": (PLAN,), "cancel": (PLAN,), "list": ()}
PERMITTED: Final = {
    "verify": (*_SERVERS, "preserve-throttles", ZOOKEEPER),
    "generate": (*_SERVERS, BROKERS, "disable-rack-aware", ZOOKEEPER),
    "execute": (*_SERVERS, "additional", THROTTLE, DIRS_THROTTLE, "timeout", ZOOKEEPER),
    "cancel": (*_SERVERS, "preserve-throttles", "timeout"),
    "list": _SERVERS,
}
BROKER_ONLY: Final = ("additional", "cancel", "command-config", DIRS_THROTTLE, "list", "timeout")

EXISTING: Final = (
    "Cannot execute because there is an existing partition assignment.  Use --additional to override this and create a new partition assignment "
    "in addition to the existing one. The --additional flag can also be used to change the throttle by resubmitting the current reassignment."
)
RUN_VERIFY: Final = "Warning: You must run --verify periodically, until the reassignment completes, to ensure the throttle is removed."


class Terse(Exception):
    """A refusal that is printed as it is, without "Error: "."""


class PartitionStatus(NamedTuple):
    """How the move of one partition stands."""

    current: Sequence[int]
    target: Sequence[int]
    done: bool


class Reassigner(Protocol):
    """Who carries plans out: ZooKeeper and the controller, or a broker."""

    def __enter__(self) -> Self: ...
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...

    def generate(self, options: Options) -> None:
        """Propose."""
        ...

    def execute(self, options: Options) -> None:
        """Begin."""
        ...

    def verify(self, options: Options) -> None:
        """Tell how it stands."""
        ...

    def cancel(self, options: Options) -> None:
        """Call off."""
        ...

    def list_moves(self) -> None:
        """What is under way."""
        ...


def action_of(options: Options) -> str:
    """The one action. Raises UsageError, CommandFailed for options that do not go with it."""
    given = [action for action in REQUIRED if options.has(action)]
    if len(given) != 1:
        raise UsageError("Command must include exactly one action: --generate, --execute, --verify, --cancel, --list", with_help=True)
    action = given[0]
    if not options.has(ZOOKEEPER) and not options.has(BOOTSTRAP):
        raise UsageError("Please specify --bootstrap-server", with_help=True)
    options.require(*REQUIRED[action])
    for name in options.order:
        if name not in (action, *REQUIRED[action], *PERMITTED[action]):
            raise UsageError(f'Option "[{name}]" can\'t be used with action "[{action}]"', with_help=True)
    if not options.has(BOOTSTRAP):
        for name in BROKER_ONLY:
            if options.has(name):
                raise CommandFailed(f'You must specify --bootstrap-server when using "[{name}]"')
    return action


def body(options: Options, console: Console) -> int:
    """Do what the command line says."""
    from pykafka_classic.cli.kafka_json import WrongJson
    from pykafka_classic.cli.reassign_plan import BadPlan
    from pykafka_classic.common.errors import KafkaError

    action = action_of(options)
    try:
        with _open(options, console) as reassigner:
            _act(reassigner, action, options)
    except Terse as error:
        console.say(str(error))
        return FAILED
    except (BadPlan, WrongJson, KafkaError, CommandFailed, UsageError, OSError) as error:
        console.say(f"Error: {error}")
        return FAILED
    return OK


def _act(reassigner: Reassigner, action: str, options: Options) -> None:
    for name in (THROTTLE, DIRS_THROTTLE, "timeout"):
        options.integer(name)  # a number that is none is told of before anything is done
    match action:
        case "generate":
            reassigner.generate(options)
        case "execute":
            reassigner.execute(options)
        case "verify":
            reassigner.verify(options)
        case "cancel":
            reassigner.cancel(options)
        case _:
            reassigner.list_moves()


def _open(options: Options, console: Console) -> Reassigner:
    if options.has(BOOTSTRAP):
        if options.has(ZOOKEEPER):
            console.say(
                "Warning: ignoring deprecated --zookeeper option because --bootstrap-server was specified.  "
                "The --zookeeper option will be removed in a future version of Kafka."
            )
        from pykafka_classic.cli.reassign_broker import BrokerReassigner

        return BrokerReassigner(options.text(BOOTSTRAP), options.value("command-config"), console)
    console.say("Warning: --zookeeper is deprecated, and will be removed in a future version of Kafka.")
    from pykafka_classic.cli.reassign_zookeeper import ZooKeeperReassigner

    return ZooKeeperReassigner(options.text(ZOOKEEPER), console)


def file_of(options: Options, name: str) -> str:
    """What stands in the file that an option names. CommandFailed where it cannot be read."""
    path = options.text(name)
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise CommandFailed(f"Unable to read file {path}") from error


def status_lines(states: Mapping[TopicPartition, PartitionStatus]) -> list[str]:
    """What --verify says of partitions."""
    lines = ["Status of partition reassignment:"]
    for partition, state in sorted(states.items()):
        if not state.done:
            lines.append(f"Reassignment of partition {partition} is still in progress.")
        elif tuple(state.current) == tuple(state.target):
            lines.append(f"Reassignment of partition {partition} is complete.")
        else:
            current, target = (",".join(map(str, ids)) for ids in (state.current, state.target))
            lines.append(f"There is no active reassignment of partition {partition}, but replica set is {current} rather than {target}.")
    return lines


TOOL: Final = Tool("kafka-reassign-partitions", "This tool helps to move topic partitions between replicas.", OPTIONS, body)


def run() -> None:
    """The console command."""
    run_tool(TOOL)


if __name__ == "__main__":
    run()
