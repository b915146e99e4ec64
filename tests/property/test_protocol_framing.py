"""Frames come out of a stream however it is cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pykafka_classic.protocol.framing import FrameBuffer


@given(st.lists(st.binary(min_size=1, max_size=50), max_size=10), st.lists(st.integers(1, 60), min_size=1, max_size=20))
def test_frames_come_out_whole_and_in_order(frames: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames)
    buffer, found, position = FrameBuffer(), list[memoryview](), 0
    while position < len(stream):
        size = cuts[position % len(cuts)]
        found += buffer.feed(stream[position : position + size])
        position += size
    assert found == frames
    assert (buffer.held, buffer.error) == (0, None)


@given(st.binary(max_size=200), st.integers(1, 50))
def test_any_bytes_give_frames_within_the_bounds_or_an_error(stream: bytes, step: int) -> None:
    buffer = FrameBuffer(max_size=64)
    frames = [frame for start in range(0, len(stream), step) for frame in buffer.feed(stream[start : start + step])]
    assert all(0 < len(frame) <= 64 for frame in frames)
    assert buffer.held < 4 + 64


@given(st.lists(st.binary(min_size=1, max_size=20), min_size=1, max_size=5), st.integers(1, 9))
def test_frames_keep_their_bytes_while_more_is_fed(frames: list[bytes], step: int) -> None:
    stream = b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames)
    buffer, copies, views = FrameBuffer(), [], []
    for start in range(0, len(stream), step):
        new = buffer.feed(stream[start : start + step])
        views += new
        copies += [bytes(view) for view in new]
    assert views == copies == frames
