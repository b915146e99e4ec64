"""Coordinators: brokers that keep the state of a group, or of a transaction, because they lead the partition of an internal topic that it hashes to.

Read `group/` first, then `partition_loader.py` (taking a partition over), then `transaction/`.

Mirrors kafka.coordinator.

Differs from Kafka: one thread, so that neither a group nor a transaction needs a lock.
"""
