"""Where a client begins: the addresses of some brokers, as users write them."""

from __future__ import annotations

from typing import Final

from pykafka_classic.client.client_errors import InvalidSetting

DEFAULT_PORT: Final = 9092


def parse_bootstrap(addresses: str) -> list[tuple[str, int]]:
    """host:port,host:port,... ([address]:port for IPv6; the port may be missing: 9092). InvalidSetting with a sentence."""
    found = []
    for address in filter(None, (part.strip() for part in addresses.split(","))):
        host, colon, port = address.rpartition(":") if not address.endswith("]") and ":" in address else (address, "", "")
        if not host.strip("[]") or (colon and not (port.isdecimal() and 0 < int(port) < 65_536)):
            raise InvalidSetting(f"{address!r} is no address: host:port is wanted")
        found.append((host.strip("[]"), int(port) if colon else DEFAULT_PORT))
    if not found:
        raise InvalidSetting("no bootstrap address given: host:port,host:port,... is wanted")
    return found
