"""Consumers of other projects as processes of their own: members of a group that can be killed and stopped. Each prints what happens as lines of JSON.

`{"name": "assignment", "partitions": [...]}` when its partitions have changed, `{"name": "record_data", "partition": p, "offset": o, "value": v}` for a record;
Java's VerifiableConsumer, which has lines like these, tells changes as `partitions_assigned` and `partitions_revoked`. SIGTERM: leave politely.
"""
