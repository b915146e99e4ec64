"""Numbers and times as people read them. Pure. Times are told in UTC, as brokers' logs tell them; what is not known is a dash."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

UNKNOWN: Final = "\N{EN DASH}"
_SIZES: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_UNITS: Final = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))
_YEAR_9999_MS: Final = 253_402_300_799_000


def count(number: float | None) -> str:
    """1234567 is 1,234,567."""
    return UNKNOWN if number is None else f"{number:,.0f}"


def size(number: float | None) -> str:
    """Bytes: 1536 is 1.5 KiB. Negative ones are not known."""
    if number is None or number < 0:
        return UNKNOWN
    for unit in _SIZES:
        if number < 1024 or unit == _SIZES[-1]:
            return f"{number:.0f} {unit}" if unit == "B" or number >= 100 else f"{number:.1f} {unit}"
        number /= 1024
    raise AssertionError("not reached")


def rate(number: float | None) -> str:
    """Of records, in a second: 0, 0.3, 12, 1,234."""
    if number is None:
        return UNKNOWN
    return "0" if number == 0 else f"{number:.1f}" if number < 10 else f"{number:,.0f}"


def duration(ms: float | None) -> str:
    """The two largest units: 83000 ms is 1 min 23 s."""
    if ms is None:
        return UNKNOWN
    if ms < 1000:
        return f"{ms:.0f} ms"
    if ms < 10_000:
        return f"{ms / 1000:.1f} s"
    parts: list[str] = []
    left = int(ms)
    for length, unit in _UNITS:
        if left >= length or parts:
            parts.append(f"{left // length} {unit}")
            left %= length
        if len(parts) == 2:
            break
    return " ".join(part for part in parts if not part.startswith("0 ")) or parts[0]


def moment(ms: int | None) -> str:
    """Date and time, to the second."""
    at = _at(ms)
    return UNKNOWN if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


def clock(ms: int | None) -> str:
    """The time of day, to the millisecond."""
    at = _at(ms)
    return UNKNOWN if at is None else f"{at:%H:%M:%S}.{at.microsecond // 1000:03d}"


def iso(ms: int | None) -> str:
    """For programs: 2026-11-21T17:00:00.123Z."""
    at = _at(ms)
    return "" if at is None else f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"


def plural(number: int, noun: str, nouns: str = "") -> str:
    """1 broker, 3 brokers."""
    return f"{count(number)} {noun if number == 1 else nouns or noun + 's'}"


def _at(ms: int | None) -> datetime | None:
    if ms is None or not 0 <= ms <= _YEAR_9999_MS:
        return None
    return datetime.fromtimestamp(ms / 1000, UTC)
