"""Reads lists of URLs in the formats of img2dataset."""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

Rows = Iterator[dict[str, Any]]
_Item = TypeVar("_Item")

# Longer fields of CSV are refused; a line of the input has at most 1 MiB.
_LONGEST_FIELD = 1 << 20


def _text_rows(file: Iterable[str]) -> Rows:
    for line in file:
        if url := line.rstrip("\r\n"):
            yield {"url": url}


def _csv_rows(file: Iterable[str], path: Path, delimiter: str, columns: Sequence[str]) -> Rows:
    csv.field_size_limit(_LONGEST_FIELD)
    rows = csv.DictReader(file, delimiter=delimiter)
    # A header line that cannot be read is an error, unlike another line.
    names = rows.fieldnames
    if names:
        check_columns(path, names, columns)
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


_DELIMITERS = {"csv": ",", "tsv": "\t"}
_READERS = {"txt": _text_rows, "jsonl": _json_lines_rows, "json": _json_rows}
_TEXT_FORMATS = (*_READERS, *_DELIMITERS)

FORMATS = (*_TEXT_FORMATS, *(f"{name}.gz" for name in _TEXT_FORMATS), "parquet")
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

    `columns` are those to read; formats other than Parquet may yield more. Raises `ValueError` if the header of a file,
    with `csv`, `tsv`, and `parquet`, lacks one. Memory does not depend on the length of the list, except with `json`,
    which is one value.
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
        with opened(path, "rt", encoding="utf-8-sig", errors="replace", newline="") as text:
            if name in _DELIMITERS:
                yield from _csv_rows(text, path, _DELIMITERS[name], columns or [])
            else:
                yield from _READERS[name](text)


def check_columns(path: Path, names: Sequence[str], columns: Iterable[str]) -> None:
    """Raises `ValueError` if a file with columns of these names lacks one of `columns`."""
    for column in columns:
        if column not in names:
            raise ValueError(f"There is no column {column} in {path}; the columns are {', '.join(names)}.")


def begin(items: Iterable[_Item]) -> Iterator[_Item]:
    """Returns an iterator that has read its first item, so that errors in the beginning of a list are raised here."""
    iterator = iter(items)
    first = list(islice(iterator, 1))
    return chain(first, iterator)
