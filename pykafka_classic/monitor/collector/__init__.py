"""The collector: what the monitor sees of one cluster, from ZooKeeper by watches and from brokers by requests.

The idea: ZooKeeper tells what happens, so it is watched, and every change goes to the store as it comes. What only brokers know (ends and sizes of logs,
commits, members, configs) is asked for in intervals, one request for each broker and kind, never one for each partition: who leads what, and which broker
coordinates which group, is known from ZooKeeper.

Reading order: view (what the nodes tell, kept decoded), lag (since when a group is behind), changes (nodes to rows) — all pure; then zookeeper (the watching
session), questions and brokers (requests and their answers), broker_events (the brokers' events.log), cluster (all of one cluster).

Mirrors: Kafka Eagle's collectors, which ask by JMX and by polling; kafka.admin.ConsumerGroupCommand for lag.

Differs from Kafka: its tools describe a group by one request for each thing; commits are asked for before ends here too, so that lag is never negative.
"""
