"""Coordinators: brokers that keep the state of a group (later: of a transaction) because they lead the partition of an internal topic that it hashes to.

Read `group/` first.

Mirrors kafka.coordinator.

Differs from Kafka: there is no transaction coordinator; one thread, so that a group needs no lock.
"""
