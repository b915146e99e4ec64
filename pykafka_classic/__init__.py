"""A Kafka cluster of the ZooKeeper era, in Python.

Reading order, from the bottom up: `protocol` and `records` (bytes on the wire and on disk), `log` (one partition's records on disk), `cluster` (one partition:
who leads, who is in sync), `controller` (who decides that), `coordinator` (consumer groups), `server` (answers requests; replicates), `broker_parts` and
`kafka_server` (how a broker is put together and started). `edges` holds all that touches the world: sockets, files, threads, clocks, ZooKeeper.

Mirrors Apache Kafka 2.8 in ZooKeeper mode: core/src/main/scala/kafka, and of the clients what a broker needs.

Differs from Kafka: one thread decides, where Kafka has many and locks; what blocks (disk syncs, recovery) is handed to threads through seams. README.md lists
what is not there.
"""

from __future__ import annotations

__version__ = "0.1.0"
