"""A compose file brought up and down through the docker SDK, and what a test does to its containers.

Everything made has the project's name: `Project.down` removes it all, also after a failure half way.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final, cast

import docker
from docker.errors import DockerException, ImageNotFound, NotFound
from docker.models.containers import Container
from docker.models.networks import Network

from tests.deployment.compose_file import ComposeFile, HealthCheck, Service

NANOSECONDS: Final = 1_000_000_000
POLL_S: Final = 0.25
USUAL_SOCKET: Final = "unix:///var/run/docker.sock"


def engine() -> docker.DockerClient | str:
    """The engine of this machine ($DOCKER_HOST, or its usual socket); where none answers, why."""
    address = os.environ.get("DOCKER_HOST") or USUAL_SOCKET
    try:
        if address.startswith("unix://"):  # the SDK would leave its socket open where nobody listens
            with socket.socket(socket.AF_UNIX) as probe:
                probe.connect(address.removeprefix("unix://"))
        client = docker.from_env(timeout=180)
        client.ping()
    except (DockerException, OSError) as error:
        return f"no container engine answers at {address}: {error}"
    return client


def wait_until(condition: Callable[[], bool], what: str, *, timeout_s: float) -> None:
    """Look again and again; TimeoutError, which says what was waited for, when time is up."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {timeout_s:g} s")
        time.sleep(POLL_S)


class CommandFailed(Exception):
    """A command inside a container ended with another status than 0; the text has what it wrote."""


class Project:
    """The containers, volumes and the network of one compose file."""

    def __init__(self, client: docker.DockerClient, file: ComposeFile, name: str) -> None:
        self._client = client
        self._services = {service.name: service for service in file.services}
        self._volumes = file.volumes
        self._name = name

    def build(self) -> None:
        """Build the images that the file builds; a build that fails ends with its last lines."""
        for service in {service.image: service for service in self._services.values() if service.build}.values():
            assert service.build is not None
            context, arguments = service.build
            build_image(self._client, context=str(context), tag=service.image, arguments=arguments)

    def up(self, *, timeout_s: float = 180.0) -> None:
        """Create and start everything, each service when those that it waits for are healthy; returns when all are."""
        self._client.networks.create(self._network_name, driver="bridge")
        for volume in self._volumes:
            self._client.volumes.create(f"{self._name}_{volume}")
        for service in self._services.values():
            for other in service.depends_on:
                self.wait_healthy(other, timeout_s=timeout_s)
            self._create(service).start()
        for name in self._services:
            self.wait_healthy(name, timeout_s=timeout_s)

    def _create(self, service: Service) -> Container:
        container = self._client.containers.create(
            service.image,
            list(service.command),
            name=self._container_name(service.name),
            hostname=service.name,
            environment=dict(service.environment),
            ports={f"{inner}/tcp": (address, outer) for address, outer, inner in service.ports},
            volumes={f"{self._name}_{volume}": {"bind": path, "mode": "rw"} for volume, path in service.volumes.items()},
            healthcheck=_health(service.health),
            restart_policy=cast("Any", {"Name": service.restart}),
            init=service.init,
            network=self._network_name,
            log_config=docker.types.LogConfig(type="json-file", config=dict(service.log_options)),
        )
        self.disconnect(service.name)  # the engine gives the container's own name only; others know it by its service's
        self.connect(service.name)
        return container

    def replace(self, service: str) -> None:
        """A new container in the place of the old one, as after an upgrade of the image: only the volumes stay."""
        self.container(service).stop(timeout=self._services[service].stop_grace_s)
        self.container(service).remove()
        self._create(self._services[service]).start()

    def down(self) -> None:
        """Stop what runs as an operator would, then remove containers, volumes and the network."""
        for service in reversed(self._services.values()):
            with suppress(NotFound):  # a start that failed half way had not come to it
                self.container(service.name).stop(timeout=service.stop_grace_s)
                self.container(service.name).remove(force=True, v=True)
        for volume in self._volumes:
            with suppress(NotFound):
                self._client.volumes.get(f"{self._name}_{volume}").remove()
        with suppress(NotFound):
            self._network.remove()

    @property
    def _network_name(self) -> str:
        return f"{self._name}_default"

    @property
    def _network(self) -> Network:
        return self._client.networks.get(self._network_name)

    def _container_name(self, service: str) -> str:
        return f"{self._name}-{service}-1"

    def container(self, service: str) -> Container:
        """As the engine sees it now."""
        return self._client.containers.get(self._container_name(service))

    def health(self, service: str) -> str:
        """What its health check says: starting, healthy or unhealthy."""
        return str(self.container(service).attrs["State"]["Health"]["Status"])

    def wait_healthy(self, service: str, *, timeout_s: float = 180.0) -> None:
        """Wait; TimeoutError with the container's last lines."""
        try:
            wait_until(lambda: self.health(service) == "healthy", f"{service} healthy", timeout_s=timeout_s)
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self.log(service, last=30)}") from None

    def log(self, service: str, *, last: int | None = None) -> str:
        """What a container has written, in all its lives."""
        lines = self.container(service).logs(tail="all" if last is None else last)
        assert isinstance(lines, bytes)
        return lines.decode(errors="replace")

    def run(self, service: str, *command: str) -> str:
        """Run a command inside; its output. CommandFailed where it ends with another status than 0."""
        status, output = self.container(service).exec_run(list(command))
        assert isinstance(output, bytes)
        text = output.decode(errors="replace")
        if status:
            raise CommandFailed(f"{command} in {service} ended with {status}:\n{text}")
        return text

    def disconnect(self, service: str) -> None:
        """Pull its plug: nothing goes in or out, it runs on."""
        self._network.disconnect(self._container_name(service))

    def connect(self, service: str) -> None:
        """Put the plug back."""
        self._network.connect(self._container_name(service), aliases=[service])


def build_image(client: docker.DockerClient, *, context: str, tag: str, arguments: Mapping[str, str], network: str | None = None) -> None:
    """Build an image from a folder; what the failing step wrote goes into the error."""
    try:
        client.images.build(path=context, tag=tag, buildargs=dict(arguments), network_mode=network, rm=True, forcerm=True)
    except docker.errors.BuildError as error:
        written = "".join(str(part.get("stream", "")) for part in error.build_log if isinstance(part, dict))
        raise AssertionError(f"{tag}: {error}\n{written[-3000:]}") from None


def has_image(client: docker.DockerClient, tag: str) -> bool:
    """Whether the engine has it already."""
    try:
        client.images.get(tag)
    except ImageNotFound:
        return False
    return True


def _health(check: HealthCheck) -> dict[str, Any]:
    return {
        "test": list(check.test),
        "interval": check.interval_s * NANOSECONDS,
        "timeout": check.timeout_s * NANOSECONDS,
        "retries": check.retries,
        "start_period": check.start_period_s * NANOSECONDS,
    }
