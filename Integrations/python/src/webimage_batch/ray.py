"""Downloads images in the actors of a Ray Data pipeline."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Any

from .client import Batch
from .columns import BATCH_BYTES, ResultBuffer, ResultColumns
from .options import Option, lasting
from .rows import sent_rows
from .session import Session

if TYPE_CHECKING:
    from ray.data import Dataset


class WebImageActor:
    """Adds images to batches of rows; several batches share one `webimage batch` process."""

    def __init__(
        self,
        url: str = "url",
        image: str = "jpg",
        *,
        batch_bytes: int = BATCH_BYTES,
        send: Sequence[str] = (),
        column_prefix: str = "",
        **options: Option,
    ) -> None:
        self._url = url
        self._columns = ResultColumns(image, options, column_prefix)
        self._batch_bytes = batch_bytes
        self._send = send
        self._session = Session(Batch(**options))  # type: ignore[arg-type]

    async def __call__(self, batch: Any) -> AsyncGenerator[Any, None]:
        """Yields tables with the rows of `batch` and their images, in order of completion."""
        self._columns.check(batch.column_names, self._url, self._send)
        rows = list(sent_rows(batch, self._url, self._send))
        buffer = ResultBuffer(self._columns, self._batch_bytes)
        async for result in self._session.results(rows):
            buffer.add(batch, result.record["index"], result)
            if buffer.is_full:
                yield buffer.take()
        if buffer:
            yield buffer.take()


def webimage_ray(
    ds: Dataset,
    url: str = "url",
    image: str = "jpg",
    *,
    actors: int = 1,
    num_cpus: float | None = None,
    batch_size: int = 200,
    batches_per_actor: int = 4,
    batch_bytes: int = BATCH_BYTES,
    send: Sequence[str] = (),
    column_prefix: str = "",
    map_arguments: dict[str, Any] | None = None,
    **options: Option,
) -> Dataset:
    """Returns the rows of `ds` with the images of their URLs and the columns of the record.

    Each actor runs one `webimage batch`. The result has a row for each row of `ds`, with the column `image` and the
    columns of the record: `status`, `error_code`, `width`, `height`, and so on.

    - `url`: the column with the URLs.
    - `image`: the name of the column for the bytes of the images; null where a download failed.
    - `actors`: one for each machine is enough, since each uses all of its processors.
    - `num_cpus`: the CPUs that each actor reserves; 1 by default. Together they must leave some for reading the
      data, or the pipeline hangs: on a machine with two CPUs, two actors need `num_cpus=0.5`.
    - `batch_size`, `batches_per_actor`: the number of rows of a batch, and of batches under way in one actor.
    - `batch_bytes`: the size of the blocks of the result.
    - `send`: further columns that options need, such as the one of `verify_hash="sha256=checksum"`.
    - `column_prefix`: what the names of the columns of the record begin with, if `ds` has columns of these names.
    - `map_arguments`: further arguments of `map_batches`, such as `runtime_env`.
    - `options`: the parameters of `Batch`.

    A process that dies is replaced and continues with the rows that have no result yet; if an actor or its machine
    dies, Ray repeats its batches. Raises `UsageError` if this machine has the binary, and it refuses the options, and
    `ValueError` for columns of `ds`, if these are known without reading it, of which the result has others.
    """
    options = lasting(options)
    Batch(**options).check_options()  # type: ignore[arg-type]
    schema = ds.schema(fetch_if_missing=False)
    if schema is not None:
        ResultColumns(image, options, column_prefix).check(schema.names, url, send)
    return ds.map_batches(
        WebImageActor,
        fn_constructor_kwargs={
            "url": url,
            "image": image,
            "batch_bytes": batch_bytes,
            "send": send,
            "column_prefix": column_prefix,
            **options,
        },
        batch_format="pyarrow",
        batch_size=batch_size,
        num_cpus=num_cpus if num_cpus is not None else 1,
        **{**_actor_pool(actors, batches_per_actor), **(map_arguments or {})},
    )


def _actor_pool(actors: int, calls: int) -> dict[str, Any]:
    """Returns the arguments of `map_batches` for actors that take several batches at once."""
    import ray.data

    if "max_concurrent_calls_per_actor" in inspect.signature(ray.data.ActorPoolStrategy).parameters:
        return {"compute": ray.data.ActorPoolStrategy(size=actors, max_concurrent_calls_per_actor=calls)}
    return {"compute": ray.data.ActorPoolStrategy(size=actors), "max_concurrency": calls}
