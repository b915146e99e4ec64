"""Run seeds; print the schedule of the first that fails, and how to see it again.

python -m tests.simulation --seeds 1000                      all of 0..999, on all cores
python -m tests.simulation --seed 17                         one, with its schedule
python -m tests.simulation --seed 17 --log                   and with what the brokers log
python -m tests.simulation --variant ack-before-isr          a broken variant: here a failure is what one hopes for
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import os
import sys
import time
from functools import partial

from tests.simulation.broken import VARIANTS
from tests.simulation.run import Outcome, run_seed, story_of


def run_variant(seed: int, variant: str | None) -> Outcome:
    """One run, for a worker process."""
    return run_seed(seed, VARIANTS[variant]() if variant else None)


def run_many(seeds: range, variant: str | None, workers: int) -> list[Outcome]:
    """The outcomes; stops at the first that fails."""
    outcomes: list[Outcome] = []
    with multiprocessing.Pool(workers) as pool:
        for outcome in pool.imap(partial(run_variant, variant=variant), seeds, chunksize=4):
            outcomes.append(outcome)
            if len(outcomes) % 100 == 0:
                print(f"{len(outcomes)} seeds", flush=True)
            if outcome.violation:
                break
        pool.terminate()
    return outcomes


def main() -> int:
    """Exit status 0: all seeds are well."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description="Whole brokers under a seed.")
    parser.add_argument("--seeds", type=int, default=1000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--seed", type=int, help="this one alone")
    parser.add_argument("--variant", choices=sorted(VARIANTS), help="a broken variant of the code")
    parser.add_argument("--log", action="store_true", help="with --seed: show what the brokers log")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if options.log:
        logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    if options.seed is not None:
        outcomes = [run_variant(options.seed, options.variant)]
        print(story_of(outcomes[0]))
    else:
        started = time.monotonic()
        outcomes = run_many(range(options.first, options.first + options.seeds), options.variant, options.workers)
        if outcomes and outcomes[-1].violation:
            print(story_of(outcomes[-1]))
        totals = [sum(getattr(each, name) for each in outcomes) for name in ("steps", "sent", "acknowledged", "elections")]
        print("{} seeds in {:.0f} s: {} steps, {} batches sent, {} acknowledged, {} leader epochs".format(len(outcomes), time.monotonic() - started, *totals))
    return 1 if any(each.violation for each in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
