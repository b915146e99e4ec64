"""Variable-length integers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pykafka_classic.common import varint


@given(st.integers(0, (1 << 32) - 1), st.binary(max_size=3))
def test_uvarints_are_read_back(value: int, behind: bytes) -> None:
    data = varint.encode_uvarint(value)
    assert varint.decode_uvarint(data + behind, 0) == (value, len(data))
    assert varint.size_of_uvarint(value) == len(data) <= 5


@given(st.integers(-(1 << 31), (1 << 31) - 1))
def test_varints_are_read_back(value: int) -> None:
    data = varint.encode_varint(value)
    assert varint.decode_varint(data, 0) == (value, len(data))
    assert varint.size_of_varint(value) == len(data) <= 5


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_varlongs_are_read_back(value: int) -> None:
    data = varint.encode_varlong(value)
    assert varint.decode_varlong(data, 0) == (value, len(data))
    assert varint.size_of_varlong(value) == len(data) <= 10


@given(st.binary(max_size=12))
def test_any_bytes_are_a_number_or_a_varint_error(data: bytes) -> None:
    for read in (varint.decode_uvarint, varint.decode_varint, varint.decode_varlong):
        try:
            _, end = read(data, 0)
        except varint.VarintError:
            continue
        assert 0 < end <= len(data)
