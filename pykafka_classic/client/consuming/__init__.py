"""What a consumer of today decides: a member of a group with a coordinator, or a reader of partitions that it was given. All of it pure.

Idea: whoever uses it calls `poll`; between two calls, records are fetched ahead and heartbeats sent. But a rebalance goes on only within `poll`: so what the
user has in hand is done, and may be committed, before its partition goes to another. Who does not call for `max_poll_interval_ms` has left the group.

Reading order: consumer_settings, assigned_partitions (positions), bell (how a poll waits), offset_lookup and start_resolution (where to begin), fetcher,
committed_offsets, group_protocol (what members tell each other), group_member (join, sync, heartbeat, leave), rebalance (who gives up what,
and when), consumer_core (joins them).

Mirrors: 2.8:clients/src/main/java/org/apache/kafka/clients/consumer/{KafkaConsumer,ConsumerConfig}.java, .../consumer/internals/{Fetcher,SubscriptionState,
AbstractCoordinator,ConsumerCoordinator,OffsetsForLeaderEpochClient}.java, .../clients/FetchSessionHandler.java; facts/coordination.md 5.4 to 5.7.

Differs from Kafka: an answer that is awaited when `poll` runs out of time goes on, and the next `poll` finds it. Of the owned partitions that a JoinGroup
names with eager assignors there are none, as in 2.8; a sticky assignor's own memory says what they were.
"""
