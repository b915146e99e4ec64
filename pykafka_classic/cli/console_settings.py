"""What the console producer and consumer share: properties from files and options, as settings of our clients.

Kafka's clients warn of keys that they do not know and go on; so do these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pykafka_classic.cli.command import CommandFailed, Console
from pykafka_classic.cli.command_options import Options

# Keys of Kafka's clients that have no meaning here: what is sent and received are bytes, and nothing is measured.
WITHOUT_MEANING: Final = frozenset(
    {
        *(f"{part}.{kind}serializer" for part in ("key", "value") for kind in ("", "de")),
        *("interceptor.classes", "metric.reporters", "metrics.num.samples", "metrics.recording.level", "metrics.sample.window.ms"),
        *("send.buffer.bytes", "receive.buffer.bytes", "connections.max.idle.ms", "client.dns.lookup", "security.providers"),
    }
)
PLAINTEXT: Final = "PLAINTEXT"


def pairs_of(options: Options, name: str) -> dict[str, str]:
    """The k=v pairs of an option that may be given more than once; a key alone has an empty value, as with Kafka."""
    pairs = (text.partition("=") for text in options.values_of(name))
    return {key: value for key, _, value in pairs}


def file_properties(options: Options, name: str) -> dict[str, str]:
    """The properties of the file that an option names; none where it was not given. OSError."""
    if not options.has(name):
        return {}
    from pykafka_classic.cli.broker_session import read_properties

    return read_properties(options.text(name))


def known_settings(properties: Mapping[str, Any], kind: type, console: Console) -> dict[str, Any]:
    """Settings by Python's names, of those keys that a client of ours has; the user is told of the others. CommandFailed for another protocol."""
    protocol = properties.get("security.protocol", PLAINTEXT)
    if protocol != PLAINTEXT:
        raise CommandFailed(f"security.protocol={protocol} is not served: these tools speak {PLAINTEXT}.")
    found = {}
    for key, value in properties.items():
        name = key.replace(".", "_")
        if name in kind.__dataclass_fields__:  # type: ignore[attr-defined]  # it is a dataclass
            found[name] = value
        elif key not in WITHOUT_MEANING and key != "security.protocol":
            console.complain(f"WARN The configuration '{key}' was supplied but isn't a known config.")
    return found
