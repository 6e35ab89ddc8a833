"""Reports the progress of long runs on standard error: a bar on a terminal, otherwise a line per minute."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from .child import Statistics
from .options import Option

_BAR = 30


@contextlib.contextmanager
def reported(
    options: dict[str, Option], earlier_count: Callable[[], int], total: int | None
) -> Iterator[dict[str, Option]]:
    """Yields options of `Batch` that report the progress, unless the caller has its own `on_statistics`.

    `earlier_count` returns the number of rows that earlier runs have completed; `total` is the number of all, if known.
    """
    if options.get("on_statistics") is not None:
        yield options
        return
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    was_shown = False

    def show(statistics: Statistics) -> None:
        nonlocal was_shown
        was_shown = True
        text = progress_text(statistics, earlier_count(), total)
        # Clears what a longer text has left.
        print(f"\r{text}\x1b[K" if is_terminal else text, end="" if is_terminal else "\n", file=sys.stderr, flush=True)

    try:
        yield {"stats_interval": 1 if is_terminal else 60, **options, "on_statistics": show}
    finally:
        if is_terminal and was_shown:
            print(file=sys.stderr)


def progress_text(statistics: Statistics, earlier: int, total: int | None) -> str:
    """Returns a report for people."""
    done, rate = int(statistics.get("done", 0)), float(statistics.get("per_s", 0))
    texts = [f"{earlier + done:,} of {total:,} rows" if total is not None else f"{earlier + done:,} rows"]
    if earlier:
        texts.append(f"{earlier:,} of them by earlier runs")
    texts.append(f"{rate:,.0f}/s")
    if done:
        texts.append(f"{100 * int(statistics.get('success', 0)) / done:.1f}% successful")
    if total is not None and rate > 0:
        texts.append(f"{_duration((total - earlier - done) / rate)} left")
    text = ", ".join(texts)
    if not total:
        return text
    filled = _BAR * (earlier + done) // total
    return f"[{'#' * filled}{' ' * (_BAR - filled)}] {text}"


def _duration(seconds: float) -> str:
    minutes = round(max(0.0, seconds)) // 60
    if minutes < 1:
        return f"{max(0.0, seconds):.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
