"""Which module is which tool."""

from __future__ import annotations

from typing import Final

TOOLS: Final = {
    "kafka-broker-api-versions": "broker_api_versions",
    "kafka-cluster": "cluster",
    "kafka-configs": "configs",
    "kafka-console-consumer": "console_consumer",
    "kafka-console-producer": "console_producer",
    "kafka-consumer-groups": "consumer_groups",
    "kafka-consumer-offset-checker": "consumer_offset_checker",
    "kafka-consumer-perf-test": "consumer_perf_test",
    "kafka-delete-records": "delete_records",
    "kafka-dump-log": "dump_log",
    "kafka-eagle": "eagle",
    "kafka-get-offsets": "get_offsets",
    "kafka-leader-election": "leader_election",
    "kafka-log-dirs": "log_dirs",
    "kafka-preferred-replica-election": "preferred_replica_election",
    "kafka-producer-perf-test": "producer_perf_test",
    "kafka-reassign-partitions": "reassign_partitions",
    "kafka-replica-verification": "replica_verification",
    "kafka-server-start": "server_start",
    "kafka-server-stop": "server_stop",
    "kafka-topics": "topics",
    "kafka-verifiable-consumer": "verifiable_consumer",
    "kafka-verifiable-producer": "verifiable_producer",
    "zookeeper-server-start": "zookeeper_start",
    "zookeeper-server-stop": "zookeeper_stop",
    "zookeeper-shell": "zookeeper_shell",
}
"""Kafka's names of the scripts, without `.sh`, and our modules in this package."""

CLASSES: Final = {
    "kafka.Kafka": "server_start",
    "kafka.admin.BrokerApiVersionsCommand": "broker_api_versions",
    "kafka.admin.ConfigCommand": "configs",
    "kafka.admin.ConsumerGroupCommand": "consumer_groups",
    "kafka.admin.DeleteRecordsCommand": "delete_records",
    "kafka.admin.LeaderElectionCommand": "leader_election",
    "kafka.admin.LogDirsCommand": "log_dirs",
    "kafka.admin.PreferredReplicaLeaderElectionCommand": "preferred_replica_election",
    "kafka.admin.ReassignPartitionsCommand": "reassign_partitions",
    "kafka.admin.TopicCommand": "topics",
    "kafka.tools.ClusterTool": "cluster",
    "kafka.tools.ConsoleConsumer": "console_consumer",
    "kafka.tools.ConsoleProducer": "console_producer",
    "kafka.tools.ConsumerOffsetChecker": "consumer_offset_checker",
    "kafka.tools.ConsumerPerformance": "consumer_perf_test",
    "kafka.tools.DumpLogSegments": "dump_log",
    "kafka.tools.ExportZkOffsets": "export_zk_offsets",
    "kafka.tools.GetOffsetShell": "get_offsets",
    "kafka.tools.ImportZkOffsets": "import_zk_offsets",
    "kafka.tools.ReplicaVerificationTool": "replica_verification",
    "kafka.tools.UpdateOffsetsInZK": "update_offsets_in_zk",
    "kafka.tools.VerifyConsumerRebalance": "verify_consumer_rebalance",
    "org.apache.kafka.tools.ProducerPerformance": "producer_perf_test",
    "org.apache.kafka.tools.VerifiableConsumer": "verifiable_consumer",
    "org.apache.kafka.tools.VerifiableProducer": "verifiable_producer",
    "org.apache.zookeeper.ZooKeeperMain": "zookeeper_shell",
}
"""Kafka's classes, as people call them by kafka-run-class.sh."""


def module_of(name: str) -> str | None:
    """The module of a tool that is named in one of the three ways; None where there is none."""
    name = name.removesuffix(".sh")
    if name in TOOLS.values() or name in CLASSES.values():
        return name
    return TOOLS.get(name) or CLASSES.get(name)
