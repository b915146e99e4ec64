"""`make demo`: a cluster, a real data set, a leader killed while records come in, and every record counted afterwards.

The idea: a story in chapters, each a function that takes the story so far and adds to it. A newcomer sees in a minute what replication is for; later parts of
the project add chapters of their own to `chapters.CHAPTERS`.

Reading order: story (what the chapters share), chapters, then flights (the data), producing, reading, witness (who saw what happen, and when), znode_tree,
console; cluster is `make cluster`.

Mirrors: nothing in Kafka.

Differs from Kafka: its clients are confluent-kafka's, so that nobody need believe our own.
"""
