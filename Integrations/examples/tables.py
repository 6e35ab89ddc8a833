"""Adds images to the tables of pandas, Polars, Dask, Daft, and Hugging Face's datasets.

Each function takes a `Fetcher`, whose process serves all calls:

    with Fetcher(max_pixel_size=256, rate=10, public_only=True) as fetch:
        images = with_pandas(pandas.read_csv("urls.csv"), fetch)

Where a library has several processes, each starts one of its own: divide the rate among them with `sharers`.
"""

from __future__ import annotations

from typing import Any

from webimage_batch import Fetcher


def with_pandas(frame: Any, fetch: Fetcher) -> Any:
    """Takes a data frame of pandas with the column `url`, and returns one."""
    return fetch(frame).to_pandas()


def with_polars(frame: Any, fetch: Fetcher) -> Any:
    """Takes a data frame of Polars with the column `url`, and returns one."""
    import polars

    return polars.from_arrow(fetch(frame.to_arrow()))


def with_dask(frame: Any, fetch: Fetcher) -> Any:
    """Takes a data frame of Dask with the column `url`, and returns one; each partition is one call."""
    empty = with_pandas(frame._meta, fetch)
    return frame.map_partitions(with_pandas, fetch, meta=empty)


def with_daft(frame: Any, fetch: Fetcher) -> Any:
    """Takes a data frame of Daft with the column `url`, and returns one with the column `jpg`."""
    import daft
    import pyarrow

    @daft.func.batch(return_dtype=daft.DataType.binary())
    def image(url: daft.Series) -> Any:
        return fetch(pyarrow.table({"url": url.to_arrow()}))["jpg"].combine_chunks()

    return frame.with_column("jpg", image(frame["url"]))


def with_datasets(dataset: Any, fetch: Fetcher, processes: int | None = None) -> Any:
    """Takes a `datasets.Dataset` with the column `url`, and returns one."""
    arrow = dataset.with_format("arrow")
    return arrow.map(fetch, batched=True, batch_size=1000, num_proc=processes).with_format(None)
