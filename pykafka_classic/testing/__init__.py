"""A whole cluster in a test: a real ZooKeeper, real brokers, as processes, with kill, pause and restart. For our own tests, for the demo, and for anybody's.

`cluster.py` has the cluster, `plugin.py` the pytest fixture `kafka_cluster`. Mirrors what Kafka's own integration tests have in KafkaServerTestHarness.

Differs from Kafka: brokers are processes of their own, so that they can really be killed.
"""
