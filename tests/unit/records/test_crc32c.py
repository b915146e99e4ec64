"""CRC-32C, against the values that RFC 3720 B.4 prints."""

from __future__ import annotations

import pytest

from pykafka_classic.common.crc32c import crc32c

RFC_3720 = [
    (b"123456789", 0xE3069283),
    (bytes(32), 0x8A9136AA),
    (b"\xff" * 32, 0x62A8AB43),
    (bytes(range(32)), 0x46DD794E),
    (bytes(reversed(range(32))), 0x113FDB5C),
]


@pytest.mark.parametrize(("data", "checksum"), RFC_3720)
def test_known_data_has_the_known_checksum(data: bytes, checksum: int) -> None:
    assert crc32c(data) == checksum


def test_a_checksum_goes_on_from_that_of_the_bytes_before() -> None:
    assert crc32c(b"6789", crc32c(b"12345")) == crc32c(b"123456789")


def test_a_view_is_as_good_as_bytes() -> None:
    assert crc32c(memoryview(bytearray(b"x123456789x"))[1:-1]) == 0xE3069283
