"""The admin client for programs that wait: `Admin`.

    from pykafka_classic.client.admin.topics import NewTopic
    from pykafka_classic.edges.admin import Admin

    with Admin("localhost:9092") as admin:
        admin.create_topics([NewTopic("flights", partitions=3, replication_factor=3)]).check()
        print(admin.describe_cluster().controller)

Operations, arguments and results: `client/admin/` (each method's docstring is that of the coroutine it waits for).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine, Sequence
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from pykafka_classic.client.admin.core import AdminCore
from pykafka_classic.client.admin.requests import AdminSettings
from pykafka_classic.common.promise import spawn
from pykafka_classic.edges.blocking_connections import FIRST_CONTACT_MS, BlockingConnections
from pykafka_classic.edges.chance import draw_salt

P = ParamSpec("P")
T = TypeVar("T")


def _waiting(operation: Callable[Concatenate[AdminCore, P], Coroutine[Any, Any, T]]) -> Callable[Concatenate[Admin, P], T]:
    """The operation as a method that returns when it is done."""

    @functools.wraps(operation)
    def wait(self: Admin, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.run(operation(self.core, *args, **kwargs))

    return wait


class Admin:
    """A client for administration, for one thread. Also a context manager.

    Args:
        bootstrap: `host:port,host:port,...`, or pairs.
        client_id: what brokers call it in their logs and quotas.
        settings: time-outs and pauses.
        first_contact_ms: how long the first connection may take.

    Raises:
        NoBroker, ValueError: from the constructor, where no broker answers; the text is for the user.
        KafkaError: from all operations; see AdminCore.
    """

    def __init__(
        self,
        bootstrap: Sequence[tuple[str, int]] | str,
        *,
        client_id: str | None = "admin",
        settings: AdminSettings | None = None,
        first_contact_ms: float = FIRST_CONTACT_MS,
    ) -> None:
        self._connections = BlockingConnections(bootstrap, client_id=client_id, first_contact_ms=first_contact_ms)
        self.core = AdminCore(self._connections, settings, draw_salt=draw_salt)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._connections.close()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The outcome of a coroutine over `core`: several operations at the same time, for instance."""
        return self._connections.wait(spawn(coroutine))

    create_topics = _waiting(AdminCore.create_topics)
    delete_topics = _waiting(AdminCore.delete_topics)
    create_partitions = _waiting(AdminCore.create_partitions)
    list_topics = _waiting(AdminCore.list_topics)
    describe_topics = _waiting(AdminCore.describe_topics)
    describe_configs = _waiting(AdminCore.describe_configs)
    alter_configs = _waiting(AdminCore.alter_configs)
    incremental_alter_configs = _waiting(AdminCore.incremental_alter_configs)
    list_offsets = _waiting(AdminCore.list_offsets)
    delete_records = _waiting(AdminCore.delete_records)
    elect_leaders = _waiting(AdminCore.elect_leaders)
    alter_partition_reassignments = _waiting(AdminCore.alter_partition_reassignments)
    list_partition_reassignments = _waiting(AdminCore.list_partition_reassignments)
    describe_log_dirs = _waiting(AdminCore.describe_log_dirs)
    alter_replica_log_dirs = _waiting(AdminCore.alter_replica_log_dirs)
    list_groups = _waiting(AdminCore.list_groups)
    describe_groups = _waiting(AdminCore.describe_groups)
    delete_groups = _waiting(AdminCore.delete_groups)
    list_group_offsets = _waiting(AdminCore.list_group_offsets)
    alter_group_offsets = _waiting(AdminCore.alter_group_offsets)
    delete_group_offsets = _waiting(AdminCore.delete_group_offsets)
    remove_members = _waiting(AdminCore.remove_members)
    describe_cluster = _waiting(AdminCore.describe_cluster)
    api_versions = _waiting(AdminCore.api_versions)
    describe_client_quotas = _waiting(AdminCore.describe_client_quotas)
    alter_client_quotas = _waiting(AdminCore.alter_client_quotas)
    describe_user_scram_credentials = _waiting(AdminCore.describe_user_scram_credentials)
    alter_user_scram_credentials = _waiting(AdminCore.alter_user_scram_credentials)
    unregister_broker = _waiting(AdminCore.unregister_broker)
