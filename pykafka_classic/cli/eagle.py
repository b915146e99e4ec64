"""`kafka-eagle.sh start [-daemon] [monitor.properties] | stop | status | password NAME read|operate FILE`: the monitor, here or in the background.

Without a file, the checkout's config/monitor.properties. In the background its output goes to kafka-eagle.out in $LOG_DIR, or the folder logs beside config;
`stop` and `status` find it by its pid file there.
`password` asks for a password, or reads it from a pipe, and puts its hash into the password file. Exit status of `status`: 0 where it runs, 1 where not.

Source: Kafka Eagle's ke.sh, for the words.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Sequence
from getpass import getpass
from pathlib import Path
from typing import Final

from pykafka_classic.cli import daemons

USAGE: Final = "USAGE: kafka-eagle.sh start [-daemon] [monitor.properties] | stop | status | password NAME read|operate FILE"
SAMPLE: Final = daemons.CHECKOUT / "config" / "monitor.properties"
MODULE: Final = "pykafka_classic.cli.eagle"
START_S: Final = 30.0
_SERVES: Final = re.compile(r"The monitor's pages are on (\S+)")
LOOK_S: Final = 0.1


def main(arguments: Sequence[str]) -> int:
    """One of the three; the exit status."""
    match list(arguments):
        case ["start", *rest]:
            return _start(rest)
        case ["stop"]:
            return daemons.stop(daemons.MONITOR)
        case ["status"]:
            return _status()
        case ["password", name, role, path]:
            return _password(name, role, Path(path))
        case _:
            print(USAGE, file=sys.stderr)
            return 1


def _start(arguments: Sequence[str]) -> int:
    background, rest = daemons.split_daemon_option(arguments)
    if len(rest) > 1 or any(each.startswith("-") for each in rest):
        print(USAGE, file=sys.stderr)
        return 1
    path = Path(rest[0]) if rest else SAMPLE
    from pykafka_classic.monitor.process import CannotStart, read_settings

    try:
        settings = read_settings(path, daemons.CHECKOUT)  # a mistake in it is told here, not in a log
    except CannotStart as error:
        print(error, file=sys.stderr)
        return 1
    try:
        if background:
            return _start_in_background(path)
        own_file = daemons.record(daemons.MONITOR, os.getpid())
    except OSError as error:
        print(daemons.cannot_write(error), file=sys.stderr)
        return 1
    from pykafka_classic.edges.logging_setup import set_up_logging
    from pykafka_classic.monitor.process import run as run_monitor
    from pykafka_classic.monitor.web.server import serve

    set_up_logging()
    try:
        return run_monitor(settings, (serve,))
    finally:
        own_file.unlink(missing_ok=True)


def _start_in_background(path: Path) -> int:
    """Return when it serves, or has failed: with what it said."""
    output = daemons.log_directory() / daemons.MONITOR.output
    before = output.stat().st_size if output.exists() else 0
    pid = daemons.start_in_background(daemons.MONITOR, [sys.executable, "-m", MODULE, "start", str(path.absolute())])
    deadline = time.monotonic() + START_S
    while True:
        ended = os.waitpid(pid, os.WNOHANG)[0] == pid
        said = output.read_bytes()[before:].decode(errors="replace")
        served = _SERVES.search(said)
        if served:
            print(f"The monitor runs: process {pid}. Its pages are on {served[1]}")
            return 0
        if ended:
            print((said.strip() or f"The monitor has ended. {output} tells more.").splitlines()[-1], file=sys.stderr)
            return 1
        if time.monotonic() >= deadline:
            print(f"The monitor starts: process {pid}. {output} tells more.")
            return 0
        time.sleep(LOOK_S)


def _status() -> int:
    pids = list(daemons.running(daemons.MONITOR))
    if not pids:
        print("The monitor does not run.")
        return 1
    print(f"The monitor runs: process {', '.join(map(str, pids))}.")
    return 0


def _password(name: str, role: str, path: Path) -> int:
    from pykafka_classic.monitor.web.access import InvalidPasswordFile, with_user

    password = getpass(f"Password of {name}: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        text = with_user(before, name, role, password)
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")
    except InvalidPasswordFile as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 1
    except (OSError, UnicodeDecodeError) as error:
        print(f"Cannot write {path}: {error}.", file=sys.stderr)
        return 1
    print(f"{name} may {role} now; a running monitor reads {path} when it starts anew.")
    return 0


def run() -> None:
    """The console command."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
