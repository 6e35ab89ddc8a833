"""Runs that overwrite the shards of earlier ones, with the stand-in for the binary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from runs import FORMATS, contents, names, pa, pq, run, urls, write_list

from webimage_batch import BatchError, FolderError, TryAgainError, UsageError, download_parquet
from webimage_batch.conditions import Conditions
from webimage_batch.shards import Shards
from webimage_batch.storage import opened

pytestmark = pytest.mark.usefixtures("use_fake")


def make_foreign_files(folder: Path) -> list[str]:
    """Adds names that only resemble those of shards, and returns them."""
    foreign = [
        "0001.tar",
        "000001.tar",
        "00001.tar.gz",
        "00001_stats.json.bak",
        "a00001.tar",
        "notes.txt",
        "1_stats.json",
    ]
    for name in foreign:
        (folder / name).write_text("mine")
    return foreign


@FORMATS
@pytest.mark.parametrize("change", ["options", "list", "nothing"])
def test_overwriting_replaces_one_shard_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output_format: str, change: str
) -> None:
    source = write_list(tmp_path / "list.txt", urls(45))
    run(source, output_format=output_format)
    before = contents(tmp_path / "out")
    values: dict[str, Any] = {"output_format": output_format, "incremental_mode": "overwrite"}
    if change == "options":
        values["image_size"] = 100
    if change == "list":
        source = write_list(tmp_path / "other.txt", urls(35, "b.test"))
    monkeypatch.setenv("FAKE", "die:25")
    with pytest.raises(BatchError):
        run(source, **values)
    monkeypatch.delenv("FAKE")
    killed = contents(tmp_path / "out")
    assert all(f"{number:05}_stats.json" in killed for number in range(5))
    assert {name: killed[name] for name in before if name[:5] >= "00002"} == {
        name: content for name, content in before.items() if name[:5] >= "00002"
    }
    # The run is continued.
    assert run(source, **values).successes == (35 if change == "list" else 45)
    after = contents(tmp_path / "out")
    assert after["00000_stats.json"] == killed["00000_stats.json"] != before["00000_stats.json"]
    assert after["00003_stats.json"] != before["00003_stats.json"]
    assert ("00004_stats.json" in after) == (change != "list")
    # The next one replaces all again.
    run(source, **values)
    assert contents(tmp_path / "out")["00000_stats.json"] != after["00000_stats.json"]
    assert not [name for name in names(tmp_path / "out") if "overwrite" in name]
    # The folder is one of the new list.
    assert run(source, **{**values, "incremental_mode": "extend"}).count == (35 if change == "list" else 45)


def test_overwriting_replaces_what_is_damaged(tmp_path: Path) -> None:
    source = write_list(tmp_path / "list.txt", urls(35))
    run(source)
    for name in ("00000_stats.json", "00000_list.json", "00000_overwrite.json"):
        (tmp_path / "out" / name).write_text("[" * 100_000)
    (tmp_path / "out/00001_stats.json").unlink()
    (tmp_path / "out/00001_stats.json").mkdir()
    assert run(source, incremental_mode="overwrite").successes == 35
    assert run(source).successes == 35


def test_overwriting_during_an_outage_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_list(tmp_path / "list.txt", urls(25))
    run(source)
    pq.write_table(pa.table({"url": urls(25)}), tmp_path / "list.parquet")
    download_parquet(tmp_path / "list.parquet", tmp_path / "tables", rows_per_file=10)
    before = contents(tmp_path)
    monkeypatch.setenv("FAKE_OUTAGE", "test")
    with pytest.raises(TryAgainError):
        run(source, incremental_mode="overwrite", image_size=100)
    with pytest.raises(TryAgainError):
        download_parquet(tmp_path / "list.parquet", tmp_path / "tables", rows_per_file=5, overwrite=True)
    assert contents(tmp_path) == before


@FORMATS
def test_overwriting_leaves_nothing_of_a_longer_list(tmp_path: Path, output_format: str) -> None:
    source = write_list(tmp_path / "list.txt", urls(45))
    run(source, output_format=output_format)
    foreign = make_foreign_files(tmp_path / "out")
    short = write_list(tmp_path / "short.txt", urls(10, "b.test"))
    run(short, output_format=output_format, incremental_mode="overwrite")
    assert {name.partition("_")[0].partition(".")[0] for name in names(tmp_path / "out") if name not in foreign} == {
        "00000"
    }
    assert set(foreign) < set(names(tmp_path / "out"))


def test_overwriting_leaves_nothing_of_another_format(tmp_path: Path) -> None:
    source = write_list(tmp_path / "list.txt", urls(25))
    run(source, output_format="files")
    run(source, output_format="webdataset", incremental_mode="overwrite")
    assert "00002.tar" in names(tmp_path / "out") and "00002" not in names(tmp_path / "out")


def test_overwriting_leaves_nothing_of_more_rows(tmp_path: Path) -> None:
    pq.write_table(pa.table({"url": urls(30)}), tmp_path / "list.parquet")
    download_parquet(tmp_path / "list.parquet", tmp_path / "out", rows_per_file=10)
    download_parquet(tmp_path / "list.parquet", tmp_path / "out", rows_per_file=20, overwrite=True)
    assert names(tmp_path / "out") == ["00000.parquet", "00000_stats.json", "00001.parquet", "00001_stats.json"]


def test_overwriting_removes_nothing_if_a_folder_has_other_files(tmp_path: Path) -> None:
    source = write_list(tmp_path / "list.txt", urls(25))
    run(source)
    (tmp_path / "out/00001/notes.txt").write_text("mine")
    before = names(tmp_path / "out")
    with pytest.raises(FolderError, match=r"notes\.txt"):
        run(source, incremental_mode="overwrite")
    assert names(tmp_path / "out") == before


def test_overwriting_removes_nothing_if_the_list_cannot_be_read(tmp_path: Path) -> None:
    run(write_list(tmp_path / "list.txt", urls(15)))
    before = names(tmp_path / "out")
    (tmp_path / "list.csv").write_text("address\nhttp://a.test/\n")
    with pytest.raises(ValueError, match="no column url"):
        run(tmp_path / "list.csv", input_format="csv", incremental_mode="overwrite")
    pq.write_table(pa.table({"address": urls(5)}), tmp_path / "list.parquet")
    with pytest.raises(ValueError, match="no column url"):
        download_parquet(tmp_path / "list.parquet", tmp_path / "out", overwrite=True)
    assert names(tmp_path / "out") == before


@pytest.mark.parametrize("text", ["", "\n\n", "# http://a.test/\n"])
def test_overwriting_with_an_empty_list_is_an_error(tmp_path: Path, text: str) -> None:
    run(write_list(tmp_path / "list.txt", urls(15)))
    pq.write_table(pa.table({"url": urls(15)}), tmp_path / "list.parquet")
    download_parquet(tmp_path / "list.parquet", tmp_path / "tables", rows_per_file=10)
    (tmp_path / "empty.txt").write_text(text)
    pq.write_table(pa.table({"url": pa.array([], pa.string())}), tmp_path / "empty.parquet")
    before = contents(tmp_path)
    with pytest.raises(ValueError, match=r"empty\.txt has no rows"):
        run(tmp_path / "empty.txt", incremental_mode="overwrite")
    with pytest.raises(ValueError, match=r"empty\.parquet has no rows"):
        run(tmp_path / "empty.parquet", input_format="parquet", incremental_mode="overwrite")
    for folder in ("tables", "new"):
        with pytest.raises(ValueError, match=r"empty\.parquet has no rows"):
            download_parquet(tmp_path / "empty.parquet", tmp_path / folder, overwrite=True)
    assert contents(tmp_path) == before
    assert not (tmp_path / "new").exists()


def test_a_run_without_a_shard_replaces_nothing(tmp_path: Path) -> None:
    run(write_list(tmp_path / "list.txt", urls(15)))
    before = contents(tmp_path)
    with opened(tmp_path / "out") as storage:
        shards = Shards(
            storage,
            lambda _: [],
            url="url",
            rows_per_shard=10,
            identity="",
            conditions=Conditions(),
            overwrites=True,
        )
        assert list(shards.plan([])) == []
        with pytest.raises(ValueError, match="no rows"):
            shards.finish()
    assert contents(tmp_path) == before


@FORMATS
def test_overwriting_after_a_complete_run_replaces_all_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output_format: str
) -> None:
    source = write_list(tmp_path / "list.txt", urls(25))
    run(source, output_format=output_format)
    monkeypatch.setenv("FAKE", "die:15")
    with pytest.raises(BatchError):
        run(source, output_format=output_format, incremental_mode="overwrite")
    monkeypatch.delenv("FAKE")
    assert "00000_overwrite.json" in names(tmp_path / "out")
    run(source, output_format=output_format)
    assert "00000_overwrite.json" not in names(tmp_path / "out")
    before = contents(tmp_path / "out")
    run(source, output_format=output_format, incremental_mode="overwrite")
    after = contents(tmp_path / "out")
    for number in range(3):
        assert after[f"{number:05}_stats.json"] != before[f"{number:05}_stats.json"]


def test_an_interrupted_run_that_overwrites_is_not_continued_after_another_has_written_a_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_list(tmp_path / "list.txt", urls(25))
    run(source, output_format="parquet")
    monkeypatch.setenv("FAKE", "die:15")
    with pytest.raises(BatchError):
        run(source, output_format="parquet", incremental_mode="overwrite")
    monkeypatch.delenv("FAKE")
    with pytest.raises(FolderError, match="other options"):
        run(source, output_format="parquet", image_size=9)
    assert "00000_overwrite.json" in names(tmp_path / "out")
    (tmp_path / "out/00001.parquet").unlink()
    (tmp_path / "out/00002.parquet").unlink()
    monkeypatch.setenv("FAKE_OUTAGE", "a.test/2")
    with pytest.raises(TryAgainError, match="00002"):
        run(source, output_format="parquet")
    assert "00000_overwrite.json" not in names(tmp_path / "out")


@pytest.mark.binary
@pytest.mark.parametrize(
    ("webimage", "values", "error"),
    [(None, {"encode_quality": 101}, UsageError), ("/nonexistent", {}, FileNotFoundError)],
)
def test_overwriting_removes_nothing_if_the_process_does_not_accept_its_options(
    tmp_path: Path,
    binary: str,
    monkeypatch: pytest.MonkeyPatch,
    webimage: str | None,
    values: dict[str, Any],
    error: type[Exception],
) -> None:
    source = write_list(tmp_path / "list.txt", urls(25))
    run(source)
    before = contents(tmp_path / "out")
    monkeypatch.setenv("WEBIMAGE", webimage or binary)
    with pytest.raises(error):
        run(source, incremental_mode="overwrite", **values)
    assert contents(tmp_path / "out") == before


@pytest.mark.binary
@pytest.mark.parametrize(
    ("webimage", "values", "error"),
    [(None, {"max_pixel_sice": 9}, UsageError), ("/nonexistent", {}, FileNotFoundError)],
)
def test_overwriting_parquet_files_removes_nothing_if_the_process_does_not_accept_its_options(
    tmp_path: Path,
    binary: str,
    monkeypatch: pytest.MonkeyPatch,
    webimage: str | None,
    values: dict[str, Any],
    error: type[Exception],
) -> None:
    pq.write_table(pa.table({"url": urls(25)}), tmp_path / "list.parquet")
    download_parquet(tmp_path / "list.parquet", tmp_path / "out", rows_per_file=10)
    before = contents(tmp_path / "out")
    monkeypatch.setenv("WEBIMAGE", webimage or binary)
    with pytest.raises(error):
        download_parquet(tmp_path / "list.parquet", tmp_path / "out", rows_per_file=10, overwrite=True, **values)
    assert contents(tmp_path / "out") == before


def test_overwriting_reports_only_the_progress_of_the_downloads(tmp_path: Path) -> None:
    pq.write_table(pa.table({"url": urls(5)}), tmp_path / "list.parquet")
    reports: list[dict[str, Any]] = []
    download_parquet(
        tmp_path / "list.parquet", tmp_path / "out", overwrite=True, fake="statistics", on_statistics=reports.append
    )
    assert len(reports) == 1
