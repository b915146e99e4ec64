"""Who gets which partition: the decisions that are pure arithmetic over sorted lists.

Idea: two questions look alike and are answered at different times. *Which brokers hold a partition?* is asked once, when it is created (replica_placement),
and the answer is stored in ZooKeeper. *Which consumer of a group reads it?* is asked at each rebalance, and every member that computes it must come to the
same answer from the same input; so there is no chance in it, and the sort orders are part of the protocol.

Reading order: replica_placement; then the assignors of consumers.

Mirrors: 2.8:core/src/main/scala/kafka/admin/AdminUtils.scala; 0.8.2:core/src/main/scala/kafka/consumer/PartitionAssignor.scala;
2.8:clients/src/main/java/org/apache/kafka/clients/consumer/{Range,RoundRobin,Sticky}Assignor.java.

Differs from Kafka: the random start of a placement comes through the `Random` seam, so that a simulation can repeat it.
"""
