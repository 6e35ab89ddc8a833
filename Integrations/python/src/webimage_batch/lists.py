"""Reads lists of URLs in the formats of img2dataset."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

from . import text_lists
from .text_lists import BEGINNING, SHOWN_NAMES, Rows, check_beginning, check_columns, read_text

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")

FORMATS = (*text_lists.FORMATS, *(f"{name}.gz" for name in text_lists.FORMATS), "parquet")
"""The names of formats."""

# File systems on the network take milliseconds to open a file.
_FILES_AT_A_TIME = 16


def list_files(source: str | os.PathLike[str], input_format: str) -> list[Path]:
    """Returns the path itself, or the files of this format in a folder, by name, without hidden ones."""
    path = Path(source)
    if not path.is_dir():
        if not path.exists():
            raise FileNotFoundError(f"{path} does not exist.")
        return [path]
    files = sorted(file for file in path.glob(f"*.{input_format}") if not file.name.startswith("."))
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
    for path in files:
        yield from read_text(path, input_format, columns or [])


def check_list(files: Sequence[Path], input_format: str, url: str, columns: Sequence[str]) -> None:
    """Raises `ValueError` unless the text files of a list have these columns, one of which, `url`, has the URLs.

    Reads the beginning of each file, or all of a file that is one JSON value. Objects of JSON may lack members: in the
    beginning of each file, an object must have a URL, and each other column must be in that of some file.
    """
    is_value = input_format.partition(".")[0] == "json"
    found: set[str] = set()
    names: dict[str, None] = {}
    has_rows = False
    # One value at a time, because each is in memory as a whole.
    with closing(
        read_all(lambda path: check_beginning(path, input_format, url, columns), files, 1 if is_value else None)
    ) as beginnings:
        for beginning in beginnings:
            if beginning is not None:
                has_rows = True
                found |= beginning.found
                if len(names) < SHOWN_NAMES:
                    names.update(dict.fromkeys(beginning.names))
    if has_rows:
        source = files[0] if len(files) == 1 else files[0].parent
        missing = [column for column in columns if column not in found]
        check_columns(source, list(names), missing, "" if is_value else BEGINNING)


def read_all(
    read: Callable[[Path], _Answer], files: Sequence[Path], at_a_time: int | None = None
) -> Generator[_Answer, None, None]:
    """Yields the answers of `read` for each file, in order, reading several at a time; raises the first error."""
    with ThreadPoolExecutor(at_a_time or _FILES_AT_A_TIME, "webimage-lists") as threads:
        yield from threads.map(read, files)


def begin(items: Iterable[_Item]) -> Iterator[_Item]:
    """Returns an iterator that has read its first item, so that errors in the beginning of a list are raised here."""
    iterator = iter(items)
    first = list(islice(iterator, 1))
    return chain(first, iterator)


def require_rows(batches: Iterable[Any], source: str | os.PathLike[str]) -> Iterator[Any]:
    """Returns the record batches of a list that have rows; raises `ValueError` if there are none."""
    iterator = (batch for batch in batches if batch.num_rows)
    first = next(iterator, None)
    if first is None:
        raise ValueError(f"{os.fspath(source)} has no rows: it cannot replace the shards of another list.")
    return chain([first], iterator)
