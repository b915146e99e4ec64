"""`/brokers/seqid`: a counter that gives ids to brokers without one (`broker.id=-1`).

* Kind: persistent. The data is empty and stays so: what counts is the znode's version.
* Writer: a broker in need of an id sets the (empty) data, at any version; the version in ZooKeeper's answer is its own for ever. First one: 1. The broker's
  id is `reserved.broker.max.id` plus that.
* Watchers: none.

Source: BrokerSequenceIdZNode in 2.8:core/src/main/scala/kafka/zk/ZkData.scala, generateBrokerSequenceId in KafkaZkClient.scala.
"""

from __future__ import annotations

from typing import Final

PATH: Final = "/brokers/seqid"
EMPTY: Final = b""  # the data to set
