"""`kafka-console-consumer.sh --bootstrap-server HOST:PORT --topic TOPIC [--from-beginning] [--group GROUP] ...`: records on stdout.

Differs from Kafka: nothing is said where the reader of stdout has gone (`| head`).

How many there were is told on stderr at the end, after Ctrl-C too: the offsets of a group are committed then, and the next one goes on there.

Source: facts/tools.md 6; 2.8 ConsoleConsumer.scala.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from pykafka_classic.cli.command import FAILED, LEAVE_MS, OK, CommandFailed, Console, Tool, run_tool, status_of
from pykafka_classic.cli.command_options import Argument, Option, Options, UsageError
from pykafka_classic.common import topic_name
from pykafka_classic.common.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from pykafka_classic.cli.console_formatters import Formatter
    from pykafka_classic.client.fetched_records import ConsumerRecord
    from pykafka_classic.edges.clients.consumer import Consumer

BOOTSTRAP: Final = "bootstrap-server"
DEFAULT_FORMATTER: Final = "kafka.tools.DefaultMessageFormatter"
WITHOUT_END: Final = -1
LOOK_MS: Final = 100
PATIENCE_MS: Final = 1_000

OPTIONS: Final = (
    Option("topic", "The topic to read.", Argument.REQUIRED, described_as="topic"),
    Option("whitelist", "A regular expression: all topics that it matches as a whole.", Argument.REQUIRED, described_as="whitelist"),
    Option("partition", "Only this partition; from the end, unless --offset says otherwise.", Argument.REQUIRED, "Integer", "partition", checked_late=True),
    Option("offset", "Where to begin, with --partition: an offset, earliest, or latest (the default).", Argument.REQUIRED, described_as="consume offset"),
    Option("consumer-property", "A setting of the consumer, key=value; may be given more than once.", Argument.REQUIRED, described_as="consumer_prop"),
    Option("consumer.config", "A file of settings; --consumer-property counts before it.", Argument.REQUIRED, described_as="config file"),
    Option("formatter", "How records are printed: a class of Kafka's.", Argument.REQUIRED, described_as="class", default=DEFAULT_FORMATTER),
    Option(
        "property",
        "For the formatter: print.timestamp, print.key, print.offset, print.partition, print.headers, print.value (true or false), key.separator, "
        "line.separator, headers.separator, null.literal, key.deserializer, value.deserializer, headers.deserializer.",
        Argument.REQUIRED,
        described_as="prop",
    ),
    Option("from-beginning", "Begin with the first record where the group has committed nothing."),
    Option("max-messages", "Stop after so many records.", Argument.REQUIRED, "Integer", "num_messages", checked_late=True),
    Option("timeout-ms", "Stop when no record has come for so long.", Argument.REQUIRED, "Integer", "timeout_ms", checked_late=True),
    Option("skip-message-on-error", "Go on with the next record where one cannot be printed."),
    Option(BOOTSTRAP, "REQUIRED: brokers to begin with, HOST1:PORT1,HOST2:PORT2.", Argument.REQUIRED, described_as="server to connect to"),
    Option("key-deserializer", "A class of Kafka's, for keys.", Argument.REQUIRED, described_as="deserializer for key"),
    Option("value-deserializer", "A class of Kafka's, for values.", Argument.REQUIRED, described_as="deserializer for values"),
    Option("enable-systest-events", "Tell of the end as well (for Kafka's own tests)."),
    Option("isolation-level", "read_committed leaves out transactions that were aborted or are open.", Argument.REQUIRED, default="read_uncommitted"),
    Option("group", "The consumer group.", Argument.REQUIRED, described_as="consumer group id"),
)


def check(options: Options) -> int | str | None:
    """Where to begin, with --partition; UsageError for options that do not go together, in Kafka's order."""
    if options.has("topic") == options.has("whitelist"):
        raise UsageError("Exactly one of whitelist/topic is required.", with_help=True)
    options.require(BOOTSTRAP)
    offset = _offset(options)
    if options.has("partition"):
        if not options.has("topic"):
            raise UsageError("The topic is required when partition is specified.", with_help=True)
        if options.has("from-beginning") and options.has("offset"):
            raise UsageError("Options from-beginning and offset cannot be specified together.", with_help=True)
    elif options.has("offset"):
        raise UsageError("The partition is required when offset is specified.", with_help=True)
    return offset


def _offset(options: Options) -> int | str:
    if not options.has("offset"):
        return "earliest" if options.has("from-beginning") else "latest"
    text = options.text("offset").lower()
    if text in ("earliest", "latest"):
        return text
    if not text.isdecimal() or int(text) >= 2**63:
        raise UsageError(
            f"The provided offset value '{options.text('offset')}' is incorrect. Valid values are 'earliest', 'latest', or a non-negative long.", with_help=True
        )
    return int(text)


def body(options: Options, console: Console) -> int:
    """Print what comes."""
    offset = check(options)
    from pykafka_classic.cli.console_formatters import UnknownFormatter, formatter
    from pykafka_classic.cli.console_settings import pairs_of
    from pykafka_classic.client.client_errors import InvalidSetting, NoBrokers
    from pykafka_classic.edges.clients.consumer import Consumer

    properties = pairs_of(options, "property")
    for name in ("key", "value"):
        if options.has(f"{name}-deserializer"):
            properties.setdefault(f"{name}.deserializer", options.text(f"{name}-deserializer"))
    settings = _settings(options, console)
    server = options.text(BOOTSTRAP)
    try:
        shown = formatter(options.text("formatter"), properties)
        consumer = Consumer(server, **settings)
    except NoBrokers as error:
        raise CommandFailed(f"Cannot reach the cluster at {server}: {str(error).rstrip('.')}.") from error
    except (InvalidSetting, UnknownFormatter) as error:
        raise CommandFailed(str(error)) from error
    return Reading(consumer, options, console).run(shown, offset)


class Reading:
    """One consumer, and how many records it has read."""

    def __init__(self, consumer: Consumer, options: Options, console: Console) -> None:
        self._consumer = consumer
        self._options = options
        self._console = console
        self._count = 0
        self._limit_ms = options.integer("timeout-ms") if options.has("timeout-ms") else WITHOUT_END

    def run(self, shown: Formatter, offset: int | str | None) -> int:
        """Read until enough has come, nothing comes any more, or somebody stops it; the exit status."""
        from pykafka_classic.client.consuming.consumer_errors import NoOffset

        status, leave_ms = OK, None
        try:
            if self._begin(offset):
                self._print(shown)
        except KeyboardInterrupt as stop:
            status, leave_ms = status_of(stop), LEAVE_MS
        except BrokenPipeError:
            self._consumer.close()
            raise
        except Unprintable as error:
            self._console.complain(str(error))
            status = FAILED
        except (NoOffset, KafkaError) as error:  # no more can be read: Kafka's tool says so, and is done
            self._console.complain(f"ERROR Error processing message, terminating consumer process: {error}")
        self._finish(leave_ms)
        return status

    def _begin(self, offset: int | str | None) -> bool:
        """False where there is nothing to read when --timeout-ms is over."""
        options = self._options
        if options.has("partition"):
            partition = (options.text("topic"), options.integer("partition"))
            if not self._assign(partition):
                return False
            if isinstance(offset, int):
                self._consumer.seek(partition, offset)
            else:
                self._consumer.seek_to(str(offset))
        elif options.has("whitelist"):
            self._consumer.subscribe(_expression(options.text("whitelist")))
        else:
            self._consumer.subscribe([_topic(options)])
        return True

    def _assign(self, partition: tuple[str, int]) -> bool:
        """Wait for a partition that is not there, as Kafka's tool does; the user is told."""
        deadline = time.monotonic() + self._limit_ms / 1000
        told = False
        while True:
            left_ms = max((deadline - time.monotonic()) * 1000, 0) if self._limit_ms >= 0 else PATIENCE_MS
            try:
                self._consumer.assign([partition], patience_ms=min(left_ms, PATIENCE_MS))
            except KafkaError as error:
                if error.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                    raise
                if not told:
                    self._console.complain(f"Waiting for partition {partition[0]}-{partition[1]}, which is not there: {error}")
                    told = True
                if self._limit_ms >= 0 and time.monotonic() >= deadline:
                    return False
            else:
                return True

    def _records(self) -> Iterator[ConsumerRecord]:
        """Until none has come for --timeout-ms. What was printed is on its way to the reader whenever no record is at hand."""
        limit_ms = self._limit_ms
        look_ms = LOOK_MS if limit_ms < 0 else min(LOOK_MS, limit_ms)
        idle_ms = 0
        while limit_ms < 0 or idle_ms < limit_ms or not idle_ms:
            for record in self._consumer.until_idle(look_ms):
                idle_ms = 0
                yield record
            idle_ms += max(look_ms, 1)
            self._console.check_reader()

    def _print(self, shown: Formatter) -> None:
        count_max = self._options.integer("max-messages") if self._options.has("max-messages") else WITHOUT_END
        if count_max == 0:
            return
        output = self._console.output
        for record in self._records():
            self._count += 1
            try:
                output.write(shown(record))
            except ValueError as error:
                complaint = f"Record {record.topic}-{record.partition} at offset {record.offset} cannot be printed: {error}"
                if not self._options.has("skip-message-on-error"):
                    raise Unprintable(complaint) from error
                self._console.complain(complaint)
            if self._count == count_max:
                return

    def _finish(self, leave_ms: int | None) -> None:
        if leave_ms is None:
            self._consumer.close()
        else:
            self._consumer.close(timeout_ms=leave_ms)
        if self._options.has("enable-systest-events"):
            self._console.say("shutdown_complete")
        self._console.errors.write(f"Processed a total of {self._count} messages\n")


def _expression(whitelist: str) -> str:
    """Commas mean "or"; CommandFailed for what is no regular expression."""
    expression = whitelist.strip().replace(",", "|").replace(" ", "").strip("\"'")
    try:
        re.compile(expression)
    except re.error as error:
        raise CommandFailed(f"{expression} is an invalid regex: {error}.") from error
    return f"^(?:{expression})"


def _topic(options: Options) -> str:
    """CommandFailed, KafkaError for what can be none."""
    topic = options.text("topic")
    if not topic.strip():
        raise CommandFailed("Topic collection to subscribe to cannot contain null or empty topic")
    try:
        topic_name.validate(topic)
    except KafkaError as error:
        raise KafkaError(error.code, f"Invalid topics: [{topic}]") from error
    return topic


class Unprintable(Exception):
    """A record that the formatter cannot take."""


def _settings(options: Options, console: Console) -> dict[str, Any]:
    from pykafka_classic.cli.console_settings import file_properties, known_settings, pairs_of
    from pykafka_classic.client.consuming.consumer_settings import ConsumerSettings

    in_file, extra = file_properties(options, "consumer.config"), pairs_of(options, "consumer-property")
    properties: dict[str, Any] = {key: value for key, value in (in_file | extra).items() if key != "bootstrap.servers"}
    properties["isolation.level"] = options.text("isolation-level")
    group = _group(options, in_file, extra)
    if options.has("partition"):
        properties = {key: value for key, value in properties.items() if key != "group.id"} | {"enable.auto.commit": False}
    elif group is not None:
        properties["group.id"] = group
    else:
        # Nobody will look for the offsets of a group whose name was made up.
        properties = {"enable.auto.commit": False, **properties, "group.id": f"console-consumer-{random.randrange(100_000)}"}
    if options.has("from-beginning"):
        if str(properties.get("auto.offset.reset", "earliest")) == "latest":
            raise CommandFailed("Can't simultaneously specify --from-beginning and 'auto.offset.reset=latest', please remove one option")
        properties["auto.offset.reset"] = "earliest"
    return known_settings(properties, ConsumerSettings, console)


def _group(options: Options, in_file: Mapping[str, str], extra: Mapping[str, str]) -> str | None:
    given = [each for each in (options.value("group"), in_file.get("group.id"), extra.get("group.id")) if each is not None]
    if len(set(given)) > 1:
        raise UsageError(
            "The group ids provided in different places (directly using '--group', via '--consumer-property', or via '--consumer.config') do not match. "
            f"Detected group ids: {', '.join(dict.fromkeys(chr(39) + each + chr(39) for each in given))}",
            with_help=True,
        )
    if given and options.has("partition"):
        raise UsageError("Options group and partition cannot be specified together.", with_help=True)
    return given[0] if given else None


TOOL: Final = Tool(
    "kafka-console-consumer",
    "This tool helps to read data from Kafka topics and outputs it to standard output.",
    OPTIONS,
    body,
    errors_with_help=True,
)


def run() -> None:
    """The console command."""
    run_tool(TOOL)


if __name__ == "__main__":
    run()
