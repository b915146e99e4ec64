"""The codecs: limits, starts, malformed data. Framing is compared with Kafka's own in tests/golden."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.records.compression import GZIP, LZ4, NONE, SNAPPY, ZSTD, CompressionType, compress, decompress, decompress_start
from pykafka_classic.records.layout import InvalidRecord
from pykafka_classic.records.lz4_framing import header_checksum
from pykafka_classic.records.snappy_framing import MAGIC

COMPRESSING = [GZIP, SNAPPY, LZ4, ZSTD]
TEXT = b"".join(b"line %d, " % number for number in range(20_000))


@pytest.mark.parametrize("codec", COMPRESSING)
def test_a_bomb_is_refused_before_it_is_unpacked(codec: int) -> None:
    bomb = compress(codec, bytes(5_000_000))
    assert len(bomb) < 300_000
    with pytest.raises(KafkaError, match="unpacks to more than 1000000 bytes") as refused:
        decompress(codec, bomb, max_size=1_000_000)
    assert refused.value.code == ErrorCode.MESSAGE_TOO_LARGE


@pytest.mark.parametrize("codec", COMPRESSING)
def test_data_of_exactly_the_limit_is_accepted(codec: int) -> None:
    assert decompress(codec, compress(codec, TEXT), max_size=len(TEXT)) == TEXT
    with pytest.raises(KafkaError):
        decompress(codec, compress(codec, TEXT), max_size=len(TEXT) - 1)


@pytest.mark.parametrize("codec", COMPRESSING)
def test_the_start_is_unpacked_without_the_rest(codec: int) -> None:
    start, complete = decompress_start(codec, compress(codec, TEXT), size=40_000)
    assert not complete
    assert 32_768 <= len(start) < 80_000
    assert TEXT.startswith(start)
    assert decompress_start(codec, compress(codec, TEXT[:100]), size=40_000) == (TEXT[:100], True)


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4])
def test_data_cut_anywhere_is_refused_or_unpacks_to_less(codec: int) -> None:
    data = compress(codec, TEXT[:5000])
    for length in range(1, len(data)):
        try:
            assert decompress(codec, data[:length]) != TEXT[:5000]
        except InvalidRecord:
            continue


@pytest.mark.parametrize("codec", COMPRESSING)
def test_noise_is_refused(codec: int) -> None:
    with pytest.raises(InvalidRecord):
        decompress(codec, b"\xff\xfe\xfd\xfc" * 10)


@pytest.mark.parametrize("codec", COMPRESSING)
def test_a_view_into_a_request_can_be_unpacked(codec: int) -> None:
    frame = bytearray(b"before" + compress(codec, TEXT) + b"")
    assert decompress(codec, memoryview(frame)[6:]) == TEXT


def test_a_codec_id_that_nobody_knows_is_unsupported() -> None:
    for codec in (5, 6, 7):
        with pytest.raises(KafkaError) as refused:
            decompress(codec, b"")
        assert refused.value.code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
        with pytest.raises(KafkaError):
            compress(codec, b"")


def test_config_words_name_codecs() -> None:
    assert [CompressionType.of(word) for word in ("uncompressed", "none", "gzip", "snappy", "lz4", "zstd")] == [NONE, NONE, GZIP, SNAPPY, LZ4, ZSTD]
    assert [codec.label for codec in CompressionType] == ["none", "gzip", "snappy", "lz4", "zstd"]
    with pytest.raises(ValueError, match="brotli"):
        CompressionType.of("brotli")


def test_no_codec_library_is_imported_before_it_is_needed() -> None:
    program = "import sys, pykafka_classic.log.log_validator, pykafka_classic.records.conversion\n"
    program += "print([name for name in ('cramjam', 'snappy', 'lz4', 'zstandard') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_snappy_block_longer_than_its_stream_is_refused() -> None:
    with pytest.raises(InvalidRecord, match="where 3 are left"):
        decompress(SNAPPY, MAGIC + bytes(8) + (4).to_bytes(4, "big") + b"abc")


def test_the_header_checksum_of_kafkas_lz4_frames_is_82() -> None:
    assert header_checksum(b"\x60\x40") == 0x82


def test_magic_0_has_the_broken_lz4_checksum_and_does_not_mind_any() -> None:
    frame = bytearray(compress(LZ4, b"some text", magic=0))
    assert frame[6] == 0x1A
    for checksum in (0x1A, 0x82, 0x00):
        frame[6] = checksum
        assert decompress(LZ4, bytes(frame), magic=0) == b"some text"
    with pytest.raises(InvalidRecord, match="header checksum 00, should be 82"):
        decompress(LZ4, bytes(frame), magic=1)
