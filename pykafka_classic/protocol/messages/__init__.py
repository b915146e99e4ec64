"""Every message of Kafka 2.8: one module for each API with its request and response, one for each kind of record in the internal topics.

The idea: a class is a struct or message of the protocol, its attributes are the fields, and what stands behind an attribute is its place on the wire (see
`protocol/schema.py`). Names are Kafka's in snake_case; a struct whose name occurs in both the request and the response has the message's name before it
(`AlterIsrRequestTopicData`, `AlterIsrResponseTopicData`). Structs stand above the messages that hold them.

Reading order: `api_versions`, `metadata`, `produce`, `fetch`, `list_offsets`; for groups `find_coordinator`, `join_group`, `sync_group`, `heartbeat`,
`offset_commit`; between brokers `leader_and_isr`, `update_metadata`, `stop_replica`, `alter_isr`.

Mirrors 2.8:clients/src/main/resources/common/message/*.json and 2.8:core/src/main/resources/common/message/*.json.

Differs from Kafka: nothing on the wire. Left out: the messages of Kafka Streams, of principals in envelopes and of Raft's control records.
"""
