"""What topics' and brokers' configs share."""

from __future__ import annotations

from typing import Final

from pykafka_classic.protocol.config_numbers import AlterOp

DELETE: Final = AlterOp.DELETE


def alter_op(value: str | None) -> AlterOp:
    """No value: back to the default."""
    return AlterOp.DELETE if value is None else AlterOp.SET
