#!/usr/bin/env python3
"""Draws the rows of `scenarios --json` as SVG charts: charts.py ROWS.json FOLDER"""

import json
import math
import sys
from html import escape
from pathlib import Path

# Okabe and Ito's colors, which color-blind people can distinguish, on white and on black; the limit is gray.
STYLES = {
    "actor": ("#0072B2", "circle"),
    "decoder": ("#56B4E9", "triangle"),
    "thumbnail": ("#0072B2", "circle"),
    "operation-queue": ("#D55E00", "square"),
    "vipsthumbnail": ("#D55E00", "square"),
    "urlsession": ("#B8860B", "triangle"),
    "async-http-client": ("#009E73", "diamond"),
    "curl-multi": ("#808080", "circle"),
    "djpeg": ("#808080", "circle"),
    "dwebp": ("#808080", "circle"),
}
PROTOCOLS = {"https-1.1": "HTTP/1.1", "https-2": "HTTP/2"}
OTHER = ("#CC79A7", "square")

PANEL_WIDTH, PANEL_HEIGHT = 300, 240
LEFT, TOP, BOTTOM = 62, 66, 52
ROW_GAP = 92  # From the axis of a diagram to the one below, with their titles.
LABEL_WIDTH, LABEL_HEIGHT = 122, 14  # The size of the labels at the ends of the lines.

CSS = """
text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #24292f }
.title { font-size: 15px; font-weight: 600 } .panel { font-weight: 600 } .axis { fill: #57606a }
.background { fill: #ffffff } .grid { stroke: #d8dee4 } .base { stroke: #8c959f }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .axis { fill: #9198a1 }
  .background { fill: #0d1117 } .grid { stroke: #2a313c } .base { stroke: #656c76 }
}
"""


class Axis:
    """A scale that maps values to positions between `start` and `end`, with ticks to mark."""

    def __init__(self, values, start, end, ticks, logarithmic):
        self.scale = math.log10 if logarithmic else float
        self.ticks = ticks
        everything = [self.scale(value) for value in [*values, *ticks]]
        self.low, self.high = min(everything), max(everything)
        self.start, self.end = start, end

    def place(self, value):
        share = (self.scale(value) - self.low) / ((self.high - self.low) or 1)
        return self.start + share * (self.end - self.start)


def linear_ticks(most):
    """Returns ticks from 0 to the first one not below `most`, in steps of 1, 2, or 5 times a power of ten."""
    power = 10 ** math.floor(math.log10(most))
    step = next(s for s in (power / 5, power / 2, power, power * 2) if most / s <= 6)
    return [i * step for i in range(math.ceil(most / step) + 1)]


def log_ticks(values):
    """Returns the powers of ten around `values`."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return [10.0**power for power in range(low, max(high, low + 1) + 1)]


def number(value):
    return f"{value:,.0f}" if value >= 1 or value == 0 else f"{value:g}"


def marker(shape, x, y, color):
    r = 4
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" fill="{color}"/>'
    corners = {
        "square": [(-r, -r), (r, -r), (r, r), (-r, r)],
        "triangle": [(0, -r - 1), (r + 1, r), (-r - 1, r)],
        "diamond": [(0, -r - 1), (r + 1, 0), (0, r + 1), (-r - 1, 0)],
    }[shape]
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}" fill="{color}"/>'


def spread_out(places, low, high):
    """Returns `places`, moved apart between `low` and `high` so that labels of LABEL_HEIGHT do not overlap."""
    order = sorted(range(len(places)), key=lambda index: places[index])
    moved = list(places)
    for before, index in zip([None, *order], order):
        floor = low if before is None else moved[before] + LABEL_HEIGHT
        moved[index] = max(moved[index], floor)
    ceiling = high
    for index in reversed(order):
        moved[index] = min(moved[index], ceiling)
        ceiling = moved[index] - LABEL_HEIGHT
    return moved


def text(x, y, words, kind="", anchor="start", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}"{extra}>{escape(words)}</text>'


def panel(lines, title, left, top, x_title, logarithmic_y):
    """Returns a diagram; `lines` maps a name to its points (x, median, minimum, maximum)."""
    right, bottom = left + PANEL_WIDTH, top + PANEL_HEIGHT
    points = [point for line in lines.values() for point in line]
    xs = sorted({x for x, *_ in points})
    most = max(high for *_, high in points)
    y_ticks = log_ticks([value for _, *values in points for value in values]) if logarithmic_y else linear_ticks(most)
    horizontal = Axis(xs, left + 8, right - 8, xs, logarithmic=True)
    vertical = Axis([], bottom, top, y_ticks, logarithmic=logarithmic_y)

    parts = [text(left, top - 14, title, "panel")]
    for tick in y_ticks:
        y, kind = vertical.place(tick), "base" if tick == y_ticks[0] else "grid"
        parts.append(f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" class="{kind}"/>')
        parts.append(text(left - 8, y + 4, number(tick), "axis", "end"))
    for tick in xs:
        parts.append(text(horizontal.place(tick), bottom + 18, number(tick), "axis", "middle"))
    parts.append(text((left + right) / 2, bottom + 40, x_title, "axis", "middle"))

    ends = []
    for name, line in lines.items():
        color, shape = STYLES.get(name, OTHER)
        placed = [(horizontal.place(x), vertical.place(middle)) for x, middle, *_ in line]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        for (x, y), (_, _, low, high) in zip(placed, line):
            parts.append(
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{vertical.place(low):.1f}" y2="{vertical.place(high):.1f}" '
                f'stroke="{color}" stroke-opacity="0.5"/>')
            parts.append(marker(shape, x, y, color))
        ends.append((name, color, *placed[-1]))
    for (name, color, x, y), label in zip(ends, spread_out([end[3] for end in ends], top, bottom)):
        # A thin line leads to the name, which may have moved or be far from the end of its line.
        parts.append(
            f'<line x1="{x + 6:.1f}" y1="{y:.1f}" x2="{right + 8}" y2="{label:.1f}" stroke="{color}" '
            f'stroke-opacity="0.6" stroke-dasharray="1 2"/>')
        parts.append(text(right + 12, label + 4, name, extra=f' style="fill:{color};font-weight:600"'))
    return parts


def chart(panels, title, x_title, y_title, logarithmic_y=False):
    """Returns diagrams, two in a row; `panels` maps the title of each to its lines."""
    step, row_height = LEFT + PANEL_WIDTH + LABEL_WIDTH, PANEL_HEIGHT + ROW_GAP
    row_count = math.ceil(len(panels) / 2)
    width = step * min(len(panels), 2) + 8
    height = TOP + row_height * row_count - ROW_GAP + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(title)}">',
        f"<style>{CSS}</style>",
        f'<rect width="{width}" height="{height}" rx="6" class="background"/>',
        text(14, 24, f"{title}, {y_title}", "title"),
    ]
    for index, (name, lines) in enumerate(panels.items()):
        row, column = divmod(index, 2)
        parts += panel(lines, name, column * step + LEFT, TOP + row * row_height, x_title, logarithmic_y)
    return "\n".join([*parts, "</svg>", ""])


def collect(rows, group, x, y, unit):
    """Returns panels of lines of points from the rows that have both quantities."""
    panels = {}
    for row in rows:
        if row.get(x) is None or row.get(y) is None:
            continue
        values = [row.get(key, row[y]) / unit for key in (y, f"{y}_min", f"{y}_max")]
        panels.setdefault(group(row), {}).setdefault(row["engine"], []).append((row[x], *values))
    for lines in panels.values():
        for line in lines.values():
            line.sort()
    return panels


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines() if line.strip()]
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)

    throughput = [row for row in rows if row["scenario"] == "throughput" and row.get("web", "http") != "http"]
    decode = [row for row in rows if row["scenario"] == "decode" and row.get("maximum_side") == 1024]

    def load(row):
        return f"{row['body_bytes'] // 1024} KiB, {PROTOCOLS[row['web']]} over TLS"

    def image_format(row):
        return f"{row['format']} to 1024 pixels"

    charts = {
        "throughput": (
            collect(throughput, load, "concurrency", "requests_per_second", 1),
            "Throughput", "transfers at a time", "requests per second"),
        "memory": (
            collect(throughput, load, "concurrency", "peak_rss_bytes", 1e6),
            "Peak memory", "transfers at a time", "MB (logarithmic)", True),
        "decode": (
            collect(decode, image_format, "megapixels", "wall_ms", 1),
            "Time to decode and scale", "megapixels", "milliseconds (logarithmic)", True),
    }
    for name, (panels, *words) in charts.items():
        if panels:
            (folder / f"{name}.svg").write_text(chart(panels, *words))
            print(folder / f"{name}.svg")


if __name__ == "__main__":
    main()
