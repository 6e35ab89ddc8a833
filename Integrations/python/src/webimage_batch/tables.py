"""Adds images to tables of Arrow, and to those of libraries that share data with it, such as pandas and Polars."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa

from .client import Batch, Result
from .columns import ResultColumns
from .options import Option, lasting
from .rows import sent_rows
from .session import Session


class Fetcher:
    """Adds images to tables, with one `webimage batch` process for all calls, which several threads can make at once.

    >>> with Fetcher(max_pixel_size=256, public_only=True) as fetch:
    ...     images = fetch(table)

    The process starts with the first call. If the object is sent to another process, that one starts its own.

    - `url`: the column with the URLs.
    - `image`: the name of the column for the bytes of the images; null where a download failed.
    - `send`: further columns that options need, such as the one of `verify_hash="sha256=checksum"`.
    - `column_prefix`: what the names of the columns of the record begin with, if a table has columns of these names.
    - `options`: the parameters of `Batch`.
    """

    def __init__(
        self,
        url: str = "url",
        image: str = "jpg",
        *,
        send: Sequence[str] = (),
        column_prefix: str = "",
        **options: Option,
    ) -> None:
        options = lasting(options)
        self._copy = functools.partial(Fetcher, url, image, send=send, column_prefix=column_prefix, **options)
        self._url = url
        self._send = send
        self._columns = ResultColumns(image, options, column_prefix)
        self._batch = Batch(**options)  # type: ignore[arg-type]
        self._session = Session(self._batch)

    def __call__(self, table: Any) -> Any:
        """Returns a table of Arrow with the rows of `table`, in their order, the images, and the columns of the record.

        `table` is anything that `pyarrow.table` takes, such as a data frame. All images of the result are in memory.
        """
        if not isinstance(table, pa.Table):
            table = pa.table(table)
        self._columns.check(table.column_names, self._url, self._send)
        added = self._columns.table(self._results(table))
        for field in self._columns.fields:
            table = table.append_column(field, added[field.name])
        return table

    def __enter__(self) -> Fetcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return self._copy, ()

    def close(self) -> None:
        """Ends the process; calls in other threads raise `BatchError`."""
        self._session.close()
        self._session = Session(self._batch)

    def _results(self, table: Any) -> list[Result]:
        rows = list(sent_rows(table, self._url, self._send))
        session = self._session

        async def collect() -> list[Result]:
            return [result async for result in session.results(rows)]

        # In a thread of its own, because the one of the caller may have an event loop, as in notebooks.
        with ThreadPoolExecutor(1, "webimage-tables") as thread:
            try:
                results = thread.submit(asyncio.run, collect()).result()
            except KeyboardInterrupt:
                self.close()
                raise
        return sorted(results, key=lambda result: int(result.record["index"]))


def fetch(
    table: Any,
    url: str = "url",
    image: str = "jpg",
    *,
    send: Sequence[str] = (),
    column_prefix: str = "",
    **options: Option,
) -> Any:
    """Returns a table of Arrow with the rows of `table`, in their order, the images, and the columns of the record.

    `table` is anything that `pyarrow.table` takes, such as a data frame. For many tables, use a `Fetcher`, which has
    the same parameters, and starts one process for all of them.
    """
    with Fetcher(url, image, send=send, column_prefix=column_prefix, **options) as fetcher:
        return fetcher(table)
