"""Kafka's versions. Expected values: 2.8:core/src/test/scala/unit/kafka/api/ApiVersionTest.scala."""

from __future__ import annotations

import pytest

from pykafka_classic.common.api_version import ALL_VERSIONS, LATEST, ApiVersion, minimum_for_record_version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("0.8.0", "0.8.0"),
        ("0.8.0.1", "0.8.0"),
        ("0.9.0.1", "0.9.0"),
        ("0.10.0", "0.10.0-IV1"),
        ("0.10.0-IV0", "0.10.0-IV0"),
        ("0.10.1.1", "0.10.1-IV2"),
        ("0.11.0", "0.11.0-IV2"),
        ("1.0.1", "1.0-IV0"),
        ("2.1", "2.1-IV2"),
        ("2.8.2", "2.8-IV1"),
        ("2.8-IV0", "2.8-IV0"),
    ],
)
def test_short_names_mean_the_last_of_their_release(text: str, version: str) -> None:
    assert ApiVersion.parse(text).version == version


@pytest.mark.parametrize("text", ["", "x", "0.7.0", "2.8-IV9", "3.0", "2"])
def test_unknown_version_is_refused_in_kafkas_words(text: str) -> None:
    with pytest.raises(ValueError, match=f"Version `{text}` is not a valid version"):
        ApiVersion.parse(text)


@pytest.mark.parametrize(("text", "magic"), [("0.9.0", 0), ("0.10.0", 1), ("0.10.2", 1), ("0.11.0-IV0", 2), ("2.8", 2)])
def test_record_format_of_a_version(text: str, magic: int) -> None:
    assert ApiVersion.parse(text).record_version == magic


def test_versions_are_ordered_by_age() -> None:
    assert list(ALL_VERSIONS) == sorted(ALL_VERSIONS)
    assert ApiVersion.parse("0.10.0") < ApiVersion.parse("0.9.0.1") or ApiVersion.parse("0.9.0.1") < ApiVersion.parse("0.10.0") < LATEST


@pytest.mark.parametrize(("magic", "short"), [(0, "0.8.0"), (1, "0.10.0"), (2, "0.11.0")])
def test_first_version_of_a_record_format(magic: int, short: str) -> None:
    assert minimum_for_record_version(magic).short_version == short
