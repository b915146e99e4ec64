"""For all tests."""

from __future__ import annotations

from hypothesis import settings

# A busy machine is no failure; what takes too long is seen in the total.
settings.register_profile("without deadlines", deadline=None)
settings.load_profile("without deadlines")
