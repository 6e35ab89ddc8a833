"""Lists and folders behind fsspec, with its file system in memory and the stand-in for the binary."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from runs import FORMATS, contents, pa, pq, urls, write_list

from webimage_batch import BatchError, Counts, FolderError, OutputError, TryAgainError, download, download_parquet

fsspec = pytest.importorskip("fsspec")

pytestmark = pytest.mark.usefixtures("use_fake")

OUT = "memory://bucket/out"


@pytest.fixture(autouse=True)
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The file system, which is empty; temporary folders are in a folder of the test."""
    system = fsspec.filesystem("memory")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    yield system
    # Nothing is left on this machine.
    assert list((tmp_path / "temporary").iterdir()) == []
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def run(source: Path | str, **values: Any) -> Counts:
    return download(str(source), output_folder=OUT, **{"number_sample_per_shard": 10, **values})


def stored(system: Any) -> dict[str, bytes]:
    """Returns the files in the folder, by their paths in it."""
    return {path.removeprefix("/bucket/out/"): system.cat_file(path) for path in system.find("/bucket/out")}


def without_times(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: content for name, content in files.items() if not name.endswith("_stats.json")}


@FORMATS
def test_a_folder_has_the_same_files_as_one_of_this_machine(tmp_path: Path, memory: Any, output_format: str) -> None:
    source = write_list(tmp_path / "list.txt", urls(25))
    assert run(source, output_format=output_format).successes == 25
    download(str(source), output_folder=str(tmp_path / "out"), output_format=output_format, number_sample_per_shard=10)
    expected = contents(tmp_path / "out")
    assert stored(memory).keys() == expected.keys()
    assert without_times(stored(memory)) == without_times(expected)


@FORMATS
def test_an_interrupted_run_is_continued(
    tmp_path: Path, memory: Any, monkeypatch: pytest.MonkeyPatch, output_format: str
) -> None:
    source = write_list(tmp_path / "list.txt", urls(25))
    monkeypatch.setenv("FAKE", "die:15")
    with pytest.raises(BatchError):
        run(source, output_format=output_format)
    first = memory.cat_file("/bucket/out/00000_stats.json")
    assert not memory.exists("/bucket/out/00001_stats.json")
    monkeypatch.delenv("FAKE")
    assert run(source, output_format=output_format).successes == 25
    assert memory.cat_file("/bucket/out/00000_stats.json") == first
    with pytest.raises(FolderError, match="other options"):
        run(source, output_format=output_format, image_size=9)


@FORMATS
def test_a_folder_can_be_extended_and_overwritten(
    tmp_path: Path, memory: Any, monkeypatch: pytest.MonkeyPatch, output_format: str
) -> None:
    first, second = (write_list(tmp_path / f"{host}.txt", urls(25, host)) for host in ("a.test", "b.test"))
    run(first, output_format=output_format)
    run(second, output_format=output_format, incremental_mode="extend")
    assert {"00003_list.json", "00005_stats.json"} < stored(memory).keys()
    before = stored(memory)
    monkeypatch.setenv("FAKE_OUTAGE", "test")
    with pytest.raises(TryAgainError):
        run(second, incremental_mode="overwrite")
    monkeypatch.delenv("FAKE_OUTAGE")
    assert stored(memory) == before
    run(
        write_list(tmp_path / "b.test.txt", urls(15, "b.test")),
        output_format="webdataset",
        incremental_mode="overwrite",
    )
    assert sorted(stored(memory)) == [
        *("00000.parquet", "00000.tar", "00000_list.json", "00000_stats.json"),
        *("00001.parquet", "00001.tar", "00001_stats.json"),
    ]
    assert json.loads(memory.cat_file("/bucket/out/00000_list.json"))["shard_count"] == 2


def test_overwriting_removes_only_samples(tmp_path: Path, memory: Any) -> None:
    source = write_list(tmp_path / "list.txt", urls(5))
    run(source)
    memory.pipe_file("/bucket/out/00000/notes.txt", b"mine")
    before = stored(memory)
    with pytest.raises(FolderError, match=r"notes\.txt"):
        run(source, incremental_mode="overwrite")
    assert stored(memory) == before


def test_a_shard_whose_files_are_gone_is_made_again(tmp_path: Path, memory: Any) -> None:
    source = write_list(tmp_path / "list.txt", urls(25))
    run(source, output_format="webdataset")
    before = stored(memory)
    memory.rm_file("/bucket/out/00001.tar")
    memory.pipe_file("/bucket/out/00002.parquet", b"cut")
    assert run(source, output_format="webdataset").successes == 25
    assert without_times(stored(memory)) == without_times(before)


@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_a_shard_whose_folder_is_damaged_is_made_again(tmp_path: Path, memory: Any, damage: str) -> None:
    source = write_list(tmp_path / "list.txt", urls(25))
    run(source)
    before = stored(memory)
    if damage == "missing":
        memory.rm_file("/bucket/out/00001/000013.jpg")
    else:
        memory.pipe_file("/bucket/out/00001/000013.jpg", b"cut")
    assert run(source).successes == 25
    after = stored(memory)
    assert without_times(after) == without_times(before)
    assert {name for name in after if after[name] != before[name]} == {"00001_stats.json"}


@FORMATS
@pytest.mark.parametrize("lost", range(4))
def test_an_outage_while_a_shard_is_replaced_leaves_whole_files_and_no_marker(
    tmp_path: Path, memory: Any, monkeypatch: pytest.MonkeyPatch, output_format: str, lost: int
) -> None:
    run(write_list(tmp_path / "list.txt", urls(10)), output_format=output_format)
    before = stored(memory)
    source = write_list(tmp_path / "other.txt", urls(10, "b.test"))
    values = {"output_format": output_format, "incremental_mode": "overwrite"}
    put, count = type(memory).put_file, 0

    def put_until_the_outage(system: Any, path: str, target: str, **options: Any) -> None:
        nonlocal count
        if "00000_" not in target or target.endswith("_stats.json"):
            count += 1
            if count > lost:
                raise OSError("the network is out")
        put(system, path, target, **options)

    monkeypatch.setattr(type(memory), "put_file", put_until_the_outage)
    if lost < {"files": 4, "webdataset": 3, "parquet": 2, "dummy": 1}[output_format]:
        with pytest.raises(OutputError, match="the network is out"):
            run(source, **values)
        between = stored(memory)
        assert between.keys() - {"00000_overwrite.json"} == before.keys() - {"00000_stats.json"}
    monkeypatch.setattr(type(memory), "put_file", put)
    run(source, **values)
    after = stored(memory)
    assert after.keys() == before.keys()
    assert without_times(after) != without_times(before)


def test_nothing_of_a_larger_version_remains_in_a_folder(tmp_path: Path, memory: Any) -> None:
    run(write_list(tmp_path / "list.txt", urls(10)))
    run(write_list(tmp_path / "short.txt", urls(4, "b.test")), incremental_mode="overwrite")
    assert len([name for name in stored(memory) if name.startswith("00000/")]) == 8


def test_a_folder_takes_the_place_of_a_file(tmp_path: Path, memory: Any) -> None:
    source = write_list(tmp_path / "list.txt", urls(10))
    run(source)
    before = stored(memory)
    memory.rm("/bucket/out/00000", recursive=True)
    memory.pipe_file("/bucket/out/00000", b"mine")
    run(source)
    assert without_times(stored(memory)) == without_times(before)


def test_a_shard_without_samples_is_complete(tmp_path: Path, memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_list(tmp_path / "list.txt", urls(10))
    monkeypatch.setenv("FAKE_OUTAGE", "test")
    run(source, max_retryable_rate=1)
    # Object stores have no empty folders.
    memory.rmdir("/bucket/out/00000")
    before = stored(memory)
    run(source, max_retryable_rate=1)
    assert stored(memory) == before


def test_a_damaged_marker_is_an_error(tmp_path: Path, memory: Any) -> None:
    source = write_list(tmp_path / "list.txt", urls(5))
    memory.pipe_file("/bucket/out/00000_stats.json", b"")
    with pytest.raises(FolderError, match=r"memory://bucket/out/00000_stats\.json was not written by webimage_batch"):
        run(source)


def test_lists_are_read(tmp_path: Path, memory: Any) -> None:
    write_list(tmp_path / "list.txt", urls(5))
    memory.put_file(str(tmp_path / "list.txt"), "/lists/list.txt")
    assert run("memory://lists/list.txt").successes == 5
    for name in ("a", "b"):
        with memory.open(f"/lists/tables/{name}.parquet", "wb") as file:
            pq.write_table(pa.table({"url": urls(5, f"{name}.test"), "n": range(5)}), file)
    memory.pipe_file("/lists/tables/notes.txt", b"")
    assert download_parquet("memory://lists/tables", "memory://bucket/tables", rows_per_file=8).successes == 10
    assert sorted(path.rpartition("/")[2] for path in memory.find("/bucket/tables")) == [
        *("00000.parquet", "00000_stats.json", "00001.parquet", "00001_stats.json")
    ]
    with memory.open("/bucket/tables/00001.parquet") as file:
        assert pq.read_table(file)["url"].to_pylist() == urls(5, "b.test")[3:]
    for missing in ("memory://lists/none.txt", "memory://lists/tables"):
        with pytest.raises(FileNotFoundError):
            run(missing, input_format="csv")


def test_a_list_is_not_replaced_by_a_shard(memory: Any) -> None:
    with memory.open("/bucket/out/00000.parquet", "wb") as file:
        pq.write_table(pa.table({"url": urls(5)}), file)
    before = stored(memory)
    for source, message in ((f"{OUT}/00000.parquet", "name of a shard"), (f"{OUT}/", "would be a part")):
        for overwrite in (False, True):
            with pytest.raises(FolderError, match=message):
                download_parquet(source, OUT, overwrite=overwrite)
    assert stored(memory) == before


def test_a_file_system_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_list(tmp_path / "list.txt", urls(5))
    with pytest.raises(ValueError, match="nowhere"):
        download(str(source), output_folder="nowhere://out")
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(ImportError, match=r"memory://bucket/out needs fsspec"):
        run(source)
