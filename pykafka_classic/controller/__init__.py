"""The controller: the one broker that watches the cluster in ZooKeeper and tells each broker which partitions to lead and which to follow.

The idea. Every broker runs this module; the one that creates the ephemeral znode /controller is *active*. It reads brokers, topics and partition states into a
`ControllerContext` and then handles one event at a time from a single queue. Each event (a watch fired, a broker answered, a client asked) moves partitions and
replicas through two small state machines. A move first writes to ZooKeeper, fenced by the controller epoch, and only then tells the brokers.

Reading order
1. `states`: the two tables of states and of what may follow what; `leader_and_isr`, `replica_assignment`: the two values that everything is about
2. `election`: who becomes leader, as functions of (assignment, ISR, live brokers)
3. `controller_context`: all that the controller knows; `events`: all that can happen to it
4. `zk_client`, `zk_partition_states`, `zk_cluster`: what it reads and writes in ZooKeeper, and how a deposed controller is kept from writing
5. `broker_request_batch`, `channel_manager`: what it tells the brokers
6. `replica_state_machine`, `partition_state_machine`: the moves
7. `event_manager`, `core`, `failover`, `controller`: the loop, and becoming or ceasing to be the controller
8. one module for each subject: `broker_changes`, `topic_changes`, `topic_deletion`, `isr_changes`, `reassignment`, `replica_election`, `controlled_shutdown`,
   `feature_versioning`

Mirrors core/src/main/scala/kafka/controller of Apache Kafka 2.8 (KafkaController, ControllerContext, ReplicaStateMachine, PartitionStateMachine,
TopicDeletionManager, ControllerChannelManager).

Differs from Kafka:
* no threads: handlers are coroutines over the `ZooKeeper` seam, so that a whole controller runs in a unit test; they still run strictly one after the other;
* a broker request left over in a batch makes the controller resign at once, not at the next metadata update;
* when its session expires the controller stops sending at that moment, also in the middle of an event.
"""
