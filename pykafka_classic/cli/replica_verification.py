"""`kafka-replica-verification.sh --broker-list HOST:PORT [--topic-white-list REGEX] ...`: whether all replicas hold the same, until it is stopped.

Each broker is asked for its own copies, as a debugging consumer (replica id -2), which followers answer too. A partition with a replica that is not alive, or
does not answer, is left out of the round.

Source: facts/tools.md 17; 2.8 ReplicaVerificationTool.scala.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from pykafka_classic.cli.command import FAILED, CommandFailed, Console, Tool, run_tool
from pykafka_classic.cli.command_options import Argument, Option, Options

if TYPE_CHECKING:
    from pykafka_classic.cli.replica_comparison import Fetched
    from pykafka_classic.common.topic_partition import TopicPartition
    from pykafka_classic.edges.admin import Admin
    from pykafka_classic.edges.blocking_client import BlockingClient
    from pykafka_classic.protocol.schema import Message

DEBUGGING_CONSUMER: Final = -2

OPTIONS: Final = (
    Option("broker-list", "REQUIRED: brokers to begin with, host:port,host:port.", Argument.REQUIRED, described_as="hostname:port,...,hostname:port"),
    Option("fetch-size", "How many bytes of a partition to ask for at once.", Argument.REQUIRED, "Integer", "bytes", "1048576"),
    Option("max-wait-ms", "How long a broker may wait for records, in ms.", Argument.REQUIRED, "Integer", "ms", "1000"),
    Option("topic-white-list", "A regular expression: topics whose whole name matches.", Argument.REQUIRED, described_as="Java regex (String)", default=".*"),
    Option("time", "Where to begin: a time in ms, -1 the end, -2 the beginning.", Argument.REQUIRED, "Long", "timestamp/-1(latest)/-2(earliest)", "-1"),
    Option("report-interval-ms", "A report each so many ms.", Argument.REQUIRED, "Long", "ms", "30000"),
)


def body(options: Options, console: Console) -> int:
    """Compare until stopped; status 1 where replicas have diverged."""
    from pykafka_classic.cli.broker_session import open_admin

    options.require("broker-list")
    expression = options.text("topic-white-list").strip().replace(",", "|").replace(" ", "").strip("\"'")
    try:
        matches = re.compile(expression).fullmatch
    except re.error as error:
        raise CommandFailed(f"{options.text('topic-white-list')} is an invalid regex.") from error
    with open_admin(options.text("broker-list")) as admin:
        topics = [name for name in admin.list_topics(internal=True) if matches(name)]
        if not topics:
            raise CommandFailed(f"No topics found. {options.text('topic-white-list')} matches none, if one was given.")
        _say(console, "verification process is started.")
        return Verification(admin, topics, options, console).run()


def _say(console: Console, text: str) -> None:
    now = time.time()
    console.say(f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(now))},{int(now * 1000) % 1000:03}: {text}")
    console.output.flush()


class Verification:
    """The partitions, and how far each has been compared."""

    def __init__(self, admin: Admin, topics: list[str], options: Options, console: Console) -> None:
        from pykafka_classic.cli.topics_broker import values_of
        from pykafka_classic.common.topic_partition import TopicPartition

        described = values_of(admin.describe_topics(topics)).values()
        self._replicas = {TopicPartition(topic.name, each.partition): each.replicas for topic in described for each in topic.partitions}
        found = values_of(admin.list_offsets(dict.fromkeys(self._replicas, options.integer("time"))))
        self._offsets = {partition: max(0, listed.offset) for partition, listed in found.items()}
        self._addresses = {node.id: (node.host, node.port) for node in admin.describe_cluster().nodes}
        self._clients: dict[int, BlockingClient] = {}
        self._options = options
        self._console = console

    def run(self) -> int:
        """Round after round, until replicas have diverged."""
        from pykafka_classic.cli.replica_comparison import compare

        reported = time.monotonic()
        while True:
            answers = self._fetch()
            lags: dict[TopicPartition, int] = {}
            for partition, replicas in self._replicas.items():
                found = {broker: answers[broker][partition] for broker in replicas if partition in answers.get(broker, {})}
                if len(found) < len(replicas):
                    continue
                comparison = compare(partition, self._offsets[partition], found)
                for complaint in comparison.complaints:
                    _say(self._console, complaint)
                if comparison.diverged:
                    return FAILED
                self._offsets[partition], lags[partition] = comparison.next_offset, comparison.lag
            if lags and (time.monotonic() - reported) * 1000 > self._options.integer("report-interval-ms"):
                self._report(lags)
                reported = time.monotonic()

    def _report(self, lags: Mapping[TopicPartition, int]) -> None:
        worst = max(lags, key=lambda partition: lags[partition])
        _say(self._console, f"max lag is {lags[worst]} for partition {worst} at offset {self._offsets[worst]} among {len(lags)} partitions")

    def _fetch(self) -> dict[int, dict[TopicPartition, Fetched]]:
        """What each broker sends of its own copies; all are asked at once."""
        from pykafka_classic.protocol.network import Disconnected

        asked, answers = [], {}
        for broker in sorted({each for replicas in self._replicas.values() for each in replicas} & self._addresses.keys()):
            try:
                self._client(broker).post(self._request(broker))
                asked.append(broker)
            except Disconnected:
                self._forget(broker)
        for broker in asked:
            try:
                answers[broker] = _fetched(self._client(broker).receive())
            except Disconnected:
                self._forget(broker)
        if not answers:
            raise CommandFailed("No broker answers any more.")
        return answers

    def _client(self, broker: int) -> BlockingClient:
        from pykafka_classic.edges.blocking_client import BlockingClient

        if broker not in self._clients:
            self._clients[broker] = BlockingClient(*self._addresses[broker], client_id="replicaVerification")
        return self._clients[broker]

    def _forget(self, broker: int) -> None:
        client = self._clients.pop(broker, None)
        if client is not None:
            client.close()

    def _request(self, broker: int) -> Message:
        from pykafka_classic.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic

        topics: dict[str, list[FetchPartition]] = {}
        size = self._options.integer("fetch-size")
        for partition, replicas in self._replicas.items():
            if broker in replicas:
                wanted = FetchPartition(partition.partition, fetch_offset=self._offsets[partition], partition_max_bytes=size)
                topics.setdefault(partition.topic, []).append(wanted)
        return FetchRequest(
            replica_id=DEBUGGING_CONSUMER,
            max_wait_ms=self._options.integer("max-wait-ms"),
            min_bytes=1,
            topics=[FetchTopic(topic, partitions) for topic, partitions in topics.items()],
        )


def _fetched(response: Message) -> dict[TopicPartition, Fetched]:
    from pykafka_classic.cli.replica_comparison import Batch, Fetched
    from pykafka_classic.common.errors import ErrorCode
    from pykafka_classic.common.topic_partition import TopicPartition
    from pykafka_classic.protocol.messages.fetch import FetchResponse
    from pykafka_classic.records.record_batch import iterate_batches

    assert isinstance(response, FetchResponse)
    found = {}
    for topic in response.responses:
        for each in topic.partition_responses:
            if each.error_code != ErrorCode.NONE:
                continue  # not there yet, or no longer: the partition is left out of this round
            data = each.record_set or b""
            assert isinstance(data, bytes | memoryview), "what came from a socket is bytes"
            batches = [Batch(batch.last_offset, batch.crc) for batch in iterate_batches(data)]
            found[TopicPartition(topic.topic, each.partition)] = Fetched(each.high_watermark, batches)
    return found


TOOL: Final = Tool("kafka-replica-verification", "Validate that all replicas for a set of topics have the same data.", OPTIONS, body)


def run() -> None:
    """The console command."""
    run_tool(TOOL)


if __name__ == "__main__":
    run()
