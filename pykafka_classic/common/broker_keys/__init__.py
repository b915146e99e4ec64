"""The broker's keys, one documented field each, in groups by subject.

The idea: a key is defined once, with Kafka's name, type, default, limits, importance and a description of our own; everything else (reading server.properties,
refusing bad values, DescribeConfigs) follows from that. `pykafka_classic.common.config` joins the groups into `KafkaConfig`.

Reading order: general, zookeeper, sockets, log, replication, coordinators, quotas_and_metrics, security.

Mirrors: 2.8:core/src/main/scala/kafka/server/KafkaConfig.scala.

Differs from Kafka: keys of the mode without ZooKeeper (process.roles, node.id, controller.quorum.*) are unknown here. Keys that name a Java class, and the
security keys, are read, checked and described; README.md tells which of them already do something.
"""
