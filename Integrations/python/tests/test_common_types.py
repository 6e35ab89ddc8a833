"""The types of a column in several Parquet files, with the stand-in for the binary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from runs import contents, names, pa, pq

from webimage_batch import download, download_parquet
from webimage_batch.parquet import parquet_files

pytestmark = pytest.mark.usefixtures("use_fake")

BOTH = pytest.mark.parametrize("function", ["download", "download_parquet"])

LARGE = 1 << 63
"""A value that only `uint64` has."""


def write_file(path: Path, value: object, kind: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table({"url": [f"http://{path.stem}.test/"], "n": pa.array([value], kind)}), path)


def run(function: str, folder: Path, overwrite: bool = False) -> None:
    """Downloads the list in the folder `list` into the folder `out` beside it."""
    source, out = folder / "list", folder / "out"
    if function == "download_parquet":
        download_parquet(source, out, overwrite=overwrite)
        return
    options: dict[str, Any] = {"input_format": "parquet", "output_format": "parquet", "save_additional_columns": ["n"]}
    mode = "overwrite" if overwrite else "incremental"
    download(str(source), output_folder=str(out), incremental_mode=mode, **options)


def check_is_refused(function: str, folder: Path, second: tuple[object, Any], message: str) -> None:
    """Checks that a list with a second file `b.parquet` is an error before anything is written or removed."""
    run(function, folder)
    before = contents(folder / "out")
    write_file(folder / "list/b.parquet", *second)
    with pytest.raises(ValueError, match=message):
        run(function, folder, overwrite=True)
    assert contents(folder / "out") == before
    (folder / "out").rename(folder / "earlier")
    with pytest.raises(ValueError, match=message):
        run(function, folder)
    assert names(folder) == ["earlier", "list"]


@BOTH
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((1, pa.int64()), (LARGE, pa.uint64())),
        ((LARGE, pa.uint64()), (-1, pa.int8())),
        (([LARGE], pa.list_(pa.uint64())), ([-1], pa.list_(pa.int64()))),
        (({"a": -1}, pa.struct([("a", pa.int32())])), ({"a": LARGE}, pa.struct([("a", pa.uint64())]))),
        (([("a", LARGE)], pa.map_(pa.string(), pa.uint64())), ([("a", -1)], pa.map_(pa.string(), pa.int64()))),
        ((LARGE, pa.dictionary(pa.int32(), pa.uint64())), (-1, pa.int64())),
    ],
    ids=lambda column: str(column[1]),
)
def test_a_column_of_unsigned_integers_of_64_bits_goes_with_no_signed_ones(
    tmp_path: Path, function: str, first: tuple[object, Any], second: tuple[object, Any]
) -> None:
    write_file(tmp_path / "list/a.parquet", *first)
    message = r"column n of .*b\.parquet has the type .*int.*, but .*int.* in earlier files"
    check_is_refused(function, tmp_path, second, message)


@BOTH
@pytest.mark.parametrize(("value", "kind"), [(7, pa.uint8()), (None, pa.null())])
def test_a_column_of_unsigned_integers_of_64_bits_goes_with_shorter_ones(
    tmp_path: Path, function: str, value: object, kind: Any
) -> None:
    write_file(tmp_path / "list/a.parquet", value, kind)
    write_file(tmp_path / "list/b.parquet", LARGE, pa.uint64())
    run(function, tmp_path)
    [path] = parquet_files(tmp_path / "out")
    assert pq.read_table(path)["n"].to_pylist() == [value, LARGE]


@BOTH
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (((1 << 53) + 1, pa.int64()), (0.5, pa.float64())),
        ((LARGE, pa.uint64()), (0.5, pa.float32())),
        (([(1 << 53) + 1], pa.list_(pa.int64())), ([0.5], pa.list_(pa.float64()))),
    ],
    ids=lambda column: str(column[1]),
)
def test_a_value_that_does_not_fit_the_common_type_of_the_files_is_an_error_with_the_column(
    tmp_path: Path, function: str, first: tuple[object, Any], second: tuple[object, Any]
) -> None:
    write_file(tmp_path / "list/a.parquet", *first)
    message = r"A value of the column n in .*list.* does not fit .*double.*, the common type of the files: "
    check_is_refused(function, tmp_path, second, message)
