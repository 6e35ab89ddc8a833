"""Parquet files in and out, with the stand-in for the binary."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from webimage_batch import BatchError, FolderError, download_parquet  # noqa: E402
from webimage_batch.columns import ResultColumns  # noqa: E402
from webimage_batch.parquet import parquet_files, read_rows  # noqa: E402


def write_list(path: Path, count: int, first: int = 0) -> Path:
    numbers = range(first, first + count)
    table = pa.table({"url": [f"http://a.test/{number}" for number in numbers], "label": list(numbers)})
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, row_group_size=100)
    return path


def test_hashes_of_pixels_are_columns_on_request() -> None:
    assert ResultColumns(None, {"compute_phash": True, "compute_thumbhash": True}).types["thumbhash"] == pa.string()
    assert ResultColumns(None, {"exif": True}).types["exif"] == pa.string()
    assert "phash" not in ResultColumns(None, {"compute_phash": False}).types


def run(source: Path, folder: Path, binary: str, **options: Any) -> Any:
    return download_parquet(source, folder, binary=binary, rows_per_file=100, **options)


def read_back(folder: Path) -> Any:
    return pa.concat_tables(pq.read_table(path) for path in parquet_files(folder))


def test_the_files_of_a_folder_are_read_in_order(tmp_path: Path) -> None:
    write_list(tmp_path / "list/b.parquet", 3, first=150)
    write_list(tmp_path / "list/a.parquet", 150)
    assert [row["label"] for row in read_rows(tmp_path / "list", ["label"])] == list(range(153))


def test_a_folder_without_parquet_files_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no files"):
        list(read_rows(tmp_path))


def test_rows_and_images_are_written_in_order(tmp_path: Path, fake: str) -> None:
    counts = run(write_list(tmp_path / "list.parquet", 250), tmp_path / "out", fake)
    assert (counts.count, counts.successes, counts.status_dict) == (250, 250, {"success": 250})
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        *("00000.parquet", "00000_stats.json"),
        *("00001.parquet", "00001_stats.json"),
        *("00002.parquet", "00002_stats.json"),
    ]
    table = read_back(tmp_path / "out")
    assert table["label"].to_pylist() == list(range(250))
    assert table["jpg"].to_pylist() == [url.encode() for url in table["url"].to_pylist()]
    assert table.schema.field("width").type == pa.int32()
    marker = json.loads((tmp_path / "out/00002_stats.json").read_text())
    assert (marker["count"], marker["successes"], marker["failed_to_download"]) == (50, 50, 0)


def test_columns_can_be_left_out(tmp_path: Path, fake: str) -> None:
    run(write_list(tmp_path / "list.parquet", 10), tmp_path / "out", fake, columns=[])
    assert read_back(tmp_path / "out").column_names[:2] == ["url", "jpg"]


def test_a_run_that_dies_leaves_only_whole_files_and_can_be_continued(tmp_path: Path, fake: str) -> None:
    source, out = write_list(tmp_path / "list.parquet", 350), tmp_path / "out"
    died = tmp_path / "died"
    with pytest.raises(BatchError):
        run(source, out, fake, fake="once:250", fake_marker=str(died))
    assert sorted(path.name for path in out.glob("*_stats.json")) == ["00000_stats.json", "00001_stats.json"]
    assert not list(out.glob(".*.part"))
    written = (out / "00000.parquet").stat().st_mtime_ns
    counts = run(source, out, fake, fake="once:250", fake_marker=str(died))
    assert counts.successes == 350
    assert read_back(out)["label"].to_pylist() == list(range(350))
    assert (out / "00000.parquet").stat().st_mtime_ns == written


def test_a_folder_of_another_list_or_other_options_is_rejected(tmp_path: Path, fake: str) -> None:
    out = tmp_path / "out"
    run(write_list(tmp_path / "list.parquet", 150), out, fake)
    with pytest.raises(FolderError, match="other rows"):
        run(write_list(tmp_path / "other.parquet", 150, first=1), out, fake)
    with pytest.raises(FolderError, match="other options"):
        run(tmp_path / "list.parquet", out, fake, max_pixel_size=100)
    run(tmp_path / "other.parquet", out, fake, overwrite=True)
    assert read_back(out)["label"].to_pylist() == list(range(1, 151))


def test_columns_of_the_result_are_rejected_in_the_input(tmp_path: Path, fake: str) -> None:
    pq.write_table(pa.table({"url": ["http://a.test/"], "width": [1]}), tmp_path / "list.parquet")
    with pytest.raises(ValueError, match="width"):
        run(tmp_path / "list.parquet", tmp_path / "out", fake)


def test_a_missing_column_is_named(tmp_path: Path, fake: str) -> None:
    with pytest.raises(ValueError, match="no column address"):
        run(write_list(tmp_path / "list.parquet", 1), tmp_path / "out", fake, url="address")


@pytest.mark.parametrize("columns", [None, ["label"]])
def test_a_missing_column_to_send_is_named(tmp_path: Path, fake: str, columns: list[str] | None) -> None:
    source = write_list(tmp_path / "list.parquet", 1)
    with pytest.raises(ValueError, match="no column digest"):
        run(source, tmp_path / "out", fake, columns=columns, send=["digest"])
    with pytest.raises(ValueError, match="no column digest"):
        list(read_rows(source, ["url", "digest"]))


def test_the_number_of_requests_is_a_column(tmp_path: Path, fake: str) -> None:
    run(write_list(tmp_path / "list.parquet", 1), tmp_path / "out", fake)
    table = read_back(tmp_path / "out")
    assert (table["attempts"].to_pylist(), table.schema.field("attempts").type) == ([3], pa.int32())


def test_the_digest_has_the_name_of_its_algorithm(tmp_path: Path, fake: str) -> None:
    run(write_list(tmp_path / "list.parquet", 1), tmp_path / "out", fake, compute_hash="md5")
    names = read_back(tmp_path / "out").column_names
    assert "md5" in names and "sha256" not in names


def test_a_folder_has_one_process_at_a_time(tmp_path: Path, fake: str) -> None:
    source, out = write_list(tmp_path / "list.parquet", 10), tmp_path / "out"
    out.mkdir()
    lock = os.open(out, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with pytest.raises(FolderError, match="Another process"):
        run(source, out, fake)
    os.close(lock)
    assert run(source, out, fake).successes == 10


def test_files_of_a_killed_run_are_removed(tmp_path: Path, fake: str) -> None:
    out = tmp_path / "out"
    (out / ".00000.part").mkdir(parents=True)
    (out / ".00001.parquet.part").touch()
    run(write_list(tmp_path / "list.parquet", 10), out, fake)
    assert sorted(path.name for path in out.iterdir()) == ["00000.parquet", "00000_stats.json"]
