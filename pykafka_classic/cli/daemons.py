"""What the commands that start and stop processes share: running in the background, and pid files that tell what runs.

A pid file `$LOG_DIR/NAME-PID.pid` holds the process id. A file whose process has ended, or whose id now belongs to something else, is stale: it is removed.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CHECKOUT: Final = Path(__file__).resolve().parent.parent.parent
DAEMON_OPTION: Final = "-daemon"


@dataclass(frozen=True, slots=True)
class Daemon:
    """One kind of process.

    Attributes:
        name: beginning of its pid files.
        marker: what its command line contains.
        title: how people call it.
        output: name of the file that takes its output in the background.
    """

    name: str
    marker: str
    title: str
    output: str


KAFKA: Final = Daemon(name="kafka-server", marker="pykafka_classic", title="kafka server", output="kafkaServer.out")
MONITOR: Final = Daemon(name="kafka-eagle", marker="eagle start", title="monitor", output="kafka-eagle.out")
ZOOKEEPER: Final = Daemon(name="zookeeper-server", marker="QuorumPeerMain", title="zookeeper server", output="zookeeper.out")


def log_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """Where output and pid files go: $LOG_DIR, else the checkout's `logs`; for an installed package, a folder of the user's, the same from everywhere."""
    if environment.get("LOG_DIR"):
        return Path(environment["LOG_DIR"])
    if (CHECKOUT / "config").is_dir():
        return CHECKOUT / "logs"
    state = environment.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "pykafka_classic"


def cannot_write(error: OSError) -> str:
    """What to tell somebody whose log directory does not take our files."""
    return f"Cannot write to the log directory {log_directory()}: {error.strerror}. Set LOG_DIR to another one."


def split_daemon_option(arguments: Sequence[str]) -> tuple[bool, list[str]]:
    """Whether to run in the background, and the other arguments."""
    return (True, list(arguments[1:])) if arguments[:1] == [DAEMON_OPTION] else (False, list(arguments))


def pid_file(daemon: Daemon, pid: int) -> Path:
    """The file that stands for one process."""
    return log_directory() / f"{daemon.name}-{pid}.pid"


def record(daemon: Daemon, pid: int) -> Path:
    """Write a process's pid file."""
    path = pid_file(daemon, pid)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{pid}\n")
    return path


def start_in_background(daemon: Daemon, command: list[str]) -> int:
    """Start a process that outlives us, in a session of its own, output added to the log directory's file; its pid.

    SIGHUP does nothing to it (as with nohup, which Kafka uses), unless it wants otherwise. $CONSOLE_OUTPUT_FILE tells it where its output goes.
    """
    directory = log_directory().absolute()
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / daemon.output
    environment = {**os.environ, "CONSOLE_OUTPUT_FILE": str(path)}
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a child inherits it
    try:
        with path.open("ab") as output:
            streams = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), *((os.POSIX_SPAWN_DUP2, output.fileno(), number) for number in (1, 2))]
            pid = os.posix_spawn(command[0], command, environment, file_actions=streams, setsid=True)
    finally:
        signal.signal(signal.SIGHUP, before)
    record(daemon, pid)
    return pid


def command_line(pid: int) -> str:
    """A process's command line; empty where it has ended."""
    if Path("/proc/self").exists():  # else there is no such view of processes, as on a Mac
        try:
            return Path("/proc", str(pid), "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return ""
    return subprocess.run(["ps", "-p", str(pid), "-o", "args="], capture_output=True, text=True, check=False).stdout


def running(daemon: Daemon) -> Iterator[int]:
    """The pids of all processes of a kind that the launchers started and that still run; stale files are removed."""
    for path in sorted(log_directory().glob(f"{daemon.name}-*.pid")):
        text = path.read_text().strip()
        if text.isdigit() and daemon.marker in command_line(int(text)):
            yield int(text)
        else:
            path.unlink(missing_ok=True)


def stop(daemon: Daemon) -> int:
    """Send ${SIGNAL:-TERM} to all of a kind; the exit status: 1 where there was none."""
    number = signal.Signals[f"SIG{os.environ.get('SIGNAL', 'TERM').removeprefix('SIG')}"]
    pids = list(running(daemon))
    for pid in pids:
        os.kill(pid, number)
    if not pids:
        print(f"No {daemon.title} to stop")
        return 1
    return 0
