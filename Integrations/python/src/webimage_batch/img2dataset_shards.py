"""Writes the folders of img2dataset: their names, keys, and columns."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from .client import Result
from .columns import BATCH_BYTES, ResultColumns, rows_to_identify
from .counts import Counts
from .folders import output_errors
from .identity import identity
from .img2dataset_arguments import Arguments
from .list_place import ListPlace
from .lists import check_list, list_files, read_list, require_rows
from .parquet import common_schema, misfit, row_count, write_shards
from .parts import FolderPart, ParquetPart, Part, TarPart
from .rows import encode_row
from .shards import Shards
from .storage import check_list_is_elsewhere, local, opened

_ROWS = 1000


def write(arguments: Arguments) -> Counts:
    """Downloads the list of the arguments into their folder."""
    samples = arguments["number_sample_per_shard"]
    options = arguments.options()
    input_format, output = arguments["input_format"], arguments["output_folder"]
    with local(arguments["url_list"], input_format) as source:
        files = list_files(source, input_format)
        check_list_is_elsewhere(output, arguments["url_list"], files, input_format)
        schema = _schema(arguments, files)
        columns = _result_columns(arguments)
        overwrites = arguments["incremental_mode"] == "overwrite"
        batches = _record_batches(arguments, source, schema)
        if overwrites:
            batches = require_rows(batches, arguments["url_list"])
        # Read before anything is written.
        head, batches = _take_head(batches, samples)
        layout = [arguments["output_format"], arguments["encode_format"], samples, arguments.columns()]
        with opened(output) as storage:
            if overwrites:
                storage.check_samples()
            with output_errors(output):
                place = ListPlace(storage, head, arguments["incremental_mode"])
            shards = Shards(
                storage,
                lambda stem: _parts(arguments, storage.folder, stem, columns),
                url="url",
                send=arguments.sent_columns(),
                rows_per_shard=samples,
                identity=identity(layout, options),
                conditions=arguments.conditions,
                overwrites=overwrites,
                first=place.first,
                end=place.end,
                before_commit=place.record,
            )
            total = row_count(files) if input_format == "parquet" else None
            write_shards(shards, _with_keys(batches, place.first, samples), options, total, _Exif(arguments))
            with output_errors(output):
                place.finish(shards.shard_count)
            shards.finish()
    return shards.counts


def _result_columns(arguments: Arguments) -> ResultColumns:
    """Returns the columns of the record, except those that the list has and img2dataset does not write."""
    image = arguments["encode_format"] if arguments["output_format"] == "parquet" else None
    return ResultColumns(image, arguments.options(), omitted=arguments["save_additional_columns"] or [])


class _Exif:
    """Gives results the Exif data that img2dataset's readers expect."""

    def __init__(self, arguments: Arguments) -> None:
        self._is_extracted = bool(arguments["extract_exif"])
        self._are_turned = arguments.options()["format"] != "original"

    def __call__(self, result: Result) -> None:
        """Writes an empty object for an image without Exif data, and the orientation of one that has been turned."""
        if not (self._is_extracted and result.is_success):
            return
        text = result.record.get("exif") or "{}"
        if self._are_turned and "Orientation" in (exif := json.loads(text)):
            text = json.dumps({**exif, "Orientation": 1}, separators=(",", ":"), ensure_ascii=False)
        result.record["exif"] = text


def _parts(arguments: Arguments, folder: Path, stem: str, columns: ResultColumns) -> Sequence[Part]:
    """Returns the files of a shard."""
    if arguments["output_format"] == "dummy":
        return []
    table = ParquetPart(folder, stem, columns, BATCH_BYTES)
    kind = {"webdataset": TarPart, "files": FolderPart}.get(arguments["output_format"])
    if kind is None:
        return [table]
    return [kind(folder, stem, arguments["encode_format"], has_captions=bool(arguments["caption_col"])), table]


def _schema(arguments: Arguments, files: Sequence[Path]) -> Any:
    """Returns the columns of the output that come from the input; formats other than Parquet have only text.

    Raises `ValueError` if a file of the list lacks one.
    """
    columns = arguments.columns()
    names = list(dict.fromkeys(columns.values()))
    types: dict[str, Any] = {}
    if arguments["input_format"] == "parquet":
        types = {field.name: field.type for field in common_schema(files, columns["url"], names)}
    else:
        check_list(files, arguments["input_format"], columns["url"], names)
    return pa.schema([(name, types.get(column, pa.string())) for name, column in columns.items()])


def _record_batches(arguments: Arguments, source: Path, schema: Any) -> Iterator[Any]:
    """Yields the rows of the list with the output's column names."""
    columns = arguments.columns()
    texts = {field.name for field in schema if pa.types.is_string(field.type)}
    rows = read_list(source, arguments["input_format"], list(dict.fromkeys(columns.values())))
    while chunk := list(islice(rows, _ROWS)):
        arrays = []
        for field in schema:
            values = [row.get(columns[field.name]) for row in chunk]
            if field.name in texts:
                written, values = values, [_text(value) for value in values]
                if field.name == "url":
                    # A URL that had to be changed would be that of something else.
                    values = [text if text == value else None for text, value in zip(values, written, strict=True)]
            arrays.append(_array(values, field, source))
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _array(values: Sequence[Any], field: Any, source: Path) -> Any:
    try:
        return pa.array(values, field.type)
    except (pa.ArrowInvalid, OverflowError) as error:
        raise misfit(field, source, error) from error


def _take_head(batches: Iterator[Any], samples: int) -> tuple[str, Iterator[Any]]:
    """Returns a digest of the rows of the first shard, and all batches."""
    digest = hashlib.sha256()
    taken: list[Any] = []
    missing = samples
    for batch in batches:
        taken.append(batch)
        for row in rows_to_identify(batch.slice(0, missing)):
            digest.update(encode_row(row))
        missing -= batch.num_rows
        if missing <= 0:
            break
    return digest.hexdigest(), chain(taken, batches)


def _with_keys(batches: Iterable[Any], shard: int, samples: int) -> Iterator[Any]:
    """Adds the keys of samples, which begin at that of the first one in a shard."""
    digits = max(0, math.ceil(math.log10(samples)))
    position = 0
    for batch in batches:
        keys = []
        for _ in range(batch.num_rows):
            keys.append(f"{shard * 10**digits + position:0{5 + digits}}")
            position += 1
            if position == samples:
                shard, position = shard + 1, 0
        schema = pa.schema([("key", pa.string()), *batch.schema])
        yield pa.RecordBatch.from_arrays([pa.array(keys, pa.string()), *batch.columns], schema=schema)


def _text(value: Any) -> Any:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    # JSON can contain halves of surrogate pairs, which UTF-8 cannot.
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
