"""`kafka-run-class.sh kafka.tools.ImportZkOffsets --zkconnect HOST --input-file FILE`: offsets of groups from a file into ZooKeeper.

The file has lines as `kafka.tools.ExportZkOffsets` writes them. The groups' consumers must be stopped, else they write their own offsets over them.

Source: facts/tools.md 21; 0.8.2 ImportZkOffsets.scala.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from pykafka_classic.cli.command import CommandFailed, Console, Tool, run_tool
from pykafka_classic.cli.command_options import Argument, Option, Options

OPTIONS: Final = (
    Option("zkconnect", "ZooKeeper, host:port,host:port/chroot.", Argument.REQUIRED, default="localhost:2181"),
    Option("input-file", "The file to read.", Argument.REQUIRED),
)

_LINE: Final = re.compile(r"(/consumers/[^/]+/offsets/[^/]+/[^/:]+):([0-9]+)")


def parse(text: str) -> dict[str, int]:
    """Offsets by path. CommandFailed for a line that is none: nothing is imported then."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise CommandFailed(f"Line {number} is not /consumers/GROUP/offsets/TOPIC/PARTITION:OFFSET: {line.strip()}")
        found[match[1]] = int(match[2])
    return found


def body(options: Options, _: Console) -> None:
    """Write the znodes, without a word."""
    from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
    from zk_schema import consumers

    options.require("input-file")
    offsets = parse(Path(options.text("input-file")).read_text(encoding="utf-8"))
    with ZooKeeperSession(options.text("zkconnect")) as zk:
        for path, offset in offsets.items():
            zk.set_or_create(path, consumers.encode_offset(offset))


TOOL: Final = Tool("kafka.tools.ImportZkOffsets", "Import offsets to zookeeper from files.", OPTIONS, body)


def run() -> None:
    """The console command."""
    run_tool(TOOL)


if __name__ == "__main__":
    run()
