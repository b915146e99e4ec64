"""Lines as records."""

from __future__ import annotations

import pytest

from pykafka_classic.cli.command import CommandFailed
from pykafka_classic.cli.console_producer import records


def test_a_line_is_a_value() -> None:
    assert list(records(iter([b"1,zs,18", b""]), {})) == [(None, b"1,zs,18"), (None, b"")]


def test_a_key_ends_at_the_first_separator() -> None:
    assert list(records(iter([b"a\t1\t2"]), {"parse.key": "true"})) == [(b"a", b"1\t2")]
    assert list(records(iter([b"a::b:c"]), {"parse.key": "TRUE", "key.separator": "::"})) == [(b"a", b"b:c")]
    assert list(records(iter([b"\tv"]), {"parse.key": "true"})) == [(b"", b"v")]
    assert list(records(iter([b"a:b"]), {"parse.key": "true", "key.separator": ""})) == [(b"", b"a:b")]


def test_a_line_without_a_key_ends_it_or_is_a_value_where_errors_are_ignored() -> None:
    with pytest.raises(CommandFailed, match=r"^No key found on line 2: none$"):
        list(records(iter([b"k\tv", b"none"]), {"parse.key": "true"}))
    assert list(records(iter([b"none"]), {"parse.key": "true", "ignore.error": "true"})) == [(None, b"none")]
