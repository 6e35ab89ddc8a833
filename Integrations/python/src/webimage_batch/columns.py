"""The columns that results add to a table, and tables made of rows and results."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pyarrow as pa

from .client import Result
from .options import Option

BATCH_BYTES = 8 << 20
"""The default for the size of tables: engines hold several of them, and Arrow's limit is 2 GiB."""

# A limit in addition to the bytes, so that small results, such as failures, do not wait for long.
_MOST_ROWS = 10_000

_TYPES: dict[str, Any] = {
    "status": pa.string(),
    "error_code": pa.string(),
    "error_message": pa.string(),
    "retryable": pa.bool_(),
    "width": pa.int32(),
    "height": pa.int32(),
    "original_width": pa.int32(),
    "original_height": pa.int32(),
    "stored_width": pa.int32(),
    "stored_height": pa.int32(),
    "orientation": pa.int32(),
    "upright_width": pa.int32(),
    "upright_height": pa.int32(),
    "format": pa.string(),
    "frames": pa.int32(),
    "partial": pa.bool_(),
    "warnings": pa.list_(pa.string()),
    "gain_map": pa.string(),
    "bytes": pa.int64(),
    "original_bytes": pa.int64(),
    "http_status": pa.int32(),
    "final_url": pa.string(),
    "content_type": pa.string(),
    "etag": pa.string(),
    "last_modified": pa.string(),
    "attempts": pa.int32(),
    "ms": pa.int64(),
    "source": pa.string(),
}


class ResultColumns:
    """The names and types of the columns for results, which depend on the options.

    The names of all but the one for images begin with `prefix`. Members of the record that are `omitted` have none.
    """

    def __init__(
        self, image: str | None, options: Mapping[str, Option], prefix: str = "", omitted: Iterable[str] = ()
    ) -> None:
        self.image = image
        """The column with the bytes of the images, null where there is none; `None` for no such column."""
        self.types = dict(_TYPES)
        digest = options.get("compute_hash") or "sha256"
        if digest != "none":
            self.types[str(digest)] = pa.string()
        for name in ("phash", "thumbhash"):
            if options.get(f"compute_{name}"):
                self.types[name] = pa.string()
        if options.get("exif"):
            self.types["exif"] = pa.string()
        for name in omitted:
            self.types.pop(name, None)
        self.fields = [pa.field(prefix + name, kind) for name, kind in self.types.items()]
        if image is not None:
            self.fields.insert(0, pa.field(image, pa.binary()))

    def check(
        self, columns: Iterable[str], url: str, send: Iterable[str] = (), *, fold: Callable[[str], str] = str
    ) -> None:
        """Raises `ValueError` unless a table with these columns has those to send and none of the result's columns.

        Names are the same if `fold` makes them equal.
        """
        names = list(columns)
        for name in (url, *send):
            if name not in names:
                role = " with the URLs" if name == url else ""
                raise ValueError(f"There is no column {name}{role}; the columns are {', '.join(names)}.")
            if names.count(name) > 1:
                raise ValueError(f"There are two columns {name}.")
        own = [fold(field.name) for field in self.fields]
        taken = sorted(name for name in names if fold(name) in own)
        if taken:
            raise ValueError(
                f"The result has columns of these names as well: {', '.join(taken)}. Rename them, or set image or "
                "column_prefix."
            )
        if len(set(own)) < len(own):
            raise ValueError(f"The column {self.image} for images has the name of another column of the result.")

    def table(self, results: list[Result]) -> Any:
        """Returns a table of these columns."""
        columns = [pa.array([result.record.get(name) for result in results], kind) for name, kind in self.types.items()]
        if self.image is not None:
            columns.insert(0, pa.array([result.payload or None for result in results], pa.binary()))
        return pa.Table.from_arrays(columns, schema=pa.schema(self.fields))


class ResultBuffer:
    """Collects results together with the rows that they belong to, until there are enough for a table."""

    def __init__(self, columns: ResultColumns, batch_bytes: int) -> None:
        self._columns = columns
        self._batch_bytes = batch_bytes
        self._entries: list[tuple[Any, int, Result]] = []
        self._bytes = 0.0

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, source: Any, row: int, result: Result) -> None:
        """Adds a result for a row of a table or record batch."""
        self._entries.append((source, row, result))
        self._bytes += len(result.payload) + source.nbytes / source.num_rows

    @property
    def is_full(self) -> bool:
        """`True` if there are enough results for a table."""
        return self._bytes >= self._batch_bytes or len(self._entries) >= _MOST_ROWS

    def take(self) -> Any:
        """Returns a table of the rows with their results, and empties the buffer."""
        groups: dict[int, list[tuple[Any, int, Result]]] = collections.defaultdict(list)
        for entry in self._entries:
            groups[id(entry[0])].append(entry)
        rows: list[Any] = []
        results: list[Result] = []
        for group in groups.values():
            taken = group[0][0].take(pa.array([row for _, row, _ in group], pa.int64()))
            rows.append(taken if isinstance(taken, pa.Table) else pa.Table.from_batches([taken]))
            results.extend(result for _, _, result in group)
        table = pa.concat_tables(rows)
        added = self._columns.table(results)
        for field in self._columns.fields:
            table = table.append_column(field, added[field.name])
        self._entries.clear()
        self._bytes = 0.0
        return table


def rows_to_identify(table: Any) -> list[dict[str, Any]]:
    """Returns the rows of a table or record batch with dates and times as numbers.

    Those of Python have neither nanoseconds nor years after 9999, and those of pandas, if it is installed, others.
    """
    columns = [_numbers(column) for column in table.columns]
    rows: list[dict[str, Any]] = type(table).from_arrays(columns, names=table.schema.names).to_pylist()
    return rows


def _numbers(column: Any) -> Any:
    if not pa.types.is_temporal(column.type) or pa.types.is_interval(column.type):
        return column
    return column.cast(pa.int32() if column.type.bit_width == 32 else pa.int64())
