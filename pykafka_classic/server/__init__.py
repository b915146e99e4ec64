"""The broker: what it answers to each request, and how it copies partitions from their leaders.

The idea: the `dispatcher` hands each request to one handler of `handlers/`, by its API key. A handler decides at once, or waits in a purgatory for an event
(the followers caught up, records came, a time is over), and answers exactly once. `replica_manager` owns the partitions: `replica_roles` does what the
controller says, `replica_appends` and `replica_reads` serve producers and consumers, `fetcher_manager` runs the loops that fetch from leaders.

Reading order: `request`, `dispatcher`, `metadata_cache`, `handlers/`; `replica_manager` and its parts, `delayed_produce`, `delayed_fetch`, `fetch_session*`;
`replica_fetcher` (what one answer means for a follower), `fetcher_loop`, `fetcher_manager`; `isr_manager`; `topic_admin`, `topic_configs`, `config_admin`;
`dynamic_broker_config`, `client_quotas`, `scram_credentials`; `log_dirs`, `log_dir_mover`, `replication_quota`; `broker_registration`, `controlled_shutdown`.

Mirrors kafka.server (KafkaApis, ReplicaManager, AbstractFetcherThread, ReplicaFetcherThread, DelayedProduce, DelayedFetch, FetchSession, MetadataCache,
AlterIsrManager, AdminManager) and kafka.zk.AdminZkClient.

Differs from Kafka: no request queue and no handler threads; client quotas are stored but not enforced; no authorizer.
"""
