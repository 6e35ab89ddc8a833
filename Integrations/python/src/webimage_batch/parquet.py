"""Reads lists of URLs from Parquet files, and writes images into Parquet files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .client import Batch, Result
from .columns import BATCH_BYTES, ResultColumns
from .conditions import MAX_RETRYABLE_RATE, Conditions
from .counts import Counts
from .identity import identity
from .lists import begin, list_files, read_all, require_rows
from .options import Option, lasting
from .parts import ParquetPart
from .progress import reported
from .shards import Shards
from .storage import check_list_is_elsewhere, local, opened
from .text_lists import check_columns

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
    return list_files(source, "parquet")


def row_count(files: Sequence[Path]) -> int:
    """Returns the number of rows in Parquet files; reads only their metadata."""
    with contextlib.closing(read_all(lambda path: int(pq.read_metadata(path).num_rows), files)) as counts:
        return sum(counts)


def common_schema(files: Sequence[Path], url: str, columns: Sequence[str] | None = None) -> Any:
    """Returns the columns of Parquet files with types for the values of all files; reads only their metadata.

    Raises `ValueError` if a file lacks one of `columns`, or, without `columns`, has other columns than the first file,
    or if types do not go together, or if the column `url` cannot contain URLs.
    """
    common: Any = None
    with contextlib.closing(read_all(_read_schema, files)) as schemas:
        for path, schema in zip(files, schemas, strict=True):
            names = list(columns if columns is not None else (schema if common is None else common).names)
            check_columns(path, schema.names, names)
            if columns is None and len(schema.names) > len(names):
                further = next(name for name in schema.names if name not in names)
                raise ValueError(f"There is a column {further} in {path}, but not in {files[0]}; see columns.")
            selected = pa.schema([schema.field(name) for name in names])
            common = selected if common is None else _unify(common, selected, path)
    _check_urls(common, url)
    return common


def _unify(common: Any, schema: Any, path: Path) -> Any:
    try:
        unified = pa.unify_schemas([common, schema], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise ValueError(f"The columns of {path} have other types than those of earlier files: {error}") from error
    for name in schema.names:
        kinds = [common.field(name).type, schema.field(name).type]
        if any(_loses_values(kind, unified.field(name).type) for kind in kinds):
            raise ValueError(
                f"The column {name} of {path} has the type {kinds[1]}, but {kinds[0]} in earlier files: no type has "
                "the values of both."
            )
    return unified


def _loses_values(kind: Any, common: Any) -> bool:
    """Returns whether a common type of Arrow is int64 where the type of a file is uint64."""
    types = dict(_plain_types("", common))
    return any(
        pa.types.is_uint64(plain) and pa.types.is_signed_integer(types[path])
        for path, plain in _plain_types("", kind)
        if path in types
    )


def _plain_types(path: str, kind: Any) -> Iterator[tuple[str, Any]]:
    """Yields the types that a type consists of, with their paths in it."""
    if pa.types.is_struct(kind):
        for field in kind:
            yield from _plain_types(f"{path}.{field.name}", field.type)
    elif pa.types.is_map(kind):
        yield from _plain_types(f"{path}.key", kind.key_type)
        yield from _plain_types(f"{path}.value", kind.item_type)
    elif pa.types.is_dictionary(kind):
        yield from _plain_types(path, kind.value_type)
    elif hasattr(kind, "value_type"):
        yield from _plain_types(f"{path}[]", kind.value_type)
    else:
        yield path, kind


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
    column_prefix: str = "",
    overwrite: bool = False,
    max_retryable_rate: float = MAX_RETRYABLE_RATE,
    min_success_rate: float = 0.0,
    **options: Option,
) -> Counts:
    """Downloads the URLs of Parquet files into a folder of Parquet files, and returns how many succeeded.

    The result has the rows of `source` in their order, the column `image` with the bytes, and the columns of the
    record. Files that an earlier run has completed are skipped, unless they do not meet the two rates.

    `source` and `folder` can also be URLs of fsspec, such as `s3://bucket/folder`.

    - `source`: a Parquet file, or a folder of them, which have the same columns.
    - `url`: the column with the URLs.
    - `image`: the name of the column for the bytes of the images; null where a download failed.
    - `columns`: the columns of `source` that the result has; all by default.
    - `rows_per_file`: the number of rows in a file of the result.
    - `batch_bytes`: the approximate size of its row groups.
    - `send`: further columns that options need, such as the one of `verify_hash="sha256=checksum"`.
    - `column_prefix`: what the names of the columns of the record begin with, if `source` has columns of these names.
    - `overwrite`: whether files of earlier runs are replaced, one by one, and those that remain are removed at the end.
      An interrupted run is continued.
    - `max_retryable_rate`: a file is not written if more than this share of its rows failed for reasons that may be
      temporary, which are probably those of the network.
    - `min_success_rate`: a file is not written if less than this share of its rows succeeded.
    - `options`: the parameters of `Batch`. Without `on_statistics`, progress is shown on standard error: a bar on a
      terminal, otherwise a line per minute.

    Raises `FolderError` if `folder` has the result of another list or other options, and, after all rows,
    `TryAgainError` if there are files that were not written because of the two rates; earlier versions of them remain.
    """
    options = lasting(options)
    conditions = Conditions(float(max_retryable_rate), float(min_success_rate))
    if rows_per_file < 1:
        raise ValueError(f"rows_per_file is {rows_per_file}; it must be at least 1.")
    if columns is not None:
        columns = list(dict.fromkeys([url, *send, *columns]))
    result_columns = ResultColumns(image, options, column_prefix)
    layout = [url, image, rows_per_file, *([column_prefix] if column_prefix else [])]
    with local(source, "parquet") as path:
        files = parquet_files(path)
        check_list_is_elsewhere(folder, source, files, "parquet")
        schema = common_schema(files, url, columns)
        result_columns.check(schema.names, url, send)
        batches = begin(_conforming(files, columns, schema))
        if overwrite:
            batches = require_rows(batches, source)
        with opened(folder) as storage:
            shards = Shards(
                storage,
                lambda stem: [ParquetPart(storage.folder, stem, result_columns, batch_bytes)],
                url=url,
                send=send,
                rows_per_shard=rows_per_file,
                identity=identity(layout, options),
                conditions=conditions,
                overwrites=overwrite,
            )
            write_shards(shards, batches, options, row_count(files))
            shards.finish()
    return shards.counts


def write_shards(
    shards: Shards,
    batches: Iterable[Any],
    options: dict[str, Option],
    total: int | None,
    change: Callable[[Result], None] = lambda _: None,
) -> None:
    """Downloads the URLs in record batches, which have the same columns, into a folder of shards.

    `total` is the number of rows, if known. `change` adapts each result before it is written.
    """
    with (
        contextlib.closing(shards),
        reported(options, lambda: shards.earlier_count, total) as shown,
        Batch(**{**shown, "ordered": True}).results(shards.plan(batches)) as results,  # type: ignore[arg-type]
    ):
        for result in results:
            change(result)
            shards.add(result)


def _read_schema(path: Path) -> Any:
    try:
        return pq.read_schema(path)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path} cannot be read: {error}") from error


def _check_urls(schema: Any, url: str) -> None:
    if url in schema.names:
        kind = schema.field(url).type
        values = kind.value_type if pa.types.is_dictionary(kind) else kind
        if str(values) not in ("string", "large_string", "string_view", "null"):
            raise ValueError(f"The column {url} has the type {kind}; URLs must be strings.")


def _conforming(files: Iterable[Path], columns: Sequence[str] | None, schema: Any) -> Iterator[Any]:
    """Yields the record batches of files with the columns of a schema in its order, and values of its types."""
    for path in files:
        for batch in read_batches(path, columns):
            if batch.schema.equals(schema):
                yield batch
            else:
                table = pa.Table.from_batches([batch])
                casts = [_cast(table.column(field.name), field, path) for field in schema]
                yield from pa.Table.from_arrays(casts, schema=schema).to_batches()


def _cast(column: Any, field: Any, path: Path) -> Any:
    try:
        return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise misfit(field, path, error) from error


def misfit(field: Any, source: str | os.PathLike[str], error: Exception) -> ValueError:
    """Returns the error for a value that does not have the type of a column that all files of a list have in common."""
    return ValueError(
        f"A value of the column {field.name} in {source} does not fit {field.type}, the common type of the files: "
        f"{error}"
    )
