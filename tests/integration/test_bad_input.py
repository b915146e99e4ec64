"""What nobody should send to a broker, and configs that nobody should start one with: a closed connection or exit 1, one readable line, never a stack trace."""

from __future__ import annotations

import re
import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from pykafka_classic.edges.child_processes import ChildProcess, free_ports
from pykafka_classic.edges.processes import BrokerProcess
from pykafka_classic.testing.cluster import LocalCluster
from tests.golden.protocol_data import lines
from tests.integration.foreign import DEADLINE_S, Sent, create_topic, eventually, read_all, send

REFUSED: Final = [case for case in lines("errors") if case["closed"] and not case["answers"] and len(case["send"]) == 1 and "acks=0" not in case["case"]]

GARBAGE: Final = {
    "noise": bytes((7 * number * number + 13) % 256 | 0x80 for number in range(3000)),
    "HTTP POST": b"POST /topics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
    "ruok": b"ruok",
    "longest length": struct.pack(">i", 2**31 - 1),
    "most negative length": struct.pack(">i", -(2**31)),
    "a frame too short for a header": struct.pack(">ihh", 4, 3, 1),
    "a client id longer than the frame": struct.pack(">ihhih", 10, 3, 1, 1, 30_000),
}


@pytest.fixture
def peer(single_broker: LocalCluster) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", single_broker.ports[0]), timeout=DEADLINE_S) as connection:
        yield connection


def api_versions(correlation_id: int) -> bytes:
    return struct.pack(">ihhih", 10, 18, 0, correlation_id, -1)


def read_answer(connection: socket.socket) -> bytes:
    """One response without its length."""
    length = struct.unpack(">i", connection.recv(4, socket.MSG_WAITALL))[0]
    return connection.recv(length, socket.MSG_WAITALL)


def assert_refused(broker: LocalCluster, sent: bytes) -> None:
    """Closed without an answer, while another connection goes on, and one more line that names the peer."""
    port = broker.ports[0]
    with (
        socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S) as bystander,
        socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S) as bad,
    ):
        bystander.sendall(api_versions(1))
        assert read_answer(bystander)[:4] == struct.pack(">i", 1)
        host, peer_port = bad.getsockname()
        name = f"{host}:{peer_port}"
        bad.sendall(sent)
        assert until_closed(bad) == b""
        bystander.sendall(api_versions(2))
        assert read_answer(bystander)[:4] == struct.pack(">i", 2)
    eventually(lambda: name in broker.brokers[0].output(), f"a line that names {name}")
    naming = [line for line in broker.brokers[0].output().splitlines() if name in line]
    assert len(naming) == 1 and re.match(r"\[[\d\- :,]+\] (INFO|WARN|ERROR) \S.{20,}", naming[0]), naming


def until_closed(connection: socket.socket) -> bytes:
    """What comes before the other side closes; a reset (it closed with bytes of ours unread) is a closing too."""
    found = b""
    try:
        while part := connection.recv(65536):
            found += part
    except ConnectionResetError:
        pass  # bytes of ours were unread
    return found


@pytest.mark.parametrize("case", REFUSED, ids=[case["case"] for case in REFUSED])
def test_what_kafka_refuses_is_refused(single_broker: LocalCluster, case: dict[str, list[str]]) -> None:
    assert_refused(single_broker, bytes.fromhex(case["send"][0]))


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_is_refused(single_broker: LocalCluster, name: str) -> None:
    assert_refused(single_broker, GARBAGE[name])


@pytest.mark.usefixtures("peer")
def test_a_request_that_is_cut_off_by_its_sender_harms_nobody(single_broker: LocalCluster) -> None:
    with socket.create_connection(("127.0.0.1", single_broker.ports[0]), timeout=DEADLINE_S) as bad:
        bad.sendall(api_versions(1)[:7])
    with socket.create_connection(("127.0.0.1", single_broker.ports[0]), timeout=DEADLINE_S) as good:
        good.sendall(api_versions(7))
        assert read_answer(good)[:4] == struct.pack(">i", 7)


def test_requests_that_come_byte_by_byte_or_all_at_once_are_answered_in_order(peer: socket.socket) -> None:
    for byte in api_versions(1):
        peer.sendall(bytes([byte]))
    peer.sendall(b"".join(api_versions(number) for number in range(2, 50)))
    assert [struct.unpack(">i", read_answer(peer)[:4])[0] for _ in range(1, 50)] == list(range(1, 50))


def test_records_are_safe_among_bad_neighbours(single_broker: LocalCluster) -> None:
    create_topic(single_broker.bootstrap, "among-neighbours", partitions=1, replicas=1)
    for sent in GARBAGE.values():
        send(single_broker.bootstrap, "among-neighbours", [Sent(None, b"good", (), 1_600_000_000_000)], acks="all")
        assert_refused(single_broker, sent)
    assert [stored.record.value for stored in read_all(single_broker.bootstrap, "among-neighbours")[0]] == [b"good"] * len(GARBAGE)


# configs


def start_alone(directory: Path, properties: dict[str, str]) -> tuple[int, str]:
    """Run a broker that should not be able to start: its exit status and all that it wrote."""
    broker = BrokerProcess(directory, properties)
    broker.start()
    try:
        return broker.wait(DEADLINE_S), broker.output()
    finally:
        broker.kill()


def second_broker(single_broker: LocalCluster, directory: Path, **overrides: str) -> dict[str, str]:
    """Properties of one more broker of the running cluster; `broker_id` for broker.id and so on."""
    [port] = free_ports(1)
    properties = {
        "broker.id": "7",
        "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "zookeeper.connect": single_broker.zookeeper.address,
        "log.dirs": str(directory / "data"),
    }
    return properties | {key.replace("_", "."): value for key, value in overrides.items()}


def complaints(output: str) -> list[str]:
    """Lines that are errors."""
    return [line for line in output.splitlines() if re.match(r"\[[^]]+\] (ERROR|FATAL|CRITICAL) ", line)]


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("num.partitions", "many", "INT"),
        ("num.partitions", "0", "1"),
        ("log.cleanup.policy", "burn", "compact"),
        ("listeners", "9092", "listeners"),
        ("unclean.leader.election.enable", "perhaps", "true"),
        ("compression.type", "rar", "gzip"),
    ],
)
def test_a_bad_value_ends_the_start_naming_key_value_and_what_is_allowed(tmp_path: Path, key: str, value: str, allowed: str) -> None:
    properties = {"broker.id": "0", "zookeeper.connect": "127.0.0.1:1", "log.dirs": str(tmp_path / "data")}
    status, output = start_alone(tmp_path, properties | {key: value})
    assert status == 1
    assert key in output and value in output and allowed in output and "Traceback" not in output, output
    assert len(output.splitlines()) <= 3, output


def test_an_unknown_key_is_a_warning_and_the_broker_starts(single_broker: LocalCluster, tmp_path: Path) -> None:
    broker = BrokerProcess(tmp_path, second_broker(single_broker, tmp_path, no_such_key="x"))
    broker.start()
    try:
        broker.wait_started(seconds=DEADLINE_S)
        assert [line for line in broker.output().splitlines() if " WARN " in line and "no.such.key" in line]
        assert broker.stop() == 0
    finally:
        broker.kill()


def test_a_taken_port_is_one_sentence_and_exit_1(single_broker: LocalCluster, tmp_path: Path) -> None:
    taken = single_broker.ports[0]
    status, output = start_alone(tmp_path, second_broker(single_broker, tmp_path, listeners=f"PLAINTEXT://127.0.0.1:{taken}"))
    [line] = complaints(output)
    assert status == 1 and str(taken) in line and "Traceback" not in output, output


def test_a_missing_zookeeper_is_one_sentence_and_exit_1(tmp_path: Path) -> None:
    [nobody, port] = free_ports(2)
    address = f"127.0.0.1:{nobody}"
    properties = {"broker.id": "0", "listeners": f"PLAINTEXT://127.0.0.1:{port}", "zookeeper.connect": address, "log.dirs": str(tmp_path / "data")}
    status, output = start_alone(tmp_path, properties | {"zookeeper.connection.timeout.ms": "1500"})
    [line] = complaints(output)
    assert status == 1 and address in line and "Traceback" not in output, output


def test_a_second_broker_with_the_same_id_is_refused(single_broker: LocalCluster, tmp_path: Path) -> None:
    status, output = start_alone(tmp_path, second_broker(single_broker, tmp_path, broker_id="0"))
    [line] = complaints(output)
    assert status == 1 and "Broker id 0 is taken" in line and "Traceback" not in output, output


def test_a_second_broker_on_the_same_log_directory_is_refused(single_broker: LocalCluster, tmp_path: Path) -> None:
    data = str(single_broker.brokers[0].directory / "data")
    status, output = start_alone(tmp_path, second_broker(single_broker, tmp_path, log_dirs=data, broker_id="0"))
    [line] = complaints(output)
    assert status == 1 and data in line and "Traceback" not in output, output


@pytest.mark.parametrize(("line", "told"), [("cluster.id=AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAA"), ("broker.id=3", "stored broker.id 3")])
def test_data_of_another_cluster_or_broker_is_refused(single_broker: LocalCluster, tmp_path: Path, line: str, told: str) -> None:
    data = tmp_path / "data"
    data.mkdir()
    stored = {"version": "0", "broker.id": "7"} | dict([line.split("=")])
    (data / "meta.properties").write_text("".join(f"{key}={value}\n" for key, value in stored.items()))
    status, output = start_alone(tmp_path, second_broker(single_broker, tmp_path))
    [complaint] = complaints(output)
    assert status == 1 and told in complaint and "Traceback" not in output, output


def test_without_arguments_the_usage_is_told(tmp_path: Path) -> None:
    process = ChildProcess([sys.executable, "-m", "pykafka_classic"], log_path=tmp_path / "output")
    process.start()
    assert process.wait(DEADLINE_S) == 1
    assert process.output().startswith("USAGE")


def test_no_stack_trace_was_written(single_broker: LocalCluster) -> None:
    """Runs last: the cluster lived through all of the above."""
    assert single_broker.brokers[0].running
    assert "Traceback" not in single_broker.brokers[0].output()
