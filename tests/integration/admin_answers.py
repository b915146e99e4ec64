"""Sends the requests of admin_requests.py in all their versions and makes the answers comparable; recorded from Apache Kafka 2.8.2 by

python -m tests.integration.admin_answers            writes tests/golden/data/admin/answers.jsonl.gz
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Final

from pykafka_classic.edges.blocking_client import BlockingClient
from pykafka_classic.protocol.api_keys import ApiKey, spec_of
from pykafka_classic.protocol.network import Disconnected
from pykafka_classic.protocol.schema import Message, SchemaError
from tests.integration.admin_requests import Asked, all_requests
from tests.integration.apache import MixedCluster

RECORDING: Final = Path(__file__).parents[1] / "golden" / "data" / "admin" / "answers.jsonl.gz"
APACHE: Final = "2.8.2"
OVERRIDES: Final = {"auto.leader.rebalance.enable": "false", "log.retention.ms": "-1", "auto.create.topics.enable": "false"}
CLOSED: Final = "the connection is closed"

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


class AdminCluster(MixedCluster):
    """Started one after the other, so that broker 0 is the controller; every broker has two log dirs."""

    def _properties(self, directory: Path, number: int, overrides: Mapping[str, str]) -> dict[str, str]:
        data = directory / f"broker-{number}"
        return {**super()._properties(directory, number, overrides), "log.dirs": f"{data / 'one'},{data / 'two'}"}

    def start(self) -> None:
        """See the class."""
        self.check_ports()
        self.start_zookeeper()
        for broker in self.brokers:
            broker.start()
            broker.wait_started()
        self.wait_ready()


class Answer:
    """What one version of one request was answered; `label` says which it was."""

    def __init__(self, label: str, answer: Json) -> None:
        self.label = label
        self.answer = answer


class Connections:
    """One to each broker, made anew where a broker closed it."""

    def __init__(self, cluster: AdminCluster) -> None:
        self._cluster = cluster
        self._clients: dict[int, BlockingClient] = {}

    def close(self) -> None:
        """All of them."""
        for client in self._clients.values():
            client.close()

    def ask(self, broker: int, request: Message, version: int) -> Message | str:
        """The answer, or why there is none."""
        if broker not in self._clients:
            self._clients[broker] = BlockingClient("127.0.0.1", self._cluster.ports[broker], client_id="admin", timeout_ms=60_000)
        try:
            return self._clients[broker].send(request, version)
        except SchemaError:
            return "this version cannot carry it"
        except Disconnected:
            del self._clients[broker]
            return CLOSED


def answers(cluster: AdminCluster) -> Iterator[Answer]:
    """Ask everything, one after the other."""
    data = str(cluster.brokers[0].directory)
    alike = _alike_of(cluster, data)
    with closing(Connections(cluster)) as connections:
        for number, asked in enumerate(all_requests()):
            request = _filled(asked, data)
            for version in _versions(request):
                label = f"{number:03d} v{version} {ApiKey(request.API_KEY).name} of {asked.broker}: {alike(_short(asked.request))}"
                yield Answer(label, _normal(connections.ask(asked.broker, request, version), alike))


def _short(request: Message) -> str:
    """Only what differs from the defaults."""
    return json.dumps(_json(request), ensure_ascii=False)


def _versions(request: Message) -> range:
    spec = spec_of(ApiKey(request.API_KEY))
    return range(spec.min_version, spec.max_version + 1)


def _filled(asked: Asked, data: str) -> Message:
    for log_dir in getattr(asked.request, "dirs", ()):
        log_dir.path = log_dir.path.replace("@DATA@", data)
    return asked.request


# Made alike


def _alike_of(cluster: AdminCluster, data: str) -> Callable[[str], str]:
    names = {str(Path(data).parent): "@DATA@", f"{data}": "@DATA@"}
    names |= {str(port): f"@PORT{number}@" for number, port in enumerate(cluster.ports)} | {str(cluster.zookeeper.port): "@ZK@"}
    pattern = re.compile("|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)))
    return lambda text: pattern.sub(lambda found: names[found[0]], text)


def _json(value: object) -> Json:
    if is_dataclass(value):
        return {each.name: _json(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, list | tuple):
        return [_json(each) for each in value]
    if isinstance(value, bytes):
        return "zeros" if not any(value) else "some bytes"
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    return repr(value)


VOLATILE: Final = frozenset({"throttle_time_ms", "cluster_id", "topic_id", "documentation", "port"})


def _normal(answer: Message | str, alike: Callable[[str], str]) -> Json:
    return answer if isinstance(answer, str) else _sorted(_json(answer), alike)


def _sorted(value: Json, alike: Callable[[str], str]) -> Json:
    """Lists of structures in an order of their own: Kafka's is that of hash maps."""
    if isinstance(value, dict):
        return {name: _told(each) if name in VOLATILE else _sorted(each, alike) for name, each in value.items()}
    if isinstance(value, list):
        return sorted((_sorted(each, alike) for each in value), key=json.dumps) if value and isinstance(value[0], dict) else [*value]
    return alike(value) if isinstance(value, str) else value


def _told(value: Json) -> Json:
    """Whether there is one."""
    return None if value is None else "zeros" if value == "zeros" else "some"


def recorded() -> dict[str, Json]:
    """By label."""
    with gzip.open(RECORDING, "rt", encoding="utf-8") as lines:
        return dict(map(json.loads, lines))


def main(arguments: Sequence[str]) -> int:
    """Record."""
    with tempfile.TemporaryDirectory() as directory, AdminCluster(Path(directory), [APACHE] * 3, overrides=OVERRIDES) as cluster:
        RECORDING.parent.mkdir(parents=True, exist_ok=True)
        with gzip.GzipFile(RECORDING, "wb", mtime=0) as sink:
            for each in answers(cluster):
                sink.write(json.dumps([each.label, each.answer], ensure_ascii=False).encode() + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
