"""The folders of shards, and what becomes of those of earlier runs, with the stand-in for the binary."""

from __future__ import annotations

import errno
import json
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from origin import Origin
from runs import FORMATS, FORMATS_WITH_FILES, contents, names, outage, pa, pq, run, urls, write_list

from webimage_batch import (
    FolderError,
    OutputError,
    download,
    download_parquet,
    parts,
)
from webimage_batch.__main__ import main

pytestmark = pytest.mark.usefixtures("use_fake")


# The folder


@pytest.mark.parametrize("output_format", ["files", "webdataset"])
@pytest.mark.parametrize("damage", ["removed", "cut"])
def test_a_shard_whose_files_are_damaged_is_made_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, output_format: str, damage: str
) -> None:
    source = write_list(tmp_path / "list.txt", urls(25))
    run(source, output_format=output_format)
    before = contents(tmp_path / "out")
    path = tmp_path / "out/00001.parquet"
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-1])
    else:
        path.unlink()
        parts.remove(tmp_path / ("out/00002.tar" if output_format == "webdataset" else "out/00002"))
    assert run(source, output_format=output_format).successes == 25
    after = contents(tmp_path / "out")
    changed = {name[:5] for name in before if before[name] != after[name]}
    assert changed == ({"00001"} if damage == "cut" else {"00001", "00002"})
    assert "00001.parquet is missing or has been changed" in caplog.text


@pytest.mark.parametrize("damage", ["missing", "cut", "further"])
@pytest.mark.parametrize("is_old", [False, True])
def test_a_shard_whose_folder_is_damaged_is_made_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str, is_old: bool
) -> None:
    source = write_list(tmp_path / "list.txt", urls(25))
    run(source)
    marker = tmp_path / "out/00001_stats.json"
    value = json.loads(marker.read_text())
    assert value["files"]["00001"].pop("files") == 20
    if is_old:
        # Earlier versions of the package did not count the files.
        marker.write_text(json.dumps(value))
    before = contents(tmp_path / "out")
    assert run(source).successes == 25
    assert contents(tmp_path / "out") == before
    image = tmp_path / "out/00001/000013.jpg"
    if damage == "missing":
        image.unlink()
    elif damage == "cut":
        image.write_bytes(image.read_bytes()[:-1])
    else:
        (tmp_path / "out/00001/000019.txt").write_text("a")
    assert run(source).successes == 25
    after = contents(tmp_path / "out")
    assert {name for name in before if not name.endswith("_stats.json")} == {
        name for name in after if not name.endswith("_stats.json")
    }
    assert {name[:5] for name in before if before[name] != after[name]} == {"00001"}
    assert "00001 is missing or has been changed" in caplog.text


@pytest.mark.binary
@FORMATS_WITH_FILES
def test_the_command_finds_no_fault_in_a_folder(
    tmp_path: Path, binary: str, origin: Origin, monkeypatch: pytest.MonkeyPatch, output_format: str
) -> None:
    monkeypatch.setenv("WEBIMAGE", binary)
    source = write_list(tmp_path / "list.txt", [*origin.images(12), *(origin.url(f"none/{n}") for n in range(13))])
    assert run(source, output_format=output_format).successes == 12
    command = [binary, "batch", "--verify", str(tmp_path / "out")]
    result = subprocess.run(command, capture_output=True, text=True)
    assert (result.returncode, result.stdout.count("no faults") + result.stderr.count("no faults")) == (0, 1), result


def test_the_list_is_not_replaced_by_a_shard(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    source = tmp_path / "out/00000.parquet"
    pq.write_table(pa.table({"url": urls(5)}), source)
    for overwrite in (False, True):
        with pytest.raises(FolderError, match=r"00000\.parquet"):
            download_parquet(source, tmp_path / "out", overwrite=overwrite)
        mode = "overwrite" if overwrite else "incremental"
        with pytest.raises(FolderError, match=r"00000\.parquet"):
            download(str(source), output_folder=str(tmp_path / "out"), input_format="parquet", incremental_mode=mode)
    assert pq.read_table(source).num_rows == 5


def test_the_list_may_not_be_among_the_samples_of_a_shard(tmp_path: Path) -> None:
    (tmp_path / "out/00000").mkdir(parents=True)
    source = write_list(tmp_path / "out/00000/1.txt", urls(5))
    (tmp_path / "link.txt").symlink_to(source)
    for path in (source, tmp_path / "link.txt"):
        with pytest.raises(FolderError, match=r"is part of the list"):
            download(str(path), output_folder=str(tmp_path / "out"), incremental_mode="overwrite")
    assert source.exists()


def test_shards_may_not_become_part_of_the_list(tmp_path: Path) -> None:
    pq.write_table(pa.table({"url": urls(5)}), tmp_path / "list.parquet")
    with pytest.raises(FolderError, match="would be a part"):
        download_parquet(tmp_path, tmp_path)
    with pytest.raises(FolderError, match="would be a part"):
        download(str(tmp_path), output_folder=str(tmp_path), input_format="parquet")
    assert names(tmp_path) == ["list.parquet"]


@pytest.mark.parametrize("mode", ["incremental", "overwrite"])
def test_the_files_about_shards_may_not_become_part_of_a_list_of_json(tmp_path: Path, mode: str) -> None:
    (tmp_path / "list.json").write_text(json.dumps([{"url": url} for url in urls(5)]))
    before = contents(tmp_path)
    with pytest.raises(FolderError, match="would be a part"):
        download(str(tmp_path), output_folder=str(tmp_path), input_format="json", incremental_mode=mode)
    assert contents(tmp_path) == before


# The disk


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """Makes writing beyond a size fail, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def fail_as_if_full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@FORMATS_WITH_FILES
def test_output_that_cannot_be_written_is_an_error_of_its_own(tmp_path: Path, output_format: str) -> None:
    source = write_list(tmp_path / "list.txt", [f"http://a.test/{number:0300000}" for number in range(15)])
    with file_size_limit(200_000), pytest.raises(OutputError, match="out") as error:
        run(source, output_format=output_format)
    assert error.value.exit_status == 74
    assert names(tmp_path / "out") == []


@pytest.mark.parametrize("output_format", ["files", "dummy"])
def test_a_disk_that_is_full_at_the_end_of_a_shard_has_an_exit_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output_format: str
) -> None:
    monkeypatch.setattr(parts, "sync", fail_as_if_full)
    source = write_list(tmp_path / "list.txt", urls(5))
    command = ["download", f"--url_list={source}", f"--output_folder={tmp_path / 'out'}"]
    assert main([*command, f"--output_format={output_format}"]) == 74
    assert names(tmp_path / "out") == []


@FORMATS
def test_a_shard_stays_complete_if_a_new_version_cannot_reach_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output_format: str
) -> None:
    source = outage(tmp_path, monkeypatch, output_format=output_format)
    monkeypatch.delenv("FAKE_OUTAGE")
    before = contents(tmp_path / "out")
    with monkeypatch.context() as patches, pytest.raises(OutputError, match="No space left"):
        patches.setattr(parts, "sync", fail_as_if_full)
        run(source, output_format=output_format)
    assert contents(tmp_path / "out") == before
    assert run(source, output_format=output_format).successes == 25


@FORMATS_WITH_FILES
def test_a_shard_stays_complete_if_the_rows_of_a_new_version_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output_format: str
) -> None:
    source = outage(tmp_path, monkeypatch, output_format=output_format)
    monkeypatch.delenv("FAKE_OUTAGE")
    before = contents(tmp_path / "out")
    with monkeypatch.context() as patches, pytest.raises(OutputError, match="No space left"):
        patches.setattr(parts.ParquetPart, "_flush", fail_as_if_full)
        run(source, output_format=output_format)
    assert contents(tmp_path / "out") == before
    assert run(source, output_format=output_format).successes == 25


@pytest.mark.parametrize("output_format", ["files", "webdataset"])
@pytest.mark.parametrize("step", ["images", "table", "marker"])
def test_a_replacement_that_is_interrupted_is_completed_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output_format: str, step: str
) -> None:
    source = outage(tmp_path, monkeypatch, output_format=output_format)
    monkeypatch.delenv("FAKE_OUTAGE")
    marker = tmp_path / "out/00001_stats.json"
    place, calls = parts.place, iter(["images", "table", "marker"])

    def place_until_step(path: Path) -> None:
        # Files are replaced one by one; a marker beside files of two versions would vouch for them.
        assert not marker.exists()
        if next(calls) == step:
            raise KeyboardInterrupt
        place(path)

    with monkeypatch.context() as patches, pytest.raises(KeyboardInterrupt):
        patches.setattr("webimage_batch.folders.place", place_until_step)
        run(source, output_format=output_format)
    # The next run has no network.
    monkeypatch.setenv("FAKE_OUTAGE", "test")
    assert run(source, output_format=output_format).successes == 25
    monkeypatch.delenv("FAKE_OUTAGE")
    made = contents(tmp_path / "out")
    run(source, output_format=output_format, incremental_mode="overwrite")
    again = contents(tmp_path / "out")
    assert {name for name in made if "_stats" not in name and made[name] != again.get(name)} == set()
    assert made.keys() == again.keys()


@pytest.mark.parametrize("content", [b"", b'{"count": 10', b"{}", b'{"files": {"../list.txt": {}}}'])
def test_a_marker_that_was_not_written_to_its_end_completes_nothing(tmp_path: Path, content: bytes) -> None:
    source = write_list(tmp_path / "list.txt", urls(5))
    run(source, output_format="webdataset")
    before = contents(tmp_path)
    (tmp_path / "out/.00000_stats.json.part").write_bytes(content)
    (tmp_path / "out/.00000.tar.part").write_bytes(b"new")
    assert run(source, output_format="webdataset").successes == 5
    assert contents(tmp_path) == before


def test_a_folder_that_cannot_be_made_is_an_error_of_the_output(tmp_path: Path) -> None:
    source = write_list(tmp_path / "list.txt", urls(5))
    with pytest.raises(OutputError, match=r"list\.txt"):
        download(str(source), output_folder=str(source))
    assert main(["download", f"--url_list={source}", f"--output_folder={source}"]) == 74


@pytest.mark.parametrize("content", ["", "{", "[]", "7", "[" * 100_000, "\xff"])
def test_a_foreign_marker_is_an_error(tmp_path: Path, content: str) -> None:
    source = write_list(tmp_path / "list.txt", urls(5))
    (tmp_path / "out").mkdir()
    (tmp_path / "out/00000_stats.json").write_text(content, "latin-1")
    with pytest.raises(FolderError, match=r"00000_stats\.json was not written by"):
        run(source)


def test_a_folder_with_the_name_of_a_marker_is_an_error(tmp_path: Path) -> None:
    source = write_list(tmp_path / "list.txt", urls(5))
    (tmp_path / "out/00000_stats.json").mkdir(parents=True)
    with pytest.raises(FolderError, match=r"00000_stats\.json was not written by"):
        run(source)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[(name, None) for name in ("count", "successes", "failed_to_download", "failed_to_resize", "status_dict")],
        *[("count", "5"), ("successes", [5]), ("status_dict", 5), ("status_dict", {"success": "5"}), ("retryable", {})],
        *[("count", 0), ("count", 6), ("successes", -5), ("successes", True), ("failed_to_download", 1)],
        *[("status_dict", {}), ("status_dict", {"success": 6, "tls": -1}), ("retryable", -1), ("retryable", 10**400)],
    ],
)
def test_a_marker_without_the_counts_is_an_error(tmp_path: Path, name: str, value: object) -> None:
    source = write_list(tmp_path / "list.txt", urls(5))
    run(source)
    path = tmp_path / "out/00000_stats.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))
    with pytest.raises(FolderError, match=r"00000_stats\.json was not written by webimage_batch"):
        run(source)


WRONG: list[Any] = [None, -1, "\0", [1], {"../list.txt": {}, "x" * 300: {"bytes": 1}}]


@pytest.mark.parametrize(
    "name", ["00000_stats.json", "00000_list.json", "00000_overwrite.json", ".00000_stats.json.part"]
)
@pytest.mark.parametrize("mode", ["incremental", "overwrite"])
def test_nothing_in_the_files_about_shards_makes_a_run_crash(tmp_path: Path, name: str, mode: str) -> None:
    source = write_list(tmp_path / "list.txt", urls(5))
    run(source)
    marker = json.loads((tmp_path / "out/00000_stats.json").read_text())
    path = tmp_path / "out" / name
    whole = json.loads(path.read_text()) if path.exists() else marker
    for key in [*whole, "start_time"]:
        for value in WRONG:
            path.write_text(json.dumps({**whole, key: value}))
            try:
                counts = run(source, incremental_mode=mode)
            except FolderError:
                (tmp_path / "out/00000_stats.json").write_text(json.dumps(marker))
                (tmp_path / "out/00000_list.json").unlink(missing_ok=True)
            else:
                assert counts.successes == 5


def test_a_list_that_cannot_be_read_is_an_error_of_the_arguments(tmp_path: Path) -> None:
    assert main(["download", f"--url_list={tmp_path / 'none.txt'}", f"--output_folder={tmp_path / 'out'}"]) == 64


# What differs from run to run


def test_samples_do_not_tell_how_often_an_image_was_requested(tmp_path: Path) -> None:
    run(write_list(tmp_path / "list.txt", urls(1)), output_format="files")
    [path] = (tmp_path / "out/00000").glob("*.json")
    assert "attempts" not in json.loads(path.read_text())
    assert pq.read_table(tmp_path / "out/00000.parquet")["attempts"].to_pylist() == [3]
