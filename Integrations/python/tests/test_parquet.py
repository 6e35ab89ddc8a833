"""Parquet files in and out, with the stand-in for the binary."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from webimage_batch import BatchError, Counts, FolderError, download, download_parquet, parquet  # noqa: E402
from webimage_batch.__main__ import main  # noqa: E402
from webimage_batch.columns import ResultColumns  # noqa: E402
from webimage_batch.folders import locked  # noqa: E402
from webimage_batch.parquet import parquet_files, read_rows  # noqa: E402


def write_list(path: Path, count: int, first: int = 0) -> Path:
    numbers = range(first, first + count)
    table = pa.table({"url": [f"http://a.test/{number}" for number in numbers], "label": list(numbers)})
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, row_group_size=100)
    return path


def test_lists_can_have_any_time(tmp_path: Path, fake: str) -> None:
    times = [pa.array([1], pa.timestamp("ns")), pa.array([3_000_000], pa.int32()).cast(pa.date32())]
    table = pa.Table.from_arrays([pa.array(["http://a.test/"]), *times], names=["url", "time", "date"])
    pq.write_table(table, tmp_path / "list.parquet")
    for _ in range(2):
        assert run(tmp_path / "list.parquet", tmp_path / "out", fake).successes == 1
    assert read_back(tmp_path / "out").select(["url", "time", "date"]).equals(table)


def test_hashes_of_pixels_are_columns_on_request() -> None:
    assert ResultColumns(None, {"compute_phash": True, "compute_thumbhash": True}).types["thumbhash"] == pa.string()
    assert ResultColumns(None, {"exif": True}).types["exif"] == pa.string()
    assert "phash" not in ResultColumns(None, {"compute_phash": False}).types
    # None leaves the option out.
    assert "sha256" in ResultColumns(None, {"compute_hash": None}).types
    assert "sha256" not in ResultColumns(None, {"compute_hash": "none"}).types


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
    with locked(out), pytest.raises(FolderError, match="Another process") as error:
        run(source, out, fake)
    assert error.value.exit_status == 65
    assert run(source, out, fake).successes == 10
    assert sorted(path.name for path in out.iterdir()) == ["00000.parquet", "00000_stats.json"]


def test_a_lock_whose_file_was_removed_holds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flock = fcntl.flock
    entered: list[str] = []

    def unlock_first(descriptor: int, operation: int) -> None:
        # The process that had the lock removes the file, after this one has opened it.
        if not entered:
            entered.append("removed")
            next(tmp_path.glob(".*lock")).unlink()
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", unlock_first)
    with locked(tmp_path), pytest.raises(FolderError), locked(tmp_path):
        entered.append("both")
    assert entered == ["removed"]


def test_files_of_a_killed_run_are_removed(tmp_path: Path, fake: str) -> None:
    out = tmp_path / "out"
    (out / ".00000.part").mkdir(parents=True)
    (out / ".00001.parquet.part").touch()
    # Others write partial files as well.
    foreign = [".00000.tar.1234.part", ".download.part", ".list.parquet"]
    for name in foreign:
        (out / name).touch()
    run(write_list(tmp_path / "list.parquet", 10), out, fake)
    assert sorted(path.name for path in out.iterdir()) == [*foreign, "00000.parquet", "00000_stats.json"]


# Several files


def write_table(path: Path, **columns: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def test_files_may_have_their_columns_in_another_order_and_without_values(tmp_path: Path, fake: str) -> None:
    write_table(tmp_path / "list/a.parquet", url=["http://a.test/1"], text=pa.nulls(1), n=pa.array([1], pa.int32()))
    write_table(tmp_path / "list/b.parquet", n=pa.array([2], pa.int64()), text=["b"], url=["http://a.test/2"])
    run(tmp_path / "list", tmp_path / "out", fake)
    table = read_back(tmp_path / "out")
    assert table.column_names[:3] == ["url", "text", "n"]
    assert table.select(["text", "n", "jpg"]).to_pylist() == [
        {"text": None, "n": 1, "jpg": b"http://a.test/1"},
        {"text": "b", "n": 2, "jpg": b"http://a.test/2"},
    ]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"url": ["http://a.test/"]}, r"no column n in .*b\.parquet"),
        ({"url": ["http://a.test/"], "n": ["x"]}, r"columns of .*b\.parquet have other types .* n "),
        ({"url": ["http://a.test/"], "n": [1], "m": [1]}, r"column m in .*b\.parquet, but not in .*a\.parquet"),
    ],
)
def test_files_with_other_columns_are_an_error_before_anything_is_removed(
    tmp_path: Path, fake: str, columns: dict[str, Any], message: str
) -> None:
    write_table(tmp_path / "list/a.parquet", url=["http://a.test/"], n=[1])
    run(tmp_path / "list", tmp_path / "out", fake)
    write_table(tmp_path / "list/b.parquet", **columns)
    with pytest.raises(ValueError, match=message):
        run(tmp_path / "list", tmp_path / "out", fake, overwrite=True)
    assert len(list((tmp_path / "out").iterdir())) == 2
    assert run(tmp_path / "list", tmp_path / "out2", fake, columns=[]).successes == 2


def test_a_file_that_is_not_parquet_is_named(tmp_path: Path, fake: str) -> None:
    (tmp_path / "list.parquet").write_text("http://a.test/")
    with pytest.raises(ValueError, match=r"list\.parquet cannot be read"):
        run(tmp_path / "list.parquet", tmp_path / "out", fake)


@pytest.mark.parametrize("values", [[b"http://a.test/"], [7], [["http://a.test/"]]])
def test_urls_must_be_strings(tmp_path: Path, fake: str, values: list[Any]) -> None:
    write_table(tmp_path / "list.parquet", url=values)
    with pytest.raises(ValueError, match="URLs must be strings"):
        run(tmp_path / "list.parquet", tmp_path / "out", fake)
    with pytest.raises(ValueError, match="URLs must be strings"):
        download(str(tmp_path / "list.parquet"), output_folder=str(tmp_path / "out"), input_format="parquet")
    assert not (tmp_path / "out").exists()


def test_urls_may_be_categories(tmp_path: Path, fake: str) -> None:
    write_table(tmp_path / "list.parquet", url=pa.array(["http://a.test/"] * 3).dictionary_encode())
    assert run(tmp_path / "list.parquet", tmp_path / "out", fake).successes == 3


def test_a_file_has_at_least_one_row(tmp_path: Path, fake: str) -> None:
    source = write_list(tmp_path / "list.parquet", 3)
    with pytest.raises(ValueError, match="rows_per_file"):
        download_parquet(source, tmp_path / "out", binary=fake, rows_per_file=0)


# Columns of the same names


def test_columns_of_the_record_can_have_a_prefix(tmp_path: Path, fake: str) -> None:
    taken = {"attempts": [1], "width": [7], "status": ["new"]}
    write_table(tmp_path / "list.parquet", url=["http://a.test/"], **taken)
    with pytest.raises(ValueError, match=r"attempts, status, width.*column_prefix"):
        run(tmp_path / "list.parquet", tmp_path / "out", fake)
    run(tmp_path / "list.parquet", tmp_path / "out", fake, column_prefix="image_")
    [row] = read_back(tmp_path / "out").to_pylist()
    assert (row["attempts"], row["width"], row["status"]) == (1, 7, "new")
    assert (row["image_attempts"], row["image_width"], row["image_status"]) == (3, 2, "success")
    assert row["jpg"] == b"http://a.test/"


def test_the_column_for_images_must_have_a_name_of_its_own(tmp_path: Path, fake: str) -> None:
    with pytest.raises(ValueError, match="column x_bytes for images"):
        run(write_list(tmp_path / "list.parquet", 1), tmp_path / "out", fake, image="x_bytes", column_prefix="x_")


def test_columns_that_spark_does_not_distinguish_are_rejected() -> None:
    ResultColumns("jpg", {}).check(["url", "WIDTH"], "url")
    with pytest.raises(ValueError, match="WIDTH"):
        ResultColumns("jpg", {}).check(["url", "WIDTH"], "url", fold=str.lower)


@pytest.mark.parametrize("output_format", ["files", "parquet"])
def test_columns_of_the_list_replace_those_that_img2dataset_does_not_write(
    tmp_path: Path, fake: str, monkeypatch: pytest.MonkeyPatch, output_format: str
) -> None:
    monkeypatch.setenv("WEBIMAGE", fake)
    write_table(tmp_path / "list.parquet", url=["http://a.test/"], attempts=["many"], source=["s"])
    options = {"input_format": "parquet", "output_format": output_format}
    names = ["attempts", "source"]
    download(str(tmp_path / "list.parquet"), output_folder=str(tmp_path), save_additional_columns=names, **options)  # type: ignore[arg-type]
    [row] = pq.read_table(tmp_path / "00000.parquet").to_pylist()
    assert (row["attempts"], row["source"], row["status"]) == ("many", "s", "success")
    if output_format == "files":
        sample = json.loads((tmp_path / "00000/000000000.json").read_text())
        assert (sample["attempts"], sample["source"]) == ("many", "s")


# The command


def test_the_command_passes_options_on(tmp_path: Path, fake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dict[str, Any]] = []

    def record(*_: Any, **options: Any) -> Counts:
        calls.append(options)
        return Counts()

    monkeypatch.setattr(parquet, "download_parquet", record)
    command = [
        "parquet",
        "list.parquet",
        "out",
        "--columns=a,b",
        "--send=c",
        "--column-prefix=x_",
        "--min-success-rate=0.5",
    ]
    further = ["--header=A: 1", "--header=B: 2", "--rate=10", "--public-only"]
    assert main([*command, "--", *further]) == 0
    [options] = calls
    assert (options["columns"], options["send"]) == (["a", "b"], ["c"])
    assert (options["column_prefix"], options["min_success_rate"]) == ("x_", 0.5)
    assert (options["header"], options["rate"], options["public_only"]) == (["A: 1", "B: 2"], "10", True)
    for argument in ("--columns=a", "--source=x", "--overwrite"):
        assert main(["parquet", "list.parquet", "out", "--", argument]) == 64
