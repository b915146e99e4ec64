"""docker-compose.yml and what it names: three and three, ports, volumes, health; and that it is read as Compose reads it, where Compose is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.properties import parse_properties
from tests.deployment.compose_file import ComposeFile, Service, Unsupported, interpolate, read_compose_file, seconds

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docker-compose.yml"
OTHERWISE = {"KAFKA_HOST": "broker.example", "KAFKA_PORT_2": "19093", "BIND_ADDRESS": "0.0.0.0", "ZOOKEEPER_IMAGE": "mirror.example/zookeeper:3.9"}


@pytest.fixture
def plain() -> ComposeFile:
    """As it is without any variable."""
    return read_compose_file(FILE, {})


def brokers(file: ComposeFile) -> list[Service]:
    return [service for service in file.services if service.build]


def overrides(broker: Service) -> dict[str, str]:
    """What stands after each --override."""
    return dict(pair.split("=", 1) for pair in broker.command[2::2])


def test_three_zookeepers_come_before_three_brokers(plain: ComposeFile) -> None:
    assert [service.name for service in plain.services] == [f"{kind}-{number}" for kind in ("zookeeper", "kafka") for number in (1, 2, 3)]
    assert all(broker.depends_on == ("zookeeper-1", "zookeeper-2", "zookeeper-3") for broker in brokers(plain))


def test_host_ports_are_kafkas_and_zookeepers_usual_ones_on_this_machine_only(plain: ComposeFile) -> None:
    assert {service.name: service.ports for service in plain.services if service.ports} == {
        "zookeeper-1": (("127.0.0.1", 2181, 2181),),
        "kafka-1": (("127.0.0.1", 9092, 9092),),
        "kafka-2": (("127.0.0.1", 9093, 9092),),
        "kafka-3": (("127.0.0.1", 9094, 9092),),
    }


def test_everything_that_is_kept_lies_in_a_volume_of_its_own(plain: ComposeFile) -> None:
    used = [volume for service in plain.services for volume in service.volumes]
    assert sorted(used) == sorted(plain.volumes)
    assert len(set(used)) == len(used)


def test_servers_of_the_ensemble_know_each_other_and_themselves(plain: ComposeFile) -> None:
    ensemble = [service for service in plain.services if not service.build]
    members = "server.1=zookeeper-1:2888:3888;2181 server.2=zookeeper-2:2888:3888;2181 server.3=zookeeper-3:2888:3888;2181"
    assert {service.environment["ZOO_SERVERS"] for service in ensemble} == {members}
    assert [service.environment["ZOO_MY_ID"] for service in ensemble] == ["1", "2", "3"]


def test_each_broker_tells_each_side_the_address_that_it_can_use() -> None:
    told = [overrides(broker)["advertised.listeners"] for broker in brokers(read_compose_file(FILE, OTHERWISE))]
    assert told == [
        "INSIDE://kafka-1:29092,OUTSIDE://broker.example:9092",
        "INSIDE://kafka-2:29092,OUTSIDE://broker.example:19093",
        "INSIDE://kafka-3:29092,OUTSIDE://broker.example:9094",
    ]


def test_brokers_start_with_what_they_are_given(plain: ComposeFile) -> None:
    common = parse_properties((ROOT / "config" / "server-docker.properties").read_text())
    configs = [KafkaConfig.from_properties(common | overrides(broker)) for broker in brokers(plain)]
    assert [config.broker_id for config in configs] == [1, 2, 3]
    assert all(config.unknown_keys == () and config.min_insync_replicas == 2 for config in configs)
    assert all(
        directory.startswith(tuple(broker.volumes.values()))
        for config, broker in zip(configs, brokers(plain), strict=True)
        for directory in config.log_directories
    )


def test_images_can_be_others() -> None:
    file = read_compose_file(FILE, {**OTHERWISE, "PYTHON_IMAGE": "mirror.example/python:3.11", "BROKER_IMAGE": "ours"})
    assert {service.image for service in file.services} == {"mirror.example/zookeeper:3.9", "ours"}
    assert [broker.build for broker in brokers(file)] == [(ROOT, {"PYTHON_IMAGE": "mirror.example/python:3.11"})] * 3


def test_image_installs_exactly_what_a_broker_requires() -> None:
    setup = (ROOT / "setup.cfg").read_text()
    required = re.findall(r"^    (\S+)$", setup.split("install_requires =")[1].split("[options")[0], re.MULTILINE)
    listed = [line for line in (ROOT / "requirements" / "broker.in").read_text().splitlines() if line and not line.startswith(("#", "-c"))]
    assert listed == required
    assert "USER kafka" in (ROOT / "Dockerfile").read_text()


def test_versions_of_the_image_are_those_of_everything_else() -> None:
    def versions(name: str) -> set[str]:
        return set(re.findall(r"^(\S+==\S+)", (ROOT / "requirements" / name).read_text(), re.MULTILINE))

    assert versions("broker.txt") <= versions("runtime.txt")


@pytest.mark.parametrize("environment", [{}, OTHERWISE])
def test_compose_itself_reads_it_the_same(environment: dict[str, str]) -> None:
    told = composes_reading(environment)
    for service in read_compose_file(FILE, environment).services:
        other = told["services"][service.name]
        assert (other["image"], other.get("command") or []) == (service.image, list(service.command))
        assert {str(key): str(value) for key, value in (other.get("environment") or {}).items()} == service.environment
        assert [published(each) for each in other.get("ports", ())] == [port for _, port, _ in service.ports]
        assert other["healthcheck"]["test"] == list(service.health.test)
        assert other["restart"] == service.restart


def published(port: str | dict[str, object]) -> int:
    """The host's port of an entry: older ones print `address:outer:inner`, newer ones a mapping."""
    return int(str(port["published"]) if isinstance(port, dict) else port.split(":")[-2])


def composes_reading(environment: dict[str, str]) -> dict[str, dict[str, Any]]:
    """What `docker compose config` or docker-compose makes of the file; skips where there is neither."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]) is None or subprocess.run([*command, "version"], capture_output=True, check=False).returncode:
            continue
        path = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent"}
        outcome = subprocess.run([*command, "-f", str(FILE), "config"], env=path | environment, capture_output=True, text=True, check=False)
        assert outcome.returncode == 0, outcome.stderr
        told: dict[str, dict[str, Any]] = yaml.safe_load(outcome.stdout)
        return told
    pytest.skip("neither `docker compose` nor docker-compose is installed")


@pytest.mark.parametrize(("text", "result"), [("${A:-x}:${B}", "x:2"), ("${B:-x}", "2"), ("$$HOME", "$HOME"), ("${EMPTY:-y}", "y"), ("plain", "plain")])
def test_variables_have_defaults(text: str, result: str) -> None:
    assert interpolate(text, {"B": "2", "EMPTY": ""}) == result


@pytest.mark.parametrize(("text", "expected"), [("2m", 120), ("5s", 5), ("1m30s", 90)])
def test_durations_are_seconds(text: str, expected: int) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("services: {}\nsecrets: {}", "secrets"),
        ("services: {a: {image: i, healthcheck: {}, privileged: true}}", "privileged"),
        ("services: {a: {image: i, healthcheck: {test: [CMD], interval: soon}}}", "soon"),
    ],
)
def test_what_is_not_understood_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "docker-compose.yml"
    path.write_text(text)
    with pytest.raises((Unsupported, KeyError), match=said):
        read_compose_file(path, {})
