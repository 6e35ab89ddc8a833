"""Turns keyword arguments into command-line options."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Scalar = str | int | float | os.PathLike[str]
Option = Scalar | bool | Iterable[Scalar] | Callable[[dict[str, Any]], None] | None
"""A value of an option: `True` for a flag, `None` or `False` to leave it out, several values to repeat it; a function
only for `on_statistics`."""

# These determine the protocol between the package and the process.
_RESERVED = frozenset({"input", "input_format", "output", "stream", "echo", "payload", "url_col", "id_col", "log"})

# These apply to the command's own folders of shards: they would have no effect, or be refused.
_OF_FOLDERS = frozenset(
    {
        *("claim", "extend", "max_retryable_rate", "min_success_rate", "output_format", "overwrite", "part", "part_by"),
        *("post_shard", "retry_failed", "samples_per_shard", "sidecar", "spread_host", "unsorted"),
    }
)


def arguments(options: Mapping[str, Option]) -> list[str]:
    """Returns the options of the command line for keyword arguments.

    `max_pixel_size=256` becomes `--max-pixel-size=256`, `public_only=True` becomes `--public-only`, and
    `header=["A: 1", "B: 2"]` becomes two `--header` options. Raises `ValueError` for options that this package sets,
    and those for folders of shards. Other names are not checked: those that `webimage batch` does not know raise
    `UsageError` when it starts.
    """
    result: list[str] = []
    for name, value in options.items():
        if name in _RESERVED:
            raise ValueError(f"{name} is set by webimage_batch and cannot be an option.")
        if name in _OF_FOLDERS:
            raise ValueError(f"{name} applies to folders that webimage batch writes, and has no effect here.")
        flag = "--" + name.replace("_", "-")
        value = _plain(value)
        if value is None or value is False:
            continue
        if value is True:
            result.append(flag)
        elif callable(value):
            raise ValueError(f"{name} cannot be a function.")
        else:
            for item in [value] if isinstance(value, (str, int, float, os.PathLike)) else value:
                # One argument, so that a value can begin with a hyphen; an empty one would be considered missing there.
                result.extend([f"{flag}={item}"] if str(item) else [flag, ""])
    return result


def lasting(options: Mapping[str, Option]) -> dict[str, Option]:
    """Returns options that can be read several times: those with several values as lists."""
    return {name: list(value) if isinstance(value, Iterator) else _plain(value) for name, value in options.items()}


def _plain(value: Any) -> Any:
    """Returns a scalar of numpy as one of Python, and anything else as it is."""
    return value.item() if getattr(value, "ndim", None) == 0 else value
