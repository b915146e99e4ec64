"""What clients decide: the pure parts of consumers, without sockets, threads or a clock of their own.

Idea: a group of the first generation has nobody who decides for all. Each member writes down in ZooKeeper what it reads (`/consumers/G/ids`), watches
what the others write, computes the same assignment as they, and takes its share by creating ephemeral nodes (`/consumers/G/owners`). ZooKeeper lets
only one create a node, so whoever is wrong, or late, or dead, can delay the others but never read beside them.

Reading order: subscription, consumer_settings, group_session (requests of one ZooKeeper session), group_view (what a member reads), zookeeper_group
(what it writes), offset_storage, zookeeper_consumer_connector (joins them; start here to see the loop), then the fetcher.

Mirrors: 0.8.2:core/src/main/scala/kafka/consumer/{ZookeeperConsumerConnector,TopicCount,TopicFilter,ConsumerFetcherManager}.scala; facts/coordination.md 5.1.

Differs from Kafka: see zookeeper_consumer_connector.
"""
