"""Producer ids for idempotent producers: blocks of 1,000 claimed from `/latest_producer_id_block` (facts/coordination.md 6.3).

A broker takes a block at its start, as every Kafka 2.8 broker does, and another one when that is used up. A claim is a compare-and-set; after a lost reply the
node is read again and a block that carries our id and our bounds is ours.
"""

from __future__ import annotations

import logging

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.zookeeper import Code, SetData, ZooKeeper
from pykafka_classic.server.zk_operations import SessionEnded, data_or_none, raise_unless, submit_one, through_sessions
from zk_schema import producer_id_block
from zk_schema.producer_id_block import BLOCK_SIZE, ProducerIdBlock

MAX_PRODUCER_ID = (1 << 63) - 1

log = logging.getLogger("kafka.coordinator.transaction.ProducerIdManager")


class ProducerIdManager:
    """Hands out ids that no other broker of the cluster hands out.

    Invariant: `_next <= _block.block_end + 1` while a block is held.
    """

    def __init__(self, broker_id: int, zk: ZooKeeper) -> None:
        self._broker_id = broker_id
        self._zk = zk
        self._block: ProducerIdBlock | None = None
        self._next = 0
        self._claim: Promise[ProducerIdBlock] | None = None  # one claim at a time, however many wait for it

    async def generate(self) -> int:
        """The next id; COORDINATOR_LOAD_IN_PROGRESS is never needed here: callers wait for the block."""
        while self._block is None or self._next > self._block.block_end:
            await self.claim_block()
        self._next += 1
        return self._next - 1

    async def claim_block(self) -> None:
        """Make sure that a block with unused ids is held."""
        if self._claim is None:
            self._claim = spawn(self._claim_from_zookeeper())
        claim = self._claim
        try:
            block = await claim
        finally:
            if self._claim is claim:
                self._claim = None
        if block is not self._block:
            self._block, self._next = block, block.block_start

    async def _claim_from_zookeeper(self) -> ProducerIdBlock:
        # An idempotent producer gives up at the first refusal, so it is not told of a session that ended: the next one is asked.
        try:
            return await through_sessions(self._claim_in_one_session, f"the claim of a producer id block by broker {self._broker_id}")
        except SessionEnded as error:
            message = "ZooKeeper sessions end before a producer id block can be claimed."
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, message) from error

    async def _claim_in_one_session(self) -> ProducerIdBlock:
        while True:
            current = await data_or_none(self._zk, producer_id_block.path())
            if current is None or current.stat is None:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"{producer_id_block.path()} does not exist")
            block = producer_id_block.next_block(producer_id_block.decode(current.data) if current.data else None, self._broker_id)
            if block.block_start > MAX_PRODUCER_ID - BLOCK_SIZE:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "Have exhausted all producerIds.")
            result = await submit_one(self._zk, SetData(producer_id_block.path(), producer_id_block.encode(block), current.stat.version))
            if result.ok or (result.code is Code.BAD_VERSION and await self._is_stored(block)):
                log.info("[ProducerId Manager %d]: Acquired new producerId block %s", self._broker_id, block)
                return block
            raise_unless(result, Code.BAD_VERSION)

    async def _is_stored(self, block: ProducerIdBlock) -> bool:
        """True where a write that seemed to fail had been done: its reply was lost and the adapter sent it twice."""
        current = await data_or_none(self._zk, producer_id_block.path())
        return current is not None and bool(current.data) and producer_id_block.decode(current.data or b"") == block
