"""For all tests."""

from __future__ import annotations

import os
import signal

from hypothesis import settings

# A busy machine is no failure; what takes too long is seen in the total.
settings.register_profile("without deadlines", deadline=None)
settings.load_profile("without deadlines")

# Users have none of this, so the tests' children have not: it would hide that something waits in a buffer.
os.environ.pop("PYTHONUNBUFFERED", None)
# Nor this, which images of containers like to set: without its bytecode a broker takes nearly twice the processor time to start, and the tests start hundreds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell has its background jobs ignore Ctrl-C, and so would all tools that the tests start: those that send them Ctrl-C would wait in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
