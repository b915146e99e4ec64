"""For all tests."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.schedule import LongestFirst, place

# A busy machine is no failure; what takes too long is seen in the total.
settings.register_profile("without deadlines", deadline=None)
settings.load_profile("without deadlines")

# Users have none of this, so the tests' children have not: it would hide that something waits in a buffer.
os.environ.pop("PYTHONUNBUFFERED", None)
# Nor this, which images of containers like to set: without its bytecode a broker takes nearly twice the processor time to start, and the tests start hundreds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

os.environ["SPARK_CONF_DIR"] = str(Path(__file__).parent / "spark_conf")

# A shell has its background jobs ignore Ctrl-C, and so would all tools that the tests start: those that send them Ctrl-C would wait in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long ones first."""
    items.sort(key=lambda item: place(item.path))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """What `-n auto` is: half as many again as there are cores, for a good part of the time tests wait for sessions, rebalances and processes."""
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else (os.cpu_count() or 2) * 3 // 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LongestFirst | None:
    """For `--dist loadfile`; anything else is as it is."""
    if config.getvalue("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False
    return LongestFirst(config, log)
