"""Coordinators: brokers that keep the state of a group (later: of a transaction) because they lead the partition of an internal topic that it hashes to.

Read `group/` first. Mirrors kafka.coordinator.
"""
