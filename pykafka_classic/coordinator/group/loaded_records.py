"""What the records of a partition of `__consumer_offsets` say together. Pure: bytes in, groups and offsets out.

Most of a long log are commits of the same few keys. So while the log is replayed keys and values stay bytes, and only the last value of each key is decoded, in
the end. The rules (facts/coordination.md 5.8): the last value of a key counts; a tombstone removes; a transaction's commits wait for its marker, and then count
unless a later record of the same key does.

Differs from Kafka: a record that cannot be read is logged and skipped, and the key's last readable commit counts; Kafka gives up the whole partition.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group import group_records
from pykafka_classic.coordinator.group.group_metadata import GroupMetadata
from pykafka_classic.coordinator.group.group_records import GroupKey, OffsetKeys, UnknownRecordVersion
from pykafka_classic.coordinator.group.offsets import CommitRecord, GroupOffsets
from pykafka_classic.protocol.schema import SchemaError
from pykafka_classic.records.record_batch import AnyBatch, ControlType, iterate_batches

log = logging.getLogger("kafka.coordinator.group.GroupMetadataManager")

Stored: TypeAlias = tuple[int, bytes]  # the record's offset, its value

_new_tuple: Final = tuple.__new__  # half the time of a named tuple's own

STEP: Final = 500  # keys decoded, or groups handed out, between two places where the reader may pause


class LoadedRecords:
    """First `replay` all chunks, then `decode`, then take `groups`."""

    def __init__(self) -> None:
        self._latest: dict[bytes, Stored] = {}
        self._pending: dict[int, dict[bytes, Stored]] = {}  # producer id -> what its transaction wrote so far
        self._groups: dict[str, GroupMetadata] = {}
        self._offsets: dict[str, GroupOffsets] = {}
        self._keys = OffsetKeys()

    def replay(self, data: bytes, from_offset: int) -> int:
        """Note the whole batches in `data`, but for records below `from_offset`; the offset after the last one. Raises CorruptRecord."""
        offset = from_offset
        for batch in iterate_batches(data):
            if batch.is_control:
                self._end_transaction(batch)
            elif batch.is_transactional:
                self._note(batch, from_offset, self._pending.setdefault(batch.producer_id, {}))
            else:
                self._note(batch, from_offset, self._latest)
            offset = batch.next_offset
        return offset

    def _note(self, batch: AnyBatch, from_offset: int, into: dict[bytes, Stored]) -> None:
        for offset, _, key, value, _ in batch.records():
            if offset < from_offset or key is None:
                continue
            if value is not None and group_records.is_plain_offset(key, value):
                into[key] = offset, value  # nearly all; the rest only takes longer
            else:
                self._note_other(offset, group_records.current_key(key), value, into)

    def _note_other(self, offset: int, key: bytes, value: bytes | None, into: dict[bytes, Stored]) -> None:
        if value is None:
            into.pop(key, None)
        elif group_records.is_readable(key, value):
            into[key] = offset, value
        else:
            log.error("[GroupMetadataManager]: the record at offset %d can't be read and is skipped: its value is %r", offset, value[:100])

    def _end_transaction(self, batch: AnyBatch) -> None:
        records = batch.records()
        if not records:
            return  # compaction has left the header alone
        commits = self._pending.pop(batch.producer_id, {})
        if ControlType.of(records[0].key) is not ControlType.COMMIT:
            return
        for key, stored in commits.items():
            if key not in self._latest or self._latest[key][0] < stored[0]:
                self._latest[key] = stored

    # decoding

    def decode(self) -> Iterator[None]:
        """Decode what counts; stops now and then."""
        for number, (key, stored) in enumerate(self._latest.items()):
            if number % STEP == 0:
                yield
            self._decode(key, stored, None)
        for producer_id, commits in self._pending.items():
            for key, stored in commits.items():
                self._decode(key, stored, producer_id)
            yield

    def _decode(self, raw_key: bytes, stored: Stored, producer_id: int | None) -> None:
        offset, value = stored
        try:
            place = self._keys.split(raw_key)
            if place is not None:
                group_id, topic_partition = place
                record = _new_tuple(CommitRecord, (group_records.read_offset_value(value), offset))
                self._commits(group_id, producer_id)[topic_partition] = record
                return
            match group_records.read_key(raw_key):
                case GroupKey(group_id):
                    self._groups[group_id] = group_records.read_group_value(group_id, value)
                case _:
                    log.warning("[GroupMetadataManager]: a record of an unknown key version at offset %d is skipped", offset)
        except (UnknownRecordVersion, SchemaError) as error:  # it must not keep all other groups from their offsets
            log.error("[GroupMetadataManager]: the record at offset %d can't be read and is skipped: %s", offset, error)

    def _commits(self, group_id: str, producer_id: int | None) -> dict[TopicPartition, CommitRecord]:
        offsets = self._offsets.get(group_id)
        if offsets is None:
            offsets = self._offsets[group_id] = GroupOffsets()
        return offsets.acknowledged if producer_id is None else offsets.pending_transactional.setdefault(producer_id, {})

    @property
    def groups(self) -> Mapping[str, GroupMetadata]:
        """Groups whose own record was there; not all have offsets."""
        return self._groups

    @property
    def offsets(self) -> Mapping[str, GroupOffsets]:
        """Offsets by group; not all have a group record: simple consumers, and groups whose members are long gone."""
        return self._offsets
