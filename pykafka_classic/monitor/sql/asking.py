"""A question on its way to its answer: topics are looked up, records fetched; then `engine.answer` asks DuckDB.

asking = Asking(admin.core, parse("select count(*) from topic flights"), Bounds())
await asking.look_up()                                        # asking.offsets: so many records at most
files = await asking.fetch(folder, progress)                  # the folder is the caller's to remove
found = engine.answer(asking.question, files, bounds)         # blocks: in a thread
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pykafka_classic.client.admin.core import AdminCore
from pykafka_classic.client.admin.offsets import EARLIEST, LATEST
from pykafka_classic.client.partition_reader import PartitionReader
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.monitor.sql.plan import MIB, Bounds, Stretch, stretches
from pykafka_classic.monitor.sql.question import NoQuestion, Question
from pykafka_classic.monitor.sql.records_file import RecordsFile

Progress = Callable[[int], None]  # so many records more


class Asking:
    """One question. Raises, from both methods: NoQuestion, whose text is for the user; KafkaError."""

    def __init__(self, admin: AdminCore, question: Question, bounds: Bounds) -> None:
        self.question = question
        self._admin = admin
        self._bounds = bounds
        self._reader = PartitionReader(admin.requests)
        self._wanted: dict[TopicPartition, Stretch] = {}

    @property
    def offsets(self) -> int:
        """How many offsets are fetched: at most so many records."""
        return sum(each.end - each.begin for each in self._wanted.values())

    async def look_up(self) -> None:
        """Find out what has to be fetched, and whether that may be."""
        described = await self._admin.describe_topics(list(self.question.tables))
        for topic in described.errors():
            raise NoQuestion(f"There is no topic {topic!r}.")
        partitions = [TopicPartition(topic, each.partition) for topic, found in described.values_only().items() for each in found.partitions]
        begins = (await self._admin.list_offsets(dict.fromkeys(partitions, EARLIEST))).check()
        ends = (await self._admin.list_offsets(dict.fromkeys(partitions, LATEST))).check()
        self._wanted = stretches({each: begins[each].offset for each in partitions}, {each: ends[each].offset for each in partitions}, self._bounds)

    async def fetch(self, folder: Path, progress: Progress = lambda _: None) -> dict[str, RecordsFile]:
        """The records of each topic, in files of this folder."""
        files = {topic: RecordsFile(folder, number) for number, topic in enumerate(self.question.tables)}
        try:
            for partition, stretch in self._wanted.items():
                await self._fetch_one(partition, stretch, files, progress)
        finally:
            for file in files.values():
                file.close()
        return files

    async def _fetch_one(self, partition: TopicPartition, stretch: Stretch, files: dict[str, RecordsFile], progress: Progress) -> None:
        position = stretch.begin
        while position < stretch.end:
            told = (await self._reader.fetch(partition, position)).fetched
            records = [record for record in told.records if record.offset < stretch.end]
            files[partition.topic].add(records)
            progress(len(records))
            self._check_size(sum(file.size for file in files.values()))
            if told.next_offset == position:
                return  # a compacted end
            position = told.next_offset

    def _check_size(self, size: int) -> None:
        if size > self._bounds.fetched_bytes:
            raise NoQuestion(
                f"More than {self._bounds.fetched_bytes // MIB} MiB would have to be fetched: look at the last records of each partition (--last N), allow "
                "more (--max-mib), or ask Spark, which is made for that (spark_integration/)."
            )
