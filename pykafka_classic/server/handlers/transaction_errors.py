"""How errors of transactions are told to older clients. KIP-588."""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.server.request import Request

KNOWN_SINCE = 2  # AddPartitionsToTxn, AddOffsetsToTxn, EndTxn


def told(error: ErrorCode, request: Request, *, known_since: int = KNOWN_SINCE) -> ErrorCode:
    """PRODUCER_FENCED is known since this version of a request; before, it went by another name."""
    if error is ErrorCode.PRODUCER_FENCED and request.version < known_since:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return error
