"""`kafka-run-class.sh kafka.tools.UpdateOffsetsInZK earliest|latest consumer.properties TOPIC`: a group begins at the first or last record, in ZooKeeper.

The properties file names the group (`group.id`) and ZooKeeper (`zookeeper.connect`).

Source: facts/tools.md 21; 0.8.2 UpdateOffsetsInZK.scala.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pykafka_classic.cli.command import FAILED, OK, CommandFailed, Console, run_program, sentence_of

USAGE: Final = "USAGE: kafka.tools.UpdateOffsetsInZK$ [earliest | latest] consumer.properties topic"


def main(arguments: Sequence[str], console: Console) -> int:
    """Write the offsets; the exit status."""
    if len(arguments) < 3 or arguments[0] not in ("earliest", "latest"):
        console.say(USAGE)
        return FAILED
    where, properties_file, topic = arguments[:3]
    try:
        update(where, properties_file, topic, console)
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except CommandFailed as error:
        console.complain(str(error))
        return FAILED
    except Exception as error:  # noqa: BLE001  # the last word: a tool never ends in a stack trace
        console.complain(sentence_of(error, "kafka.tools.UpdateOffsetsInZK"))
        return FAILED
    return OK


def update(where: str, properties_file: str, topic: str, console: Console) -> None:
    """Set the group's offset of each partition. Raises CommandFailed, KafkaError, OSError."""
    from pykafka_classic.cli.broker_session import read_properties
    from pykafka_classic.cli.topics_broker import values_of
    from pykafka_classic.cli.zookeeper_groups import admin_of, partitions_of
    from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
    from pykafka_classic.client.admin.offsets import EARLIEST, LATEST
    from zk_schema import consumers

    properties = read_properties(properties_file)
    for key in ("zookeeper.connect", "group.id"):
        if key not in properties:
            raise CommandFailed(f"{properties_file} does not say {key}.")
    with ZooKeeperSession(properties["zookeeper.connect"]) as zk:
        partitions = partitions_of(zk, [topic]).get(topic)
        if not partitions:
            raise CommandFailed(f"There is no topic {topic}.")
        with admin_of(zk) as admin:
            offsets = values_of(admin.list_offsets(dict.fromkeys(partitions, EARLIEST if where == "earliest" else LATEST)))
        for partition in partitions:
            offset = offsets[partition].offset
            console.say(f"updating partition {partition.partition} with new offset: {offset}")
            zk.set_or_create(consumers.offset_path(properties["group.id"], *partition), consumers.encode_offset(offset))
    console.say(f"updated the offset for {len(partitions)} partitions")


def run() -> None:
    """The console command."""
    run_program(main)


if __name__ == "__main__":
    run()
