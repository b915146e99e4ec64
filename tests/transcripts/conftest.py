"""The option that writes transcripts anew."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--rewrite`: known only where pytest is started on this folder."""
    parser.addoption("--rewrite", action="store_true", help="write the transcripts anew instead of comparing them")
