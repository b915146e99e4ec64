"""What systemd is told of a service (Type=notify): that it serves, that it is about to end.

A datagram of lines to the socket that $NOTIFY_SOCKET names; a name that begins with @ is in the abstract namespace. Source: sd_notify(3).
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Mapping
from typing import Final

log = logging.getLogger("kafka.Kafka")

VARIABLE: Final = "NOTIFY_SOCKET"
READY: Final = "READY=1"
STOPPING: Final = "STOPPING=1"


def notify(state: str, status: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Tell the service manager, with a sentence for `systemctl status`; False where there is none, or where it does not listen."""
    address = environment.get(VARIABLE, "")
    if not address:
        return False
    if address.startswith("@"):
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as connection:
            connection.connect(address)
            connection.send(f"{state}\nSTATUS={status}\n".encode())
    except OSError as error:
        log.warning("The service manager cannot be told of %s: %s", state, error)
        return False
    return True
