"""A Kafka cluster of the ZooKeeper era."""
