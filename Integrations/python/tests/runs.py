"""Lists of URLs, runs that download them, and what is in their folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from webimage_batch import Counts, download

# Modules that import these are skipped without them.
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

FORMATS = pytest.mark.parametrize("output_format", ["files", "webdataset", "parquet", "dummy"])
FORMATS_WITH_FILES = pytest.mark.parametrize("output_format", ["files", "webdataset", "parquet"])


def write_list(path: Path, urls: list[str]) -> Path:
    path.write_text("".join(f"{url}\n" for url in urls))
    return path


def urls(count: int, host: str = "a.test") -> list[str]:
    return [f"http://{host}/{number}" for number in range(count)]


def run(source: Path, **values: Any) -> Counts:
    """Downloads a list in shards of ten rows into the folder `out` beside it."""
    return download(str(source), output_folder=str(source.parent / "out"), **{"number_sample_per_shard": 10, **values})


def outage(folder: Path, monkeypatch: pytest.MonkeyPatch, **values: Any) -> Path:
    """Writes a shard of which all downloads failed, and two others; returns the list."""
    source = write_list(folder / "list.txt", [*urls(10), *urls(10, "out.test"), *urls(5)])
    monkeypatch.setenv("FAKE_OUTAGE", "out.test")
    assert run(source, max_retryable_rate=1, **values).successes == 15
    return source


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def contents(folder: Path) -> dict[str, bytes]:
    """Returns the files in a folder and those below it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def write_program(path: Path, text: str) -> None:
    """Writes a shell script that stands in for the binary."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
