"""The pipes between kazoo, its sockets and the reactor."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import cast

import pytest

from pykafka_classic.edges.kazoo_plumbing import BufferedSocket, HandOver, select_buffered
from pykafka_classic.edges.reactor import ReactorLoop

Pair = tuple[BufferedSocket, socket.socket]
SOON_S = 5.0


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Our end, and the server's."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    yield BufferedSocket(ours), theirs
    ours.close()
    theirs.close()


def test_what_was_read_ahead_is_ready_without_a_look_at_the_socket(pair: Pair) -> None:
    ours, theirs = pair
    theirs.sendall(b"headbody")
    assert select_buffered(ours, [ours], SOON_S) == [ours]
    assert (ours.recv(4), ours.pending()) == (b"head", 4)
    assert select_buffered(ours, [ours], 0) == [ours]
    assert (ours.recv(100), ours.pending()) == (b"body", 0)
    assert select_buffered(ours, [ours], 0) == []


def test_the_end_of_the_stream_is_read_as_nothing(pair: Pair) -> None:
    ours, theirs = pair
    theirs.sendall(b"last")
    theirs.shutdown(socket.SHUT_WR)
    assert ours.recv(4) == b"last"
    assert select_buffered(ours, [ours], SOON_S) == [ours]
    assert ours.recv(4) == b""


def test_requests_are_sent_together_when_no_other_one_waits(pair: Pair) -> None:
    ours, theirs = pair
    wake, woken = socket.socketpair()
    try:
        wake.sendall(b"\0")
        assert ours.send(b"one ") == 4
        assert select_buffered(ours, [ours, woken], 0) == [woken], "another request waits: nothing is sent yet"
        theirs.setblocking(False)
        with pytest.raises(BlockingIOError):
            theirs.recv(100)
        woken.recv(1)
        ours.send(b"two")
        assert select_buffered(ours, [ours, woken], 0) == []
        assert theirs.recv(100) == b"one two"
    finally:
        wake.close()
        woken.close()


def test_what_the_kernel_does_not_take_is_sent_as_it_takes_it(pair: Pair) -> None:
    ours, theirs = pair
    sent = bytes(range(256)) * 20_000
    ours.send(sent)
    assert select_buffered(ours, [ours], 0) == [], "the other side does not read: time is up"
    assert ours.unsent
    theirs.setblocking(False)
    received = bytearray()
    while len(received) < len(sent):
        select_buffered(ours, [ours], 0)
        received += theirs.recv(1 << 20)
    assert received == sent


def test_an_answer_is_seen_while_much_is_unsent(pair: Pair) -> None:
    ours, theirs = pair
    ours.send(bytes(5_000_000))
    theirs.sendall(b"answer")
    assert select_buffered(ours, [ours], SOON_S) == [ours]
    assert ours.recv(6) == b"answer"


def test_a_lost_connection_fails_the_sending(pair: Pair) -> None:
    ours, theirs = pair
    theirs.close()
    ours.send(b"request")
    with pytest.raises(OSError, match="Broken pipe"):
        ours.flush()


class Loop:
    """The reactor, worked by hand."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], None]] = []
        self.reactor = cast(ReactorLoop, SimpleNamespace(callFromThread=self.calls.append))

    def run(self) -> None:
        calls = list(self.calls)
        self.calls.clear()
        for call in calls:
            call()


def fail() -> None:
    """A call with a bug."""
    raise IndexError


def test_calls_that_come_together_wake_the_reactor_once_and_keep_their_order() -> None:
    loop, told = Loop(), list[int]()
    hand_over = HandOver(loop.reactor)
    for number in range(3):
        hand_over.put(told.append, number)
    assert len(loop.calls) == 1
    loop.run()
    assert told == [0, 1, 2]


def test_a_call_made_by_a_call_waits_for_the_next_wake_up() -> None:
    loop, told = Loop(), list[str]()
    hand_over = HandOver(loop.reactor)
    hand_over.put(lambda: hand_over.put(told.append, "later"))
    loop.run()
    assert told == []
    loop.run()
    assert told == ["later"]


def test_a_call_that_fails_does_not_hold_up_those_behind_it() -> None:
    loop, told = Loop(), list[str]()
    hand_over = HandOver(loop.reactor)
    hand_over.put(fail)
    hand_over.put(told.append, "behind")
    with pytest.raises(IndexError):
        loop.run()
    loop.run()
    assert told == ["behind"]
