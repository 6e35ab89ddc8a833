"""Downloads images within the tasks of a Spark job."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from .client import Batch
from .columns import BATCH_BYTES, ResultBuffer, ResultColumns
from .errors import BatchError
from .options import Option, lasting
from .rows import Row, sent_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def webimage_spark(
    df: DataFrame,
    url: str = "url",
    image: str = "jpg",
    *,
    batch_bytes: int = BATCH_BYTES,
    partition_by: Literal["host"] | None = None,
    partitions: int | None = None,
    spread_host: Sequence[str] = (),
    send: Sequence[str] = (),
    column_prefix: str = "",
    **options: Option,
) -> DataFrame:
    """Returns the rows of `df` with the images of their URLs and the columns of the record.

    Each task runs one `webimage batch`. The result has a row for each row of `df`, in no particular order, with the
    column `image` and the columns of the record: `status`, `error_code`, `width`, `height`, and so on. It is
    evaluated lazily, like all of Spark: write it before you use it twice, or everything is downloaded twice.

    - `url`: the column with the URLs.
    - `image`: the name of the column for the bytes of the images; null where a download failed.
    - `batch_bytes`: the size of the batches that go back to Spark.
    - `partition_by`: with `"host"`, all URLs of a host are in one partition, so that `rate` and `per_host` hold
      for the whole cluster. `partitions` is the number of partitions then, and otherwise one to repartition into.
    - `spread_host`: with `partition_by="host"`, hosts whose URLs are divided among all partitions. Use this for a host
      that has most of the list. All tasks then send requests to it, so `sharers` is `partitions` by default.
    - `send`: further columns that options need, such as the one of `verify_hash="sha256=checksum"`.
    - `column_prefix`: what the names of the columns of the record begin with, if `df` has columns of these names.
    - `options`: the parameters of `Batch`. `threads` is the number of CPUs of a task unless given.

    A process that dies fails its task, which Spark repeats. Raises `ValueError` if `df` has a column of the result, or
    lacks one that is sent, and, if this machine has the binary, `UsageError` if it refuses the options.
    """
    import pyarrow as pa
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructType

    options = lasting(options)
    columns = ResultColumns(image, options, column_prefix)
    # By default, Spark considers names equal that differ only in case, and cannot write both.
    distinguishes_case = df.sparkSession.conf.get("spark.sql.caseSensitive", "false") == "true"
    columns.check(df.columns, url, send, fold=str if distinguishes_case else str.lower)
    if spread_host:
        if partition_by != "host":
            raise ValueError("spread_host is set, but partition_by is not 'host'.")
        partitions = partitions or int(df.sparkSession.conf.get("spark.sql.shuffle.partitions", "200"))
        options.setdefault("sharers", partitions)
    Batch(**options).check_options()  # type: ignore[arg-type]
    if partition_by == "host":
        df = partitioned_by_host(df, url, partitions, spread_host)
    elif partition_by is not None:
        raise ValueError(f"partition_by is {partition_by!r}; it can be 'host' or None.")
    elif partitions:
        df = df.repartition(partitions)
    added = from_arrow_schema(pa.schema(columns.fields))
    schema = StructType([*df.schema.fields, *added.fields])
    return df.mapInArrow(_task(url, columns, batch_bytes, tuple(send), options), schema)


# The host of a URL, without user, password, and port; an address of IPv6 in brackets.
_HOST = r"^\s*[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#]*@)?(\[[^\]]*\]|[^/?#:]*)"


def partitioned_by_host(
    df: DataFrame, url: str, partitions: int | None = None, spread: Sequence[str] = ()
) -> DataFrame:
    """Returns `df` with all URLs of a host in one partition, except those of hosts that are spread over all."""
    from pyspark.sql import functions

    host = functions.lower(functions.regexp_extract(url, _HOST, 1))
    keys = [host]
    if spread:
        # Not a random number: a task that is repeated must get the same rows.
        keys.append(functions.when(host.isin([name.lower() for name in spread]), functions.col(url)))
    return df.repartition(partitions, *keys) if partitions else df.repartition(*keys)


def _task(
    url: str, columns: ResultColumns, batch_bytes: int, send: tuple[str, ...], options: dict[str, Option]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Returns the function that Spark calls in each task, with an iterator of its record batches."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        rows = _Rows(batches, url, send)
        buffer = ResultBuffer(columns, batch_bytes)
        with Batch(**_with_threads(options)).results(rows) as results:  # type: ignore[arg-type]
            for result in results:
                source, row = rows.take(result.record["index"])
                buffer.add(source, row, result)
                if buffer.is_full:
                    yield from buffer.take().combine_chunks().to_batches()
        if buffer:
            yield from buffer.take().combine_chunks().to_batches()

    return run


def _with_threads(options: dict[str, Option]) -> dict[str, Option]:
    """Returns the options with as many threads as the task has CPUs, so that the tasks of a machine share it."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if "threads" in options or context is None:
        return options
    return {**options, "threads": max(1, context.cpus())}


class _Rows:
    """Yields the rows of record batches, and keeps them until their results arrive."""

    def __init__(self, batches: Iterator[Any], url: str, send: tuple[str, ...]) -> None:
        self._batches = batches
        self._url = url
        self._send = send
        self._sources: dict[int, tuple[Any, int]] = {}
        self._count = 0

    def __iter__(self) -> Iterator[Row]:
        for batch in self._batches:
            for row, sent in enumerate(sent_rows(batch, self._url, self._send)):
                self._sources[self._count] = (batch, row)
                self._count += 1
                yield sent

    def take(self, index: int) -> tuple[Any, int]:
        """Returns the record batch and the row of the line with this number, and forgets it."""
        try:
            return self._sources.pop(index)
        except KeyError:
            raise BatchError(f"The stream has a record for line {index}, which does not wait for one.") from None
