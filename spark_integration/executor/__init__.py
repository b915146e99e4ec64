"""What runs in Spark's tasks: reading a range of offsets as Arrow batches, and writing rows to topics.

Reading order: schema (the columns), leader and fetching (the range, fetch after fetch), read (joins them).
"""
