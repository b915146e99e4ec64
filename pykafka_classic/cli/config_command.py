"""The command line of kafka-configs: its options, what goes together, whose configuration is meant, and how it shall change.

Source: facts/tools.md 8; 2.8 ConfigCommand.scala (ConfigCommandOptions, parseConfigsToBeAdded, parseEntity).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pykafka_classic.cli.command import Console
from pykafka_classic.cli.command_options import Argument, Option, Options, UsageError
from pykafka_classic.cli.java_texts import java_split
from zk_schema.configs import BROKERS, CLIENTS, IPS, TOPICS, USERS

LOGGERS: Final = "broker-loggers"
ZOOKEEPER: Final = "zookeeper"
BOOTSTRAP: Final = "bootstrap-server"
ADD: Final = "add-config"
ADD_FILE: Final = "add-config-file"
DELETE: Final = "delete-config"
FORMAT_KEY: Final = "message.format.version"

ZOOKEEPER_TYPES: Final = (TOPICS, CLIENTS, USERS, BROKERS, IPS)
BROKER_TYPES: Final = (*ZOOKEEPER_TYPES, LOGGERS)
# Short forms: --topic T is --entity-type topics --entity-name T; --user-defaults is --entity-type users --entity-default.
NAMED: Final = {"topic": TOPICS, "client": CLIENTS, "user": USERS, "broker": BROKERS, "broker-logger": LOGGERS, "ip": IPS}
DEFAULTS: Final = {"client-defaults": CLIENTS, "user-defaults": USERS, "broker-defaults": BROKERS, "ip-defaults": IPS}

OPTIONS: Final = (
    Option(ZOOKEEPER, "DEPRECATED: ZooKeeper, host:port,host:port/chroot; without a port 2181 is meant.", Argument.REQUIRED, described_as="urls"),
    Option(BOOTSTRAP, "The broker to ask, host:port,host:port.", Argument.REQUIRED, described_as="server to connect to"),
    Option(
        "command-config",
        "File of properties for the connection to brokers; for --bootstrap-server only.",
        Argument.REQUIRED,
        described_as="command config property file",
    ),
    Option("alter", "Change what is configured."),
    Option("describe", "Tell what is configured."),
    Option("all", "With --describe of topics, brokers, broker-loggers: all keys, and not only those set at run time."),
    Option("entity-type", f"Whose configuration: {', '.join(BROKER_TYPES)}; users and clients may be given together.", Argument.REQUIRED),
    Option("entity-name", "Its name: a topic, a client id, a user, a broker's id, an address.", Argument.REQUIRED),
    Option("entity-default", "Those of the type that have no configuration of their own."),
    Option(ADD, "Keys and values: k1=v1,k2=[v1,v2],k3=v3; brackets keep commas together. A SCRAM password: 'SCRAM-SHA-256=[password=p]'.", Argument.REQUIRED),
    Option(ADD_FILE, "As --add-config, from a file of properties.", Argument.REQUIRED),
    Option(DELETE, "Keys to take away: k1,k2.", Argument.REQUIRED),
    Option("force", "Has no effect: nothing is asked back."),
    Option("topic", "The topic of this name.", Argument.REQUIRED),
    Option("client", "The client of this id.", Argument.REQUIRED),
    Option("client-defaults", "Clients without a configuration of their own."),
    Option("user", "The user of this name.", Argument.REQUIRED),
    Option("user-defaults", "Users without a configuration of their own."),
    Option("broker", "The broker of this id.", Argument.REQUIRED),
    Option("broker-defaults", "All brokers."),
    Option("broker-logger", "Loggers of the broker of this id.", Argument.REQUIRED),
    Option("ip", "This address.", Argument.REQUIRED),
    Option("ip-defaults", "Addresses without a configuration of their own."),
    Option("zk-tls-config-file", "Not served: ZooKeeper is spoken to in the clear.", Argument.REQUIRED, described_as="ZooKeeper TLS configuration"),
)


class Refused(Exception):
    """What was asked cannot be done; the text is Kafka's, and stands alone on stderr."""


@dataclass(frozen=True, slots=True)
class Entities:
    """Whose configuration. `names` in their order, "" for a default entity; there may be fewer than `types`: then all of a type."""

    types: Sequence[str]
    names: Sequence[str]

    @staticmethod
    def of(options: Options) -> Entities:
        """As the command line says."""
        flags = [flag for flag in (*NAMED, *DEFAULTS) if options.has(flag)]
        types = [*options.values_of("entity-type"), *((NAMED | DEFAULTS)[flag] for flag in flags)]
        given = iter(options.values_of("entity-name"))
        named = [next(given) if option == "entity-name" else "" for option in options.order if option in ("entity-name", "entity-default")]
        return Entities(types, [*named, *(options.text(flag) if flag in NAMED else "" for flag in flags)])

    @property
    def has_name(self) -> bool:
        """Whether one is named."""
        return any(self.names)


def check(options: Options) -> Entities:
    """Whose configuration; raises UsageError or Refused for options that do not go together, in Kafka's order."""
    if options.has("alter") == options.has("describe"):
        raise UsageError("Command must include exactly one action: --describe, --alter", with_help=True)
    options.refuse("describe", ADD, DELETE)
    entities = Entities.of(options)
    _check_types(options, entities)
    if options.has(BOOTSTRAP) == options.has(ZOOKEEPER):
        both = options.has(BOOTSTRAP)
        raise Refused(
            "Only one of --bootstrap-server or --zookeeper must be specified"
            if both
            else "One of the required --bootstrap-server or --zookeeper arguments must be specified"
        )
    if options.has("all") and options.has(ZOOKEEPER):
        raise Refused("--bootstrap-server must be specified for --all")
    if options.has("zk-tls-config-file") and options.has(ZOOKEEPER):
        raise Refused("--zk-tls-config-file is not served: these tools speak to ZooKeeper in the clear.")
    _check_names(options, entities)
    if options.has("alter"):
        _check_change(options, entities)
    return entities


def _check_types(options: Options, entities: Entities) -> None:
    types = entities.types
    if len(set(types)) != len(types):
        repeated = [each for index, each in enumerate(types) if each in types[:index]]
        raise Refused(f"Duplicate entity type(s) specified: {','.join(repeated)}")
    allowed, how = (BROKER_TYPES, BOOTSTRAP) if options.has(BOOTSTRAP) else (ZOOKEEPER_TYPES, ZOOKEEPER)
    for each in types:
        if each not in allowed:
            raise Refused(f"Invalid entity type {each}, the entity type must be one of {','.join(allowed)} with the --{how} argument")
    if not types:
        raise Refused("At least one entity type must be specified")
    if len(types) > 1 and set(types) != {USERS, CLIENTS}:
        raise Refused(f"Only '{USERS}' and '{CLIENTS}' entity types may be specified together")
    long_form = any(map(options.has, ("entity-type", "entity-name", "entity-default")))
    if long_form and any(map(options.has, (*NAMED, *DEFAULTS))):
        raise Refused("--entity-{type,name,default} should not be used in conjunction with specific entity flags")


def _check_names(options: Options, entities: Entities) -> None:
    kind = entities.types[0]
    named = [name for name in entities.names if name]
    if kind in (BROKERS, LOGGERS):
        for name in named:
            if not re.fullmatch(r"[+-]?[0-9]+", name):
                raise Refused(f"The entity name for {kind} must be a valid integer broker id, but it is: {name}")
    if kind == IPS:
        for name in named:
            if not _is_address(name):
                raise Refused(f"The entity name for {kind} must be a valid IP or resolvable host, but it is: {name}")
    if options.has("describe") and kind == LOGGERS and not named:
        raise Refused("an entity name must be specified with --describe of broker-loggers")


def _is_address(name: str) -> bool:
    import socket

    try:
        socket.getaddrinfo(name, None)
    except OSError:
        return False
    return True


def _check_change(options: Options, entities: Entities) -> None:
    if set(entities.types) & {USERS, CLIENTS, BROKERS, IPS}:
        if not entities.names:
            raise Refused("an entity-name or default entity must be specified with --alter of users, clients, brokers or ips")
    elif not entities.has_name:
        raise Refused(f"an entity name must be specified with --alter of {','.join(entities.types)}")
    if options.has(ADD) and options.has(ADD_FILE):
        raise Refused("Only one of --add-config or --add-config-file must be specified")
    if not any(map(options.has, (ADD, ADD_FILE, DELETE))):
        raise Refused("At least one of --add-config, --add-config-file, or --delete-config must be specified with --alter")


def added(options: Options, console: Console) -> dict[str, str]:
    """The keys to set. Raises Refused, OSError."""
    found: dict[str, str] = {}
    if options.has(ADD_FILE):
        from pykafka_classic.cli.broker_session import read_properties

        found |= read_properties(options.text(ADD_FILE))
    if options.has(ADD):
        outside_brackets = r"(?=[^\]]*(?:\[|$))"
        pairs = [re.split(r"\s*=\s*" + outside_brackets, text) for text in java_split(options.text(ADD), "," + outside_brackets)]
        if any(len(pair) != 2 for pair in pairs):
            raise Refused('requirement failed: Invalid entity config: all configs to be added must be in the format "key=val".')
        found |= {key.strip(): re.sub(r"[\[\]]", "", value).strip() for key, value in pairs}
    if FORMAT_KEY in found:
        reason = "This configuration will be ignored if the version is newer than the inter.broker.protocol.version specified in the broker."
        console.say(f"WARNING: The configuration {FORMAT_KEY}={found[FORMAT_KEY]} is specified. {reason}")
    return found


def deleted(options: Options) -> list[str]:
    """The keys to take away."""
    return [name.strip() for text in options.values_of(DELETE) for name in text.split(",")]


def check_deleted(names: Sequence[str], existing: Sequence[str]) -> None:
    """Raise Refused for keys that are not there."""
    missing = [name for name in names if name not in existing]
    if missing:
        raise Refused(f"Invalid config(s): {','.join(missing)}")
