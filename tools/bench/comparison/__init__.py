"""Workloads of librdkafka against a peer and ours, alternately: what `compare.py` runs.

Reading order: `librdkafka.py` (load without Python in its loops), `sides.py` (the clusters), `throughput.py`, `latency.py`, `cluster_life.py` (workloads),
`results.py` (medians, table, JSON), `picture.py` (SVG).
"""
