"""librdkafka itself, the library that confluent-kafka brings, called through ctypes: whole loops in C, so that Python is not what is measured.

A producer takes thousands of messages in one call (rd_kafka_produce_batch), a consumer counts what came with a callback that is a C function
(rd_kafka_consume_callback_queue), and requests that are sent one at a time are driven by
events (rd_kafka_queue_poll) from one thread for all clients.
"""

from __future__ import annotations

import ctypes
import os
import select
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from struct import Struct
from typing import Any, Final

import confluent_kafka

PRODUCER: Final = 0  # rd_kafka_type_t
CONSUMER: Final = 1
UNASSIGNED: Final = -1  # partition: the partitioner's choice
BEGINNING: Final = -2  # RD_KAFKA_OFFSET_BEGINNING
DELIVERY_EVENTS: Final = 0x1  # RD_KAFKA_EVENT_DR
POLL_MS: Final = 100
BATCH: Final = 10_000  # messages in one call
CLIENT: Final = Struct("=q")  # its number, as it is written into the pipe
SILENCE_S: Final = 30.0


class Message(ctypes.Structure):
    """rd_kafka_message_t."""

    _fields_ = (
        ("err", ctypes.c_int),
        ("rkt", ctypes.c_void_p),
        ("partition", ctypes.c_int32),
        ("payload", ctypes.c_void_p),
        ("len", ctypes.c_size_t),
        ("key", ctypes.c_void_p),
        ("key_len", ctypes.c_size_t),
        ("offset", ctypes.c_int64),
        ("private", ctypes.c_void_p),
    )


def _load() -> Any:
    folder = Path(confluent_kafka.__file__).parent
    bundled = sorted((folder.parent / "confluent_kafka.libs").glob("librdkafka*"))
    library = ctypes.CDLL(str(bundled[0]) if bundled else "librdkafka.so.1")
    pointers = (
        *("conf_new", "new", "topic_new", "queue_new", "queue_get_main", "queue_poll", "event_message_next"),
        *("event_error_string", "err2str"),
    )
    for name in pointers:
        getattr(library, f"rd_kafka_{name}").restype = ctypes.c_void_p
    library.rd_kafka_event_message_next.restype = ctypes.POINTER(Message)
    library.rd_kafka_err2str.restype = ctypes.c_char_p
    library.rd_kafka_consume_callback_queue.restype = ctypes.c_ssize_t
    return library


LIBRARY: Final = _load()
_C_LIBRARY: Final = ctypes.CDLL(None)
_IGNORE: Final = ctypes.cast(_C_LIBRARY.abs, ctypes.c_void_p)  # a C function that may be called with any pointer and does nothing with it

_DeliveryReport = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(Message), ctypes.c_void_p)


class BenchFailed(Exception):
    """A record was not acknowledged, or did not come; the text says more."""


class Handle:
    """An instance of librdkafka. `config` as in its manual; all values are strings."""

    def __init__(self, kind: int, config: Mapping[str, str], *, report: Any = None, events: int = 0) -> None:
        conf = LIBRARY.rd_kafka_conf_new()
        error = ctypes.create_string_buffer(512)
        for key, value in {"log_level": "0", **config}.items():
            if LIBRARY.rd_kafka_conf_set(ctypes.c_void_p(conf), key.encode(), value.encode(), error, 512) != 0:
                raise BenchFailed(error.value.decode())
        if report is not None:
            LIBRARY.rd_kafka_conf_set_dr_msg_cb(ctypes.c_void_p(conf), report)
        if events:
            LIBRARY.rd_kafka_conf_set_events(ctypes.c_void_p(conf), events)
        handle = LIBRARY.rd_kafka_new(kind, ctypes.c_void_p(conf), error, 512)
        if not handle:
            raise BenchFailed(error.value.decode())
        self.pointer = ctypes.c_void_p(handle)
        self._topics: list[ctypes.c_void_p] = []

    def topic(self, name: str) -> ctypes.c_void_p:
        """A topic's handle; lives as long as this."""
        self._topics.append(ctypes.c_void_p(LIBRARY.rd_kafka_topic_new(self.pointer, name.encode(), None)))
        return self._topics[-1]

    def close(self) -> None:
        """End it."""
        for topic in self._topics:
            LIBRARY.rd_kafka_topic_destroy(topic)
        LIBRARY.rd_kafka_destroy(self.pointer)


class BulkProducer:
    """Sends messages by the thousand; a context. `values` are sent in turn. Raises BenchFailed where a record is not acknowledged."""

    def __init__(self, bootstrap: str, topic: str, values: Sequence[bytes], config: Mapping[str, str]) -> None:
        self._errors: list[int] = []
        self._report = _DeliveryReport(lambda _handle, message, _opaque: self._errors.append(message.contents.err))
        settings = {"bootstrap.servers": bootstrap, "linger.ms": "5", "batch.size": "1000000", "delivery.report.only.error": "true"}
        room = {"queue.buffering.max.messages": "500000", "queue.buffering.max.kbytes": "98304"}
        self._handle = Handle(PRODUCER, {**settings, **room, **config}, report=self._report)
        self._topic = self._handle.topic(topic)
        self._values = [ctypes.create_string_buffer(value, len(value)) for value in values]  # must outlive the messages: they are not copied
        self._messages = (Message * BATCH)()
        for index, message in enumerate(self._messages):
            value = self._values[index % len(values)]
            message.payload, message.len = ctypes.addressof(value), len(value)

    def __enter__(self) -> BulkProducer:
        return self

    def __exit__(self, *_: object) -> None:
        self._handle.close()

    def send(self, count: int) -> None:
        """Hand over so many; waits while the queue is full."""
        while count > 0:
            wanted = min(count, BATCH)
            taken = LIBRARY.rd_kafka_produce_batch(self._topic, UNASSIGNED, 0, self._messages, wanted)
            LIBRARY.rd_kafka_poll(self._handle.pointer, 0 if taken == wanted else 1)
            count -= taken
        self._check()

    def flush(self) -> None:
        """Wait until all are acknowledged."""
        if LIBRARY.rd_kafka_flush(self._handle.pointer, 60_000) != 0:
            raise BenchFailed(f"{LIBRARY.rd_kafka_outq_len(self._handle.pointer)} records were not acknowledged within a minute")
        self._check()

    def _check(self) -> None:
        if self._errors:
            raise BenchFailed(f"{len(self._errors)} records failed: {LIBRARY.rd_kafka_err2str(self._errors[0]).decode()}")


class BulkConsumer:
    """Reads partitions from their beginning and counts records; a context."""

    def __init__(self, bootstrap: str, topic: str, partitions: int) -> None:
        room = {"queued.min.messages": "1000000", "queued.max.messages.kbytes": "131072", "fetch.queue.backoff.ms": "5", "fetch.error.backoff.ms": "10"}
        self._handle = Handle(CONSUMER, {"bootstrap.servers": bootstrap, **room})
        self._queue = ctypes.c_void_p(LIBRARY.rd_kafka_queue_new(self._handle.pointer))
        self._topic = self._handle.topic(topic)
        self._partitions = partitions

    def __enter__(self) -> BulkConsumer:
        for partition in range(self._partitions):
            LIBRARY.rd_kafka_consume_start_queue(self._topic, partition, ctypes.c_int64(BEGINNING), self._queue)
        return self

    def __exit__(self, *_: object) -> None:
        for partition in range(self._partitions):
            LIBRARY.rd_kafka_consume_stop(self._topic, partition)
        LIBRARY.rd_kafka_queue_destroy(self._queue)
        self._handle.close()

    def read(self, count: int, *, seconds: float = 120.0) -> int:
        """Until so many records have come; how many came beyond, as a negative number."""
        deadline = time.monotonic() + seconds
        while count > 0:
            count -= LIBRARY.rd_kafka_consume_callback_queue(self._queue, POLL_MS, _IGNORE, None)
            if time.monotonic() > deadline:
                raise BenchFailed(f"{count} records are missing")
        return count


class OneInFlight:
    """Several producers, each with one record on its way: the next leaves when the last is acknowledged. A context.

    librdkafka writes a client's number into a pipe when that client has a delivery report, so that one thread can wait for all of them.
    """

    def __init__(self, bootstrap: str, topic: str, clients: int, config: Mapping[str, str]) -> None:
        settings = {"bootstrap.servers": bootstrap, "linger.ms": "0", "max.in.flight": "1", "socket.nagle.disable": "true", **config}
        self._handles = [Handle(PRODUCER, settings, events=DELIVERY_EVENTS) for _ in range(clients)]
        self._topics = [handle.topic(topic) for handle in self._handles]
        self._mains = [ctypes.c_void_p(LIBRARY.rd_kafka_queue_get_main(handle.pointer)) for handle in self._handles]
        self._reading, self._writing = os.pipe()
        for client, main in enumerate(self._mains):
            LIBRARY.rd_kafka_queue_io_event_enable(main, self._writing, CLIENT.pack(client), CLIENT.size)
        self._value = ctypes.create_string_buffer(bytes(100), 100)
        self._message = (Message * 1)()

    def __enter__(self) -> OneInFlight:
        return self

    def __exit__(self, *_: object) -> None:
        for main in self._mains:
            LIBRARY.rd_kafka_queue_io_event_enable(main, -1, None, 0)
            LIBRARY.rd_kafka_queue_destroy(main)
        for handle in self._handles:
            handle.close()
        os.close(self._reading)
        os.close(self._writing)

    def run(self, seconds: float) -> list[float]:
        """Keep going for so long; the seconds from sending to acknowledgement of each record."""
        sent = [0.0] * len(self._handles)
        taken: list[float] = []
        began = now = time.perf_counter()
        for client in range(len(self._handles)):
            self._send(client)
            sent[client] = now
        waiting = len(self._handles)
        while waiting:
            for client in self._acknowledged():
                now = time.perf_counter()
                taken.append(now - sent[client])
                if now - began < seconds:
                    self._send(client)
                    sent[client] = now
                else:
                    waiting -= 1
        return taken

    def _send(self, client: int) -> None:
        message = self._message[0]
        message.payload, message.len = ctypes.addressof(self._value), 100
        if LIBRARY.rd_kafka_produce_batch(self._topics[client], UNASSIGNED, 0, self._message, 1) != 1:
            raise BenchFailed("a record was not taken")

    def _acknowledged(self) -> list[int]:
        if not select.select([self._reading], [], [], SILENCE_S)[0]:
            raise BenchFailed("nothing was acknowledged for half a minute")
        told = CLIENT.iter_unpack(os.read(self._reading, CLIENT.size * 256))
        return [client for (client,) in told for _ in range(self._reports(self._mains[client]))]

    @staticmethod
    def _reports(queue: ctypes.c_void_p) -> int:
        """How many delivery reports wait there; BenchFailed where one tells of an error."""
        count = 0
        while event := LIBRARY.rd_kafka_queue_poll(queue, 0):
            pointer = ctypes.c_void_p(event)
            while message := LIBRARY.rd_kafka_event_message_next(pointer):
                if message.contents.err:
                    raise BenchFailed(f"a record failed: {LIBRARY.rd_kafka_err2str(message.contents.err).decode()}")
                count += 1
            LIBRARY.rd_kafka_event_destroy(pointer)
        return count
