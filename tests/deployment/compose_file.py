"""docker-compose.yml as data: the subset of the Compose specification that ours uses, read without Compose. What is not of the subset is refused.

Source: the Compose specification (compose-spec/spec.md): interpolation `${NAME:-default}`, merge keys and anchors (YAML's), short forms of ports and volumes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

_VARIABLE: Final = re.compile(r"\$(?:(\$)|\{(\w+)(?::-([^}]*))?\})")
_DURATION: Final = re.compile(r"(?:(\d+)m)?(?:(\d+)s)?")
_PORT: Final = re.compile(r"(?:([\d.]+):)?(\d+):(\d+)")
_KEYS: Final = {
    "image", "build", "command", "environment", "ports", "volumes", "healthcheck", "depends_on", "restart", "init", "stop_grace_period", "logging",
}  # fmt: skip


class Unsupported(ValueError):
    """The file uses what is not read here; the text says what."""


@dataclass(frozen=True)
class HealthCheck:
    """When a container counts as well. Times in seconds."""

    test: tuple[str, ...]
    interval_s: int
    timeout_s: int
    retries: int
    start_period_s: int


@dataclass(frozen=True)
class Service:
    """One service.

    Attributes:
        build: context folder and arguments; None where the image is only named.
        ports: (host address, host port, container port).
        volumes: named volume -> path.
        depends_on: services that must be healthy before.
    """

    name: str
    image: str
    health: HealthCheck
    build: tuple[Path, Mapping[str, str]] | None = None
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[tuple[str, int, int], ...] = ()
    volumes: Mapping[str, str] = field(default_factory=dict)
    depends_on: tuple[str, ...] = ()
    restart: str = "no"
    init: bool = False
    stop_grace_s: int = 10
    log_options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ComposeFile:
    """All of a file; services in the order in which they may be started."""

    services: tuple[Service, ...]
    volumes: tuple[str, ...]


def read_compose_file(path: Path, environment: Mapping[str, str]) -> ComposeFile:
    """Read a file, its variables from `environment`. Raises Unsupported."""
    tree = _interpolated(yaml.safe_load(path.read_text(encoding="utf-8")), environment)
    unknown = [key for key in tree if key not in ("services", "volumes") and not key.startswith("x-")]
    if unknown:
        raise Unsupported(f"top-level keys {unknown}")
    services = [_service(name, described, path.parent) for name, described in tree["services"].items()]
    volumes = tuple(tree.get("volumes", {}))
    for service in services:
        missing = [*(set(service.volumes) - set(volumes)), *(set(service.depends_on) - {each.name for each in services})]
        if missing:
            raise Unsupported(f"{service.name} refers to {missing}, which are not declared")
    return ComposeFile(tuple(_in_order(services)), volumes)


def interpolate(text: str, environment: Mapping[str, str]) -> str:
    """Put variables in; empty counts as unset, as `:-` says."""
    return _VARIABLE.sub(lambda match: match[1] or environment.get(match[2]) or match[3] or "", text)


def _interpolated(node: Any, environment: Mapping[str, str]) -> Any:
    match node:
        case str():
            return interpolate(node, environment)
        case list():
            return [_interpolated(each, environment) for each in node]
        case dict():
            return {key: _interpolated(value, environment) for key, value in node.items()}
        case _:
            return node


def _service(name: str, described: Mapping[str, Any], folder: Path) -> Service:
    unknown = set(described) - _KEYS
    if unknown:
        raise Unsupported(f"{name}: {sorted(unknown)}")
    build = described.get("build")
    return Service(
        name,
        described["image"],
        _health(described["healthcheck"]),
        build=(folder / build["context"], build.get("args", {})) if build else None,
        command=tuple(described.get("command", ())),
        environment=described.get("environment", {}),
        ports=tuple(_port(text) for text in described.get("ports", ())),
        volumes=dict(text.split(":") for text in described.get("volumes", ())),
        depends_on=tuple(each for each, when in described.get("depends_on", {}).items() if _healthy(when)),
        restart=described.get("restart", "no"),
        init=described.get("init", False),
        stop_grace_s=seconds(described.get("stop_grace_period", "10s")),
        log_options=described.get("logging", {}).get("options", {}),
    )


def _healthy(condition: Mapping[str, str]) -> bool:
    if condition != {"condition": "service_healthy"}:
        raise Unsupported(f"depends_on {condition}")
    return True


def _health(described: Mapping[str, Any]) -> HealthCheck:
    times = {key: seconds(described[key]) for key in ("interval", "timeout", "start_period")}
    return HealthCheck(tuple(described["test"]), times["interval"], times["timeout"], described["retries"], times["start_period"])


def _port(text: str) -> tuple[str, int, int]:
    match = _PORT.fullmatch(text)
    if match is None:
        raise Unsupported(f"port {text}")
    return match[1] or "0.0.0.0", int(match[2]), int(match[3])


def seconds(text: str) -> int:
    """`1m30s` as seconds."""
    match = _DURATION.fullmatch(text)
    if match is None or not text:
        raise Unsupported(f"duration {text!r}")
    return 60 * int(match[1] or 0) + int(match[2] or 0)


def _in_order(services: list[Service]) -> list[Service]:
    """Those that others wait for come first; otherwise as in the file."""
    ordered: list[Service] = []
    rest = list(services)
    while rest:
        ready = [each for each in rest if set(each.depends_on) <= {done.name for done in ordered}]
        if not ready:
            raise Unsupported(f"{[each.name for each in rest]} wait for each other")
        ordered += ready
        rest = [each for each in rest if each not in ready]
    return ordered
