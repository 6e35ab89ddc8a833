"""Recognizes files that are not text, or not in the format they are read in, by their beginning."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

HEAD_BYTES = 1 << 16
"""The number of bytes of a file by which it is recognized."""

_OTHER_TABLE = "write it as Parquet, as CSV, or as lines of JSON"
_SIGNATURES = (
    (b"PAR1", "a Parquet file", "use input_format='parquet'"),
    (b"ARROW1", "an Arrow file", _OTHER_TABLE),
    (b"ORC\n", "an ORC file", _OTHER_TABLE),
    (b"Obj\1", "an Avro file", _OTHER_TABLE),
    (b"SQLite format 3\0", "an SQLite database", "write a table of it as CSV"),
    (b"PK\3\4", "a ZIP archive or a spreadsheet", "extract it, or save the spreadsheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "a document of Office", "save it as CSV"),
    (b"\x28\xb5\x2f\xfd", "compressed with Zstandard", "decompress it with zstd -d first"),
    (b"BZh91AY&SY", "compressed with bzip2", "decompress it with bzip2 -d first"),
    (b"\xfd7zXZ", "compressed with xz", "decompress it with xz -d first"),
)
_GZIP = b"\x1f\x8b"
# Signatures of files that are no lists, with their positions.
_OTHERS = (
    (b"\xff\xd8\xff", 0, "an image (jpeg)"),
    (b"\x89PNG\r\n\x1a\n", 0, "an image (png)"),
    (b"GIF8", 0, "an image (gif)"),
    (b"WEBP", 8, "an image (webp)"),
    (b"\0\0\1\0", 0, "an image (ico)"),
    (b"II*\0", 0, "an image (TIFF)"),
    (b"MM\0*", 0, "an image (TIFF)"),
    (b"8BPS", 0, "an image (Photoshop)"),
    (b"\xff\x0a", 0, "an image (JPEG XL)"),
    (b"ftyp", 4, "an image or a video"),
    (b"%PDF-", 0, "a PDF"),
    (b"%!PS", 0, "PostScript"),
    (b"Rar!", 0, "RAR"),
)
_UTF_8_MARK = b"\xef\xbb\xbf"
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")

_URL_NAMES = frozenset({"url", "urls", "uri", "link", "image", "image_url", "img_url", "image_link"})
_SEPARATORS = {",": ("CSV", "csv"), "\t": ("TSV", "tsv")}


def check_text(path: Path, input_format: str, head: bytes) -> None:
    """Raises `ValueError`, with the remedy, if a file whose decompressed content begins with `head` is not a text."""
    for signature, kind, remedy in _SIGNATURES:
        if head.startswith(signature):
            raise ValueError(f"{path} is {kind}, not a list in text form: {remedy}.")
    if head.startswith(_GZIP):
        if input_format.endswith(".gz"):
            raise ValueError(f"{path} is compressed with gzip twice: decompress it with gzip -d first.")
        raise ValueError(f"{path} is compressed with gzip: use input_format='{input_format}.gz'.")
    for signature, position, kind in _OTHERS:
        if head.startswith(signature, position):
            raise ValueError(f"{path} is {kind}, not a list.")
    if _is_utf_16(head):
        raise ValueError(f"{path} is a text in UTF-16: convert it with iconv -f UTF-16 -t UTF-8.")
    if head.removeprefix(_UTF_8_MARK).lstrip().startswith(b"<"):
        raise ValueError(f"{path} is HTML or XML, not a list.")
    if (index := head.find(0)) >= 0:
        raise ValueError(f"{path} is not a text: its byte {index} is NUL; see input_format.")


def _is_utf_16(head: bytes) -> bool:
    """Returns whether a text has a mark of UTF-16, or one half of each unit is zero, as with Latin letters."""
    start = head[:64]
    return start.startswith(_UTF_16_MARKS) or (len(start) > 3 and any(start[::2]) != any(start[1::2]))


def check_lines(path: Path, compression: str, lines: Iterable[str]) -> None:
    """Raises `ValueError`, with the remedy, if a list with one URL per line is obviously in another format.

    `lines` are those that are neither blank nor comments, without the blanks around them. `compression` is the second
    part of the name of the format.
    """
    first, second = (*islice(lines, 2), "", "")[:2]
    ending = f".{compression}" if compression else ""
    if first.startswith("["):
        raise ValueError(f"{path} is a JSON array: use input_format='json{ending}'.")
    if first.startswith("{"):
        raise ValueError(
            f"{path} begins with JSON, not with a URL: use input_format='jsonl{ending}', or 'json{ending}' if it is "
            "one object."
        )
    separator = _separator(first, second)
    if separator in _SEPARATORS:
        kind, name = _SEPARATORS[separator]
        raise ValueError(
            f"{path} begins with the header of a {kind} list ({first[:100]}), not with a URL: use "
            f"input_format='{name}{ending}'."
        )
    if separator is not None:
        raise ValueError(
            f"{path} begins with a header ({first[:100]}) whose separator is {separator}: convert the list to CSV, "
            f"with commas, and use input_format='csv{ending}'."
        )


def _separator(first: str, second: str) -> str | None:
    """Returns the separator of the header of a table in a list of URLs; `None` if `first` is no header.

    A header names the column of the URLs, or is followed by a line with as many values, of which one is a URL.
    """
    if "/" in first or "." in first:
        return None  # It may be a URL without a scheme.
    for separator in (*_SEPARATORS, ";", "|"):
        names = _values(first, separator)
        if len(names) > 1 and (
            not _URL_NAMES.isdisjoint(names) or ("://" in second and len(_values(second, separator)) == len(names))
        ):
            return separator
    return "," if _values(first, ",") == ["url"] else None


def _values(line: str, separator: str) -> list[str]:
    return [value.replace('"', "").strip().lower() for value in line.split(separator)]
