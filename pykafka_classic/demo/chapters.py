"""The demo's chapters, in order. Each says what it does, does it, and leaves in the story what the next one needs."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # it is there, but not declared as exported

from pykafka_classic.demo.console import ProgressBar, clock_time, heading, line, say
from pykafka_classic.demo.flights import read_flights
from pykafka_classic.demo.places import offer_monitor
from pykafka_classic.demo.producing import FlightProducer
from pykafka_classic.demo.reading import account, read_all
from pykafka_classic.demo.story import BROKERS, PARTITIONS, REPLICAS, TOPIC, Story, now_ms
from pykafka_classic.demo.witness import Sighting, ZooKeeperWitness
from pykafka_classic.demo.znode_tree import draw, read_tree
from pykafka_classic.edges.blocking_zookeeper import BlockingZooKeeper
from pykafka_classic.edges.child_processes import wait_until

STEADY_PER_SECOND: Final = 10_000
KILL_AT: Final = 0.6  # of all flights: when so many are sent, a broker dies
WAIT_S: Final = 60.0
NEEDED_BY_SPARK: Final = ("pyspark", "pyarrow", "numpy")
SMALL_PIPELINE: Final = ("--flights", "12000", "--batches", "2", "--one-process")  # a few seconds instead of a minute; `make pipeline` is the whole of it


def start_cluster(story: Story) -> None:
    """Chapter: ZooKeeper and three brokers."""
    heading("A cluster: one ZooKeeper, three brokers")
    cluster = story.cluster
    began = time.monotonic()
    cluster.start_zookeeper()
    line(f"ZooKeeper, the real one, on {cluster.zookeeper.address} (process {cluster.zookeeper.pid}), up after {time.monotonic() - began:.1f} s")
    began = time.monotonic()
    for broker in cluster.brokers:
        broker.start()
    cluster.wait_ready()
    pids = ", ".join(f"{number} on {port} (process {broker.pid})" for number, (port, broker) in enumerate(zip(cluster.ports, cluster.brokers, strict=True)))
    line(f"Brokers {pids}")
    line(f"registered, controller elected, serving after {time.monotonic() - began:.1f} s")
    line(offer_monitor(cluster))


def create_topic(story: Story) -> None:
    """Chapter: the topic, and what ZooKeeper holds now."""
    heading(f"A topic: {TOPIC}, {PARTITIONS} partitions, {REPLICAS} replicas")
    admin = AdminClient({"bootstrap.servers": story.cluster.bootstrap, "log_level": 0})
    admin.create_topics([NewTopic(TOPIC, PARTITIONS, REPLICAS, config={"min.insync.replicas": "2"})])[TOPIC].result(WAIT_S)
    with BlockingZooKeeper(story.cluster.zookeeper.address) as zk:
        wait_until(lambda: _all_led(admin), seconds=WAIT_S)
        for drawn in draw(read_tree(zk)):
            line(drawn)
    story.witness = ZooKeeperWitness(story.cluster.zookeeper.address, TOPIC, PARTITIONS)
    story.witness.start()


def _all_led(admin: AdminClient) -> bool:
    partitions = admin.list_topics(TOPIC, timeout=WAIT_S).topics[TOPIC].partitions
    return len(partitions) == PARTITIONS and all(partition.leader >= 0 for partition in partitions.values())


def produce_and_kill(story: Story) -> None:
    """Chapter: the flights come in, half of them as fast as it goes; then at a steady pace, and the leader of partition 0 is killed."""
    heading("Flights come in, and a broker dies")
    story.flights = read_flights()
    total = len(story.flights)
    story.producer = FlightProducer(story.cluster.bootstrap, TOPIC)
    places = story.producer.ledger.places
    bar = ProgressBar(total, "acknowledged")
    half = total // 2
    began = time.monotonic()
    say(f"{total:,} flights, keyed by carrier, acks=all: a record counts once every replica in sync has it. The first half as fast as it goes:")
    story.producer.send(story.flights[:half], lambda: bar.show(len(places)))
    story.producer.flush(lambda: bar.show(len(places)))
    seconds = time.monotonic() - began
    bar.interrupt(
        f"  {half:,} in {seconds:.1f} s, {half / seconds:,.0f} a second. Now {STEADY_PER_SECOND:,} a second, and soon kill -9 for the leader of {TOPIC}-0:"
    )
    kill_from = int(total * KILL_AT)
    story.producer.send(story.flights[half:kill_from], lambda: bar.show(len(places)), per_second=STEADY_PER_SECOND)
    _kill_leader(story, bar)
    story.producer.send(story.flights[kill_from:], lambda: bar.show(len(places)), per_second=STEADY_PER_SECOND)
    story.producer.flush(lambda: bar.show(len(places)))
    bar.show(len(places), last=True)


def _kill_leader(story: Story, bar: ProgressBar) -> None:
    assert story.producer is not None
    story.producer.ledger.forget_pauses()
    story.victim = story.leader(0)
    broker = story.cluster.brokers[story.victim]
    pid = broker.pid
    story.killed_ms = now_ms()
    broker.kill()
    bar.interrupt(f"  {clock_time(story.killed_ms)}  broker {story.victim} (process {pid}), which leads {TOPIC}-0: SIGKILL")


def tell_what_happened(story: Story) -> None:
    """Chapter: the timeline of the failover."""
    heading("What happened")
    assert story.producer is not None
    seen = story.sightings(story.killed_ms)
    if 0 in story.producer.ledger.pauses:
        pause = story.producer.ledger.pauses[0]
        seen.append(
            Sighting(pause[1], "producer", f"first record of {TOPIC}-0 acknowledged again, {(pause[1] - pause[0]) / 1000:.1f} s after the last one before it")
        )
    line(f"{clock_time(story.killed_ms)}  +0.000  {'kill -9':<10} broker {story.victim}")
    _show(sorted(seen), story.killed_ms)
    if story.leader(0) in (-1, story.victim):
        story.failed.append(f"{TOPIC}-0 has no new leader")


def _show(seen: list[Sighting], since_ms: float) -> None:
    for each in seen:
        line(f"{clock_time(each.time_ms)}  +{(each.time_ms - since_ms) / 1000:.3f}  {each.who:<10} {each.what}")


def read_back(story: Story) -> None:
    """Chapter: every record read and counted."""
    heading("Every record read back")
    assert story.producer is not None
    bar = ProgressBar(len(story.flights), "read")
    found = read_all(story.cluster.bootstrap, TOPIC, PARTITIONS, bar.show)
    bar.show(len(found), last=True)
    sums = account(story.producer.ledger.places, found)
    line(f"acknowledged {sums.acknowledged:,}, read {sums.read:,}, lost {sums.lost:,}, duplicates {sums.duplicates:,}")
    line(f"at another offset than was acknowledged {sums.misplaced:,}, out of order within a carrier {sums.out_of_order:,}")
    for reason in dict.fromkeys(story.producer.ledger.failures):
        line(f"not acknowledged: {story.producer.ledger.failures.count(reason):,} times {reason}")
    if sums.lost or sums.misplaced or sums.acknowledged < len(story.flights):
        story.failed.append("not every acknowledged record was there")


def bring_back(story: Story) -> None:
    """Chapter: the killed broker returns, catches up and is in sync again."""
    heading(f"Broker {story.victim} comes back")
    assert story.witness is not None
    states = story.witness.states
    began = now_ms()
    story.cluster.restart(story.victim)
    try:
        wait_until(lambda: all(story.victim in state.isr for state in list(states.values())), seconds=WAIT_S)
    except TimeoutError:
        story.failed.append(f"broker {story.victim} is not back in every ISR within {WAIT_S:g} s")
    _show(story.sightings(began), began)
    back = sum(story.victim in state.isr for state in states.values())
    line(f"In sync on {back} of {PARTITIONS} partitions, {(now_ms() - began) / 1000:.1f} s after its start")


def read_by_spark(story: Story) -> None:
    """Chapter: two jobs on Spark, in a process of their own: statistics by one group, their totals by another. Left out where Spark's libraries are missing."""
    heading("Spark reads by group")
    missing = [name for name in NEEDED_BY_SPARK if importlib.util.find_spec(name) is None]
    if missing:
        say(f"Left out: {' and '.join(missing)} is not installed. `make setup` installs all that this needs.")
        return
    say("Two jobs: the first counts delays, the second reads what it wrote and compares it with the file. `make pipeline` does it with the whole year.")
    with tempfile.TemporaryDirectory(prefix="pykafka-pipeline-") as directory:
        options = ["--bootstrap", story.cluster.bootstrap, "--directory", f"{directory}/pipeline", *SMALL_PIPELINE]
        log = Path(directory, "spark.log")
        with log.open("wb") as spark_says:
            status = subprocess.run([sys.executable, "-m", "spark_integration.pipelines.run", *options], stderr=spark_says, check=False).returncode
        if status:
            line("\n".join(log.read_text(errors="replace").splitlines()[-20:]))
            story.failed.append(f"the pipeline on Spark ended with status {status}")


def stop_cluster(story: Story) -> None:
    """Chapter: a clean end."""
    heading("The end")
    story.close()
    began = time.monotonic()
    story.cluster.stop()
    line(f"All {BROKERS} brokers and ZooKeeper stopped, {time.monotonic() - began:.1f} s")


CHAPTERS: Final[tuple[Callable[[Story], None], ...]] = (
    start_cluster,
    create_topic,
    produce_and_kill,
    tell_what_happened,
    read_back,
    bring_back,
    read_by_spark,
    stop_cluster,
)
