"""The admin client for programs on a reactor: `TwistedAdmin`. Its methods return Deferreds, which coroutines may await.

    async def enlarge(reactor):
        admin = TwistedAdmin(reactor, "localhost:9092")
        outcomes = await admin.create_partitions({"flights": NewPartitions(6)})
        outcomes.check()
        admin.close()

Operations, arguments and results: `client/admin/` (each method's docstring is that of the coroutine it runs).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar

from twisted.internet.defer import Deferred

from pykafka_classic.client.admin.core import AdminCore
from pykafka_classic.client.admin.requests import AdminSettings
from pykafka_classic.common.promise import spawn
from pykafka_classic.edges.chance import draw_salt
from pykafka_classic.edges.deferreds import as_deferred
from pykafka_classic.edges.reactor import Reactor
from pykafka_classic.edges.twisted_connections import TwistedConnections

P = ParamSpec("P")
T = TypeVar("T")


def _deferred(operation: Callable[Concatenate[AdminCore, P], Coroutine[Any, Any, T]]) -> Callable[Concatenate[TwistedAdmin, P], Deferred[T]]:
    """The operation as a method that returns a Deferred."""

    @functools.wraps(operation)
    def start(self: TwistedAdmin, /, *args: P.args, **kwargs: P.kwargs) -> Deferred[T]:
        return as_deferred(spawn(operation(self.core, *args, **kwargs)))

    return start


class TwistedAdmin:
    """A client for administration on a reactor. Nothing is connected before the first operation.

    Args:
        reactor: on whose thread all methods are called.
        bootstrap: `host:port,host:port,...`, or pairs.
        client_id: what brokers call it in their logs and quotas.
        settings: time-outs and pauses.

    Operations fail with KafkaError; see AdminCore.
    """

    def __init__(
        self, reactor: Reactor, bootstrap: Sequence[tuple[str, int]] | str, *, client_id: str = "admin", settings: AdminSettings | None = None
    ) -> None:
        self._connections = TwistedConnections(reactor, bootstrap, client_id=client_id)
        self.core = AdminCore(self._connections, settings, draw_salt=draw_salt)

    def close(self) -> None:
        """Close all connections; what is under way fails, or tries again on new ones."""
        self._connections.close()

    create_topics = _deferred(AdminCore.create_topics)
    delete_topics = _deferred(AdminCore.delete_topics)
    create_partitions = _deferred(AdminCore.create_partitions)
    list_topics = _deferred(AdminCore.list_topics)
    describe_topics = _deferred(AdminCore.describe_topics)
    describe_configs = _deferred(AdminCore.describe_configs)
    alter_configs = _deferred(AdminCore.alter_configs)
    incremental_alter_configs = _deferred(AdminCore.incremental_alter_configs)
    list_offsets = _deferred(AdminCore.list_offsets)
    delete_records = _deferred(AdminCore.delete_records)
    elect_leaders = _deferred(AdminCore.elect_leaders)
    alter_partition_reassignments = _deferred(AdminCore.alter_partition_reassignments)
    list_partition_reassignments = _deferred(AdminCore.list_partition_reassignments)
    describe_log_dirs = _deferred(AdminCore.describe_log_dirs)
    alter_replica_log_dirs = _deferred(AdminCore.alter_replica_log_dirs)
    list_groups = _deferred(AdminCore.list_groups)
    describe_groups = _deferred(AdminCore.describe_groups)
    delete_groups = _deferred(AdminCore.delete_groups)
    list_group_offsets = _deferred(AdminCore.list_group_offsets)
    alter_group_offsets = _deferred(AdminCore.alter_group_offsets)
    delete_group_offsets = _deferred(AdminCore.delete_group_offsets)
    remove_members = _deferred(AdminCore.remove_members)
    describe_cluster = _deferred(AdminCore.describe_cluster)
    api_versions = _deferred(AdminCore.api_versions)
    describe_client_quotas = _deferred(AdminCore.describe_client_quotas)
    alter_client_quotas = _deferred(AdminCore.alter_client_quotas)
    describe_user_scram_credentials = _deferred(AdminCore.describe_user_scram_credentials)
    alter_user_scram_credentials = _deferred(AdminCore.alter_user_scram_credentials)
    unregister_broker = _deferred(AdminCore.unregister_broker)
