"""The monitor's memory: one SQLite file, written by one thread, read by as many as like.

The idea: what a cluster of the ZooKeeper era knows about itself stands in znodes. So the store keeps every change of every node, with its transaction's number,
time, version and owner, and whatever can be read out of that (who was alive, who led what, who was in sync, what was configured, at any second) is read out of
it by `zk_schema`, and stored nowhere else. Beside it stand samples of what only brokers know (ends of logs, sizes, commits, members), and what brokers tell of
their own decisions (docs/events.md).

Reading order: rows (what is written), schema (the tables and their versions), writer (the thread), answers (what is read), then reader (the whole of it, of
parts: history of znodes, samples, events). `maintenance` thins and removes what is old, by the plan of `monitor/retention.py`.

The file is in WAL mode: readers see the last commit and never wait for the writer, nor it for them. After kill -9 SQLite rolls back what was not committed.

Mirrors: Kafka Eagle's tables, in purpose only.

Differs from Kafka: it has nothing of the kind; its controller forgets what was.
"""
