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


def large(size: int) -> bytes:
    """A frame of so many bytes, its length included, no two of whose stretches are alike."""
    return (size - 4).to_bytes(4, "big") + bytes(index * 7 & 0xFF ^ index >> 8 & 0xFF for index in range(size - 4))


def read_all(buffer: FrameBuffer, stream: bytes, piece: int) -> list[bytes]:
    """As a transport does: into `room` where there is one."""
    frames: list[bytes] = []
    position = 0
    while position < len(stream):
        room = buffer.room()
        if room is None:
            frames += map(bytes, buffer.feed(stream[position : position + piece]))
            position += piece
            continue
        count = min(piece, len(room), len(stream) - position)
        room[:count] = stream[position : position + count]
        frames += map(bytes, buffer.filled(count))
        position += count
    return frames


@pytest.mark.parametrize("piece", [5000, 20_000, 70_000, 130_000, 1_000_000])
def test_frames_read_into_their_place_are_those_of_the_stream(piece: int) -> None:
    stream = large(200_000) + STREAM + large(65_535) + large(70_000) + STREAM
    frames = [large(200_000)[4:], *FRAMES, large(65_535)[4:], large(70_000)[4:], *FRAMES]
    assert read_all(FrameBuffer(), stream, piece) == frames


@pytest.mark.parametrize("piece", [5000, 20_000, 70_000, 130_000])
def test_frames_may_be_fed_although_they_have_a_place(piece: int) -> None:
    stream = large(200_000) + STREAM + large(70_000) + STREAM
    buffer = FrameBuffer()
    frames = [bytes(frame) for start in range(0, len(stream), piece) for frame in buffer.feed(stream[start : start + piece])]
    assert frames == [large(200_000)[4:], *FRAMES, large(70_000)[4:], *FRAMES]
    assert buffer.held == 0


def test_a_large_frame_is_read_into_a_place_that_is_not_copied() -> None:
    buffer = FrameBuffer()
    stream = large(100_000)
    assert buffer.feed(stream[:50_000]) == []
    room = buffer.room()
    assert room is not None
    assert len(room) == 50_000
    assert buffer.held == 50_000
    room[:] = stream[50_000:]
    [frame] = buffer.filled(50_000)
    assert frame.obj is room.obj
    assert buffer.room() is None


def test_who_announces_a_large_frame_must_send_some_of_it_before_it_takes_memory() -> None:
    buffer = FrameBuffer()
    buffer.feed(b"\4\0\0\0" + bytes(1_000_000))  # of 64 MB
    assert buffer.room() is None
    buffer.feed(bytes(4_000_000))
    assert buffer.room() is not None


def test_a_small_frame_has_no_place() -> None:
    buffer = FrameBuffer()
    buffer.feed(large(60_000)[:-1])
    assert buffer.room() is None
