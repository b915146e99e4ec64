"""Every node that a real Kafka was seen to write belongs to a family, and comes back byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from tests.golden.znode_dumps import FOLDERS, StoredNode, stored_nodes
from zk_schema import FAMILIES, Family, family_of

# Seen by nobody: Kafka 2.8.2's tools write them only in situations that were not recorded, or other software does.
NOT_RECORDED: Final = {"/migration"}


def _distinct(folder: str) -> Iterator[StoredNode]:
    seen = set()
    for node in stored_nodes(folder):
        if (node.path, node.data) not in seen and node.path != "/" and not node.path.startswith("/zookeeper"):
            seen.add((node.path, node.data))
            yield node


def _family(node: StoredNode) -> Family:
    family = family_of(node.path)
    assert family is not None, f"{node.path} ({node.where}) belongs to no family"
    return family


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_node_belongs_to_a_family(folder: str) -> None:
    for node in _distinct(folder):
        _family(node)


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_value_is_encoded_to_the_bytes_it_was_decoded_from(folder: str) -> None:
    count = 0
    for node in _distinct(folder):
        family = _family(node)
        value = family.decode(node.data)
        if family.codec is not None and node.data is not None:
            assert family.codec.encode(value) == node.data, f"{node.path} ({node.where})"
            count += 1
    assert count > 20


@pytest.mark.parametrize("folder", FOLDERS)
def test_null_data_is_met_only_where_a_family_allows_it(folder: str) -> None:
    for node in _distinct(folder):
        family = _family(node)
        assert node.data is not None or family.codec is None or family.nullable, f"{node.path} ({node.where})"


def test_every_family_was_met() -> None:
    met = {_family(node).pattern for folder in FOLDERS for node in _distinct(folder) if node.data is not None or _family(node).codec is None}
    assert {family.pattern for family in FAMILIES} - met == NOT_RECORDED
