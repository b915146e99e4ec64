"""The samples in config/: every key known, every value the default unless its comment says otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pykafka_classic.common.config import BROKER_KEYS, KafkaConfig
from pykafka_classic.common.properties import parse_properties

CONFIG = Path(__file__).resolve().parents[3] / "config"
SERVER = CONFIG / "server.properties"
ZOOKEEPER_KEYS = {"dataDir", "clientPort", "maxClientCnxns", "admin.enableServer", "admin.serverPort", "4lw.commands.whitelist"}


def entries(path: Path) -> Iterator[tuple[str, str, str, bool]]:
    """Key, value, the comment above it (that of the block of keys it stands in), and whether it is in force."""
    comment, fresh = "", True
    for line in path.read_text().splitlines():
        entry = re.fullmatch(r"(#?)([A-Za-z0-9.]+)=(.*)", line)
        if entry:
            fresh = True
            yield entry[2], entry[3], comment, not entry[1]
        elif line.startswith("# "):
            comment, fresh = (line if fresh else f"{comment} {line}"), False


@pytest.mark.parametrize(("key", "value", "comment", "in_force"), list(entries(SERVER)))
def test_server_sample_has_known_keys_with_comments_and_marks_what_is_not_the_default(key: str, value: str, comment: str, in_force: bool) -> None:
    assert key in BROKER_KEYS
    assert comment
    parsed = BROKER_KEYS[key].parse(value)
    if in_force and key not in ("log.dirs", "zookeeper.connect"):  # the one shows log.dir's default, the other has none
        assert parsed == BROKER_KEYS[key].default or "Default: " in comment


def test_server_sample_is_valid_and_has_no_unknown_key() -> None:
    assert KafkaConfig.from_properties(parse_properties(SERVER.read_text())).unknown_keys == ()


def test_zookeeper_sample_has_known_keys_with_comments() -> None:
    found = list(entries(CONFIG / "zookeeper.properties"))
    assert {key for key, *_ in found} == ZOOKEEPER_KEYS
    assert all(comment for _, _, comment, _ in found)
