"""Old consumers: rewriting stored batches in the format that a Fetch version can read (KIP-31, KIP-32, KIP-98).

Fetch 0 and 1 get magic 0, Fetch 2 and 3 magic 1. Batches that are old enough already pass as they are. Others are decoded and written anew with the same codec
and offsets; headers are dropped, magic 0 has no timestamps, control batches and batches emptied by compaction vanish. Of plain magic 2 batches the records
below the fetch offset are left out, as the old formats have no batches and some old clients (librdkafka) take the first message for the one they asked for.
zstd cannot be converted.

An answer says how long it is before it is written, while conversion may make records larger or smaller. So `DownConversion` announces a size first: that of the
stored records, or of the first converted batch if that is larger, for a consumer must get at least one. Then it converts 128 KiB at a time, cuts what is over,
and fills what is missing with an *overflow message*, offset -1 and a size beyond the answer's end, which every client takes for a message cut short:

```
ff ff ff ff ff ff ff ff | i32: missing bytes + 1, at least 61 | 0 0 0 ...
```

Converting upward is a leader's work on append: `log/log_validator.py`.

Differs from Kafka: where the first batch vanishes, Kafka 2.8 sends the one behind it twice; here it is sent once.

Source: facts/storage.md 16, facts/observed.md "Conversion down"; 2.8 RecordsUtil.java, LazyDownConversionRecords.java, LazyDownConversionRecordsSend.java.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import Final

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.records.compression import NONE, ZSTD
from pykafka_classic.records.layout import LOG_OVERHEAD, RECORDS_POSITION, TimestampType
from pykafka_classic.records.message_set import build_message_set
from pykafka_classic.records.record_batch import AnyBatch, iterate_batches

READ_SIZE_MAX: Final = 128 * 1024  # bytes of stored batches that are converted at a time
_OVERFLOW: Final = Struct(">qi")


def magic_for_fetch(version: int) -> int:
    """The newest format that a Fetch request of this version understands."""
    if version <= 1:
        return 0
    return 1 if version <= 3 else 2


def down_convert(batch: AnyBatch, to_magic: int, fetch_offset: int) -> bytes | memoryview:
    """One batch in an old format; empty where nothing is left of it.

    Raises KafkaError (UNSUPPORTED_COMPRESSION_TYPE) for zstd, CorruptRecord or InvalidRecord for records that cannot be read. The checksum is looked at first:
    what is written anew gets a new one, so damage that the disk did would come out as good data.
    """
    if to_magic < 2 and batch.is_control:
        return b""
    if to_magic < 2 and batch.codec == ZSTD:
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "Down-conversion of zstandard-compressed batches is not supported")
    if batch.magic <= to_magic:
        return batch.buffer
    batch.ensure_valid()
    records = [record._replace(headers=()) for record in batch.records() if batch.codec != NONE or record.offset >= fetch_offset]
    append_time = batch.max_timestamp if batch.timestamp_type == TimestampType.LOG_APPEND_TIME else None
    return build_message_set(to_magic, records, codec=batch.codec, log_append_time=append_time)


def down_convert_all(records: bytes | memoryview, to_magic: int, fetch_offset: int) -> bytes:
    """All batches at once, without announced size or padding. Raises like `down_convert`."""
    return b"".join([down_convert(batch, to_magic, fetch_offset) for batch in iterate_batches(records)])


class DownConversion:
    """Stored records on their way to an old consumer: exactly `size` bytes, converted as they are asked for.

    Making one converts the first batch that has something left; it raises like `down_convert`. A zstd or damaged batch behind it ends the conversion; the
    client meets it with its next fetch.
    """

    def __init__(self, records: bytes | memoryview, to_magic: int, fetch_offset: int) -> None:
        self._to_magic = to_magic
        self._fetch_offset = fetch_offset
        self._batches = iterate_batches(records)
        self._first: bytes | memoryview = next((data for batch in self._batches if (data := down_convert(batch, to_magic, fetch_offset))), b"")
        self.size = max(len(records), len(self._first)) if self._first else LOG_OVERHEAD

    def __len__(self) -> int:
        return self.size

    def chunks(self) -> Iterator[bytes]:
        """The bytes, some at a time; only once."""
        missing = self.size
        for chunk in self._converted():
            yield chunk[:missing]
            missing -= len(chunk)
            if missing <= 0:
                return
        if missing:
            yield overflow_message(missing)

    def read(self) -> bytes:
        """All of them; only once."""
        return b"".join(self.chunks())

    def _converted(self) -> Iterator[bytes]:
        parts, taken = [self._first], READ_SIZE_MAX
        for size, converted in self._rest():
            if taken + size > READ_SIZE_MAX:
                yield b"".join(parts)
                parts, taken = [], 0
            parts.append(converted)
            taken += size
        yield b"".join(parts)

    def _rest(self) -> Iterator[tuple[int, bytes | memoryview]]:
        """Stored size and converted bytes of the batches behind the first, up to one that cannot be converted."""
        try:
            for batch in self._batches:
                yield batch.size_in_bytes, down_convert(batch, self._to_magic, self._fetch_offset)
        except KafkaError:
            return  # it will be the first of the next fetch, and then its error is told


def down_convert_for_fetch(records: bytes | memoryview, *, to_magic: int, fetch_offset: int) -> bytes:
    """What Kafka's socket would send for these stored records, padding included. Raises like `down_convert`, for the first batch."""
    return DownConversion(records, to_magic, fetch_offset).read()


def overflow_message(missing: int) -> bytes:
    """`missing` bytes that any client takes for the beginning of a message cut short."""
    return (_OVERFLOW.pack(-1, max(missing + 1, RECORDS_POSITION)) + bytes(max(missing - _OVERFLOW.size, 0)))[:missing]
