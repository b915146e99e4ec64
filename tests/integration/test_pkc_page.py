"""The examples of docs/pkc.md are typed into a shell, one after the other, and print what the page says; numbers aside, which differ from run to run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.testing.cluster import LocalCluster

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "pkc.md"


def examples() -> list[tuple[str, str]]:
    """Commands, each with what the page says that it prints."""
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return [(command, output) for block in blocks for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)]


def typed(command: str, cluster: LocalCluster, binaries: Path) -> str:
    """What a command prints, both streams."""
    variables = {"PKC_BROKERS": cluster.bootstrap, "PKC_ZOOKEEPER": cluster.zookeeper.address, "PATH": f"{binaries}:{ROOT / 'tools'}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", command], env=os.environ | variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=60, check=False
    )
    return done.stdout.decode()


def masked(text: str) -> str:
    """Numbers and widths aside, and what else differs from run to run: who is the controller, where brokers listen, a topic's id, units of durations."""
    text = re.sub(r"true|false", "false", text.replace("localhost", "0.0.0.0"))
    text = re.sub(r'"topic_id":"[^"]*"', '"topic_id":""', text)
    return re.sub(r" +", " ", re.sub(r"\d+ (?:ms|s)\b", "0 s", re.sub(r"\d+", "0", text)))


def test_every_example_prints_what_the_page_says(cluster: LocalCluster, tmp_path: Path) -> None:
    launcher = tmp_path / "pkc"
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pykafka_classic.cli.pkc.main "$@"\n')
    launcher.chmod(0o755)
    found = examples()
    assert len(found) >= 20
    for command, output in found:
        printed = typed(command, cluster, tmp_path)
        assert masked(printed) == masked(output), command
        if "--create" in command:
            topic = command.split("--topic ")[1].split()[0]
            wait_until(lambda topic=topic: "no topic" not in typed(f"pkc topics {topic}", cluster, tmp_path), seconds=30)  # type: ignore[misc]  # a default
