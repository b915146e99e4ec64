"""Access lists as they are written and printed. Bits and letters: ZooKeeper's ZooDefs.Perms."""

from __future__ import annotations

import pytest

from pykafka_classic.cli.shell_acls import acl_text, parse_acl
from pykafka_classic.edges.shell_requests import Acl


@pytest.mark.parametrize(
    ("text", "entries", "complaints"),
    [
        ("world:anyone:cdrwa", (Acl(31, "world", "anyone"),), []),
        ("digest:u:hash=:r,ip:10.0.0.1:wa", (Acl(1, "digest", "u:hash="), Acl(18, "ip", "10.0.0.1")), []),
        ("auth::cd", (Acl(12, "auth", ""),), []),
        ("world:anyone:rr", (Acl(1, "world", "anyone"),), []),
        ("world:anyone:rx", (Acl(1, "world", "anyone"),), ["Unknown perm type: x"]),
        ("world:anyone", (), ["world:anyone does not have the form scheme:id:perm"]),
        (",", (), []),
    ],
)
def test_a_list_is_read(text: str, entries: tuple[Acl, ...], complaints: list[str]) -> None:
    assert parse_acl(text) == (entries, complaints)


def test_an_entry_is_printed_with_its_letters_in_zookeepers_order() -> None:
    assert acl_text(Acl(31, "world", "anyone")) == "'world,'anyone\n: cdrwa"
    assert acl_text(Acl(0, "ip", "::1")) == "'ip,'::1\n: "
