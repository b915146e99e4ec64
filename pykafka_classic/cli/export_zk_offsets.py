"""`kafka-run-class.sh kafka.tools.ExportZkOffsets --zkconnect HOST [--group G]... --output-file FILE`: offsets of groups in ZooKeeper, into a file.

A line each: `/consumers/G/offsets/T/P:OFFSET`. `kafka.tools.ImportZkOffsets` reads it.

Source: facts/tools.md 21; 0.8.2 ExportZkOffsets.scala.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pykafka_classic.cli.command import Console, Tool, run_tool
from pykafka_classic.cli.command_options import Argument, Option, Options

OPTIONS: Final = (
    Option("zkconnect", "ZooKeeper, host:port,host:port/chroot.", Argument.REQUIRED, default="localhost:2181"),
    Option("group", "A consumer group; may be given more than once. All if absent.", Argument.REQUIRED),
    Option("output-file", "The file to write.", Argument.REQUIRED),
)


def body(options: Options, _: Console) -> None:
    """Write the file, without a word."""
    from pykafka_classic.cli.zookeeper_groups import topics_with_offsets
    from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
    from zk_schema import consumers

    options.require("output-file")
    lines = []
    with ZooKeeperSession(options.text("zkconnect")) as zk:
        for group in options.values_of("group") or sorted(zk.children(consumers.PATH)):
            for topic in topics_with_offsets(zk, group):
                parent = consumers.offsets_path(group, topic)
                paths = [f"{parent}/{partition}" for partition in sorted(zk.children(parent), key=lambda name: (len(name), name))]
                lines += [f"{path}:{result.data.decode()}\n" for path, result in zip(paths, zk.data_of(paths), strict=True) if result.ok and result.data]
    Path(options.text("output-file")).write_text("".join(lines), encoding="utf-8")


TOOL: Final = Tool("kafka.tools.ExportZkOffsets", "Export consumer offsets to an output file.", OPTIONS, body)


def run() -> None:
    """The console command."""
    run_tool(TOOL)


if __name__ == "__main__":
    run()
