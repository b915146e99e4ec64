"""`kafka-consumer-groups.sh --bootstrap-server HOST:PORT --list|--describe|--delete|--reset-offsets|--delete-offsets [option]...`.

Reading order: consumer_group_command (the command line), this module (what is done), consumer_group_reset, consumer_group_rows (tables).

As with Kafka, what fails at the brokers is told on stdout, and the exit status is 0 all the same; only a wrong command line ends with 1.

Differs from Kafka: a group with an offset in a topic that is gone is described (`-` where the end would stand); Kafka gives up after --timeout.

Source: facts/tools.md 7; 2.8 ConsumerGroupCommand.scala.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from pykafka_classic.cli.command import OK, CommandFailed, Console, Tool, run_tool
from pykafka_classic.cli.command_options import Options, UsageError
from pykafka_classic.cli.consumer_group_command import BOOTSTRAP, NO_EXECUTE, OPTIONS, check, chosen_action, only_told, wanted_states

if TYPE_CHECKING:
    from pykafka_classic.cli.consumer_group_reset import Reset
    from pykafka_classic.cli.consumer_group_rows import GroupProgress
    from pykafka_classic.client.admin.groups import GroupDescription, GroupListing
    from pykafka_classic.common.errors import KafkaError
    from pykafka_classic.common.topic_partition import TopicPartition
    from pykafka_classic.edges.admin import Admin

INACTIVE: Final = ("Empty", "Dead")
REBALANCING: Final = ("PreparingRebalance", "CompletingRebalance")
NOT_PROVIDED: Final = -1  # a topic that is not there has no partitions to name


def body(options: Options, console: Console) -> int:
    """Do what the command line says."""
    from pykafka_classic.cli.consumer_group_reset import ResetFailed
    from pykafka_classic.common.errors import KafkaError
    from pykafka_classic.common.java_errors import as_java

    action = chosen_action(options)
    if only_told(options):
        console.complain(NO_EXECUTE)
    try:
        command = ConsumerGroups(options, console)
    except CommandFailed as error:
        _fail(console, str(error))
        return OK
    except UsageError as error:
        return _fail_at(error, console)
    try:
        command.run(action)
    except UsageError as error:
        return _fail_at(error, console)
    except KafkaError as error:
        _fail(console, as_java(error))
    except (ResetFailed, OSError) as error:
        _fail(console, str(error))
    finally:
        command.close()
    return OK


def _fail_at(error: UsageError, console: Console) -> int:
    """A value that Kafka looks at when it has begun: told like any other failure."""
    if error.with_help:
        raise error
    _fail(console, str(error))
    return OK


def _fail(console: Console, why: str) -> None:
    complain(console, f"Executing consumer group command failed due to {why}")


def complain(console: Console, what: str) -> None:
    """On stdout, as Kafka does."""
    console.say(f"\nError: {what}")


class ConsumerGroups:
    """The tool at work, on one cluster."""

    def __init__(self, options: Options, console: Console) -> None:
        from pykafka_classic.cli.broker_session import open_admin

        self._options = options
        self._console = console
        self._admin: Admin = open_admin(options.text(BOOTSTRAP), options.value("command-config"), api_timeout_ms=options.integer("timeout"))

    def close(self) -> None:
        """Close the connections."""
        self._admin.close()

    def run(self, action: str) -> None:
        """The one action. Raises KafkaError, UsageError, ResetFailed."""
        actions: dict[str, Callable[[], None]] = {
            "list": self._list,
            "describe": self._describe,
            "delete": self._delete,
            "reset-offsets": self._reset,
            "delete-offsets": self._delete_offsets,
        }
        actions[action]()

    def _say_all(self, lines: Iterable[str]) -> None:
        self._console.output.writelines(f"{line}\n" for line in lines)

    # list

    def _list(self) -> None:
        if not self._options.has("state"):
            self._say_all(self._all_groups())
            return
        from pykafka_classic.cli.consumer_group_rows import table

        states = wanted_states(self._options.value("state"))
        listed = self._admin.list_groups(states)
        rows = [(name, listed[name].state) for name in self._consumers(listed)]
        self._say_all(table([("GROUP", "STATE"), *rows], (15, 0), (0,)))

    def _all_groups(self) -> list[str]:
        return self._consumers(self._admin.list_groups())

    def _consumers(self, listed: dict[str, GroupListing]) -> list[str]:
        """Groups of consumers, in the order of a java.util.HashMap."""
        from pykafka_classic.common.java import hash_map_order

        return hash_map_order(name for name, group in listed.items() if group.protocol_type in ("", "consumer"))

    # describe

    def _described(self, names: Sequence[str]) -> list[GroupDescription]:
        """Sorted by name. Raises the first error."""
        found = self._admin.describe_groups(names)
        for error in found.errors().values():
            raise error
        return [group for _, group in sorted(found.values_only().items())]

    def _chosen(self) -> Sequence[str]:
        return self._all_groups() if self._options.has("all-groups") else self._options.values_of("group")

    def _describe(self) -> None:
        from pykafka_classic.cli import consumer_group_rows as rows

        groups = self._described(self._chosen())
        for group in groups:
            if self._options.has("members"):
                lines = rows.member_table(group, verbose=self._options.has("verbose"))
            elif self._options.has("state"):
                lines = rows.state_table(group)
            else:
                lines = rows.offset_table(self._progress(group))
            if self._has_rows(group):
                self._say_all(lines)

    def _has_rows(self, group: GroupDescription) -> bool:
        """Say what is special about a group's state; False where that is all."""
        if group.state == "Dead":
            complain(self._console, f"Consumer group '{group.group_id}' does not exist.")
        elif group.state == "Empty":
            self._console.complain(f"\nConsumer group '{group.group_id}' has no active members.")
        elif group.state in REBALANCING:
            self._console.complain(f"\nWarning: Consumer group '{group.group_id}' is rebalancing.")
        return group.state != "Dead"

    def _progress(self, group: GroupDescription) -> GroupProgress:
        from pykafka_classic.cli.consumer_group_rows import GroupProgress
        from pykafka_classic.client.admin.offsets import LATEST

        committed = {each: position.offset for each, position in self._admin.list_group_offsets(group.group_id).items()}
        partitions = {*committed, *(each for member in group.members for each in member.assignment)}
        ends = self._admin.list_offsets(dict.fromkeys(partitions, LATEST)).values_only() if partitions else {}
        return GroupProgress(group, committed, {each: found.offset for each, found in ends.items()})

    # delete

    def _delete(self) -> None:
        from pykafka_classic.cli.scala_order import in_hash_order
        from pykafka_classic.common.java import string_hash
        from pykafka_classic.common.java_errors import as_java

        outcomes = self._admin.delete_groups(self._chosen())
        failed = outcomes.errors()
        deleted = "', '".join(in_hash_order(outcomes.values_only(), string_hash))
        if not failed:
            self._console.say(f"Deletion of requested consumer groups ('{deleted}') was successful.")
            return
        complain(self._console, "Deletion of some consumer groups failed:")
        for group in in_hash_order(failed, string_hash):
            why = f"java.util.concurrent.ExecutionException: {as_java(failed[group])}"
            self._console.say(f"* Group '{group}' could not be deleted due to: {why}")
        if deleted:
            self._console.say(f"\nThese consumer groups were deleted successfully: '{deleted}'")

    # reset-offsets

    def _reset(self) -> None:
        from pykafka_classic.cli.consumer_group_reset import Reset, as_csv, only_group
        from pykafka_classic.cli.consumer_group_rows import reset_table
        from pykafka_classic.common.java import hash_map_order

        reset = Reset(self._admin, self._options, lambda text: self._console.complain(f"WARN {text}"))
        groups = {group.group_id: group for group in self._described(self._chosen())}
        plans = {name: self._reset_group(reset, groups[name]) for name in hash_map_order(groups, capacity=len(groups))}
        if self._options.has("export"):
            self._console.say(as_csv(plans, with_group=only_group(self._options) is None))
        else:
            self._say_all(reset_table(plans))

    def _reset_group(self, reset: Reset, group: GroupDescription) -> dict[TopicPartition, int]:
        name = group.group_id
        if group.state not in INACTIVE:
            complain(self._console, f"Assignments can only be reset if the group '{name}' is inactive, but the current state is {group.state}.")
            return {}
        plan = reset.plan(name)
        if plan is None:
            complain(self._console, f"No reset plan for group {name} found")
            return {}
        if self._options.has("execute") and plan:
            for error in self._admin.alter_group_offsets(name, plan).errors().values():
                raise error
        return plan

    # delete-offsets

    def _delete_offsets(self) -> None:
        from pykafka_classic.cli.consumer_group_rows import table
        from pykafka_classic.common.errors import KafkaError
        from pykafka_classic.common.java_errors import as_java

        group, topics = self._options.text("group"), self._options.values_of("topic")
        partitions, outcomes = self._to_forget(topics)
        try:
            told = self._admin.delete_group_offsets(group, partitions)
            outcomes |= told
            failure = next(iter(told.errors().values()), None)
        except KafkaError as error:
            outcomes |= dict.fromkeys(partitions, error)
            failure = error
        if failure is None:
            self._console.say(f"Request succeed for deleting offsets with topic {', '.join(topics)} group {group}")
        else:
            complain(self._console, _why_not_deleted(group, failure))
        rows = [("TOPIC", "PARTITION", "STATUS")]
        for each, found in sorted(outcomes.items(), key=lambda pair: f"{pair[0].topic}{pair[0].partition}"):
            number = "Not Provided" if each.partition == NOT_PROVIDED else str(each.partition)
            rows.append((each.topic, number, "Successful" if found is None else f"Error: {as_java(found)}"))
        self._say_all(["", *table(rows, (30, 15, 15))])

    def _to_forget(self, topics: Sequence[str]) -> tuple[list[TopicPartition], dict[TopicPartition, KafkaError | None]]:
        """Partitions that are named, or are those of topics that are named; and the topics that are not there."""
        from pykafka_classic.cli.consumer_group_reset import named_partitions
        from pykafka_classic.common.topic_partition import TopicPartition

        described = self._admin.describe_topics([topic for topic in topics if ":" not in topic])
        named = [each for topic in topics if ":" in topic for each in named_partitions(topic)]
        whole = [TopicPartition(topic.name, each.partition) for topic in described.values_only().values() for each in topic.partitions]
        return [*named, *whole], {TopicPartition(topic, NOT_PROVIDED): error for topic, error in described.errors().items()}


def _why_not_deleted(group: str, failure: KafkaError) -> str:
    from pykafka_classic.common.errors import ErrorCode

    match failure.code:
        case ErrorCode.INVALID_GROUP_ID:
            return f"'{group}' is not valid."
        case ErrorCode.GROUP_ID_NOT_FOUND:
            return f"'{group}' does not exist."
        case ErrorCode.GROUP_AUTHORIZATION_FAILED:
            return f"Access to '{group}' is not authorized."
        case ErrorCode.NON_EMPTY_GROUP:
            return f"Deleting offsets of a consumer group '{group}' is forbidden if the group is not empty."
        case ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC | ErrorCode.TOPIC_AUTHORIZATION_FAILED | ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            return "Encounter some partition level error, see the follow-up details:"
        case _:
            return f"Encounter some unknown error: {failure.code.name}"


TOOL: Final = Tool(
    "kafka-consumer-groups",
    "This tool helps to list all consumer groups, describe a consumer group, delete consumer group info, or reset consumer group offsets.",
    OPTIONS,
    body,
    without_arguments=None,
    check=check,
)


def run() -> None:
    """The console command."""
    run_tool(TOOL)


if __name__ == "__main__":
    run()
