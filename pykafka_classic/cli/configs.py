"""`kafka-configs.sh --zookeeper HOST|--bootstrap-server HOST:PORT --describe|--alter --entity-type TYPE [--entity-name NAME] ...`.

Reading order: `config_command` (what the command line says), `configs_zookeeper` and `configs_broker` (who does it).

Differs from Kafka: what it tells in a stack trace stands here in the sentence at its top. Passwords of brokers cannot be stored (Kafka encrypts them with a
key from server.properties; our brokers have none to read).

Source: facts/tools.md 8; 2.8 ConfigCommand.scala.
"""

from __future__ import annotations

from typing import Final

from pykafka_classic.cli.command import FAILED, OK, CommandFailed, Console, Tool, run_tool
from pykafka_classic.cli.command_options import Options
from pykafka_classic.cli.config_command import BOOTSTRAP, OPTIONS, ZOOKEEPER, Entities, Refused, check

DEPRECATED: Final = (
    "Warning: --zookeeper is deprecated and will be removed in a future version of Kafka.\nUse --bootstrap-server instead to specify a broker to connect to."
)


def body(options: Options, console: Console) -> int:
    """Do what the command line says."""
    from pykafka_classic.common.errors import KafkaError
    from pykafka_classic.common.log_config import UnknownTopicConfigError

    try:
        entities = check(options)
        if options.has(ZOOKEEPER):
            console.say(DEPRECATED)
        _act(options, entities, console)
    except (Refused, UnknownTopicConfigError) as error:
        is_of_broker = isinstance(error, UnknownTopicConfigError) and options.has(BOOTSTRAP)
        console.complain(f"{_whole(options)}\n{error}" if is_of_broker else str(error))
        return FAILED
    except (KafkaError, CommandFailed, OSError) as error:
        text = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename is not None else str(error)
        console.complain(f"{_whole(options)}\n{text}")
        return FAILED
    return OK


def _act(options: Options, entities: Entities, console: Console) -> None:
    if options.has(ZOOKEEPER):
        from pykafka_classic.cli.configs_zookeeper import ZooKeeperConfigs

        with ZooKeeperConfigs(options.text(ZOOKEEPER), console) as configs:
            configs.describe(entities) if options.has("describe") else configs.alter(entities, options)
        return
    from pykafka_classic.cli.configs_broker import BrokerConfigs

    with BrokerConfigs(options, console) as brokers:
        brokers.describe(entities, everything=options.has("all")) if options.has("describe") else brokers.alter(entities, options)


def _whole(options: Options) -> str:
    return f"Error while executing config command with args '{' '.join(options.arguments)}'"


TOOL: Final = Tool("kafka-configs", "This tool helps to manipulate and describe entity config for a topic, client, user, broker or ip", OPTIONS, body)


def run() -> None:
    """The console command."""
    run_tool(TOOL)


if __name__ == "__main__":
    run()
