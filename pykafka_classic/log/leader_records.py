"""Records as a producer sent them, made ready for the leader's log (stand-in until log_validator is there)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.log.batch_header import has_valid_crc, iterate_headers
from pykafka_classic.log.log_append import Incoming, largest_of
from pykafka_classic.log.log_values import LogAppendInfo

if TYPE_CHECKING:
    from pykafka_classic.log.log import Log


class LeaderAppend(NamedTuple):
    """What to write, and what to tell about it."""

    incoming: Incoming
    info: LogAppendInfo


def prepare_leader_append(log: Log, records: bytes | memoryview, leader_epoch: int, origin: AppendOrigin, produce_version: int | None) -> LeaderAppend | None:
    """Check, convert, assign offsets."""
    view = memoryview(records)
    headers = list(iterate_headers(view))
    if not headers:
        return None
    out = bytearray(view)
    offset = log.log_end_offset
    for header in headers:
        if not has_valid_crc(view[header.position : header.position + header.size], header):
            raise KafkaError(ErrorCode.CORRUPT_MESSAGE)
        struct.pack_into(">q", out, header.position, offset)
        struct.pack_into(">i", out, header.position + 12, leader_epoch)
        offset += header.last_offset - header.base_offset + 1
    batches = list(iterate_headers(bytes(out)))
    incoming = Incoming([bytes(out)], len(out), batches, largest_of(batches))
    return LeaderAppend(incoming, incoming.append_info())
