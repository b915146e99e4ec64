"""The ratios of a run as bars, on a logarithmic scale: an SVG without anything that must be loaded."""

from __future__ import annotations

import math
from html import escape
from pathlib import Path
from typing import Final

from comparison.results import Result, Results

ROW: Final = 20  # pixels
LABELS: Final = 400
BARS: Final = 420
VALUES: Final = 250
TOP: Final = 64
RATIO_MAX: Final = 16.0
TICKS: Final = (0.25, 0.5, 1, 2, 4, 8, 16)
RATIO_MIN: Final = TICKS[0]


def write_picture(results: Results, path: Path) -> None:
    """One bar a row that has a ratio: to the right where ours is ahead."""
    rows = [result for result in results.rows.values() if result.ratio is not None]
    width, height = LABELS + BARS + VALUES, TOP + ROW * len(rows) + 12
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="12" y="22" font-size="15" font-weight="bold">pykafka_classic beside {escape(str(results.about["peer"]))}</text>',
        '<text x="12" y="40" fill="#555">how many times better, medians of one run; right of 1: ours is ahead</text>',
    ]
    for tick in TICKS:
        x = _x(tick)
        lines.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{height - 10}" stroke="{"#333" if tick == 1 else "#ddd"}"/>')
        lines.append(f'<text x="{x:.1f}" y="{TOP - 10}" text-anchor="middle" fill="#555">{tick:g}</text>')
    for number, result in enumerate(rows):
        lines += _bar(result, TOP + ROW * number)
    path.write_text("\n".join([*lines, "</svg>"]) + "\n")


def _x(ratio: float) -> float:
    share = (math.log2(ratio) - math.log2(RATIO_MIN)) / (math.log2(RATIO_MAX) - math.log2(RATIO_MIN))
    return LABELS + BARS * min(1.0, max(0.0, share))


def _bar(result: Result, y: int) -> list[str]:
    assert result.ratio is not None
    colour = "#2a7f4f" if result.ratio >= result.row.bar else "#7fb59a" if result.ratio >= 1 else "#c0504d"
    left, right = sorted((_x(1), _x(result.ratio)))
    return [
        f'<text x="{LABELS - 10}" y="{y + 14}" text-anchor="end">{escape(result.row.title)}</text>',
        f'<rect x="{left:.1f}" y="{y + 3}" width="{max(1.0, right - left):.1f}" height="{ROW - 6}" fill="{colour}"/>',
        f'<text x="{LABELS + BARS + 10}" y="{y + 14}">{result.ratio:.2f}{"" if result.row.bar == 1 else f" (bar {result.row.bar:g})"}</text>',
    ]
