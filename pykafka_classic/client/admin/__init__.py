"""The admin client: what Kafka's AdminClient does, for programs and for the command-line tools.

Idea: each operation says what it asks and of which broker (`requests.Place`); finding that broker, asking again, and giving up in time is done in one place.
Nothing here waits: operations are coroutines over promises, and a face outside decides whether a thread waits for them or a reactor carries them on.

Reading order: connections (the seam), requests (who is asked, and when again), outcomes, then any of topics, configs, offsets, replicas, groups, cluster; core
joins them. Faces: `edges/admin.py`, `edges/twisted_admin.py`.

Mirrors: 2.8:clients/src/main/java/org/apache/kafka/clients/admin/ (KafkaAdminClient and its results).

Differs from Kafka: no delegation tokens, no access control lists, no features. Instead of one future a topic, an operation comes back once, with an outcome
for each. Leaders are asked again after a change of leader by all operations on partitions, DeleteRecords too.
"""
