"""The seam between `why` and the store: the questions that `why` asks. `StoreReader` answers them; tests may answer as they like."""

from __future__ import annotations

from typing import Protocol

from pykafka_classic.monitor.store.answers import BrokerEvent, BrokerState, ConfigState, ControllerState, GroupState, LagPoint, PartitionState, Span


class Memory(Protocol):
    """See StoreReader's methods of the same names."""

    def partitions_at(self, cluster: str, t_ms: int | None = None, *, topic: str | None = None) -> tuple[PartitionState, ...]:
        """Partitions at a moment."""
        ...

    def partition_history(self, cluster: str, topic: str, partition: int, span: Span = ...) -> tuple[PartitionState, ...]:
        """The states of one, the latest first."""
        ...

    def brokers_at(self, cluster: str, t_ms: int | None = None) -> tuple[BrokerState, ...]:
        """Brokers, alive or gone."""
        ...

    def controller_at(self, cluster: str, t_ms: int | None = None) -> ControllerState | None:
        """The controller."""
        ...

    def broker_events(self, cluster: str, span: Span, *, subject: str | None = None) -> tuple[BrokerEvent, ...]:
        """What brokers told, the latest first."""
        ...

    def config_at(self, cluster: str, kind: str, name: str, t_ms: int | None = None) -> ConfigState | None:
        """The config of a topic or broker."""
        ...

    def groups_at(self, cluster: str, t_ms: int | None = None) -> tuple[GroupState, ...]:
        """Groups of both generations."""
        ...

    def group_lag(self, cluster: str, group: str, t_ms: int | None = None) -> tuple[LagPoint, ...]:
        """How far a group is behind."""
        ...
