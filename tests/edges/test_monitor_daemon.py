"""`kafka-eagle.sh start -daemon`: it returns when the pages are served, or with what went wrong. No cluster is needed for that: the monitor tries on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

from pykafka_classic.edges.child_processes import wait_until


def eagle(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pykafka_classic.cli.eagle", *arguments]
    return subprocess.run(command, env=os.environ | {"LOG_DIR": str(folder)}, capture_output=True, text=True, timeout=60, check=False)


def test_the_start_in_the_background_says_where_the_pages_are_or_why_there_are_none(tmp_path: Path) -> None:
    config = tmp_path / "monitor.properties"
    config.write_text(f"clusters=here\nhere.zookeeper.connect=127.0.0.1:1\nport=0\ndata.dir={tmp_path}\n")
    started = eagle(tmp_path, "start", "-daemon", str(config))
    try:
        found = re.fullmatch(r"The monitor runs: process [0-9]+\. Its pages are on (http://127\.0\.0\.1:[0-9]+)\n", started.stdout)
        assert found, started
        with urlopen(f"{found[1]}/clusters") as page:
            assert page.status == 200
        second = eagle(tmp_path, "start", "-daemon", str(config))
        assert (second.returncode, second.stdout) == (1, "")
        assert second.stderr == f"Another monitor uses the store {tmp_path}/monitor.db: stop it, or set data.dir to another folder.\n"
    finally:
        assert eagle(tmp_path, "stop").returncode == 0
    wait_until(lambda: eagle(tmp_path, "status").returncode == 1, seconds=20)
