"""Reads lists of URLs from text files: one URL per line, CSV, TSV, and JSON, also compressed with gzip."""

from __future__ import annotations

import collections
import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from .list_head import HEAD_BYTES, check_lines, check_text

Rows = Iterator[dict[str, Any]]

FORMATS = ("txt", "jsonl", "json", "csv", "tsv")
"""The names of the formats, without compression."""

SHOWN_NAMES = 30
"""The maximum number of columns that a message names."""

_BEGINNING_LINES = 1000
_BEGINNING_CHARACTERS = 16 << 20
BEGINNING = f"the beginning ({_BEGINNING_LINES:,} lines or {_BEGINNING_CHARACTERS >> 20} MiB) of "
"""The part of a file with lines of JSON that must have the columns, for messages."""

# Longer fields of CSV are refused; a line that the process reads has at most 1 MiB.
_LONGEST_FIELD = 1 << 20
# A quoted field that does not end within this length makes its first line a row that fails, as in the command.
_LONGEST_RECORD = 1 << 20
# Longer lines have no URL: a file without line ends must not fill the memory.
_LONGEST_LINE = 16 << 20
_WITH_HEADER = ("csv", "tsv")
_NO_URL = {"url": None}
_INVALID_BYTE = re.compile("[\udc80-\udcff]")


def read_text(path: Path, input_format: str, columns: Sequence[str] = ()) -> Rows:
    """Yields the rows of a file; rows that cannot be read have no URL.

    Raises `ValueError` if the header of a `csv` or `tsv` file lacks one of `columns`, or if the file is damaged.
    Memory does not depend on the size of the file, except with `json`, which is one value.
    """
    name, _, compression = input_format.partition(".")
    with _opened(path, compression) as file:
        if name in _WITH_HEADER:
            rows = _csv_reader(file, name)
            if header := _header(rows, path):
                check_columns(path, header, columns)
                yield from _csv_rows(rows, header)
        elif name == "jsonl":
            yield from _json_lines_rows(file)
        elif name == "json":
            yield from _json_rows(file, path)
        else:
            yield from _text_rows(file)


class Beginning(NamedTuple):
    """What the beginning of a file tells about its columns."""

    found: set[str]
    """The columns of those that were asked for."""
    names: list[str]
    """The first names, for messages."""


def check_beginning(path: Path, input_format: str, url: str, columns: Sequence[str]) -> Beginning | None:
    """Tells which of `columns` a file has, as far as its beginning shows; returns `None` if it has no columns or rows.

    Raises `ValueError` if the file cannot be a list: if it is not text, is obviously in another format, or lacks the
    column `url` or, if it has a header, one of `columns`. Reads the whole file with `json`.
    """
    if not path.is_file():
        return None  # What is read from a pipe cannot be read again.
    name, _, compression = input_format.partition(".")
    with _decompressed(path, compression) as content:
        check_text(path, input_format, content.read(HEAD_BYTES))
    with _opened(path, compression) as file:
        if name in _WITH_HEADER:
            header = _header(_csv_reader(file, name), path)
            if header is None:
                return None
            check_columns(path, header, columns)
            return Beginning(set(columns), header[:SHOWN_NAMES])
        if name == "txt":
            check_lines(path, compression, _first_texts(file))
            return None
        names: dict[str, None] = {}
        is_empty = True
        for row in _json_rows(file, path) if name == "json" else _json_lines_rows(_FirstLines(file)):
            is_empty = False
            if row is not _NO_URL:
                names.update(dict.fromkeys(row))
        if is_empty:
            return None
        check_columns(path, list(names), [url], "" if name == "json" else BEGINNING)
        return Beginning(names.keys() & set(columns), list(names)[:SHOWN_NAMES])


def check_columns(path: Path, names: Sequence[str], columns: Iterable[str], part: str = "") -> None:
    """Raises `ValueError` if a file, or a part of it, with columns of these names lacks one of `columns`."""
    for column in columns:
        if column not in names:
            shown = ", ".join([*names[:SHOWN_NAMES], *(["…"] if len(names) > SHOWN_NAMES else [])])
            raise ValueError(f"There is no column {column} in {part}{path}; the columns are {shown or 'none'}.")
        if names.count(column) > 1:
            raise ValueError(f"There are two columns {column} in {path}.")


@contextmanager
def _opened(path: Path, compression: str) -> Iterator[TextIO]:
    """Opens a file; bytes that are not UTF-8 become surrogates, which `_is_text` finds."""
    with (
        _decompressed(path, compression) as content,
        io.TextIOWrapper(content, encoding="utf-8-sig", errors="surrogateescape", newline="") as file,
    ):
        yield file


@contextmanager
def _decompressed(path: Path, compression: str) -> Iterator[gzip.GzipFile | io.BufferedReader]:
    """Opens the bytes of a file."""
    try:
        with gzip.open(path, "rb") if compression else path.open("rb") as file:
            yield file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is damaged, or not compressed with gzip: {error}") from error


class _FirstLines:
    """The first lines of a file."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._lines = _BEGINNING_LINES
        self._characters = _BEGINNING_CHARACTERS

    def readline(self, size: int) -> str:
        """Returns the next line, or an empty string after the last one of the beginning."""
        if self._lines <= 0 or self._characters <= 0:
            return ""
        line = self._file.readline(size)
        self._lines -= 1
        self._characters -= len(line)
        return line


def _lines(file: TextIO | _FirstLines, replacement: str | None) -> Iterator[str]:
    """Yields the lines of a file, with `replacement` or their beginning in place of those that are too long."""
    while line := file.readline(_LONGEST_LINE):
        if len(line) < _LONGEST_LINE or line.endswith(("\n", "\r")):
            yield line
            continue
        while (rest := file.readline(_LONGEST_LINE)) and not rest.endswith(("\n", "\r")):
            pass
        yield line if replacement is None else replacement


def _first_texts(file: TextIO) -> Iterator[str]:
    """Yields the first lines that may be URLs, without the blanks around them."""
    for line in _lines(_FirstLines(file), None):
        if (text := line.strip()) and not text.startswith("#"):
            yield text


def _text_rows(file: TextIO) -> Rows:
    for line in _lines(file, "\0"):
        url = line.rstrip("\r\n")
        # As `webimage` reads such a list; it also ignores the blanks around a URL.
        if (text := url.strip()) and not text.startswith("#"):
            yield {"url": url} if url != "\0" and _is_text(url) else _NO_URL


def _csv_reader(file: TextIO, name: str) -> Iterator[list[str]]:
    csv.field_size_limit(_LONGEST_FIELD)
    # A line that is too long is an error of the reader, like a field.
    lines = _lines(file, "x" * (_LONGEST_FIELD + 1))
    # TSV has no quotation marks: they are characters.
    return _CSVReader(lines) if name == "csv" else csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)


class _CSVReader(Iterator[list[str]]):
    """Yields the fields of the records of CSV.

    Raises `csv.Error` for a record with a quoted field that does not end within 1 MiB, or a field that is too long, and
    goes on with the line after its first. The time is linear: what is found out about the following lines is kept.
    """

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        # The lines that have been read ahead: those that a quoted field contains as a whole, if it begins before them…
        self._inner: collections.deque[str] = collections.deque()
        self._inner_length = 0
        # …and the next one, in which it ends; `None` if that has not been found.
        self._last: str | None = None

    def __next__(self) -> list[str]:
        line = self._next_line()
        fields = _fields(line)
        return self._fields_of_lines(line) if fields is None else fields

    def _next_line(self) -> str:
        if self._inner:
            line = self._inner.popleft()
            self._inner_length -= len(line)
        elif self._last is not None:
            line, self._last = self._last, None
        else:
            line = next(self._lines)
        return line

    def _fields_of_lines(self, first: str) -> list[str]:
        """Returns the fields of a record whose first line ends within a quoted field."""
        while self._last is None and len(first) + self._inner_length <= _LONGEST_RECORD:
            line = next(self._lines, None)
            if line is None:
                raise csv.Error("a quoted field does not end")
            if _ends_quoted_field(line):
                self._last = line
            else:
                self._inner.append(line)
                self._inner_length += len(line)
        if self._last is None or len(first) + self._inner_length + len(self._last) > _LONGEST_RECORD:
            raise csv.Error("a quoted field does not end within 1 MiB")
        fields = next(csv.reader([first, *self._inner, self._last]))
        self._inner.clear()
        self._inner_length, self._last = 0, None
        return fields


def _fields(line: str) -> list[str] | None:
    """Returns the fields of a line of CSV; `None` if the last one is quoted and goes on in the next line."""
    # The reader asks for another line only within a quoted field.
    reader = csv.reader((line, ""))
    fields = next(reader)
    return fields if reader.line_num == 1 else None


def _ends_quoted_field(line: str) -> bool:
    """Returns whether a line that begins within a quoted field ends outside of one."""
    try:
        return _fields('"' + line) is not None
    except csv.Error:
        return False  # It is too long for any record.


def _header(rows: Iterator[list[str]], path: Path) -> list[str] | None:
    """Returns the names in the first line that is not blank; `None` if there is none."""
    try:
        return next((fields for fields in rows if fields), None)
    except csv.Error as error:
        # Unlike another line.
        raise ValueError(f"The header line of {path} cannot be read: {error}") from error


def _csv_rows(rows: Iterator[list[str]], header: list[str]) -> Rows:
    while True:
        try:
            fields = next(rows)
        except StopIteration:
            return
        except csv.Error:
            yield _NO_URL
            continue
        if fields:
            is_row = len(fields) == len(header) and all(map(_is_text, fields))
            yield dict(zip(header, fields, strict=True)) if is_row else _NO_URL


def _json_lines_rows(file: TextIO | _FirstLines) -> Rows:
    for line in _lines(file, "{"):
        if line.strip():
            try:
                yield _object(json.loads(line, **_JSON_RULES)) if _is_text(line) else _NO_URL
            except (ValueError, RecursionError):
                yield _NO_URL


class _Ambiguous(dict[str, Any]):
    """An object with two members of the same name."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else _Ambiguous(members)


def _refuse_number(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


# As in the command: a line with NaN is not JSON.
_JSON_RULES: dict[str, Any] = {"object_pairs_hook": _members, "parse_constant": _refuse_number}


def _is_text(text: str) -> bool:
    """Returns whether all bytes of a text were UTF-8."""
    return text.isascii() or _INVALID_BYTE.search(text) is None


def _object(value: Any) -> dict[str, Any]:
    """Returns a JSON object with unique names; of anything else, a row without a URL, which fails."""
    return value if isinstance(value, dict) and not isinstance(value, _Ambiguous) else _NO_URL


def _json_rows(file: TextIO, path: Path) -> Rows:
    try:
        table = json.loads(file.read())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON: {error}") from error
    if isinstance(table, list):
        yield from map(_object, table)
        return
    if not isinstance(table, dict) or not all(isinstance(column, (dict, list)) for column in table.values()):
        raise ValueError(f"{path} is neither an array of objects nor an object of columns as pandas reads them.")
    # The default of pandas is {"column": {"0": value, …}, …}; it also reads {"column": [value, …], …}.
    columns = {name: dict(enumerate(column)) if isinstance(column, list) else column for name, column in table.items()}
    for key in next(iter(columns.values()), {}):
        yield {name: column.get(key) for name, column in columns.items()}
