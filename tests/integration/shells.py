"""bash, zsh and fish as somebody at a terminal has them: `pkc` is on the path, its completion script is loaded, and Tab is pressed behind what was typed."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

START: Final = {"bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"], "fish": ["--no-config", "-i"]}
LOAD: Final = {
    "bash": "source <(pkc completion bash)",
    "zsh": "autoload -Uz compinit && compinit -u -D && source <(pkc completion zsh)",
    "fish": "pkc completion fish | source",
}
TO_THE_FRONT: Final = b"\x01"  # Ctrl-A, in all three
ANSWER_S: Final = 60.0
# Colours, movements of the cursor, titles: what a shell writes beside text.
_CONTROL: Final = re.compile(rb"\x1b(?:\[[0-9;?<>=]*[a-zA-Z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>])")


def is_there(shell: str) -> bool:
    """Whether the machine has it."""
    return shutil.which(shell) is not None


class Shell:
    """A shell on a pseudo-terminal, with the script loaded."""

    def __init__(self, shell: str, home: Path, programs: Path, variables: Mapping[str, str]) -> None:
        environment = {"HOME": str(home), "PATH": f"{programs}:{os.environ['PATH']}", "TERM": "xterm", "LC_ALL": "C.UTF-8", **variables}
        self._end, other = pty.openpty()
        # Who leads a session and opens a terminal has it for its own, without which fish does not start.
        begin = [shutil.which("sh") or "sh", "-c", f'exec "$@" <{os.ttyname(other)} >{os.ttyname(other)} 2>&1', "sh", shell, *START[shell]]
        self._process = subprocess.Popen(begin, env=environment, cwd=home, start_new_session=True)
        self._seen = b""
        self._outcome(f"{LOAD[shell]}; echo loa''ded\n".encode(), rb"loaded\s")
        os.close(other)  # held until the shell has opened it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._end)

    def completed(self, typed: str) -> str:
        """What stands on the line when Tab has been pressed behind it: the shell is made to print it, instead of running it."""
        found = self._outcome(typed.encode() + b"\t" + TO_THE_FRONT + b"echo li''ne: \n", rb"line: ([^\r\n]*)[\r\n]")
        return found.decode().strip()

    def _outcome(self, keys: bytes, wanted: bytes) -> bytes:
        """Press keys, and wait for something that is not the echo of them."""
        self._seen = b""
        os.write(self._end, keys)
        deadline = time.monotonic() + ANSWER_S
        while (match := re.search(wanted, _CONTROL.sub(b"", self._seen))) is None:
            assert time.monotonic() < deadline, self._seen
            if select.select([self._end], [], [], 0.5)[0]:
                self._seen += os.read(self._end, 65536)
        return match[1] if match.lastindex else b""
