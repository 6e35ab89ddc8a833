"""Reads lists of URLs in the formats of img2dataset."""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

Rows = Iterator[dict[str, Any]]

# Longer fields of CSV are refused; a line of the input has at most 1 MiB.
_LONGEST_FIELD = 1 << 20


def _text_rows(file: Iterable[str]) -> Rows:
    for line in file:
        if url := line.rstrip("\r\n"):
            yield {"url": url}


def _csv_rows(file: Iterable[str], delimiter: str = ",") -> Rows:
    csv.field_size_limit(_LONGEST_FIELD)
    rows = csv.DictReader(file, delimiter=delimiter)
    # A header line that cannot be read is an error, unlike another line.
    names = rows.fieldnames
    while names:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error:
            yield {"url": None}
            continue
        # Fields without a name in the header line have the key None.
        yield {name: value for name, value in row.items() if name is not None}


def _tsv_rows(file: Iterable[str]) -> Rows:
    return _csv_rows(file, "\t")


def _json_lines_rows(file: Iterable[str]) -> Rows:
    for line in file:
        if line.strip():
            yield _object(line)


def _object(line: str) -> dict[str, Any]:
    """Returns the members of a JSON object; of anything else, a row without a URL, which fails."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {"url": None}
    return value if isinstance(value, dict) else {"url": None}


def _json_rows(file: Iterable[str]) -> Rows:
    table = json.loads("".join(file))
    if isinstance(table, list):
        yield from table
        return
    # The default of pandas: {"column": {"0": value, …}, …}.
    names = list(table)
    for key in table[names[0]] if names else []:
        yield {name: table[name].get(key) for name in names}


_READERS: dict[str, Callable[[Iterable[str]], Rows]] = {
    "txt": _text_rows,
    "csv": _csv_rows,
    "tsv": _tsv_rows,
    "jsonl": _json_lines_rows,
    "json": _json_rows,
}

FORMATS = (*_READERS, *(f"{name}.gz" for name in _READERS), "parquet")
"""The names of formats."""


def list_files(source: str | os.PathLike[str], input_format: str) -> list[Path]:
    """Returns the path itself, or the files of this format in a folder, by name."""
    path = Path(source)
    if not path.is_dir():
        if not path.exists():
            raise FileNotFoundError(f"{path} does not exist.")
        return [path]
    files = sorted(path.glob(f"*.{input_format}"))
    if not files:
        raise FileNotFoundError(f"{path} has no files named *.{input_format}.")
    return files


def read_list(source: str | os.PathLike[str], input_format: str, columns: list[str] | None = None) -> Rows:
    """Yields the rows of a file or of the files in a folder.

    `columns` are those to read; formats other than Parquet may yield more. Memory does not depend on the length of
    the list, except with `json`, which is one value.
    """
    files = list_files(source, input_format)
    if input_format == "parquet":
        from .parquet import read_rows

        for path in files:
            yield from read_rows(path, columns)
        return
    name, _, compression = input_format.partition(".")
    for path in files:
        # Invalid UTF-8 results in a URL that fails, instead of ending the run.
        opened = gzip.open if compression else open
        with opened(path, "rt", encoding="utf-8", errors="replace", newline="") as text:
            yield from _READERS[name](text)
