"""Cutting a stream into frames."""

from __future__ import annotations

import pytest

from pykafka_classic.protocol.framing import FrameBuffer, FrameError, frame_parts

STREAM = bytes.fromhex("00000001aa00000003bbccdd00000002eeff")
FRAMES = [b"\xaa", b"\xbb\xcc\xdd", b"\xee\xff"]


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5, 7, 100])
def test_frames_come_out_however_the_stream_is_cut(step: int) -> None:
    buffer = FrameBuffer()
    frames = [frame for start in range(0, len(STREAM), step) for frame in buffer.feed(STREAM[start : start + step])]
    assert frames == FRAMES
    assert buffer.held == 0


def test_whole_frames_are_not_copied() -> None:
    (frame,) = FrameBuffer().feed(piece := b"\0\0\0\2ab")
    assert frame.obj is piece


def test_incomplete_frame_is_held() -> None:
    buffer = FrameBuffer()
    assert buffer.feed(STREAM[:-1]) == FRAMES[:2]
    assert buffer.held == 5
    assert buffer.feed(b"\xff") == FRAMES[2:]


@pytest.mark.parametrize("size", ["00000000", "ffffffff", "80000000", "00000401"])
def test_frame_size_outside_the_bounds_is_an_error(size: str) -> None:
    buffer = FrameBuffer(max_size=1024)
    assert buffer.feed(bytes.fromhex(size)) == []
    assert isinstance(buffer.error, FrameError)


def test_frame_of_the_largest_size_is_allowed() -> None:
    buffer = FrameBuffer(max_size=1024)
    assert [len(frame) for frame in buffer.feed(b"\0\0\4\0" + bytes(1024))] == [1024]
    assert buffer.error is None


def test_frames_before_a_wrong_size_are_given_out() -> None:
    buffer = FrameBuffer()
    assert buffer.feed(b"\0\0\0\1a" + b"\xff\xff\xff\xff") == [b"a"]
    assert str(buffer.error) == "a frame of -1 bytes is announced; 1 to 104857600 are allowed"


def test_nothing_is_read_after_an_error() -> None:
    buffer = FrameBuffer()
    buffer.feed(b"\xff\xff\xff\xff")
    assert buffer.feed(b"\0\0\0\1a") == []


def test_large_frame_in_many_pieces_is_put_together_once() -> None:
    buffer = FrameBuffer()
    piece = bytes(65536)
    buffer.feed(b"\2\0\0\0" + piece)
    for _ in range(510):
        assert buffer.feed(piece) == []
    (frame,) = buffer.feed(piece + b"\0\0")
    assert len(frame) == 1 << 25
    assert buffer.held == 2


def test_length_of_a_frame_counts_header_and_all_parts() -> None:
    assert frame_parts(b"head", [b"body", memoryview(b"records")]) == [b"\0\0\0\x0fheadbody", memoryview(b"records")]


def test_frame_that_begins_with_records_keeps_them_apart() -> None:
    assert frame_parts(b"head", [memoryview(b"records")]) == [b"\0\0\0\x0bhead", memoryview(b"records")]


def test_frame_without_body_is_its_header() -> None:
    assert frame_parts(b"head", []) == [b"\0\0\0\4head"]
