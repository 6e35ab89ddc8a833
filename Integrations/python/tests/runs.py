"""Lists of URLs, and runs that download them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from webimage_batch import Counts, download


def write_list(path: Path, urls: list[str]) -> Path:
    path.write_text("".join(f"{url}\n" for url in urls))
    return path


def urls(count: int, host: str = "a.test") -> list[str]:
    return [f"http://{host}/{number}" for number in range(count)]


def run(source: Path, **values: Any) -> Counts:
    """Downloads a list in shards of ten rows into the folder `out` beside it."""
    return download(str(source), output_folder=str(source.parent / "out"), **{"number_sample_per_shard": 10, **values})


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
