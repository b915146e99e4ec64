"""The monitor's API: a fuzz of all of it finds no 500, passwords and roles hold, and ten readers see brokers bounce."""

from __future__ import annotations

import base64
import http.client
import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.monitor.web.metrics import HELP
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.monitor_process import NAME, MonitorProcess, watching

TOPIC = "flights"
API = f"/api/v1/clusters/{NAME}"
JSON = {"Content-Type": "application/json"}
READERS = 10


@pytest.fixture(scope="module")
def watched(cluster: LocalCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LocalCluster, MonitorProcess]]:
    """Three brokers with a topic, and a monitor."""
    with watching(cluster, tmp_path_factory.mktemp("monitor"), TOPIC) as monitor:
        yield cluster, monitor


class Answer:
    """Of one request."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.text = response.read().decode()

    @property
    def json(self) -> Any:
        return json.loads(self.text)


def ask(monitor: MonitorProcess, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Answer:
    connection = http.client.HTTPConnection(urlsplit(monitor.address).netloc, timeout=20)
    try:
        data = body if body is None or isinstance(body, str) else json.dumps(body)
        connection.request(method, path, data, dict(headers or {}))
        return Answer(connection.getresponse())
    finally:
        connection.close()


def login(name: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


def test_a_cluster_is_worked_with_by_json_alone(watched: tuple[LocalCluster, MonitorProcess]) -> None:
    monitor = watched[1]
    assert [each["name"] for each in ask(monitor, "GET", "/api/v1/clusters").json] == [NAME]
    made = ask(monitor, "POST", f"{API}/topics", {"name": "made", "partitions": 1, "replication_factor": 2}, JSON)
    assert (made.status, made.json["done"]) == (200, "Topic made is created: 1 partition, 2 replicas of each.")
    again = ask(monitor, "POST", f"{API}/topics", {"name": "made"}, JSON)
    assert again.status == 409 and "already exists" in again.json["error"]
    wait_until(lambda: ask(monitor, "GET", f"{API}/topics/made").status == 200, seconds=15)
    for number in range(3):
        told = ask(monitor, "POST", f"{API}/topics/made/messages", {"key": f"k{number}", "value": f"v{number}", "headers": {"h": "x"}}, JSON)
        assert told.json["details"] == {"partition": 0, "offset": number}
    found = ask(monitor, "GET", f"{API}/topics/made/messages?offset=1").json
    assert [(each["offset"], each["key"]["text"], each["value"]["text"]) for each in found["records"]] == [(1, "k1", "v1"), (2, "k2", "v2")]
    reset = {"topic": "made", "to": "shift", "number": -1}
    preview = ask(monitor, "POST", f"{API}/groups/by-api/offsets", {"topic": "made", "to": "latest", "preview": True}, JSON)
    assert preview.json["details"]["steps"] == [{"topic": "made", "partition": 0, "before": None, "after": 3}]
    assert ask(monitor, "POST", f"{API}/groups/by-api/offsets", {"topic": "made", "to": "latest"}, JSON).status == 200
    shifted = ask(monitor, "POST", f"{API}/groups/by-api/offsets", reset, JSON)
    assert shifted.json["details"]["steps"] == [{"topic": "made", "partition": 0, "before": 3, "after": 2}]
    wait_until(lambda: [each["lag"] for each in ask(monitor, "GET", f"{API}/groups/by-api/lag").json] == [1], seconds=15)
    counted = ask(monitor, "POST", f"{API}/sql", {"statement": "select count(*) as n from topic made"}, JSON)
    assert (counted.status, counted.json["columns"], counted.json["rows"]) == (200, ["n"], [[3]])
    assert ask(monitor, "DELETE", f"{API}/topics/made", headers=JSON).status == 200
    log = (monitor.store.parent / "audit.log").read_text()
    operations = [json.loads(line)["operation"] for line in log.splitlines()]
    assert operations == ["create-topic", "create-topic", *["produce"] * 3, *["reset-offsets"] * 2, "delete-topic"] and "v1" not in log


def test_metrics_are_all_explained(watched: tuple[LocalCluster, MonitorProcess]) -> None:
    told = ask(watched[1], "GET", "/metrics")
    assert told.status == 200 and told.headers["content-type"].startswith("text/plain; version=0.0.4")
    names = {re.match(r"\w+", line)[0] for line in told.text.splitlines() if not line.startswith("#")}  # type: ignore[index]
    assert names <= set(HELP) and {"kafka_broker_up", "kafka_partitions_under_replicated", "kafka_controller"} <= names
    assert f'kafka_broker_up{{cluster="{NAME}",broker="2"}} 1' in told.text


def test_every_answer_is_kept_safe(watched: tuple[LocalCluster, MonitorProcess]) -> None:
    monitor = watched[1]
    for path in ("/", f"/c/{NAME}", "/api/v1/clusters", "/static/monitor.css", "/nowhere", "/metrics"):
        headers = ask(monitor, "GET", path).headers
        assert "default-src 'none'" in headers["content-security-policy"] and "unsafe" not in headers["content-security-policy"], path
        assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY", path
    assert ask(monitor, "GET", f"{API}/health", headers={"Host": "evil.example"}).status == 421
    write = {"name": "evil"}
    for headers in ({}, {"Content-Type": "text/plain"}, {**JSON, "Origin": "http://evil.example"}, {**JSON, "Sec-Fetch-Site": "cross-site"}):
        assert ask(monitor, "POST", f"{API}/topics", write, headers).status == 403, headers
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert ask(monitor, "POST", f"/c/{NAME}/do/create-topic", "name=evil", form).status == 403
    assert refused_by_its_head(monitor, 5 << 20).startswith("HTTP/1.1 413 ")
    assert ask(monitor, "GET", f"{API}/topics/evil").status == 404


def refused_by_its_head(monitor: MonitorProcess, length: int) -> str:
    """The first line of the answer to a body that is announced, and not sent."""
    address = urlsplit(monitor.address)
    with socket.create_connection((address.hostname, address.port), timeout=20) as connection:
        connection.sendall(f"POST {API}/topics HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n".encode())
        return connection.recv(1000).decode().partition("\r\n")[0]


def test_passwords_and_roles_hold(watched: tuple[LocalCluster, MonitorProcess], tmp_path: Path) -> None:
    passwords = tmp_path / "passwords"
    for name, role in (("alice", "operate"), ("bob", "read")):
        command = [sys.executable, "-m", "pykafka_classic.cli.eagle", "password", name, role, str(passwords)]
        told = subprocess.run(command, input=f"{name}'s password\n", capture_output=True, text=True, check=False)
        assert told.returncode == 0 and told.stdout.startswith(f"{name} may {role} now"), told.stderr
    assert passwords.stat().st_mode & 0o777 == 0o600 and "password" not in passwords.read_text()
    monitor = MonitorProcess(tmp_path / "guarded", watched[0], settings={"passwords.file": str(passwords), "host": "0.0.0.0"})
    monitor.start()
    try:
        monitor.wait_watching()
        alice, bob = login("alice", "alice's password"), login("bob", "bob's password")
        asked = ask(monitor, "GET", f"{API}/health")
        assert asked.status == 401 and asked.headers["www-authenticate"].startswith("Basic") and "state" not in asked.text
        page = ask(monitor, "GET", f"/c/{NAME}/topics", headers={"Accept": "text/html"})
        assert (page.status, page.headers["location"]) == (303, f"/login?next=%2Fc%2F{NAME}%2Ftopics")
        assert [ask(monitor, "GET", f"{API}/health", headers=each).status for each in (bob, alice, login("bob", "guess"))] == [200, 200, 401]
        write = {"name": "by-somebody", "partitions": 1, "replication_factor": 1}
        assert ask(monitor, "POST", f"{API}/topics", write, {**JSON, **bob}).status == 403
        assert ask(monitor, "POST", f"{API}/topics", write, {**JSON, **alice}).status == 200
        by_form(monitor)
    finally:
        monitor.stop()


def by_form(monitor: MonitorProcess) -> None:
    """Bob logs in as a browser does; what he then may is the same."""
    first = ask(monitor, "GET", "/login", headers={"Accept": "text/html"})
    cookie, token = first.headers["set-cookie"].partition(";")[0], re.findall(r'name="csrf_token" value="([^"]+)"', first.text)[0]
    form = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie, "Accept": "text/html"}
    assert ask(monitor, "POST", "/login", f"csrf_token={token}&name=bob&password=guess", form).status == 401
    entered = ask(monitor, "POST", "/login", f"csrf_token={token}&name=bob&password=bob%27s+password&next=%2F%2Fevil.example", form)
    assert (entered.status, entered.headers["location"]) == (303, "/")
    session = {**form, "Cookie": entered.headers["set-cookie"].partition(";")[0]}
    page = ask(monitor, "GET", f"/c/{NAME}/topics", headers=session)
    assert page.status == 200 and "by-somebody" in page.text and "Create a topic" not in page.text and "Log out bob" in page.text
    token = re.findall(r'name="csrf_token" value="([^"]+)"', page.text)[0]
    assert ask(monitor, "POST", f"/c/{NAME}/do/create-topic", f"csrf_token={token}&name=x", session).status == 403
    assert ask(monitor, "POST", "/logout", f"csrf_token={token}", session).status == 303
    assert ask(monitor, "GET", f"/c/{NAME}/topics", headers=session).status == 303


def test_nobody_listens_to_the_world_without_passwords(watched: tuple[LocalCluster, MonitorProcess], tmp_path: Path) -> None:
    config = tmp_path / "monitor.properties"
    config.write_text(f"clusters={NAME}\n{NAME}.zookeeper.connect={watched[0].zookeeper.address}\nhost=0.0.0.0\ndata.dir={tmp_path / 'data'}\nport=0\n")
    command = [sys.executable, "-m", "pykafka_classic.cli.eagle", "start", str(config)]
    told = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False, env={"LOG_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"})
    assert told.returncode == 1 and "set passwords.file" in told.stderr and "Traceback" not in told.stderr


class Listener:
    """A browser that listens, and asks for the page when it is told to."""

    def __init__(self, monitor: MonitorProcess) -> None:
        self._monitor = monitor
        self.kinds: set[str] = set()
        self.failed: list[str] = []
        self.looked = 0
        self.stopped = False
        self.gone_seen = False
        self.back_seen = False
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def _listen(self) -> None:
        connection = http.client.HTTPConnection(urlsplit(self._monitor.address).netloc, timeout=30)
        connection.request("GET", f"/c/{NAME}/events", headers={"Accept": "text/event-stream"})
        response = connection.getresponse()
        assert response.getheader("content-type") == "text/event-stream"
        for line in response:
            if self.stopped:
                break
            if line.startswith(b"data: "):
                self.kinds |= set(json.loads(line[6:]))
                self._look()
        connection.close()

    def _look(self) -> None:
        page = ask(self._monitor, "GET", f"/c/{NAME}")
        self.looked += 1
        if page.status != 200:
            self.failed.append(page.text)
        if 'class="state gone"' in page.text or 'class="state silent"' in page.text:
            self.gone_seen = True
        elif self.gone_seen:
            self.back_seen = True


def test_ten_readers_see_brokers_bounce(watched: tuple[LocalCluster, MonitorProcess]) -> None:
    cluster, monitor = watched
    listeners = [Listener(monitor) for _ in range(READERS)]
    try:
        wait_until(lambda: all(each.looked for each in listeners), seconds=30)
        for number in (1, 2):
            cluster.brokers[number].kill()
            wait_until(lambda: all(each.gone_seen for each in listeners), seconds=30)
            cluster.restart(number)
            wait_until(lambda: all(each.back_seen for each in listeners), seconds=60)
            for each in listeners:
                each.gone_seen = each.back_seen = False
        slowest = max(timed(lambda: ask(monitor, "GET", f"/c/{NAME}")) for _ in range(5))
    finally:
        for each in listeners:
            each.stopped = True
    for each in listeners:
        each.thread.join(30)
    assert not [failure for each in listeners for failure in each.failed]
    assert all({"znodes", "samples", "events"} <= each.kinds for each in listeners)
    assert slowest < 10  # seconds, with ten others that ask at the same time, on a machine that may do much else; whoever waits for SQLite's lock waits longer
    assert "database is locked" not in monitor.output()
    wait_until(lambda: "kafka_monitor_live_readers 0" in ask(monitor, "GET", "/metrics").text, seconds=30)


def timed(work: Any) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def test_a_fuzz_of_the_api_finds_no_server_error(watched: tuple[LocalCluster, MonitorProcess], tmp_path: Path) -> None:
    """Runs last: it changes what it likes."""
    monitor = watched[1]
    known = {"cluster": NAME, "topic": TOPIC, "group": "by-api", "broker": "0", "partition": "0"}
    (tmp_path / "schemathesis.toml").write_text("[parameters]\n" + "".join(f'{name} = "{value}"\n' for name, value in known.items()))
    making = ["post_clusters_cluster_topics", "post_clusters_cluster_topics_topic_partitions", "delete_clusters_cluster_topics_topic"]
    with (tmp_path / "schemathesis.toml").open("a") as file:  # thousands of partitions would only keep this machine busy: these are asked of no cluster
        file.write(f'[[operations]]\ninclude-operation-id = {json.dumps(making)}\nparameters = {{ cluster = "nowhere" }}\n')
    checks = "not_a_server_error,response_schema_conformance,content_type_conformance,status_code_conformance"
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{monitor.address}/api/openapi.json", "-H", "Content-Type: application/json"),
        *("--checks", checks, "--max-examples", "2", "--seed", "20261121", "--phases", "coverage,fuzzing", "--request-timeout", "30"),
        *("--workers", "1", "--generation-database", "none", "--no-color"),
    ]
    told = subprocess.run(command, capture_output=True, text=True, timeout=150, check=False, cwd=tmp_path)
    assert told.returncode == 0, told.stdout[-6000:] + told.stderr[-2000:]
    (selected,) = re.findall(r"Operations: +(\d+) selected / \1 total", told.stdout)
    assert int(selected) > 40 and re.search(rf"Tested: +{selected}\b", told.stdout), told.stdout[-3000:]
    assert ask(monitor, "GET", f"{API}/health").status == 200
