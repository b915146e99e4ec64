"""The broker's own entry: `python -m pykafka_classic server.properties [--override key=value]...`.

Reads and checks the properties, says what is wrong with them, and hands the configuration to `kafka_server.run`.

Source: 2.8:core/src/main/scala/kafka/Kafka.scala.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from pykafka_classic.common.config import ConfigError, KafkaConfig
from pykafka_classic.common.log4j import Log4jError
from pykafka_classic.common.properties import parse_properties
from pykafka_classic.edges.logging_setup import set_up_logging

USAGE: Final = "USAGE: kafka-server-start.sh [-daemon] server.properties [--override property=value]*"
FAILED: Final = 1

log = logging.getLogger("kafka.Kafka")


class UsageError(Exception):
    """The command line cannot be understood; the text says why."""


def read_config(arguments: Sequence[str]) -> KafkaConfig:
    """The configuration that a command line asks for: a file, then overrides. Raises UsageError, ConfigError, OSError, ValueError (a broken file)."""
    if not arguments or arguments[0].startswith("-"):
        raise UsageError("the first argument is the properties file")
    properties = parse_properties(Path(arguments[0]).read_text(encoding="utf-8"))
    return KafkaConfig.from_properties(properties | parse_overrides(arguments[1:]))


def parse_overrides(arguments: Sequence[str]) -> dict[str, str]:
    """What `--override key=value` and `--override=key=value` set; the last of a key counts. Raises UsageError."""
    overrides: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        option, equals, pair = rest.pop(0).partition("=")
        if option != "--override":
            raise UsageError(f"found non argument parameters: {option}")
        if not equals:
            pair = rest.pop(0) if rest else ""
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise UsageError(f"--override takes property=value, not {pair!r}")
        overrides[name.strip()] = value.strip()
    return overrides


def complaint(error: Exception, arguments: Sequence[str]) -> str:
    """What to tell somebody whose broker cannot start, in a line or two."""
    match error:
        case ConfigError():
            return str(error) if error.allowed in str(error) else f"{error}\n{error.key} takes {error.allowed}"
        case UsageError():
            return f"{error}\n{USAGE}"
        case OSError():
            return f"Cannot read {arguments[0]}: {error.strerror}"
        case _:
            return f"Cannot understand {arguments[0]}: {error}"


def program_version() -> str:
    """As `--version` prints it: the release of this program, and the Kafka that it follows."""
    from importlib.metadata import PackageNotFoundError, version  # a broker that runs need not load it

    try:
        own = version("pykafka_classic")
    except PackageNotFoundError:
        own = "checkout"
    return f"{own} (follows Apache Kafka 2.8)"


def main(arguments: Sequence[str], *, set_up_logs: Callable[[], None] = set_up_logging) -> int:
    """Run a broker until it is stopped; the exit status.

    Args:
        arguments: the properties file, then overrides.
        set_up_logs: sends log lines where they belong; Log4jError and OSError that it raises are told, and end the start.
    """
    if "--version" in arguments:
        print(program_version())
        return 0
    if not arguments:
        print(USAGE, file=sys.stderr)
        return FAILED
    try:
        config = read_config(arguments)
    except (UsageError, ConfigError, OSError, ValueError) as error:
        print(complaint(error, arguments), file=sys.stderr)
        return FAILED
    try:
        set_up_logs()
    except (Log4jError, OSError) as error:
        print(f"Cannot set up the logs: {error}", file=sys.stderr)
        return FAILED
    for name in config.unknown_keys:
        log.warning("The configuration '%s' was supplied but isn't a known config: it has no effect.", name)
    from pykafka_classic.kafka_server import run  # bad values are told before the heavy parts are loaded

    return run(config)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
