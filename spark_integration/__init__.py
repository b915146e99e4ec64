"""Spark's way to the cluster: a PySpark data source that consumes by group, its sink, and jobs to copy.

The idea: the driver plans ranges of offsets, executors read them (`executor/`), the driver commits to the group what the sink has taken. No jar: the data
source is Python, over the cluster's own client, and records travel to Spark as Arrow batches.
"""
