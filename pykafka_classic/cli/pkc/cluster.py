"""Where the cluster is: its brokers and its ZooKeeper. Who names one finds the other through it.

| given | brokers | ZooKeeper |
|---|---|---|
| `-b` and `-z` | `-b` | `-z` |
| `-b` | `-b` | what the brokers say of `zookeeper.connect` |
| `-z` | those registered in ZooKeeper | `-z` |
| nothing | localhost:9092 | localhost:2181 |

$PKC_BROKERS and $PKC_ZOOKEEPER stand for options that are not given. Whatever cannot be reached is told in a sentence within five seconds.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from pykafka_classic.cli.command import CommandFailed

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
    from pykafka_classic.edges.admin import Admin

F = TypeVar("F", bound=Callable[..., Any])

BROKERS_VARIABLE: Final = "PKC_BROKERS"
ZOOKEEPER_VARIABLE: Final = "PKC_ZOOKEEPER"
DEFAULT_BROKERS: Final = "localhost:9092"
DEFAULT_ZOOKEEPER: Final = "localhost:2181"
CLIENT_ID: Final = "pkc"
FIRST_CONTACT_MS: Final = 4_000  # for all addresses together
COMPLETION_CONTACT_MS: Final = 1_000
API_TIMEOUT_MS: Final = 15_000


class Cluster:
    """One cluster, by the addresses that were given; connections are made when asked for."""

    def __init__(self, brokers: str | None, zookeeper: str | None) -> None:
        self._brokers = brokers
        self._zookeeper = zookeeper

    @property
    def names_zookeeper(self) -> bool:
        """True where somebody has said where ZooKeeper is."""
        return self._zookeeper is not None

    def brokers(self) -> str:
        """The brokers' addresses. CommandFailed where they have to be looked for in ZooKeeper, and are not there."""
        if self._brokers is None and self._zookeeper is not None:
            with self.zookeeper() as zk:
                self._brokers = _registered(zk)
        return self._brokers or DEFAULT_BROKERS

    def admin(self, *, first_contact_ms: float = FIRST_CONTACT_MS) -> Admin:
        """A client for questions to brokers. CommandFailed says what was tried."""
        from pykafka_classic.client.admin.requests import AdminSettings
        from pykafka_classic.client.bootstrap import parse_bootstrap
        from pykafka_classic.edges.admin import Admin
        from pykafka_classic.edges.blocking_client import NoBroker

        logging.getLogger().addHandler(logging.NullHandler())  # what goes wrong is told by the commands
        addresses = self.brokers()
        try:
            each_ms = first_contact_ms / len(parse_bootstrap(addresses))
            return Admin(addresses, client_id=CLIENT_ID, settings=AdminSettings(default_api_timeout_ms=API_TIMEOUT_MS), first_contact_ms=each_ms)
        except NoBroker as error:
            raise CommandFailed(f"Cannot reach the cluster at {addresses}: {error}.{self._hint()}") from error
        except ValueError as error:
            raise CommandFailed(f"{str(error)[:1].upper()}{str(error)[1:]}.") from error

    def zookeeper(self, admin: Admin | None = None) -> ZooKeeperSession:
        """A session with ZooKeeper, whose address may have to be asked of the brokers. CommandFailed says what was tried."""
        from pykafka_classic.cli.zookeeper_session import ZooKeeperSession

        if self._zookeeper is not None:
            return ZooKeeperSession(self._zookeeper)
        if self._brokers is None:
            return ZooKeeperSession(DEFAULT_ZOOKEEPER)
        named = self._zookeeper_of_brokers(admin)
        try:
            return ZooKeeperSession(named)
        except CommandFailed as error:
            raise CommandFailed(f"{error} (That address is the brokers' zookeeper.connect; -z names another.)") from error

    def _zookeeper_of_brokers(self, admin: Admin | None) -> str:
        if admin is None:
            with self.admin() as mine:
                return _zookeeper_connect(mine, self.brokers())
        return _zookeeper_connect(admin, self.brokers())

    def _hint(self) -> str:
        return " (-b HOST:PORT names a broker.)" if self._brokers is None and self._zookeeper is None else ""


def _zookeeper_connect(admin: Admin, addresses: str) -> str:
    """What a broker says of `zookeeper.connect`."""
    from pykafka_classic.client.admin.configs import ConfigResource

    nodes = admin.describe_cluster().nodes
    if not nodes:
        raise CommandFailed(f"The brokers at {addresses} know of no broker.")
    resource = ConfigResource.broker(nodes[0].id)
    entry = admin.describe_configs([resource]).check()[resource].get("zookeeper.connect")
    if entry is None or not entry.value:
        raise CommandFailed(f"The brokers at {addresses} do not say where their ZooKeeper is: -z HOST:PORT names it.")
    return entry.value


def _registered(zk: ZooKeeperSession) -> str:
    from pykafka_classic.cli.zookeeper_groups import broker_addresses

    addresses = broker_addresses(zk)
    if not addresses:
        raise CommandFailed(f"No broker is registered in ZooKeeper at {zk.connect}.")
    return ",".join(f"{host}:{port}" for host, port in addresses.values())


def cluster_options(command: F) -> F:
    """-b and -z; the command is given `brokers` and `zookeeper`."""
    for option in (
        click.option(
            "-z",
            "--zookeeper",
            envvar=ZOOKEEPER_VARIABLE,
            metavar="HOST:PORT[/CHROOT]",
            help=f"ZooKeeper; else ${ZOOKEEPER_VARIABLE}, else as the brokers say.",
        ),
        click.option(
            "-b",
            "--brokers",
            "--bootstrap-server",
            "brokers",
            envvar=BROKERS_VARIABLE,
            metavar="HOST:PORT,...",
            help=f"Some brokers; else ${BROKERS_VARIABLE}, else those registered in ZooKeeper, else {DEFAULT_BROKERS}.",
        ),
    ):
        command = option(command)
    return command


def json_option(command: F) -> F:
    """--json; the command is given `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="JSON lines: an object a line.")(command)


def topic_names(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """For the shell: topics that begin like this."""
    return _complete(ctx, incomplete, lambda admin: admin.list_topics(internal=incomplete.startswith("_")))


def group_names(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """For the shell: groups at the brokers, and in ZooKeeper where its address was given, that begin like this."""
    found = _complete(ctx, incomplete, lambda admin: admin.list_groups())
    if not ctx.params.get("zookeeper"):
        return found
    known = {item.value for item in found}
    return found + [item for item in _complete_zookeeper(ctx.params["zookeeper"], incomplete) if item.value not in known]


def _complete(ctx: click.Context, incomplete: str, ask: Callable[[Admin], Any]) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    cluster = Cluster(ctx.params.get("brokers") or os.environ.get(BROKERS_VARIABLE), ctx.params.get("zookeeper") or os.environ.get(ZOOKEEPER_VARIABLE))
    try:
        with cluster.admin(first_contact_ms=COMPLETION_CONTACT_MS) as admin:
            return [CompletionItem(name) for name in sorted(ask(admin)) if name.startswith(incomplete)]
    except Exception:  # noqa: BLE001  # whoever presses Tab wants no error: there is nothing to propose
        return []


def _complete_zookeeper(connect: str, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
    from zk_schema import consumers

    try:
        with ZooKeeperSession(connect) as zk:
            return [CompletionItem(name) for name in sorted(zk.children(consumers.PATH)) if name.startswith(incomplete)]
    except Exception:  # noqa: BLE001  # as above
        return []
