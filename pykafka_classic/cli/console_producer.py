"""`kafka-console-producer.sh --bootstrap-server HOST:PORT --topic TOPIC`: each line of stdin is a record.

At a terminal a `>` stands before each line. What cannot be sent is told on stderr, and the next line is taken; the exit status stays 0, as with Kafka.

A request that a broker has not answered within --request-timeout-ms is sent again, of which a WARN on stderr tells. With acks=all and a follower that has died,
but still counts as in sync, each attempt is appended: the topic then holds the record several times, as it does with Kafka's tool, also where the tool says in
the end that the request timed out. --producer-property enable.idempotence=true prevents that.

Source: facts/tools.md 5; 2.8 ConsoleProducer.scala.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from pykafka_classic.cli.command import OK, CommandFailed, Console, Tool, closed_in_time, run_tool, send_the_rest
from pykafka_classic.cli.command_options import Argument, Option, Options, UsageError

if TYPE_CHECKING:
    from pykafka_classic.client.client_errors import NoBrokers
    from pykafka_classic.edges.clients.producer import Producer

BOOTSTRAP: Final = "bootstrap-server"
BROKER_LIST: Final = "broker-list"
LINE_READER: Final = "kafka.tools.ConsoleProducer$LineMessageReader"
SENDER_LOG: Final = "kafka.clients.producer.Sender"
CLIENT_ID: Final = "console-producer"
WITHOUT_EFFECT: Final = ("batch-size", "socket-buffer-size")

_ADDRESS: Final = re.compile(r".*?\[?[0-9a-zA-Z\-%._:]*\]?:[0-9]+")  # Kafka's pattern


def _number(name: str, description: str, default: int, kind: str = "Integer") -> Option:
    return Option(name, description, Argument.REQUIRED, kind, "size" if "size" in name or "bytes" in name else "number", str(default), checked_late=True)


OPTIONS: Final = (
    Option("topic", "REQUIRED: the topic to write to.", Argument.REQUIRED, described_as="topic"),
    Option(BROKER_LIST, "DEPRECATED, use --bootstrap-server; has no effect beside it.", Argument.REQUIRED, described_as="broker-list"),
    Option(BOOTSTRAP, "REQUIRED unless --broker-list: brokers to begin with, HOST1:PORT1,HOST2:PORT2.", Argument.REQUIRED, described_as="server to connect to"),
    Option("sync", "Wait for each record to be acknowledged before the next is read."),
    Option(
        "compression-codec",
        "none, gzip, snappy, lz4 or zstd; gzip where no codec is named.",
        Argument.OPTIONAL,
        described_as="compression-codec",
    ),
    _number("batch-size", "Has no effect: batches are as large as --max-partition-memory-bytes allows.", 200),
    _number("message-send-max-retries", "How often a record is sent again.", 3),
    _number("retry-backoff-ms", "Pause before that, in ms.", 100),
    _number("timeout", "How long, in ms, a record may wait for others to be sent with it.", 1000),
    Option("request-required-acks", "Who must have the record: 0 nobody, 1 the leader, all.", Argument.REQUIRED, default="1"),
    _number("request-timeout-ms", "How long, in ms, a broker may take.", 1500),
    _number("metadata-expiry-ms", "Age, in ms, at which metadata is asked for again.", 300_000, "Long"),
    _number("max-block-ms", "How long, in ms, to wait for room in the buffer, and for metadata.", 60_000, "Long"),
    _number("max-memory-bytes", "Size of the buffer of records not sent yet.", 33_554_432, "Long"),
    _number("max-partition-memory-bytes", "Size of a batch.", 16_384, "Long"),
    _number("socket-buffer-size", "Has no effect: the system chooses it.", 102_400),
    Option("line-reader", f"Has no effect but for the one that there is, {LINE_READER}.", Argument.REQUIRED, default=LINE_READER),
    Option("property", "For the reader: parse.key=true, key.separator=:, ignore.error=true.", Argument.REQUIRED, described_as="prop"),
    Option("producer-property", "A setting of the producer, key=value; may be given more than once.", Argument.REQUIRED, described_as="producer_prop"),
    Option("producer.config", "A file of settings; --producer-property counts before it.", Argument.REQUIRED, described_as="config file"),
)


def body(options: Options, console: Console) -> int:
    """Send what is read."""
    server = options.value(BOOTSTRAP) or options.value(BROKER_LIST)
    if server is None:
        raise UsageError("Missing required option(s) [bootstrap-server]", with_help=True)
    options.require("topic")
    if not all(_ADDRESS.fullmatch(address) for address in server.split(",")):
        raise UsageError("Please provide valid host:port like host1:9091,host2:9092\n ", with_help=True)
    for name in WITHOUT_EFFECT:
        options.integer(name)
    if options.text("line-reader") != LINE_READER:
        raise CommandFailed(f"There is no line reader {options.text('line-reader')} here; there is {LINE_READER}.")
    from pykafka_classic.cli.console_settings import pairs_of
    from pykafka_classic.client.client_errors import InvalidSetting, NoBrokers
    from pykafka_classic.edges.clients.producer import Producer

    try:
        producer = Producer(server, **_settings(options, console))
    except NoBrokers as error:
        raise CommandFailed(_unreachable(server, error)) from error
    except InvalidSetting as error:
        raise CommandFailed(str(error)) from error
    with telling_retries(console), closed_in_time(producer):
        try:
            _send(producer, options, pairs_of(options, "property"), console)
        except KeyboardInterrupt:
            send_the_rest(producer)
            raise
    return OK


@contextlib.contextmanager
def telling_retries(console: Console) -> Iterator[None]:
    """What the producer sends again is told: otherwise nobody would know why it takes so long."""
    log, handler, level = logging.getLogger(SENDER_LOG), logging.StreamHandler(console.errors), logging.getLogger(SENDER_LOG).level
    handler.setFormatter(logging.Formatter("WARN %(message)s"))
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


def _unreachable(server: str, error: NoBrokers) -> str:
    return f"Cannot reach the cluster at {server}: {str(error).rstrip('.')}."


def _settings(options: Options, console: Console) -> dict[str, Any]:
    from pykafka_classic.cli.console_settings import file_properties, known_settings, pairs_of
    from pykafka_classic.client.producing.producer_settings import ProducerSettings

    codec = (options.value("compression-codec") or "gzip") if options.has("compression-codec") else "none"
    own = {
        "client_id": CLIENT_ID,
        "acks": options.text("request-required-acks"),
        "compression_type": codec,
        "linger_ms": 0 if options.has("sync") else options.integer("timeout"),  # whoever waits for each record has no other to send with it
        "retries": options.integer("message-send-max-retries"),
        "retry_backoff_ms": options.integer("retry-backoff-ms"),
        "request_timeout_ms": options.integer("request-timeout-ms"),
        "metadata_max_age_ms": options.integer("metadata-expiry-ms"),
        "max_block_ms": options.integer("max-block-ms"),
        "buffer_memory": options.integer("max-memory-bytes"),
        "batch_size": options.integer("max-partition-memory-bytes"),
    }
    properties = file_properties(options, "producer.config") | pairs_of(options, "producer-property")
    return own | known_settings({key: value for key, value in properties.items() if key != "bootstrap.servers"}, ProducerSettings, console)


def _send(producer: Producer, options: Options, reader: Mapping[str, str], console: Console) -> None:
    topic, waits = options.text("topic"), options.has("sync")
    partition = rf"^{re.escape(topic)}-\d+: "  # Kafka's text does not name it

    def tell(key: bytes | None, value: bytes, _: object, error: Exception | None) -> None:
        if error is None:
            return
        sizes = f"key: {'null' if key is None else f'{len(key)} bytes'}, value: {len(value)} bytes"
        why = re.sub(partition, "", str(error))
        console.complain(f"Error when sending message to topic {topic} with {sizes} with error: {why}")

    for key, value in records(_lines(console), reader):
        sent = producer.send(topic, value, key, on_delivery=functools.partial(tell, key, value))
        if waits:
            try:
                sent.result()
            except Exception:  # noqa: BLE001  # told by its callback
                continue


def _lines(console: Console) -> Iterator[bytes]:
    is_terminal = console.input.isatty()
    while True:
        if is_terminal:
            console.output.write(">")
            console.output.flush()
        line = console.input.readline()
        if not line:
            return
        for each in line.removesuffix("\n").removesuffix("\r").split("\r"):  # to Java \r ends a line too
            yield each.encode("utf-8", "surrogateescape")


def records(lines: Iterator[bytes], reader: Mapping[str, str]) -> Iterator[tuple[bytes | None, bytes]]:
    """Key and value of each line. `reader`: parse.key, key.separator, ignore.error. CommandFailed for a line without a key."""
    parses = reader.get("parse.key", "false").strip().lower() == "true"
    ignores = reader.get("ignore.error", "false").strip().lower() == "true"
    separator = reader.get("key.separator", "\t").encode()
    for number, line in enumerate(lines, 1):
        if not parses or (ignores and separator not in line):
            yield None, line
            continue
        if separator not in line:
            raise CommandFailed(f"No key found on line {number}: {line.decode(errors='replace')}")
        end = line.index(separator)  # of a separator that is empty: 0
        yield line[:end], line[end + len(separator) :]


TOOL: Final = Tool(
    "kafka-console-producer",
    "This tool helps to read data from standard input and publish it to Kafka.",
    OPTIONS,
    body,
    without_arguments=None,
    errors_with_help=True,
)


def run() -> None:
    """The console command."""
    run_tool(TOOL)


if __name__ == "__main__":
    run()
