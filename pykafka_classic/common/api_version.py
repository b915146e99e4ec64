"""Kafka's versions as `inter.broker.protocol.version` and `message.format.version` name them: 2.8, 2.8-IV1, 0.10.2.1.

One release may have several: the protocol between brokers moved while it was being developed. A short name means the last of them.
Source: 2.8:core/src/main/scala/kafka/api/ApiVersion.scala.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, order=True)
class ApiVersion:
    """One version; they are ordered by `id`."""

    id: int  # 0 is 0.8.0
    version: str  # "2.8-IV1"; "0.9.0" has no IV part

    @staticmethod
    def parse(text: str) -> ApiVersion:
        """The version that a text names; parts that do not matter are ignored ("2.8.2" is 2.8-IV1). Raises ValueError with Kafka's words."""
        parts = text.split(".")
        name = ".".join(parts[: 3 if text.startswith("0.") else 2])
        if name not in _BY_NAME:
            raise ValueError(f"Version `{text}` is not a valid version")
        return _BY_NAME[name]

    @property
    def short_version(self) -> str:
        """Without the IV part: "2.8"."""
        return self.version.partition("-")[0]

    @property
    def record_version(self) -> int:
        """The magic of the record format that came with this version: 0, 1 or 2."""
        if self >= KAFKA_0_11_0_IV0:
            return 2
        return 1 if self >= KAFKA_0_10_0_IV0 else 0


_NAMES: Final = (
    "0.8.0 0.8.1 0.8.2 0.9.0 0.10.0-IV0 0.10.0-IV1 0.10.1-IV0 0.10.1-IV1 0.10.1-IV2 0.10.2-IV0 0.11.0-IV0 0.11.0-IV1 0.11.0-IV2 "
    "1.0-IV0 1.1-IV0 2.0-IV0 2.0-IV1 2.1-IV0 2.1-IV1 2.1-IV2 2.2-IV0 2.2-IV1 2.3-IV0 2.3-IV1 2.4-IV0 2.4-IV1 2.5-IV0 2.6-IV0 "
    "2.7-IV0 2.7-IV1 2.7-IV2 2.8-IV0 2.8-IV1"
)

ALL_VERSIONS: Final = tuple(ApiVersion(number, name) for number, name in enumerate(_NAMES.split()))
_BY_NAME: Final = {version.short_version: version for version in ALL_VERSIONS} | {version.version: version for version in ALL_VERSIONS}

KAFKA_0_10_0_IV0: Final = _BY_NAME["0.10.0-IV0"]  # KIP-31, 32: relative offsets and timestamps in messages
KAFKA_0_11_0_IV0: Final = _BY_NAME["0.11.0-IV0"]  # KIP-98: record batches, idempotent and transactional producers
KAFKA_0_11_0_IV2: Final = _BY_NAME["0.11.0-IV2"]  # KIP-101: followers truncate by leader epoch
KAFKA_2_1_IV2: Final = _BY_NAME["2.1-IV2"]  # KIP-110: zstd
KAFKA_2_7_IV0: Final = _BY_NAME["2.7-IV0"]  # KIP-584: feature versions; from here on followers truncate on fetch (KIP-595)
KAFKA_2_7_IV1: Final = _BY_NAME["2.7-IV1"]  # KIP-595: Fetch answers a diverging epoch
KAFKA_2_7_IV2: Final = _BY_NAME["2.7-IV2"]  # KIP-497: AlterIsr
KAFKA_2_8_IV0: Final = _BY_NAME["2.8-IV0"]  # KIP-516: topic ids
KAFKA_2_8_IV1: Final = _BY_NAME["2.8-IV1"]  # KIP-516: topic ids in LeaderAndIsr and UpdateMetadata
LATEST: Final = KAFKA_2_8_IV1


def minimum_for_record_version(record_version: int) -> ApiVersion:
    """The first version that knows a record format (magic 0, 1 or 2)."""
    return {0: ALL_VERSIONS[0], 1: KAFKA_0_10_0_IV0, 2: KAFKA_0_11_0_IV0}[record_version]
