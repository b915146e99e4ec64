"""The command line of kafka-consumer-groups: its options, and what goes together.

Source: facts/tools.md 7; 2.8 ConsumerGroupCommand.scala (ConsumerGroupCommandOptions).
"""

from __future__ import annotations

from typing import Final

from pykafka_classic.cli.command_options import Argument, Option, Options, UsageError

BOOTSTRAP: Final = "bootstrap-server"
ACTIONS: Final = ("list", "describe", "delete", "reset-offsets", "delete-offsets")
SCENARIOS: Final = ("by-duration", "to-offset", "from-file", "to-datetime", "to-earliest", "to-current", "shift-by", "to-latest")  # that of a hash set there
STATES: Final = ("PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Empty")
VIEWS: Final = ("members", "offsets", "state")

NO_EXECUTE: Final = (
    "WARN: No action will be performed as the --execute option is missing."
    "In a future major release, the default behavior of this command will be to prompt the user before executing the reset rather than doing a dry run. "
    "You should add the --dry-run option explicitly if you are scripting this command and want to keep the current default behavior without prompting."
)

OPTIONS: Final = (
    Option(BOOTSTRAP, "REQUIRED: the brokers to ask, host:port,host:port.", Argument.REQUIRED, described_as="server to connect to"),
    Option("group", "The group; may be given more than once.", Argument.REQUIRED, described_as="consumer group"),
    Option(
        "topic",
        "With --reset-offsets and --delete-offsets: a topic, or some of its partitions (topic:0,1,2); may be given more than once.",
        Argument.REQUIRED,
        described_as="topic",
    ),
    Option("all-topics", "With --reset-offsets: all topics in which the group has offsets."),
    Option("list", "List the groups."),
    Option("describe", "Tell of groups: how far they have come in each partition, and how much is left to read."),
    Option("all-groups", "All groups, with --describe, --delete and --reset-offsets."),
    Option("delete", "Delete groups and their offsets. They must have no members."),
    Option(
        "timeout",
        "How long to wait for the brokers, in ms: a group that has just been made, or changes, takes its time.",
        Argument.REQUIRED,
        "Long",
        "timeout (ms)",
        "5000",
        checked_late=True,
    ),
    Option("command-config", "File of properties for the connection to brokers.", Argument.REQUIRED, described_as="command config property file"),
    Option(
        "reset-offsets",
        "Let groups without members go on elsewhere: one of --to-offset, --shift-by, --to-datetime, --by-duration, --to-earliest, --to-latest, --to-current, "
        "--from-file, in the partitions of --topic or --all-topics; with --execute, else it is only told what would be done.",
    ),
    Option("delete-offsets", "Forget how far a group has come in some topics, which none of its members may read."),
    Option("dry-run", "With --reset-offsets: only tell what would be done."),
    Option("execute", "With --reset-offsets: do it."),
    Option("export", "With --reset-offsets: tell it as lines of CSV, for --from-file."),
    Option("to-offset", "With --reset-offsets: to this offset.", Argument.REQUIRED, "Long", "offset", checked_late=True),
    Option(
        "from-file",
        "With --reset-offsets: to what a file of CSV says, topic,partition,offset or group,topic,partition,offset.",
        Argument.REQUIRED,
        described_as="path to CSV file",
    ),
    Option(
        "to-datetime",
        "With --reset-offsets: to a time. Format: 'YYYY-MM-DDTHH:mm:SS.sss', in UTC unless a zone follows.",
        Argument.REQUIRED,
        described_as="datetime",
    ),
    Option("by-duration", "With --reset-offsets: so long back from now. Format: 'PnDTnHnMnS'.", Argument.REQUIRED, described_as="duration"),
    Option("to-earliest", "With --reset-offsets: to the first record that is there."),
    Option("to-latest", "With --reset-offsets: behind the last record."),
    Option("to-current", "With --reset-offsets: to where the group is."),
    Option("shift-by", "With --reset-offsets: so many records on or, if negative, back.", Argument.REQUIRED, "Long", "number-of-offsets", checked_late=True),
    Option("members", "With --describe: the members."),
    Option("verbose", "With --describe: more; with --members, what each reads."),
    Option("offsets", "With --describe: offsets and lag, as without it."),
    Option("state", "With --describe: the state of the group. With --list: the states too, and if some are named only groups in these.", Argument.OPTIONAL),
)


def check(options: Options) -> None:
    """Raise UsageError for what does not go together, in Kafka's order; --help and --version count for nothing before."""
    options.require(BOOTSTRAP)
    if not options.has("describe"):
        unavailable = [name for name in ("members", "offsets", *(() if options.has("list") else ("state",)), "verbose") if options.has(name)]
        if unavailable:
            raise UsageError(f"Option(s) [{', '.join(unavailable)}] are unavailable given other options on the command line")
    _check_describe(options)
    _check_deletes(options)
    if options.has("reset-offsets") and options.has("dry-run") and options.has("execute"):
        raise UsageError("Option [reset-offsets] only accepts one of [execute] and [dry-run]", with_help=True)
    try:
        if options.has("reset-offsets"):
            _check_reset(options)
        options.refuse("group", "all-groups")
        options.refuse("group", "list")
        options.refuse("topic", "list", "describe")
    except UsageError as error:
        raise UsageError(f"{NO_EXECUTE}\n{error}" if only_told(options) else str(error), with_help=error.with_help) from error


def only_told(options: Options) -> bool:
    """Whether it is said first that nothing will be done."""
    return options.has("reset-offsets") and not options.has("dry-run") and not options.has("execute")


def _check_describe(options: Options) -> None:
    if not options.has("describe"):
        return
    _require_groups(options, "describe")
    if sum(map(options.has, VIEWS)) > 1:
        raise UsageError("Option [describe] takes at most one of these options: [members], [offsets], [state]", with_help=True)
    if options.has("state") and options.value("state") is not None:
        raise UsageError("Option [describe] does not take a value for [state]", with_help=True)


def _check_deletes(options: Options) -> None:
    if options.has("delete"):
        _require_groups(options, "delete")
        if options.has("topic"):
            raise UsageError("The consumer does not support topic-specific offset deletion from a consumer group.", with_help=True)
    if options.has("delete-offsets") and not (options.has("group") and options.has("topic")):
        raise UsageError("Option [delete-offsets] takes the following options: [group], [topic]", with_help=True)


def _check_reset(options: Options) -> None:
    _require_groups(options, "reset-offsets")
    for name in ("to-offset", "to-datetime", "by-duration", "to-earliest", "to-latest", "to-current", "shift-by", "from-file"):
        options.refuse(name, *(other for other in SCENARIOS if other != name))


def _require_groups(options: Options, action: str) -> None:
    if not options.has("group") and not options.has("all-groups"):
        raise UsageError(f"Option [{action}] takes one of these options: [group], [all-groups]", with_help=True)


def chosen_action(options: Options) -> str:
    """The one action. Raises UsageError."""
    found = [name for name in ACTIONS if options.has(name)]
    if len(found) != 1:
        raise UsageError("Command must include exactly one action: --list, --describe, --delete, --reset-offsets, --delete-offsets", with_help=True)
    return found[0]


def wanted_states(text: str | None) -> list[str]:
    """`Stable, Empty` as brokers write it. Raises UsageError."""
    if not text:
        return []
    words = [word.strip() for word in text.split(",")]
    if any(word not in STATES for word in words):
        raise UsageError(f"Invalid state list '{text}'. Valid states are: {', '.join(STATES)}", with_help=True)
    return words
