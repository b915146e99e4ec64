"""What every floor shares: values, errors, configuration, and the seams to the world.

The idea: the parts that decide (logs, partitions, controller, groups) know time, chance, ZooKeeper, disk and network only as small protocols, defined here and
beside those who need them; `edges/` implements them, and so do the fakes of the tests. So whatever decides can be run, step by step, without a cluster.

Reading order: topic_partition, errors, promise (the notion of "later"), clock, zookeeper, file_records; then config_def, broker_keys, config, log_config for
the keys of server.properties and of topics; properties, listeners and api_version serve them. varint, crc32c, java and kafka_uuid are small tools.

Mirrors: 2.8:clients/src/main/java/org/apache/kafka/common and 2.8:core/src/main/scala/kafka/{server/KafkaConfig,log/LogConfig,api/ApiVersion}.scala.

Differs from Kafka: nothing here starts a thread, reads a clock or touches a file, and an unfinished operation is a Promise instead of a blocked thread.
"""
