"""One look at a cluster as a store: for those who ask where no monitor runs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from pykafka_classic.edges.admin import Admin
from pykafka_classic.monitor.collector.brokers import BrokerRounds
from pykafka_classic.monitor.collector.changes import ChangeRows
from pykafka_classic.monitor.collector.view import ClusterView
from pykafka_classic.monitor.store.rows import Batch, ClusterRow
from pykafka_classic.monitor.store.writer import StoreWriter
from pykafka_classic.monitor.znodes import Change, Node


def fill(path: Path, cluster: str, nodes: Mapping[str, Node], admin: Admin) -> None:
    """Make a store at `path` with these nodes, and what the brokers answer now."""
    now_ms = time.time_ns() // 1_000_000
    changes = [Change(name, None, node, node.mzxid) for name, node in nodes.items()]
    view = ClusterView()
    view.update(changes)
    writer = StoreWriter(path, lambda: now_ms)
    try:
        writer.put(ClusterRow(cluster, "", None, "connected", now_ms))
        writer.put(Batch(cluster, now_ms, znodes=ChangeRows().rows(changes, now_ms, found=True)))
        writer.put(admin.run(BrokerRounds(admin.core.requests, view).look(cluster, now_ms, widely=True)))
    finally:
        writer.close()
