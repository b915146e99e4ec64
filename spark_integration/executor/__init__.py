"""What runs in Spark's tasks: reading a range of offsets as Arrow batches, and writing rows to topics.

Reading order: schema (the columns), leader and fetching (the range, fetch after fetch), varints, record_fields and arrow_batches (from bytes to rows), read
(joins them); write_settings, sink, write (the other way).
"""
