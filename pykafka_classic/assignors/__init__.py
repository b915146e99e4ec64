"""Who gets which partition: the decisions that are pure arithmetic over sorted lists.

Idea: two questions look alike and are answered at different times. *Which brokers hold a partition?* is asked once, when it is created (replica_placement),
and the answer is stored in ZooKeeper. *Which consumer of a group reads it?* is asked at each rebalance: by every member for itself in a group that coordinates
over ZooKeeper, by the leader for all in one that has a coordinator. Whoever computes it must come to the same answer from the same input; so there is no chance
in it, and the sort orders are part of the protocol.

Reading order: replica_placement; consumer_assignor, range, round_robin; zookeeper_assignors (the first generation of groups); sticky, sticky_equal,
sticky_unequal, sticky_user_data.

Mirrors: 2.8:core/src/main/scala/kafka/admin/AdminUtils.scala; 0.8.2:core/src/main/scala/kafka/consumer/PartitionAssignor.scala;
2.8:clients/src/main/java/org/apache/kafka/clients/consumer/{Range,RoundRobin,Sticky}Assignor.java.

Differs from Kafka: the random start of a placement comes through the `Random` seam, so that a simulation can repeat it.
"""
