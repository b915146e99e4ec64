"""A committed position, for consumers and for those who administer groups. Source: 2.8:clients/.../clients/consumer/OffsetAndMetadata.java."""

from __future__ import annotations

from typing import NamedTuple


class OffsetAndMetadata(NamedTuple):
    """What is committed."""

    offset: int  # of the next record to read
    metadata: str = ""  # a note of the consumer's own
    leader_epoch: int = -1  # of the last record that was read; -1: not known
