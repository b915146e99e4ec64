"""Tests of the controller. `cluster.py` runs whole controllers over a fake ZooKeeper, a fake clock and brokers that only answer."""
