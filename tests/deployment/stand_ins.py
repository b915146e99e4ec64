"""The images that docker-compose.yml starts from: those that the environment names, else the official ones, else stand-ins built here of Debian's packages.

A stand-in is built once per engine (minutes: debootstrap fetches a small Debian) and stays there under a name of its own.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import docker
from docker.errors import APIError

from tests.deployment.engine import build_image, has_image

ROOT: Final = Path(__file__).resolve().parents[2]
RECIPES: Final = Path(__file__).resolve().parent / "stand_ins"
MIRROR: Final = "http://deb.debian.org/debian"
PACKAGES: Final = ("python3", "python3-venv", "ca-certificates")

OFFICIAL: Final = {"ZOOKEEPER_IMAGE": "zookeeper:3.8", "PYTHON_IMAGE": "python:3.11-slim"}
LOCK_FILE: Final = ROOT / "requirements" / "broker.txt"
STAND_INS: Final = {
    "ZOOKEEPER_IMAGE": "pykafka-classic-test/zookeeper:3.8",
    # It holds the packages that are locked now: other packages, another image.
    "PYTHON_IMAGE": f"pykafka-classic-test/python:3.11-{hashlib.sha256(LOCK_FILE.read_bytes()).hexdigest()[:12]}",
}
DEBIAN: Final = "pykafka-classic-test/debian:bookworm"


class CannotBuild(Exception):
    """Neither pulled nor built; the text says what is missing."""


def base_images(client: docker.DockerClient, folder: Path, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Images for the variables of docker-compose.yml. Raises CannotBuild."""
    return {variable: environment.get(variable) or _image(client, variable, folder) for variable in OFFICIAL}


def _image(client: docker.DockerClient, variable: str, folder: Path) -> str:
    official, stand_in = OFFICIAL[variable], STAND_INS[variable]
    for there in (official, stand_in):
        if has_image(client, there):
            return there
    try:
        client.images.pull(official)
    except APIError as error:
        print(f"{official} cannot be pulled ({error.explanation}): a stand-in is built")
    else:
        return official
    if not has_image(client, DEBIAN):
        _import_debian(client, folder / "debian")
    if variable == "PYTHON_IMAGE":
        _build_python(client, folder / "python")
    else:
        # apt fetches from inside: on the host's network, for an engine may be set up without a way out of its own
        build_image(client, context=str(RECIPES / "zookeeper"), tag=stand_in, arguments={"BASE": DEBIAN}, network="host")
    return stand_in


def _import_debian(client: docker.DockerClient, folder: Path) -> None:
    if shutil.which("debootstrap") is None or os.geteuid() != 0:
        raise CannotBuild(f"{', '.join(OFFICIAL.values())} cannot be pulled, and stand-ins need debootstrap and root")
    command = ["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", "bookworm", str(folder), os.environ.get("DEBIAN_MIRROR", MIRROR)]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    if outcome.returncode:
        raise CannotBuild(f"debootstrap ended with {outcome.returncode}: {outcome.stdout[-500:]}{outcome.stderr[-500:]}")
    repository, _, tag = DEBIAN.partition(":")
    with subprocess.Popen(["tar", "--one-file-system", "-C", str(folder), "-c", "."], stdout=subprocess.PIPE) as packed:
        assert packed.stdout is not None
        client.api.import_image_from_stream(packed.stdout, repository=repository, tag=tag)
    shutil.rmtree(folder)


def _build_python(client: docker.DockerClient, folder: Path) -> None:
    shutil.copytree(RECIPES / "python", folder)
    wheels = ["--only-binary", ":all:", "--no-deps", "--require-hashes", "--requirement", str(LOCK_FILE)]
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(folder / "wheels"), *wheels], check=True)
    build_image(client, context=str(folder), tag=STAND_INS["PYTHON_IMAGE"], arguments={"BASE": DEBIAN})
