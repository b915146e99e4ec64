"""Quotas and SCRAM credentials as Kafka 2.8.2's brokers stored them, in the life recorded in data/znodes/main (steps 14 to 24): nodes, data, order.

What tools wrote by themselves (`--zookeeper`) is put where it was; what a client asked of a broker is asked of ours. The order of the keys of a config is that
of a Java hash table and not compared.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Coroutine
from hashlib import pbkdf2_hmac
from typing import Any, Final

import pytest

from pykafka_classic.common.promise import spawn
from pykafka_classic.server.client_quotas import ClientQuotas
from pykafka_classic.server.scram_credentials import ScramCredentials, Upsertion
from tests.fakes.zookeeper import FakeZooKeeperServer
from tests.golden.znode_dumps import dumps, watch
from zk_schema import configs

Asked = Callable[[ClientQuotas, ScramCredentials], Coroutine[Any, Any, object]]


def quota(*parts: tuple[str, str | None], **changes: float | None) -> Asked:
    """What `kafka-configs --bootstrap-server` asks for."""
    return lambda quotas, _: quotas.alter(dict(parts), changes, validate_only=False)


def recorded_salt() -> bytes:
    """Chosen by the tool, at random."""
    dump = next(dump for dump in dumps("main") if dump["step"] == "22-scram-bootstrap")
    alice = next(node["data"] for node in dump["nodes"] if node["path"] == "/config/users/alice")
    fields = dict(field.partition("=")[::2] for field in configs.decode(alice.encode())["SCRAM-SHA-256"].split(","))
    return b64decode(fields["salt"])


def scram(_: ClientQuotas, credentials: ScramCredentials) -> Coroutine[Any, Any, object]:
    salt = recorded_salt()
    return credentials.alter([], [Upsertion("alice", 1, 8192, salt, pbkdf2_hmac("sha256", b"secret", salt, 8192))])


ASKED: Final[dict[str, list[Asked]]] = {
    "14-quota-client-id": [quota(("client-id", "client a*b+c/d"), producer_byte_rate=1_000_000, consumer_byte_rate=2_000_000)],
    "15-quota-client-default": [quota(("client-id", None), request_percentage=200)],
    "16-quota-user": [quota(("user", "alice"), producer_byte_rate=1_048_576, controller_mutation_rate=10)],
    "17-quota-user-default": [quota(("user", None), consumer_byte_rate=1_000_000)],
    "18-quota-user-client": [
        quota(("user", "CN=bob,O=x y"), ("client-id", "c1"), producer_byte_rate=5),
        quota(("user", "alice"), ("client-id", None), producer_byte_rate=6),
    ],
    "20-quota-ip": [quota(("ip", "10.1.2.3"), connection_creation_rate=9), quota(("ip", None), connection_creation_rate=99)],
    "22-scram-bootstrap": [scram],
    "24-quota-delete": [quota(("client-id", "client a*b+c/d"), producer_byte_rate=None, consumer_byte_rate=None)],
}


def by_step() -> dict[str, list[dict[str, Any]]]:
    """What was written before each step's end."""
    steps: dict[str, list[dict[str, Any]]] = {}
    pending: list[dict[str, Any]] = []
    for entry in watch("main"):
        if "step" in entry:
            steps[entry["step"]], pending = pending, []
        elif entry["event"] in ("create", "change") and entry["path"].startswith("/config/"):
            pending.append(entry)
    return steps


STEPS: Final = by_step()
FIRST: Final = "13-config-broker-default"

Written = list[tuple[str, str, object]]


@pytest.fixture(scope="module")
def lived() -> dict[str, Written]:
    """What ours wrote in each step, led through all of them; the tools' writes among them."""
    server = FakeZooKeeperServer()
    start = next(dump for dump in dumps("main") if dump["step"] == FIRST)
    for node in start["nodes"]:
        if f"{node['path']}/".startswith("/config/"):
            server.put(node["path"], None if node["data"] is None else node["data"].encode())
    zk = server.connect()
    written = {}
    for name in list(STEPS)[: list(STEPS).index("24-quota-delete") + 1]:
        server.log.clear()
        if name in ASKED:
            for ask in ASKED[name]:
                spawn(ask(ClientQuotas(zk), ScramCredentials(zk))).result()
        elif name > FIRST:
            for entry in STEPS[name]:
                server.put(entry["path"], entry["data"].encode())
        written[name] = [normal(change.event, change.path, None if change.data is None else change.data.decode()) for change in server.log]
    return written


def normal(event: str, path: str, data: str | None) -> tuple[str, str, object]:
    """Comparable: parsed."""
    return event, path, None if data is None else json.loads(data)


@pytest.mark.parametrize("step", ASKED)
def test_a_broker_writes_what_kafkas_wrote_in_the_same_order(step: str, lived: dict[str, Written]) -> None:
    assert lived[step] == [normal(entry["event"], entry["path"], entry["data"]) for entry in STEPS[step]]
