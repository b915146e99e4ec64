"""What has to be right before the pages are served: the password file, and that nobody listens to the world without one."""

from __future__ import annotations

import ipaddress

from pykafka_classic.monitor.process import CannotStart
from pykafka_classic.monitor.settings import MonitorSettings
from pykafka_classic.monitor.web.access import Access, InvalidPasswordFile, PasswordFile


def access_of(settings: MonitorSettings) -> Access:
    """As the configuration says. Raises CannotStart."""
    keys = settings.keys
    if keys.passwords_file:
        path = settings.base / keys.passwords_file
        try:
            return Access(PasswordFile.parse(path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            raise CannotStart(f"Cannot read the password file {path}: {error}.") from error
        except InvalidPasswordFile as error:
            raise CannotStart(f"The password file {path}: {error}") from error
    if not is_loopback(keys.host):
        raise CannotStart(
            f"host={keys.host} lets others reach the monitor, who could change your clusters: set passwords.file (make one with: kafka-eagle.sh password NAME "
            "read|operate FILE), or host=127.0.0.1."
        )
    return Access(None)


def is_loopback(host: str) -> bool:
    """True where only programs of this machine can reach it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
