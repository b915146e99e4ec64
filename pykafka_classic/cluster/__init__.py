"""One partition as a broker sees it: who leads it, who is in sync, how far records are committed.

The idea: a partition has one leader. Followers fetch from it like consumers, so the leader learns from each Fetch how far the follower's log reaches. Those
that keep up form the ISR; the offset that all of them have reached is the HighWatermark, and only records below it count as committed. Who is leader, and who
may stay in the ISR, is decided elsewhere (by the controller, in ZooKeeper): a partition proposes a change through the `IsrManager` seam and waits for the
verdict. The LeaderEpoch tells one leadership from the next, and lets a follower find where its log parts from the leader's.

Reading order: partition_fetch (the values), replica, isr_state, in_sync_replicas (the rules), partition (the state and its transitions), partition_reads.
Mirrors kafka.cluster.{Partition, Replica, Broker}; facts/coordination.md 4.1, 4.5 to 4.7, 4.9.

Differs from Kafka: no locks (one thread); moving a replica between log dirs (the future log) is not here; after an AlterIsr that shrank the ISR the
HighWatermark moves at once, where Kafka 2.8 leaves waiting producers to their time-out; the topic id is stored when the log is created, not only with the next
LeaderAndIsr.
"""
