"""Variable-length integers: seven bits to a byte, the least significant group first, the high bit says "more follows".

`uvarint` holds an unsigned 32-bit number in at most 5 bytes (lengths and tags of flexible messages). `varint` and `varlong` hold signed 32 and 64-bit
numbers in at most 5 and 10 bytes, zig-zag coded so that small negative numbers stay short: 0, -1, 1, -2 become 0, 1, 2, 3 (fields of magic 2 records).

Surplus bits in the last byte are ignored, as Kafka ignores them. Source: facts/protocol.md 3, facts/observed.md "Primitives".
"""

from __future__ import annotations

from typing import Final

_UINT32: Final = 0xFFFFFFFF
_UINT64: Final = 0xFFFFFFFFFFFFFFFF
_MAX_SHIFT_32: Final = 28  # of the fifth byte
_MAX_SHIFT_64: Final = 63  # of the tenth byte
_SHORT: Final = tuple(bytes((value,)) for value in range(128))


class VarintError(ValueError):
    """The bytes end inside a number, or it goes on for longer than its kind may."""


def encode_uvarint(value: int) -> bytes:
    """`value` in [0, 2^32)."""
    if 0 <= value < 128:
        return _SHORT[value]
    if not 0 <= value <= _UINT32:
        raise VarintError(f"{value} is no unsigned 32-bit number")
    return _encode_groups(value)


def decode_uvarint(buffer: bytes | bytearray | memoryview, position: int) -> tuple[int, int]:
    """The number at `position`, in [0, 2^32), and the position behind it."""
    value, end = _decode_groups(buffer, position, _MAX_SHIFT_32)
    return value & _UINT32, end


def encode_varint(value: int) -> bytes:
    """`value` in [-2^31, 2^31)."""
    if not -(1 << 31) <= value < 1 << 31:
        raise VarintError(f"{value} is no signed 32-bit number")
    return _encode_groups((value << 1) ^ (value >> 31))


def decode_varint(buffer: bytes | bytearray | memoryview, position: int) -> tuple[int, int]:
    """The signed 32-bit number at `position` and the position behind it."""
    value, end = _decode_groups(buffer, position, _MAX_SHIFT_32)
    value &= _UINT32
    return (value >> 1) ^ -(value & 1), end


def encode_varlong(value: int) -> bytes:
    """`value` in [-2^63, 2^63)."""
    if not -(1 << 63) <= value < 1 << 63:
        raise VarintError(f"{value} is no signed 64-bit number")
    return _encode_groups((value << 1) ^ (value >> 63))


def decode_varlong(buffer: bytes | bytearray | memoryview, position: int) -> tuple[int, int]:
    """The signed 64-bit number at `position` and the position behind it."""
    value, end = _decode_groups(buffer, position, _MAX_SHIFT_64)
    value &= _UINT64
    return (value >> 1) ^ -(value & 1), end


def size_of_uvarint(value: int) -> int:
    """How many bytes `encode_uvarint` gives."""
    return (value.bit_length() + 6) // 7 or 1


def size_of_varint(value: int) -> int:
    """How many bytes `encode_varint` gives."""
    return size_of_uvarint((value << 1) ^ (value >> 31))


def size_of_varlong(value: int) -> int:
    """How many bytes `encode_varlong` gives."""
    return size_of_uvarint((value << 1) ^ (value >> 63))


def _encode_groups(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _decode_groups(buffer: bytes | bytearray | memoryview, position: int, max_shift: int) -> tuple[int, int]:
    try:
        byte = buffer[position]
        value = byte & 0x7F
        shift = 7
        while byte & 0x80:
            position += 1
            byte = buffer[position]
            if shift >= max_shift and byte & 0x80:
                raise VarintError(f"number at byte {position} has more than {max_shift // 7 + 1} bytes")
            value |= (byte & 0x7F) << shift
            shift += 7
    except IndexError:
        raise VarintError(f"the bytes end inside a number, at byte {position}") from None
    return value, position + 1
