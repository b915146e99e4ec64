"""`kafka-consumer-perf-test.sh --bootstrap-server HOST:PORT --topic T --messages N ...`: how fast a topic can be read.

Source: facts/tools.md 15; 2.8 ConsumerPerformance.scala.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from pykafka_classic.cli.command import OK, CommandFailed, Console, Tool, closed_in_time, run_tool
from pykafka_classic.cli.command_options import Argument, Option, Options, UsageError

if TYPE_CHECKING:
    from pykafka_classic.edges.clients.consumer import Consumer

MB: Final = 1024 * 1024
POLL_MS: Final = 100
JAVA_DATE: Final = "yyyy-MM-dd HH:mm:ss:SSS"
# Letters of Java's date formats, the longest first.
DATE_PARTS: Final = (("yyyy", "%Y"), ("MM", "%m"), ("dd", "%d"), ("HH", "%H"), ("mm", "%M"), ("ss", "%S"))
FIGURES: Final = "data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"

OPTIONS: Final = (
    Option("broker-list", "DEPRECATED, use --bootstrap-server.", Argument.REQUIRED, described_as="broker-list"),
    Option("bootstrap-server", "REQUIRED: brokers to begin with.", Argument.REQUIRED, described_as="server to connect to"),
    Option("topic", "REQUIRED: the topic to read.", Argument.REQUIRED, described_as="topic"),
    Option("messages", "REQUIRED: how many records.", Argument.REQUIRED, "Long", "count"),
    Option("group", "The group; one with a name made up if absent.", Argument.REQUIRED, described_as="gid"),
    Option("fetch-size", "How many bytes of a partition to ask for at once.", Argument.REQUIRED, "Integer", "size", "1048576"),
    Option("from-latest", "Begin at the end where the group has committed nothing."),
    Option("socket-buffer-size", "Has no effect: the system chooses it.", Argument.REQUIRED, "Integer", "size", "2097152"),
    Option("threads", "DEPRECATED, has no effect.", Argument.REQUIRED, "Integer", "count", "10"),
    Option("num-fetch-threads", "DEPRECATED, has no effect.", Argument.REQUIRED, "Integer", "count", "1"),
    Option("consumer.config", "A file of settings.", Argument.REQUIRED, described_as="config file"),
    Option("print-metrics", "Has no effect: there are none."),
    Option("show-detailed-stats", "A row each --reporting-interval."),
    Option("timeout", "Stop when no record has come for so long, in ms.", Argument.REQUIRED, "Long", "milliseconds", "10000"),
    Option("reporting-interval", "Of --show-detailed-stats, in ms.", Argument.REQUIRED, "Integer", "interval_ms", "5000"),
    Option("date-format", "How times are printed, in Java's letters.", Argument.REQUIRED, described_as="date format", default=JAVA_DATE),
    Option("hide-header", "Print no names of columns."),
)


@dataclass(slots=True)
class Totals:
    """Read so far; times in ms. `joined_ms`: until the first record, which is when the group had given out its partitions."""

    records: int = 0
    size: int = 0
    joined_ms: int = 0


def body(options: Options, console: Console) -> int:
    """Read, and print figures."""
    server = options.value("bootstrap-server") or options.value("broker-list")
    if server is None:
        raise UsageError("Missing required option(s) [bootstrap-server]", with_help=True)
    options.require("topic", "messages")
    from pykafka_classic.client.client_errors import InvalidSetting, NoBrokers
    from pykafka_classic.edges.clients.consumer import Consumer

    if not options.has("hide-header"):
        console.say(f"time, threadId, {FIGURES}" if options.has("show-detailed-stats") else f"start.time, end.time, {FIGURES}")
    try:
        consumer = Consumer(server, **_settings(options, console))
    except NoBrokers as error:
        raise CommandFailed(f"Cannot reach the cluster at {server}: {str(error).rstrip('.')}.") from error
    except InvalidSetting as error:
        raise CommandFailed(str(error)) from error
    with closed_in_time(consumer):
        _measure(consumer, options, console)
    return OK


def _settings(options: Options, console: Console) -> dict[str, Any]:
    from pykafka_classic.cli.console_settings import file_properties, known_settings
    from pykafka_classic.client.consuming.consumer_settings import ConsumerSettings

    given = {key: value for key, value in file_properties(options, "consumer.config").items() if key != "bootstrap.servers"}
    return known_settings(given, ConsumerSettings, console) | {
        "group_id": options.value("group") or f"perf-consumer-{random.randrange(100_000)}",
        "max_partition_fetch_bytes": options.integer("fetch-size"),
        "auto_offset_reset": "latest" if options.has("from-latest") else "earliest",
        "check_crcs": False,
    }


def _measure(consumer: Consumer, options: Options, console: Console) -> None:
    began_ms, wanted, patience_ms = _now_ms(), options.integer("messages"), options.integer("timeout")
    totals, window, window_ms, last_ms = Totals(), Totals(), began_ms, began_ms
    consumer.subscribe([options.text("topic")])
    while totals.records < wanted and _now_ms() - last_ms <= patience_ms:
        records = consumer.poll(timeout_ms=POLL_MS)
        now_ms = _now_ms()
        if records:
            totals.joined_ms = totals.joined_ms or now_ms - began_ms
            last_ms = now_ms
        totals.records += len(records)
        totals.size += sum(len(record.key or b"") + len(record.value or b"") for record in records)
        if options.has("show-detailed-stats") and now_ms - window_ms >= options.integer("reporting-interval"):
            console.say(f"{_date(now_ms, options)}, 0, {_figures(totals, window, now_ms - window_ms)}")
            window, window_ms = Totals(totals.records, totals.size, totals.joined_ms), now_ms
    ended_ms = _now_ms()
    if totals.records < wanted:
        console.say(
            f"WARNING: Exiting before consuming the expected number of messages: timeout ({patience_ms} ms) exceeded. "
            "You can use the --timeout option to increase the timeout."
        )
    if not options.has("show-detailed-stats"):
        console.say(f"{_date(began_ms, options)}, {_date(ended_ms, options)}, {_figures(totals, Totals(), ended_ms - began_ms)}")


def _figures(totals: Totals, before: Totals, elapsed_ms: int) -> str:
    size, records, elapsed_s = (totals.size - before.size) / MB, totals.records - before.records, max(elapsed_ms, 1) / 1000
    joined_ms = totals.joined_ms - before.joined_ms
    fetch_s = max(elapsed_ms - joined_ms, 1) / 1000
    return (
        f"{totals.size / MB:.4f}, {size / elapsed_s:.4f}, {totals.records}, {records / elapsed_s:.4f}, "
        f"{joined_ms}, {elapsed_ms - joined_ms}, {size / fetch_s:.4f}, {records / fetch_s:.4f}"
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _date(ms: int, options: Options) -> str:
    text = options.text("date-format")
    for letters, directive in DATE_PARTS:
        text = text.replace(letters, directive)
    return datetime.fromtimestamp(ms / 1000, UTC).astimezone().strftime(text.replace("SSS", f"{ms % 1000:03}"))


TOOL: Final = Tool("kafka-consumer-perf-test", "This tool helps in performance test for the full zookeeper consumer", OPTIONS, body, without_arguments=None)


def run() -> None:
    """The console command."""
    run_tool(TOOL)


if __name__ == "__main__":
    run()
