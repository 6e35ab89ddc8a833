"""Downloads and resizes millions of images with `webimage batch`.

`Batch` runs one process and yields a record and the bytes of an image for each URL. `fetch` and `Fetcher` add images to
tables, `webimage_spark` and `webimage_ray` do this within the tasks of an engine, `download_parquet` from Parquet files
to Parquet files, and `download` accepts the arguments of img2dataset. Spark, Ray, and pyarrow are imported only when
they are used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .binary import find_binary
from .client import Batch, Result, Results
from .counts import Counts
from .errors import BatchError, FolderError, OutputError, TryAgainError, UsageError
from .frames import Record
from .img2dataset import download
from .session import Session

if TYPE_CHECKING:
    from .parquet import download_parquet
    from .ray import webimage_ray
    from .spark import webimage_spark
    from .tables import Fetcher, fetch

__version__ = "0.1.0"

__all__ = [
    "Batch",
    "BatchError",
    "Counts",
    "Fetcher",
    "FolderError",
    "OutputError",
    "Record",
    "Result",
    "Results",
    "Session",
    "TryAgainError",
    "UsageError",
    "download",
    "download_parquet",
    "fetch",
    "find_binary",
    "webimage_ray",
    "webimage_spark",
]

# They need pyarrow, which the client does without.
_LAZY = {
    "Fetcher": ".tables",
    "download_parquet": ".parquet",
    "fetch": ".tables",
    "webimage_ray": ".ray",
    "webimage_spark": ".spark",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name], __name__), name)
