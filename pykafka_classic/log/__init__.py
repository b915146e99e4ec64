"""The log of a partition on disk: segments, their indexes, checkpoints, producers' state; retention, compaction, recovery.

The idea: a log is a sequence of batches, cut into segments. Each segment is a file that only grows, with two sparse indexes beside it (offset -> position,
time -> offset). Nothing is ever rewritten in place: what is too old is deleted by whole segments, what is compacted is written anew and renamed. So a crash can
only leave a torn end, and recovery reads the last segments again and cuts there.

Reading order: `names`, `batch_header`, `index_file`, `offset_index`, `time_index`, `log_segment`, `segment_recovery`; `producer_state` and
`transaction_index`; `leader_epoch_cache`; `log` with `leader_records`, `log_append`, `log_reads`, `log_truncation`; `log_loader`; `log_manager` with
`log_directory`, `log_startup`, `checkpoints`, `log_retention`; last `log_cleaner` with `cleaner`.

Mirrors kafka.log (Log, LogSegment, LogManager, LogCleaner, ProducerStateManager, OffsetIndex, TimeIndex, TransactionIndex) and
kafka.server.epoch.LeaderEpochFileCache; facts/storage.md.

Differs from Kafka: files are opened when needed, not held open and mapped; index entries are written in groups; the batch is the smallest unit of the index
rule; one thread appends and reads, others only sync, recover and clean.
"""
