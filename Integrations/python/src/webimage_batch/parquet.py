"""Reads lists of URLs from Parquet files, and writes images into Parquet files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from .client import Batch
from .columns import BATCH_BYTES, ResultColumns
from .counts import Counts
from .lists import begin, check_columns
from .options import Option
from .parts import ParquetPart
from .shards import MAX_RETRYABLE_RATE, Shards

_ROWS = 4096


def read_batches(source: str | os.PathLike[str], columns: Sequence[str] | None = None) -> Iterator[Any]:
    """Yields the record batches of a Parquet file, or of the files `*.parquet` in a folder, by name.

    Only the part of a row group that is being read is in memory. Raises `ValueError` if a file lacks a column.
    """
    for path in parquet_files(source):
        with pq.ParquetFile(path) as file:
            check_columns(path, file.schema_arrow.names, columns or [])
            yield from file.iter_batches(_ROWS, columns=None if columns is None else list(columns))


def read_rows(source: str | os.PathLike[str], columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yields the rows of a Parquet file, or of those in a folder, one after the other, as `Batch` takes them."""
    for batch in read_batches(source, columns):
        yield from batch.to_pylist()


def parquet_files(source: str | os.PathLike[str]) -> list[Path]:
    """Returns the path itself, or the Parquet files of a folder in the order of their names."""
    path = Path(source)
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.parquet"))
    if not files:
        raise FileNotFoundError(f"{path} has no files named *.parquet.")
    return files


def download_parquet(
    source: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    url: str = "url",
    image: str = "jpg",
    columns: Sequence[str] | None = None,
    rows_per_file: int = 10_000,
    batch_bytes: int = BATCH_BYTES,
    send: Sequence[str] = (),
    overwrite: bool = False,
    max_retryable_rate: float = MAX_RETRYABLE_RATE,
    **options: Option,
) -> Counts:
    """Downloads the URLs of Parquet files into a folder of Parquet files, and returns how many succeeded.

    The result has the rows of `source` in their order, the column `image` with the bytes, and the columns of the
    record. Files that an earlier run has completed are skipped.

    - `source`: a Parquet file, or a folder of them.
    - `url`: the column with the URLs.
    - `image`: the name of the column for the bytes of the images; null where a download failed.
    - `columns`: the columns of `source` that the result has; all by default.
    - `rows_per_file`: the number of rows in a file of the result.
    - `batch_bytes`: the approximate size of its row groups.
    - `send`: further columns that options need, such as the one of `verify_hash="sha256=checksum"`.
    - `overwrite`: whether the files of earlier runs are removed, and all are made again.
    - `max_retryable_rate`: a file is not written if more than this share of its rows failed for reasons that may be
      temporary, which are probably those of the network.
    - `options`: the parameters of `Batch`.

    Raises `FolderError` if `folder` has the result of another list or other options, and, after all rows,
    `TryAgainError` if there are files that were not written because of `max_retryable_rate`.
    """
    if columns is not None:
        columns = list(dict.fromkeys([url, *send, *columns]))
    result_columns = ResultColumns(image, options)
    batches = begin(_checked(read_batches(source, columns), result_columns, url, send))
    shards = Shards(
        Path(folder),
        lambda stem: [ParquetPart(Path(folder), stem, result_columns, batch_bytes)],
        url=url,
        send=send,
        rows_per_shard=rows_per_file,
        identity=identity([url, image, rows_per_file], options),
        max_retryable_rate=float(max_retryable_rate),
        overwrite=overwrite,
        sources=parquet_files(source),
    )
    return write_shards(shards, batches, options)


def write_shards(shards: Shards, batches: Iterable[Any], options: dict[str, Option]) -> Counts:
    """Downloads the URLs in record batches, which have the same columns, into a folder of shards.

    Raises `TryAgainError` if some are not written because of their failures.
    """
    try:
        with Batch(**{**options, "ordered": True}).results(shards.plan(batches)) as results:  # type: ignore[arg-type]
            for result in results:
                shards.add(result)
    finally:
        shards.close()
    shards.check()
    return shards.counts


def _checked(batches: Iterable[Any], columns: ResultColumns, url: str, send: Sequence[str]) -> Iterator[Any]:
    for batch in batches:
        columns.check(batch.schema.names, url, send)
        yield batch


# Options that affect the speed, but not the result.
_WITHOUT_EFFECT = frozenset(
    {
        "binary",
        "cache",
        "cache_limit",
        "concurrency",
        "dns_concurrency",
        "lookahead",
        "on_statistics",
        "per_host",
        "proxy",
        "rate",
        "sharers",
        "stall_timeout",
        "threads",
    }
)


def identity(layout: Sequence[object], options: dict[str, Option]) -> str:
    """Returns a text that is the same for runs whose shards belong together."""
    options = {name: value for name, value in sorted(options.items()) if name not in _WITHOUT_EFFECT}
    return json.dumps([layout, options], default=list)
