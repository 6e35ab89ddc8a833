"""Writes rows as lines of JSON."""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import math
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
"""A line of the input: `url`, and the columns that options name."""


def encode_row(row: Row) -> bytes:
    """Returns a row as one line of JSON.

    Dates become ISO 8601, bytes base64, decimals and UUIDs strings, and numbers that JSON does not have `null`.
    """
    try:
        text = _encode(row)
    except ValueError:
        text = _encode(_finite(row))
    return text.encode() + b"\n"


def sent_rows(table: Any, url: str, send: Sequence[str]) -> Iterator[Row]:
    """Yields what is sent of the rows of a table or record batch: the URLs, and the columns `send`."""
    values = {"url": table.column(url).to_pylist(), **{name: table.column(name).to_pylist() for name in send}}
    for row in zip(*values.values(), strict=True):
        yield dict(zip(values, row, strict=True))


def _encode(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode()
    if isinstance(value, (decimal.Decimal, uuid.UUID, datetime.timedelta)):
        return str(value)
    if hasattr(value, "tolist"):  # numpy's scalars and arrays
        return value.tolist()
    raise TypeError(f"A value of type {type(value).__name__} cannot be written as JSON.")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if hasattr(value, "tolist") and not isinstance(value, memoryview):  # numpy's scalars and arrays
        return _finite(value.tolist())
    return value
