"""Whole brokers under a seed (run.py says what happens to them, checkers.py what must hold). `make simulate` runs many more seeds.

The seeds run in a process of their own, in two halves at once, so that a test run with one worker waits no longer than it must; their failure shows the
schedule and the command that runs the seed again.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.broken import VARIANTS
from tests.simulation.checkers import Committed, Entry, Expectations, Violation
from tests.simulation.run import Outcome, run_seed, story_of
from tests.unit.log.helpers import PARTITION

ROOT = Path(__file__).parents[2]
SEEDS = 50
VARIANT_SEEDS_MAX = 30


def simulate(*arguments: str, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    """Run the command as a user does."""
    command = [sys.executable, "-m", "tests.simulation", *arguments]
    return subprocess.run(command, cwd=ROOT, env={"PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, timeout=600, check=False)


def test_nothing_acknowledged_is_lost_and_the_cluster_becomes_whole_under_fifty_seeds() -> None:
    done = simulate("--seeds", str(SEEDS), "--workers", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{SEEDS} seeds" in done.stdout


def first_failure(variant: str) -> Outcome:
    """The first seed that shows that a variant is broken."""
    for seed in range(VARIANT_SEEDS_MAX):
        outcome = run_seed(seed, VARIANTS[variant]())
        if outcome.violation:
            return outcome
    raise AssertionError(f"{variant} passes {VARIANT_SEEDS_MAX} seeds")


# What each variant breaks, in the words of the checkers. Which of these shows first is chance's.
SYMPTOMS = {
    "ack-before-isr": ("one batch was acknowledged", "is lost", "is not the one committed", "one batch was consumed"),
    "no-epoch-fencing": (
        "obeys the controller of epoch",
        "is committed",
        "are committed",
        "lead",
        "is lost",
        "is not the one committed",
        "fell on its leader",
        "one batch was",
    ),
    "truncate-to-high-watermark": ("are committed", "is committed", "is lost", "is not the one committed"),
}


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_a_broken_variant_is_caught_by_a_broken_promise(variant: str) -> None:
    outcome = first_failure(variant)
    assert outcome.violation is not None
    assert any(symptom in outcome.violation for symptom in SYMPTOMS[variant]), story_of(outcome)
    assert run_seed(outcome.seed).violation is None, "the seed fails without the break too"


def test_a_seed_tells_the_whole_run_whatever_order_sets_have() -> None:
    once, again = (simulate("--seed", "3", hash_seed=seed) for seed in ("1", "2"))
    assert once.stdout == again.stdout
    assert once.returncode == 0, once.stdout


def test_other_seeds_are_other_runs() -> None:
    assert run_seed(3).signature != run_seed(4).signature


def test_a_failing_seed_prints_its_schedule_and_how_to_run_it_again() -> None:
    done = simulate("--variant", "ack-before-isr", "--seeds", str(VARIANT_SEEDS_MAX), "--workers", "2")
    assert done.returncode == 1, done.stdout
    assert "again: make simulate SEED=" in done.stdout
    assert re.search(r"^ +\d+\.\d{3} s  \w+", done.stdout, re.MULTILINE), "the schedule"


def entry(offset: int, crc: int) -> Entry:
    """A batch of one record."""
    return Entry(offset, offset, 0, crc)


def test_what_is_committed_must_be_what_was_acknowledged() -> None:
    expectations = Expectations()
    expectations.expect(PARTITION, 0, 11, "acknowledged")
    with pytest.raises(Violation, match="was acknowledged is lost"):
        expectations.commit(PARTITION, entry(0, 12))


def test_what_is_acknowledged_must_be_what_is_committed() -> None:
    expectations = Expectations()
    expectations.commit(PARTITION, entry(0, 12))
    with pytest.raises(Violation, match="not the one committed"):
        expectations.expect(PARTITION, 0, 11, "acknowledged")


def test_at_the_end_everything_acknowledged_must_be_committed() -> None:
    expectations = Expectations()
    expectations.expect(PARTITION, 0, 11, "acknowledged")
    with pytest.raises(Violation, match="is lost"):
        expectations.require_complete()
    expectations.commit(PARTITION, entry(0, 11))
    expectations.require_complete()


def test_committed_batches_are_found_by_their_first_offset() -> None:
    committed = Committed()
    committed.append(entry(0, 1))
    assert (committed.at(0), committed.at(1), committed.end_offset) == (entry(0, 1), None, 1)
