"""Operations that wait: for an event on one of their keys, or for their time-out, whichever comes first.

A Produce with acks=all waits for the high watermark, a Fetch for bytes, a topic's creator for metadata. Each is a `DelayedOperation`; a `Purgatory` keeps
those that wait, by key (a partition, a group, a topic). Whoever changes something calls `check_and_complete(key)`. All time-outs of a broker hang on one
`TimingWheel`, which arms one timer.

Reading order: delayed_operation, purgatory, timing_wheel.
Mirrors kafka.server.{DelayedOperation, DelayedOperationPurgatory} and kafka.utils.timer.{TimingWheel, SystemTimer}.

Differs from Kafka: no locks and no reaper thread, for everything runs on the deciders' thread; an operation is told which key was checked, so that one that
waits for a thousand partitions looks at one of them; watch lists are swept when dead entries outnumber both the configured interval and the live ones, which
keeps the cost of sweeping constant per operation.
"""
