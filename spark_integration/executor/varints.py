"""Variable-length numbers of many records at once: `pykafka_classic.common.varint`, with numpy.

One step reads the number that stands at each of many positions. Nearly all numbers of a batch take one byte or two, so that a step is a few array operations,
whatever the number of records.

Positions are int64 arrays. A position behind the data, as only damaged records have it, raises IndexError. Source: as `common/varint.py`.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from pykafka_classic.common.varint import VarintError

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

_MORE: Final = 0x80
_MAX_SHIFT: Final = {32: 28, 64: 63}


def read_varints(data: Bytes, at: Ints) -> tuple[Ints, Ints]:
    """The signed 32-bit numbers at the positions, and the positions behind them. Raises VarintError, IndexError."""
    raw, behind = _groups(data, at, 32)
    raw &= np.uint64(0xFFFFFFFF)
    return _unzigzag(raw), behind


def read_varlongs(data: Bytes, at: Ints) -> tuple[Ints, Ints]:
    """The signed 64-bit numbers at the positions, and the positions behind them. Raises VarintError, IndexError."""
    raw, behind = _groups(data, at, 64)
    return _unzigzag(raw), behind


def _unzigzag(raw: npt.NDArray[np.uint64]) -> Ints:
    halves = (raw >> np.uint64(1)).view(np.int64)
    halves ^= -(raw & np.uint64(1)).view(np.int64)
    return halves


def _groups(data: Bytes, at: Ints, bits: int) -> tuple[npt.NDArray[np.uint64], Ints]:
    first = data[at]
    value = first.astype(np.uint64)
    behind = at + 1
    going_on = np.flatnonzero(first & _MORE)
    if not len(going_on):
        return value, behind
    value &= np.uint64(0x7F)
    shift = 7
    while len(going_on):
        byte = data[behind[going_on]]
        if shift >= _MAX_SHIFT[bits] and (byte & _MORE).any():
            raise VarintError(f"a number has more than {shift // 7 + 1} bytes")
        value[going_on] |= (byte & 0x7F).astype(np.uint64) << np.uint64(shift)
        behind[going_on] += 1
        going_on = going_on[(byte & _MORE) != 0]
        shift += 7
    return value, behind
