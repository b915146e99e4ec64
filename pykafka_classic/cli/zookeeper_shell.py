"""`zookeeper-shell.sh HOST[:PORT][/chroot] [command [argument]...]`: look into ZooKeeper, and change it.

With a command it does that one thing; without, it reads commands, a line each: at a terminal with a prompt and a history. `-server HOST` is understood too.

Differs from ZooKeeper's: `watch PATH` (tells of changes below a node until Ctrl-C), a mistyped command gets the nearest suggested, `deleteall /` is refused,
and what ends ZooKeeper's with a Java error (a number that is none, a quota where there is one) is told, and the shell goes on.

Source: facts/tools.md 20; ZooKeeper 3.5.9's ZooKeeperMain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from pykafka_classic.cli.command import FAILED, OK, CommandFailed, Console, run_program
from pykafka_classic.cli.shell_answers import keeper_error
from pykafka_classic.cli.shell_commands import COMMANDS, UNKNOWN_COMMAND, event_text
from pykafka_classic.cli.shell_lines import check_path, number, say_deprecated
from pykafka_classic.cli.suggestions import did_you_mean
from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
from pykafka_classic.common.zookeeper import Code, Exists, GetChildren, SessionEvent, WatchEvent, WatchKind
from pykafka_classic.edges.shell_requests import AddAuth

USAGE: Final = "USAGE: zookeeper-shell.sh zookeeper_host:port[/path] [args...]"
OWN: Final = {
    "addauth": ("scheme auth", "say who this session is: addauth digest user:password"),
    "close": ("", "end the session; connect begins another"),
    "connect": ("host:port", "begin a session, with another server if one is named"),
    "help": ("", "this list"),
    "history": ("", "the last eleven lines"),
    "printwatches": ("on|off", "whether to tell of events; alone: say which"),
    "quit": ("", "end the session and leave"),
    "redo": ("cmdno", "do a line of the history again"),
    "watch": ("path", "tell of changes of a node and its children until Ctrl-C"),
}
"""The shell's own: usage and purpose by name."""

WITHOUT_SESSION: Final = ("connect", "quit")
HISTORY_SHOWN: Final = 11
TYPES: Final = {
    WatchKind.CREATED: "NodeCreated",
    WatchKind.DELETED: "NodeDeleted",
    WatchKind.CHANGED: "NodeDataChanged",
    WatchKind.CHILDREN: "NodeChildrenChanged",
}
STATES: Final = {
    SessionEvent.CONNECTED: "SyncConnected",
    SessionEvent.DISCONNECTED: "Disconnected",
    SessionEvent.EXPIRED: "Expired",
    SessionEvent.RENEWED: "SyncConnected",
}

LOOK_S: Final = 0.005  # what has arrived is there by then

_WORD: Final = re.compile(r"\s*([^\"']\S*|\"[^\"]*\"|'[^']*')\s*")


class Shell:
    """One session, and what has been typed so far."""

    def __init__(self, connect: str, console: Console) -> None:
        self._connect = connect
        self._console = console
        self._zk: ZooKeeperSession | None = None
        self._closed = False  # by the user, or by a server that does not believe who we are; then only `connect` begins another session
        self._refused = False  # the next command is told so, as ZooKeeper's shell does
        self._history: list[str] = []
        self._prints_watches = True
        self.status = OK
        self.ended = False

    def open(self) -> ZooKeeperSession:
        """The session; made when first needed."""
        if self._zk is None:
            self._zk = ZooKeeperSession(self._connect)
            self._closed = self._refused = False
            self._say_event("SyncConnected")
        return self._zk

    def close(self, *, tell: bool = False) -> None:
        """End the session."""
        if self._zk is not None:
            self._zk.close()
            self._zk = None
            if tell:
                self._say_event("Closed")

    def run(self, words: Sequence[str]) -> int:
        """Do one thing; the exit status. What is wrong with it is told on stderr."""
        name, rest = words[0], words[1:]
        try:
            self._run(name, rest)
        except CommandFailed as error:
            self._console.complain(str(error))
            self.status = error.status
        else:
            self.status = OK if name != "quit" else self.status
        self._console.output.flush()
        return self.status

    def _run(self, name: str, words: Sequence[str]) -> None:
        actions: dict[str, Callable[[Sequence[str]], None]] = {
            "addauth": self._add_auth,
            "quit": self._quit,
            "close": lambda _: self._close(),
            "connect": self._reconnect,
            "history": lambda _: self._say_history(),
            "printwatches": self._print_watches,
            "redo": self._redo,
            "watch": self._watch,
        }
        if name not in actions and name not in COMMANDS:
            suggestion = did_you_mean(name, (*COMMANDS, *OWN)) if name != "help" else ""
            raise CommandFailed(f"{help_text()}\nCommand not found: Command not found {name}{suggestion}", status=UNKNOWN_COMMAND)
        was_closed = self._closed
        if name in ("history", "printwatches", "redo") or name in WITHOUT_SESSION or not was_closed:
            actions[name](words) if name in actions else self._ask(name, words)
        if was_closed and name not in WITHOUT_SESSION:
            self._say_not_connected(words)

    def _ask(self, name: str, words: Sequence[str]) -> None:
        command = COMMANDS[name]
        line = command.parse(words)
        zk = self.open()
        say_deprecated(command, line, self._console)
        command.action(zk, line, self._console)
        self.tell_events()

    def _say_not_connected(self, words: Sequence[str]) -> None:
        if self._refused:
            self._refused = False
            raise CommandFailed(keeper_error(Code.AUTH_FAILED, next((word for word in words if word.startswith("/")), "")))
        self._console.say("Not connected")

    # of its own

    def _add_auth(self, words: Sequence[str]) -> None:
        if not words:
            raise CommandFailed(f"addauth {OWN['addauth'][0]}")
        result = self.open().submit(AddAuth(words[0], words[1] if len(words) > 1 else ""))[0]
        if result.code is Code.AUTH_FAILED:  # the server has hung up
            self.close()
            self._closed = self._refused = True
            self._say_event("AuthFailed")

    def _quit(self, _: Sequence[str]) -> None:
        if not self._closed:
            self.open()
        self.close(tell=True)
        self.ended = True

    def _close(self) -> None:
        self.open()
        self.close(tell=True)
        self._closed = True

    def _reconnect(self, words: Sequence[str]) -> None:
        self.close(tell=True)
        self._connect = words[0] if words else self._connect
        self.open()

    def _say_history(self) -> None:
        for position, text in list(enumerate(self._history))[-HISTORY_SHOWN:]:
            self._console.say(f"{position} - {text}")
        if not self._history:
            self._console.say("0 - null")

    def _print_watches(self, words: Sequence[str]) -> None:
        if words:
            self._prints_watches = words[0] == "on"
        else:
            self._console.say(f"printwatches is {'on' if self._prints_watches else 'off'}")

    def _redo(self, words: Sequence[str]) -> None:
        if not words:
            return
        position = number(words[0])
        if not 0 <= position < len(self._history) - 1:
            raise CommandFailed("Command index out of range")
        text = self._history[position]
        name, *rest = split(text)
        if name == "redo":
            raise CommandFailed("No redoing redos")
        self._history[-1] = text
        self._run(name, rest)

    def _watch(self, words: Sequence[str]) -> None:
        if not words:
            raise CommandFailed("watch path")
        check_path(words[0])
        zk = self.open()
        while True:
            zk.submit(Exists(words[0], watch=True), GetChildren(words[0], watch=True))
            self.tell_events(wait=True)

    # events

    def tell_events(self, *, wait: bool = False) -> bool:
        """Print what watches have seen; with `wait`, wait for the first. True where there was something."""
        if self._zk is None:
            return False
        first = event = self._zk.adapter.next_event(seconds=None if wait else LOOK_S)
        while event is not None:
            if isinstance(event, WatchEvent):
                self._say_event("SyncConnected", TYPES[event.kind], event.path)
            else:
                self._say_event(STATES[event])
            event = self._zk.adapter.next_event(seconds=LOOK_S)
        self._console.output.flush()
        return first is not None

    def _say_event(self, state: str, kind: str = "None", path: str = "null") -> None:
        if self._prints_watches:
            self._console.say(event_text(state, kind, path))

    # lines

    def children(self, path: str) -> Sequence[str]:
        """Names below a node, for whoever types a path; none where that cannot be told."""
        try:
            return self._zk.children(path) if self._zk is not None else ()
        except CommandFailed:
            return ()

    def read(self, lines: Iterator[str]) -> int:
        """Do what the lines say, until `quit` or their end; the exit status."""
        for line in lines:
            words = split(line)
            if not words:
                continue
            self._history.append(line.strip())
            self.run(words)
            if self.ended:
                break
        return self.status

    def prompt(self) -> str:
        """What stands before a line at a terminal."""
        return f"[zk: {self._connect}({'CONNECTED' if self._zk is not None else 'CLOSED'}) {len(self._history)}] "


def split(line: str) -> list[str]:
    """A line as words; quotes keep blanks together."""
    return [word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word for word in _WORD.findall(line.strip())]


def help_text() -> str:
    """All commands."""
    known = {name: command.usage for name, command in COMMANDS.items()} | {name: usage for name, (usage, _) in OWN.items()}
    return "\n".join(["ZooKeeper -server host:port cmd args", *(f"\t{name} {usage}" for name, usage in sorted(known.items()))])


def main(arguments: Sequence[str], console: Console) -> int:
    """Do one thing, or read what to do; the exit status."""
    words = list(arguments)
    if words[:1] == ["-server"]:
        words.pop(0)
    if not words or words[0] == "--help":
        console.complain(USAGE)
        return FAILED
    connect = words.pop(0)
    console.say(f"Connecting to {connect}")
    shell = Shell(connect, console)
    try:
        return shell.run(words) if words else _interactive(shell, console)
    finally:
        shell.close()


def _interactive(shell: Shell, console: Console) -> int:
    is_terminal = console.input.isatty()
    console.say(f"Welcome to ZooKeeper!\nJLine support is {'enabled' if is_terminal else 'disabled'}")
    try:
        shell.open()
    except CommandFailed as error:
        console.complain(str(error))
        return error.status
    if not is_terminal:
        return shell.read(iter(console.input))
    from pykafka_classic.cli.terminal_lines import TerminalLines

    return shell.read(TerminalLines(shell.prompt, sorted({*COMMANDS, *OWN}), shell.children, shell.tell_events, secret=("addauth",)))


def run() -> None:
    """The console command."""
    run_program(main)


if __name__ == "__main__":
    run()
