"""Everything that touches the world: sockets, disk, clock, threads, ZooKeeper, other processes.

The idea: the floors below decide and know none of these; each seam that they ask for (`common/clock.py`, `common/zookeeper.py`, `log/file_system.py`,
`protocol/network.py`) is implemented here once, thinly. A module in here moves bytes and reports what happened; if it starts to decide, the decision belongs to
a lower floor.

Reading order: `reactor`, `clocks`, `disk` (the smallest seams); `kazoo_requests`, `kazoo_session`, `zookeeper` (one session, then sessions for ever);
`sending`, `broker_protocol`, `twisted_server`, `twisted_client` (a broker's sockets); `broker_edges` (all of these for one broker); `blocking_client`,
`blocking_zookeeper` (for tools, which may wait); `child_processes`, `processes` (start the real things, for demos and tests).

Mirrors: kafka.network (SocketServer, Processor), org.apache.kafka.clients.NetworkClient, kafka.zookeeper.ZooKeeperClient, java.nio.

Differs from Kafka: one reactor thread reads, decides and writes where Kafka has acceptors, network threads and request handlers; only what blocks for long
(fsync, recovery, deletion) goes to a thread pool and comes back as a settled `Promise`. The reactor is always a parameter, never imported as a module.
"""
