"""Versions sent by inter.broker.protocol.version; expected values: the table by release in facts/protocol.md 13."""

from __future__ import annotations

import pytest

from pykafka_classic.common.api_version import ALL_VERSIONS, ApiVersion
from pykafka_classic.protocol.api_keys import ApiKey, spec_of
from pykafka_classic.protocol.ibp import version_to_send
from pykafka_classic.protocol.schema import UnsupportedVersion

COLUMNS = (
    ApiKey.FETCH,
    ApiKey.LEADER_AND_ISR,
    ApiKey.UPDATE_METADATA,
    ApiKey.STOP_REPLICA,
    ApiKey.OFFSET_FOR_LEADER_EPOCH,
    ApiKey.LIST_OFFSETS,
    ApiKey.WRITE_TXN_MARKERS,
    ApiKey.CONTROLLED_SHUTDOWN,
)
BY_RELEASE: dict[str, tuple[int | None, ...]] = {
    "0.8.2": (0, 0, 0, 0, None, 0, None, 0),
    "0.9.0": (1, 0, 1, 0, None, 0, None, 1),
    "0.10.0": (2, 0, 2, 0, None, 0, None, 1),
    "0.10.1": (3, 0, 2, 0, None, 1, None, 1),
    "0.10.2": (3, 0, 3, 0, None, 1, None, 1),
    "0.11.0": (5, 0, 3, 0, 0, 2, 0, 1),
    "1.0": (5, 1, 4, 0, 0, 2, 0, 1),
    "1.1": (7, 1, 4, 0, 0, 2, 0, 1),
    "2.0": (8, 1, 4, 0, 1, 3, 0, 1),
    "2.1": (10, 1, 4, 0, 2, 4, 0, 1),
    "2.2": (10, 2, 5, 1, 2, 5, 0, 2),
    "2.3": (11, 2, 5, 1, 3, 5, 0, 2),
    "2.4": (11, 4, 6, 2, 3, 5, 0, 3),
    "2.5": (11, 4, 6, 2, 3, 5, 0, 3),
    "2.6": (11, 4, 6, 3, 3, 5, 0, 3),
    "2.7": (12, 4, 6, 3, 3, 5, 0, 3),
    "2.8": (12, 5, 7, 3, 4, 6, 1, 3),
}


@pytest.mark.parametrize("release", BY_RELEASE)
def test_versions_by_release_are_those_of_the_table(release: str) -> None:
    protocol = ApiVersion.parse(release)
    for key, expected in zip(COLUMNS, BY_RELEASE[release], strict=True):
        if expected is None:
            with pytest.raises(UnsupportedVersion, match=key.name):
                version_to_send(key, protocol)
        else:
            assert version_to_send(key, protocol) == expected, key


def test_versions_never_fall() -> None:
    for key in COLUMNS:
        if key not in (ApiKey.OFFSET_FOR_LEADER_EPOCH, ApiKey.WRITE_TXN_MARKERS):
            versions = [version_to_send(key, protocol) for protocol in ALL_VERSIONS]
            assert versions == sorted(versions)
            assert versions[-1] == spec_of(key).max_version


def test_step_inside_a_release_counts_from_its_first_version() -> None:
    assert version_to_send(ApiKey.FETCH, ApiVersion.parse("2.7-IV0")) == 11
    assert version_to_send(ApiKey.FETCH, ApiVersion.parse("2.7-IV1")) == 12
