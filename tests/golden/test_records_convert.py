"""Down-conversion for old consumers, at once and as a broker's socket gets it."""

from __future__ import annotations

import pytest

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.records.compression import NONE
from pykafka_classic.records.conversion import DownConversion, down_convert_all
from pykafka_classic.records.record_batch import LegacyBatch, iterate_batches
from tests.golden.records_data import Line, check_batches, numbered, of_kind

CONVERSIONS = of_kind("conversion")
LAZY = of_kind("lazy")


@pytest.mark.parametrize("line", CONVERSIONS, ids=numbered(CONVERSIONS))
def test_batches_are_converted_as_kafka_converts_them(line: Line) -> None:
    if "error" in line:
        with pytest.raises(KafkaError) as refused:
            down_convert_all(bytes.fromhex(line["from"]), line["to_magic"], line["fetch_offset"])
        assert refused.value.code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
        return
    converted = down_convert_all(bytes.fromhex(line["from"]), line["to_magic"], line["fetch_offset"])
    check_batches(converted, line["batches"])
    if all(batch.codec == NONE for batch in iterate_batches(converted)):
        assert converted.hex() == line["hex"]


@pytest.mark.parametrize("line", LAZY, ids=numbered(LAZY))
def test_the_announced_size_and_the_padding_are_kafkas(line: Line) -> None:
    conversion = DownConversion(bytes.fromhex(line["from"]), line["to_magic"], line["fetch_offset"])
    data, theirs = conversion.read(), bytes.fromhex(line["hex"])
    converted = line["converted_size"]
    if conversion.size == line["announced_size"] and not is_compressed(theirs):
        assert (len(data), data.hex()) == (line["announced_size"], line["hex"])
        return
    for ours, expected in zip(iterate_batches(data), iterate_batches(theirs[:converted]), strict=True):
        assert isinstance(ours, LegacyBatch)
        assert isinstance(expected, LegacyBatch)
        assert ours.inner_messages() == expected.inner_messages()
    assert len(data) == conversion.size


def is_compressed(data: bytes) -> bool:
    return any(batch.codec != NONE for batch in iterate_batches(data))
