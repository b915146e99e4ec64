"""The group coordinator: who is in a consumer group, who owns what in which generation, and how far the group has read.

The idea: the members do the assigning, the coordinator only counts. A member joins; once all have joined (or the time is up) a generation begins and one of
them, the leader, is handed the list of members; its assignment comes back with SyncGroup, is stored in `__consumer_offsets`, and is handed out. Heartbeats
tell who is still there.

Reading order: `group_metadata.py` (the states as a table), `group_coordinator.py` (join, sync, heartbeat, leave), `rebalance.py` (how a generation begins),
`offsets.py` (committed offsets), `group_records.py` (what is written), `group_store.py` (which groups are ours), `loading.py` and `loaded_records.py` (taking
over what another broker wrote), `expiration.py`. docs/groups.md tells the same to those who use it.

Mirrors kafka.coordinator.group.

Differs from Kafka: single-threaded, so there are no locks; timers are a seam; a record that cannot be read does not spoil the load of its partition.
"""
