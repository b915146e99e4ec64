"""Appends that take long to look at, with the long part in a piece of its own, fit for another thread.

Most produced batches are checked within microseconds (`log_validator`). Some are not: those of an old format, those that the topic wants in another format or
codec, and, where the topic's rules are about single records, compressed or large ones. Decompressing and writing again a batch of a megabyte takes tens of
milliseconds; a small one can be made to unpack to a hundred megabytes.

    pending = PendingAppend(log, records, leader_epoch, origin)      on the deciders' thread
    pending.validate()                                               anywhere: it looks at nothing that changes
    if pending.fits(log, leader_epoch): log.append_as_leader(pending, ...)   on the deciders' thread again

The offsets are given in advance: it only fits where nothing else has been appended, truncated or configured meanwhile. Who uses this sees to the order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pykafka_classic.log.append_checks import AppendContext, AppendRules
from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.log.log_validator import ValidatedRecords, validate_append
from pykafka_classic.records.compression import NONE
from pykafka_classic.records.layout import CODEC_MASK, LEGACY_ATTRIBUTES_POSITION, MAGIC_POSITION, RECORDS_POSITION, TIMESTAMP_TYPE_MASK

if TYPE_CHECKING:
    from pykafka_classic.log.log import Log

PLAIN_BYTES_AT_ONCE: Final = 64 * 1024  # so many bytes without compression are walked record by record in a millisecond or so
_ATTRIBUTES_LOW_BYTE: Final = 22  # of a magic 2 batch


def takes_long(records: bytes | memoryview, rules: AppendRules) -> bool:
    """Would a look at these produced records keep others waiting? Told from the first header: several batches are either plain or refused at once."""
    if len(records) < RECORDS_POSITION:
        return False
    if records[MAGIC_POSITION] == 2:
        attributes = records[_ATTRIBUTES_LOW_BYTE]
        codec = attributes & CODEC_MASK
        stays = rules.target_magic == 2 and rules.target_codec in (None, codec)
        if stays and not rules.about_records and not attributes & TIMESTAMP_TYPE_MASK:
            return False
    else:
        codec = records[LEGACY_ATTRIBUTES_POSITION] & CODEC_MASK
    return codec != NONE or rules.target_codec not in (None, NONE) or len(records) > PLAIN_BYTES_AT_ONCE


class PendingAppend:
    """Records on their way into a leader's log. `validated` is there once `validate` has returned; None then means that there was no whole batch."""

    def __init__(self, log: Log, records: bytes | memoryview, leader_epoch: int, origin: AppendOrigin) -> None:
        self.records = records
        self.validated: ValidatedRecords | None = None
        self._rules = log.append_rules
        self._context = AppendContext(log.log_end_offset, log.now_ms(), leader_epoch, origin)

    def validate(self) -> None:
        """Check, convert, give offsets. Raises what `validate_append` raises."""
        self.validated = validate_append(self.records, self._rules, self._context)

    def fits(self, log: Log | None, leader_epoch: int) -> bool:
        """Is this log still as it was when the append was begun?"""
        return (
            log is not None
            and log.append_rules is self._rules
            and (log.log_end_offset, leader_epoch) == (self._context.first_offset, self._context.leader_epoch)
        )
