"""The transaction coordinator: who is the one producer of a transactional id, which partitions its transaction has touched, and how the transaction ended.

The idea: a transaction is not a thing in the partitions that it writes to, but a row in `__transaction_state`. The row says which partitions are in it, before
anything is written there; once the row says PrepareCommit or PrepareAbort the outcome is settled, whoever dies afterwards. What remains is to tell the
partitions: a marker in each, and the row says Complete. A producer that comes back with the same id gets a higher epoch; the markers and the partitions fence
the one before.

Reading order: `transaction_metadata.py` (the states as a table, and every step from one to another), `transaction_coordinator.py` (the four requests and the
time-out), `transaction_store.py` (whose transactional id is it; a step counts when it is replicated), `marker_channels.py` (markers to the leaders),
`transaction_records.py` and `loading.py` (what is written, and taking over what another broker wrote), `service.py`.

Mirrors kafka.coordinator.transaction.

Differs from Kafka: single-threaded, so there are no locks; a broker writes markers to the partitions that it leads by the same request that it sends to others.
"""
