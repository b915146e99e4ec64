"""Frames: an int32 length, then that many bytes. Everything on a Kafka connection is cut so, in both directions.

Source: facts/protocol.md 2, 2.8:clients/src/main/java/org/apache/kafka/common/network/NetworkReceive.java.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import Final

from pykafka_classic.protocol.schema import Records, SchemaError

LENGTH: Final = Struct(">i")
assert LENGTH.size == 4
SOCKET_REQUEST_MAX_BYTES: Final = 104857600  # the default of socket.request.max.bytes


class FrameError(SchemaError):
    """A length that no frame may have: the peer speaks another protocol, or means harm."""


# A frame of so many bytes gets a place of its own, into which the rest of it is read, once one in so many of its bytes has come: who only announces a large
# frame shall not take much memory.
PLACE_MIN_BYTES: Final = 64 * 1024
PLACE_SHARE: Final = 16


class FrameBuffer:
    """Cuts a stream of bytes into frames.

    Pieces are collected in one growing buffer and copied once; a piece that holds whole frames is not copied at all. After a wrong length nothing more is read:
    frames before it are still given out, `error` then says what was wrong.

    A large frame need not be copied either: while `room` gives a place, whoever reads the stream may read into it, and then says `filled` instead of `feed`.

    Invariant: at most one of `_held` and `_place` has something.
    """

    def __init__(self, max_size: int = SOCKET_REQUEST_MAX_BYTES) -> None:
        self._max_size = max_size
        self._held = bytearray()  # the beginning of a frame that is not complete, its length included
        self._needed = LENGTH.size  # how many bytes `_held` must have before it is worth a look
        self._place: memoryview | None = None  # of all of a large frame, its length included; the first `_filled` bytes are there
        self._filled = 0
        self.error: FrameError | None = None

    @property
    def held(self) -> int:
        """Bytes of an incomplete frame received so far, its length included."""
        return len(self._held) if self._place is None else self._filled

    def feed(self, piece: bytes | bytearray | memoryview) -> list[memoryview]:
        """Takes the next bytes of the stream; gives the frames that they complete, without their lengths.

        A frame may be a slice of `piece`, which therefore must not change any more.
        """
        if self.error is not None:
            return []
        if self._place is not None:
            return self._feed_place(memoryview(piece))
        if not self._held:
            return self._cut(memoryview(piece))
        self._held += piece
        if len(self._held) < self._needed:
            self._make_place(memoryview(self._held))
            return []
        held, self._held = self._held, bytearray()
        return self._cut(memoryview(held))

    def room(self) -> memoryview | None:
        """Where the next bytes of the stream belong, if they are those of a large frame; never empty."""
        return None if self._place is None else self._place[self._filled :]

    def filled(self, count: int) -> list[memoryview]:
        """So many bytes have been read into `room`; the frame, if it is complete."""
        assert self._place is not None
        self._filled += count
        if self._filled < len(self._place):
            return []
        frame, self._place = self._place[LENGTH.size :], None
        return [frame]

    def _feed_place(self, piece: memoryview) -> list[memoryview]:
        room = self.room()
        assert room is not None
        count = min(len(room), len(piece))
        room[:count] = piece[:count]
        frames = self.filled(count)
        return frames + self._cut(piece[count:]) if count < len(piece) else frames

    def _make_place(self, begun: memoryview) -> None:
        """If the frame of which this is the beginning is worth it."""
        if self._needed < PLACE_MIN_BYTES or len(begun) * PLACE_SHARE < self._needed:
            return
        self._place, self._filled = memoryview(bytearray(self._needed)), len(begun)
        self._place[: self._filled] = begun
        self._held = bytearray()

    def _cut(self, view: memoryview) -> list[memoryview]:
        """Frames at the beginning of `view`; keeps the rest, which is shorter than the piece that came last."""
        frames: list[memoryview] = []
        position, available = 0, len(view)
        needed = LENGTH.size
        while available - position >= LENGTH.size:
            (size,) = LENGTH.unpack_from(view, position)
            if not 0 < size <= self._max_size:
                self.error = FrameError(f"a frame of {size} bytes is announced; 1 to {self._max_size} are allowed")
                return frames
            needed = LENGTH.size + size
            if available - position < needed:
                break
            frames.append(view[position + LENGTH.size : position + needed])
            position += needed
            needed = LENGTH.size
        self._needed = needed
        if position < available:
            self._make_place(view[position:])
            if self._place is None:
                self._held = bytearray(view[position:])
        return frames


def frame_parts(header: bytes, body: Sequence[Records]) -> list[Records]:
    """A frame to send: its length and header joined with the first part of the body, the other parts as they are."""
    size = len(header) + sum(map(len, body))
    first = body[0] if body else b""
    if isinstance(first, bytes):
        return [b"".join((LENGTH.pack(size), header, first)), *body[1:]]
    return [LENGTH.pack(size) + header, *body]
