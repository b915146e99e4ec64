"""Why something is as it is, in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pykafka_classic.monitor.store.rows import KAFKA, Batch, ChangeKind, ConfigRow, EventRow, GroupSample, GroupStateRow, MemberRow, PartitionSample
from pykafka_classic.monitor.why import Unknown, Why
from tests.unit.monitor.stores import CLUSTER, T0, World, ms, world

SESSIONS = {1: 0x1A, 2: 0x2A, 3: 0x3A}
BROKER = (
    b'{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},"endpoints":["PLAINTEXT://host:9092"],"jmx_port":-1,"features":{},'
    b'"timestamp":"1","version":5}'
)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[World]:
    """Three brokers; flights-0 on all of them, led by broker 1 since second 1."""
    with world(tmp_path) as made:
        made.write(0, *(made.row(f"/brokers/ids/{broker}", 0, BROKER, owner=session) for broker, session in SESSIONS.items()))
        made.write(1, made.topic("flights", 1, [1, 2, 3]), made.state("flights", 0, 1, 1, [1, 2, 3]))
        yield made


def clock(t_ms: int) -> str:
    """Seconds since T0."""
    return f"{(t_ms - T0) / 1000:g}s"


def why(here: World, t_s: float | None = None) -> Why:
    return Why(here.reader, CLUSTER, clock, None if t_s is None else ms(t_s))


def told(here: World, second: float, broker: int, name: str, subject: str, **facts: Any) -> None:
    here.batch(Batch(CLUSTER, ms(second), events=[EventRow(ms(second), broker, name, subject, facts)]))


def gone(here: World, broker: int, second: float) -> None:
    here.write(second, here.row(f"/brokers/ids/{broker}", second, BROKER, ChangeKind.REMOVED, owner=SESSIONS[broker]))


def shrunk(here: World, second: float) -> None:
    """The leader drops broker 3, as our brokers tell it."""
    facts = {
        "from": [1, 2, 3],
        "to": [1, 2],
        "leader_epoch": 0,
        "leader_end": 50,
        "high_watermark": 40,
        "replica_lag_time_max_ms": 30000,
        "out": [[3, 30400, 40]],
    }
    told(here, second - 0.1, 1, "isr-shrink", "flights-0", partition="flights-0", **facts)
    here.write(second, here.state("flights", 0, second, 1, [1, 2], epoch=1))


def test_a_partition_in_order(here: World) -> None:
    answer = why(here).partition("flights", 0)
    assert answer.well
    assert answer.sentences == ("Broker 1 leads flights-0 since 1s (leader epoch 0, controller epoch 1).", "Its ISR [1,2,3] is complete since 1s.")


def test_an_isr_that_shrank_is_told_with_the_lag_and_the_session(here: World) -> None:
    told(here, 0, 3, "broker-started", "broker 3", session="0x3a")
    gone(here, 3, 9)
    shrunk(here, 11)
    answer = why(here).partition("flights", 0)
    assert answer.sentences[0] == (
        "ISR of flights-0 is [1,2] since 11s: broker 3 last caught up 30.4 s before (replica.lag.time.max.ms = 30000); its session 0x3a expired at 9s."
    )
    assert (answer.well, answer.since_ms, answer.subjects) == (False, ms(11), ("flights-0", "broker 3"))


def test_the_past_is_told_as_it_was(here: World) -> None:
    shrunk(here, 11)
    assert why(here, 10).partition("flights", 0).well
    assert not why(here, 11).partition("flights", 0).well


def test_a_broker_that_was_stopped_is_not_said_to_have_expired(here: World) -> None:
    told(here, 8, 3, "broker-stopping", "broker 3", session="0x3a")
    gone(here, 3, 9)
    here.write(9, here.state("flights", 0, 9, 1, [1, 2], epoch=1))
    assert why(here).partition("flights", 0).sentences[0] == (
        "ISR of flights-0 is [1,2] since 9s: broker 3 is gone: its session 0x3a was closed (the broker was told to stop) at 9s."
    )
    assert why(here).broker(3).sentences[0] == "Broker 3 is gone since 9s: its session 0x3a was closed (the broker was told to stop)."


def test_of_brokers_that_tell_nothing_only_what_zookeeper_shows_is_said(here: World) -> None:
    gone(here, 3, 9)
    here.write(9, here.state("flights", 0, 9, 1, [1, 2], epoch=1))
    assert "its session 0x3a ended (it expired, or the broker was stopped) at 9s" in why(here).partition("flights", 0).sentences[0]


def test_a_broker_that_lags_or_is_back_is_told_apart(here: World) -> None:
    here.batch(Batch(CLUSTER, ms(2), configs=[ConfigRow("broker", "1", {"replica.lag.time.max.ms": ("30000", "DEFAULT_CONFIG")})]))
    here.write(9, here.state("flights", 0, 9, 1, [1, 2], epoch=1))
    assert why(here).partition("flights", 0).sentences[0].endswith("not caught up with leader 1 in time (replica.lag.time.max.ms = 30000).")
    gone(here, 3, 10)
    here.write(12, here.row("/brokers/ids/3", 12, BROKER, owner=0x4A))
    assert why(here).partition("flights", 0).sentences[0].endswith("broker 3 is back since 12s, and has not caught up yet.")


def test_a_new_leader_is_told_with_what_became_of_the_old_one(here: World) -> None:
    gone(here, 1, 9)
    here.write(10, here.state("flights", 0, 10, 2, [2, 3], epoch=1))
    assert why(here).partition("flights", 0).sentences[1] == (
        "Broker 2 leads flights-0 since 10s (leader epoch 1, controller epoch 1): broker 1 led before, and its session 0x1a ended (it expired, or the broker "
        "was stopped); the preferred leader is broker 1."
    )


def test_a_partition_without_a_leader(here: World) -> None:
    here.write(8, here.state("flights", 0, 8, 1, [1], epoch=1))
    gone(here, 1, 9)
    here.write(9, here.state("flights", 0, 9, -1, [1], epoch=2))
    here.batch(Batch(CLUSTER, ms(9), configs=[ConfigRow("topic", "flights", {"unclean.leader.election.enable": ("false", "DEFAULT_CONFIG")})]))
    assert why(here).partition("flights", 0).sentences[1] == (
        "flights-0 has no leader since 9s; broker 1 led before: of its ISR [1] nobody is alive; [2,3] may lack records "
        "(unclean.leader.election.enable = false)."
    )


def test_a_leader_that_does_not_answer_or_is_gone_is_no_leader_to_be_content_with(here: World) -> None:
    told(here, 5, 1, "broker-silent", "broker 1", why="refused")
    answer = why(here).partition("flights", 0)
    assert not answer.well
    assert answer.sentences[-1] == (
        "Broker 1 is registered at host:9092 since 0s, in session 0x1a; but it does not answer since 5s: when its session expires, its leaderships move."
    )
    told(here, 6, 1, "broker-answers", "broker 1")
    assert why(here).partition("flights", 0).well
    gone(here, 1, 9)
    assert why(here).partition("flights", 0).sentences[-1].startswith("Broker 1 is gone since 9s")


def test_a_group_that_is_behind(here: World) -> None:
    member = MemberRow("m-1", "radar", "10.0.0.1", None, (("flights", 0),))
    here.batch(
        Batch(
            CLUSTER,
            ms(5),
            partitions=[PartitionSample("flights", 0, 0, 100, 1000)],
            groups=[GroupSample("g", KAFKA, "flights", 0, 60, 40, ms(3), exact=True)],
            group_states=[GroupStateRow("g", "Stable", "range", 2, (member,))],
        )
    )
    assert why(here).group("g").sentences == (
        "Group g (at broker 2) is Stable since 5s, members (and their partitions): radar (1).",
        "It is 40 records, 2.0 s behind on flights-0: it has committed 60 of 100.",
    )
    told(here, 6, 2, "member-failed", "group g", group="g", member="m-1", client="radar", host="10.0.0.1", session_timeout_ms=10000)
    here.batch(Batch(CLUSTER, ms(6), group_states=[GroupStateRow("g", "Empty", "", 2, ())]))
    assert why(here).group("g").sentences[0] == "Group g (at broker 2) is Empty since 6s: nobody reads; member radar sent no heartbeat for 10.0 s until 6s."


def test_what_is_not_known_is_said(here: World) -> None:
    with pytest.raises(Unknown, match="There is no partition flights-7, as far as is known"):
        why(here).partition("flights", 7)
    with pytest.raises(Unknown, match="There is no broker 9, as far as is known"):
        why(here).broker(9)
    with pytest.raises(Unknown, match="There is no group 'nobody', as far as is known"):
        why(here).group("nobody")
