"""What the three requests inside a transaction (AddPartitionsToTxn, AddOffsetsToTxn, EndTxn) have in common: how errors are told to older clients."""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.server.request import Request

KNOWS_PRODUCER_FENCED = 2


def told(error: ErrorCode, request: Request) -> ErrorCode:
    """Clients before KIP-588 know PRODUCER_FENCED by another name."""
    if error is ErrorCode.PRODUCER_FENCED and request.version < KNOWS_PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return error
