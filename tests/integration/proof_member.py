"""A member of a group as a process of its own, for test_group_proof.py: writes down what it owns and what it reads, a line of JSON each.

    proof_member GENERATION ADDRESS TOPIC GROUP DIARY      (GENERATION: zookeeper or coordinator; DIARY: a path, whose last part is the member's name)

Lines of DIARY.jsonl: {"owns": [partitions], "at": ms} whenever that changes, {"read": [[partition, offset, number], ...], "at": ms},
{"member": [id, generation], "at": ms}, {"refused": text, "at": ms} where a commit was. SIGTERM ends it politely.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pykafka_classic.client.consumer_settings import ConsumerSettings
from pykafka_classic.client.subscription import Subscription
from pykafka_classic.clients import CommitFailed, Consumer, RebalanceInProgress
from pykafka_classic.common.zookeeper import SessionExpired
from pykafka_classic.edges.zookeeper_consumer import ZooKeeperConsumer

ending = False


def tell(**what: Any) -> None:
    """A line."""
    with Path(sys.argv[5]).with_suffix(".jsonl").open("a", encoding="utf-8") as diary:
        diary.write(json.dumps(what | {"at": round(time.time() * 1000)}) + "\n")


def end(*_: object) -> None:
    """SIGTERM."""
    global ending  # noqa: PLW0603  # a signal handler has no other way
    ending = True


def by_coordinator(address: str, topic: str, group: str) -> None:
    """The second generation: commits what it was given before it asks for more."""
    owned: set[int] = set()

    def assigned(partitions: Iterable[Any]) -> None:
        owned.update(each.partition for each in partitions)
        tell(owns=sorted(owned))
        tell(member=list(consumer._core._member.generation[::-1]))  # type: ignore[union-attr]  # what a fenced member would commit with

    def given_up(partitions: Iterable[Any]) -> None:
        owned.difference_update(each.partition for each in partitions)
        tell(owns=sorted(owned))

    settings: dict[str, Any] = {"session_timeout_ms": 3_000, "heartbeat_interval_ms": 300, "auto_offset_reset": "earliest", "enable_auto_commit": False}
    with Consumer(address, group_id=group, partition_assignment_strategy="cooperative-sticky", metadata_max_age_ms=2_000, **settings) as consumer:
        consumer.subscribe([topic], on_assigned=assigned, on_revoked=given_up)
        while not ending:
            records = consumer.poll(timeout_ms=100)
            if not records:
                continue
            tell(read=[[record.partition, record.offset, int(record.value or b"")] for record in records])
            try:
                consumer.commit()
            except (CommitFailed, RebalanceInProgress) as error:
                tell(refused=str(error))
    tell(owns=[])


def by_zookeeper(address: str, topic: str, group: str, name: str) -> None:
    """The first generation: commits what it has written down. (Auto-commit would commit what was handed out, and this process may be killed in between.)"""
    settings = ConsumerSettings(
        group, consumer_id=name, auto_offset_reset="smallest", auto_commit_enable=False, rebalance_backoff_ms=300, rebalance_max_retries=40
    )
    owned: list[int] = []
    with ZooKeeperConsumer(address, Subscription.of_topics([topic]), settings, session_timeout_ms=3_000) as consumer:
        session = consumer._zk.session_id
        while not ending:
            batch: list[list[int]] = []
            while len(batch) < 500 and (record := consumer.poll(timeout_ms=0 if batch else 50)) is not None:
                if consumer._zk.session_id != session:  # while it slept: what it owned was others', though it may have it again by now
                    tell(read=batch)
                    tell(owns=[])
                    session, owned, batch = consumer._zk.session_id, [], []
                batch.append([record.partition, record.offset, int(record.value or b"")])
            if batch:
                tell(read=batch)
                try:
                    consumer.commit()
                except SessionExpired as error:
                    tell(refused=f"the session is over {error}")
            now = sorted(each.partition for each in consumer.owned)
            if now != owned:
                owned = now
                tell(owns=owned)
    tell(owns=[])


def main() -> None:
    """See the module."""
    generation, address, topic, group, diary = sys.argv[1:]
    signal.signal(signal.SIGTERM, end)
    if generation == "zookeeper":
        by_zookeeper(address, topic, group, Path(diary).name)
    else:
        by_coordinator(address, topic, group)


if __name__ == "__main__":
    main()
