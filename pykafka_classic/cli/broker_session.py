"""The admin client as tools open it: --bootstrap-server and --command-config. What a user can get wrong is told in a sentence within five seconds."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from pykafka_classic.cli.command import CommandFailed
from pykafka_classic.client.admin.requests import AdminSettings
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.properties import parse_properties
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.admin import Admin
from pykafka_classic.edges.blocking_client import NoBroker

DEFAULT_CLIENT_ID: Final = "adminclient-1"
PLAINTEXT: Final = "PLAINTEXT"


def open_admin(bootstrap: str, properties_file: str | None = None, *, api_timeout_ms: int | None = None) -> Admin:
    """An admin client. CommandFailed says which addresses were tried, and why no broker answered.

    Args:
        bootstrap: addresses.
        properties_file: of --command-config.
        api_timeout_ms: how long a call may take; None: as the file says, else a minute.
    """
    logging.getLogger().addHandler(logging.NullHandler())  # a tool tells what went wrong by itself
    properties = read_properties(properties_file) if properties_file is not None else {}
    protocol = properties.get("security.protocol", PLAINTEXT)
    if protocol != PLAINTEXT:
        raise CommandFailed(f"security.protocol={protocol} is not served: these tools speak {PLAINTEXT}.")
    settings = _settings(properties)
    if api_timeout_ms is not None:
        settings = replace(settings, default_api_timeout_ms=api_timeout_ms)
    try:
        return Admin(bootstrap, client_id=properties.get("client.id", DEFAULT_CLIENT_ID), settings=settings)
    except NoBroker as error:
        raise CommandFailed(f"Cannot reach the cluster at {bootstrap}: {error}.") from error
    except ValueError as error:
        raise CommandFailed(f"Invalid url in bootstrap.servers: {error}.") from error


def leaderless(admin: Admin, partition: TopicPartition, error: KafkaError) -> KafkaError:
    """The error as Kafka's admin client has it: a partition that a topic lacks is one without a leader to it."""
    if error.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION or partition.topic not in admin.list_topics(internal=True):
        return error
    return KafkaError(ErrorCode.LEADER_NOT_AVAILABLE)


def read_properties(name: str) -> dict[str, str]:
    """A file of properties. OSError where it cannot be read."""
    return parse_properties(Path(name).read_text(encoding="utf-8"))


def _settings(properties: Mapping[str, str]) -> AdminSettings:
    defaults = AdminSettings()
    return AdminSettings(
        request_timeout_ms=_number(properties, "request.timeout.ms", defaults.request_timeout_ms),
        default_api_timeout_ms=_number(properties, "default.api.timeout.ms", defaults.default_api_timeout_ms),
        retry_backoff_ms=_number(properties, "retry.backoff.ms", defaults.retry_backoff_ms),
    )


def _number(properties: Mapping[str, str], key: str, default: int) -> int:
    text = properties.get(key, str(default))
    if not text.strip().isdecimal():
        raise CommandFailed(f"Invalid value {text} for configuration {key}: Not a number of type INT")
    return int(text)
