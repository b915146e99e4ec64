"""`kafka-topics.sh --zookeeper HOST|--bootstrap-server HOST:PORT --list|--describe|--create|--alter|--delete [option]...`.

Reading order: `topic_command` (what the command line says), this module (what is done), `topics_zookeeper` and `topics_broker` (by whom), `topic_rows` (lines).

Differs from Kafka: an error is told once, on stdout as with Kafka; Kafka logs it a second time, with a stack trace.

Source: facts/tools.md 4; 2.8 TopicCommand.scala.
"""

from __future__ import annotations

from typing import Final

from pykafka_classic.cli.command import FAILED, OK, CommandFailed, Console, Tool, run_tool
from pykafka_classic.cli.command_options import Options, UsageError
from pykafka_classic.cli.topic_command import BOOTSTRAP, DEPRECATED_FORMAT_KEY, OPTIONS, ZOOKEEPER, TopicCommandError, TopicService, WantedTopic, check, chosen

COLLISIONS: Final = (
    "WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') could collide. "
    "To avoid issues it is best to use either, but not both."
)


def body(options: Options, console: Console) -> int:
    """Do what the command line says."""
    from pykafka_classic.common.errors import KafkaError

    check(options)
    service = open_service(options, console)
    try:
        act(service, options, console)
    except (TopicCommandError, KafkaError, CommandFailed, UsageError) as error:
        console.say(f"Error while executing topic command : {error}")
        return FAILED
    finally:
        service.close()
    return OK


def open_service(options: Options, console: Console) -> TopicService:
    """Whom the command line wants to be asked."""
    if options.has(ZOOKEEPER):
        from pykafka_classic.cli.topics_zookeeper import ZooKeeperTopics

        return ZooKeeperTopics(options.text(ZOOKEEPER), console)
    from pykafka_classic.cli.topics_broker import BrokerTopics

    return BrokerTopics(options.text(BOOTSTRAP), options.value("command-config"))


def act(service: TopicService, options: Options, console: Console) -> None:
    """The one action. Raises TopicCommandError, KafkaError."""
    if options.has("create"):
        create(service, options, console)
        return
    if options.has("list"):
        lines = service.listed(chosen(service, options))
        if lines:
            console.say("\n".join(lines))
        return
    names = chosen(service, options)
    if not names and options.has("topic") and not options.has("if-exists"):
        raise TopicCommandError(f"Topic '{options.text('topic')}' does not exist as expected")
    if options.has("describe"):
        console.output.writelines(f"{line}\n" for line in service.describe(names, options))
    elif options.has("alter"):
        wanted = WantedTopic.of(options)
        _warn_of_format(wanted, console)
        service.alter(names, wanted)
    else:
        service.delete(names)


def create(service: TopicService, options: Options, console: Console) -> None:
    """Create the topic, and say what may be wrong with its name."""
    from pykafka_classic.common.topic_name import has_collision_chars

    wanted = WantedTopic.of(options)
    _warn_of_format(wanted, console)
    if has_collision_chars(wanted.name):
        console.say(COLLISIONS)
    if service.create(wanted, tolerate_existing=options.has("if-not-exists")):
        console.say(f"Created topic {wanted.name}.")


def _warn_of_format(wanted: WantedTopic, console: Console) -> None:
    version = wanted.configs.get(DEPRECATED_FORMAT_KEY)
    if version is not None:
        reason = "This configuration will be ignored if the version is newer than the inter.broker.protocol.version specified in the broker."
        console.say(f"WARNING: The configuration {DEPRECATED_FORMAT_KEY}={version} is specified. {reason}")


TOOL: Final = Tool(
    "kafka-topics",
    "This tool helps to create, delete, describe, or change a topic.",
    OPTIONS,
    body,
    without_arguments="Create, delete, describe, or change a topic.",
)


def run() -> None:
    """The console command."""
    run_tool(TOOL)


if __name__ == "__main__":
    run()
