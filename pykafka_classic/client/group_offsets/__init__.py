"""Both stores of a group's offsets at once: ZooKeeper (`/consumers/G/offsets`) and Kafka (`__consumer_offsets`).

Idea: a cluster that grew old has groups with offsets in both. Which is right is a question of time, not of size: a group that was reset on purpose has the
smaller one. So each offset is read together with when it was written, and the later one counts. A migration copies what is later at its source, and
nothing else: so it may be repeated, and it never takes back what its target has done since.

When an offset was written:

| store | time | whose clock |
|---|---|---|
| ZooKeeper | mtime of the znode | the ZooKeeper leader's |
| Kafka | commit_timestamp of the record in `__consumer_offsets`, which is read for it: OffsetFetch does not tell | the coordinator's |

Clocks that disagree by more than lies between two commits mislead it: then look at the offsets themselves.

Reading order: values, decisions, stores, group_offsets. Face: `edges/group_offsets.py`.

Mirrors: nothing. Kafka has `offsets.storage=kafka` with `dual.commit.enabled` (0.8.2), which takes the larger offset, and the tools of the two stores apart.

Differs from Kafka: see above.
"""
