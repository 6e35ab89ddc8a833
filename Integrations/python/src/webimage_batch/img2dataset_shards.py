"""Writes the folders of img2dataset: their names, keys, and columns."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .columns import BATCH_BYTES, ResultColumns
from .counts import Counts
from .folders import next_number
from .img2dataset_arguments import Arguments
from .lists import begin, list_files, read_list
from .parquet import identity, write_shards
from .parts import FolderPart, ParquetPart, Part, TarPart
from .shards import Shards

_ROWS = 1000


def write(arguments: Arguments) -> Counts:
    """Downloads the list of the arguments into their folder."""
    folder = Path(arguments["output_folder"])
    samples = arguments["number_sample_per_shard"]
    options = arguments.options()
    schema = _schema(arguments)
    columns = ResultColumns(arguments["encode_format"] if arguments["output_format"] == "parquet" else None, options)
    columns.check(schema.names, "url")
    first = next_number(folder) if arguments["incremental_mode"] == "extend" else 0
    batches = begin(_record_batches(arguments, schema, first * samples))
    layout = [arguments["output_format"], arguments["encode_format"], samples, arguments.columns()]
    shards = Shards(
        folder,
        lambda stem: _parts(arguments, folder, stem, columns),
        url="url",
        send=arguments.sent_columns(),
        rows_per_shard=samples,
        identity=identity(layout, options),
        max_retryable_rate=arguments["max_retryable_rate"],
        overwrite=arguments["incremental_mode"] == "overwrite",
        sources=list_files(arguments["url_list"], arguments["input_format"]),
        first=first,
    )
    return write_shards(shards, batches, options)


def _parts(arguments: Arguments, folder: Path, stem: str, columns: ResultColumns) -> Sequence[Part]:
    """Returns the files of a shard."""
    if arguments["output_format"] == "dummy":
        return []
    table = ParquetPart(folder, stem, columns, BATCH_BYTES)
    kind = {"webdataset": TarPart, "files": FolderPart}.get(arguments["output_format"])
    if kind is None:
        return [table]
    extension = "img" if arguments.options()["format"] == "original" else arguments["encode_format"]
    return [kind(folder, stem, extension, has_captions=bool(arguments["caption_col"])), table]


def _schema(arguments: Arguments) -> Any:
    """Returns the columns of the output that come from the input; formats other than Parquet have only text."""
    types: dict[str, Any] = {}
    if arguments["input_format"] == "parquet":
        file = list_files(arguments["url_list"], "parquet")[0]
        types = {field.name: field.type for field in pq.read_schema(file)}
    fields = [(name, types.get(column, pa.string())) for name, column in arguments.columns().items()]
    return pa.schema([("key", pa.string()), *fields])


def _record_batches(arguments: Arguments, schema: Any, index: int) -> Iterator[Any]:
    """Yields the rows of the list with the output's column names, and with keys that begin at that of `index`."""
    columns = arguments.columns()
    samples = arguments["number_sample_per_shard"]
    digits = max(0, math.ceil(math.log10(samples)))
    texts = {field.name for field in schema if pa.types.is_string(field.type)}
    rows = read_list(arguments["url_list"], arguments["input_format"], list(dict.fromkeys(columns.values())))
    while chunk := list(islice(rows, _ROWS)):
        keyed = []
        for row in chunk:
            shard, position = divmod(index, samples)
            values = {name: row.get(column) for name, column in columns.items()}
            values.update({name: _text(values[name]) for name in texts.intersection(values)})
            keyed.append({"key": f"{shard * 10**digits + position:0{5 + digits}}", **values})
            index += 1
        yield pa.RecordBatch.from_pylist(keyed, schema)


def _text(value: Any) -> Any:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    # JSON can contain halves of surrogate pairs, which UTF-8 cannot.
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
