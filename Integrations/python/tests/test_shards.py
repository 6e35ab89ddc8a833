"""Which shards are written, and what becomes of those of earlier runs, with the stand-in for the binary."""

from __future__ import annotations

import errno
import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from origin import Origin

from webimage_batch import Counts, FolderError, OutputError, TryAgainError, download, parts
from webimage_batch.__main__ import main

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from webimage_batch import download_parquet  # noqa: E402

FORMATS = pytest.mark.parametrize("output_format", ["files", "webdataset", "parquet", "dummy"])


@pytest.fixture(autouse=True)
def use_fake(fake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBIMAGE", fake)


def write_list(path: Path, urls: list[str]) -> Path:
    path.write_text("".join(f"{url}\n" for url in urls))
    return path


def urls(count: int, host: str = "a.test") -> list[str]:
    return [f"http://{host}/{number}" for number in range(count)]


def run(source: Path, **values: Any) -> Counts:
    """Downloads a list in shards of ten rows into the folder `out` beside it."""
    return download(str(source), output_folder=str(source.parent / "out"), **{"number_sample_per_shard": 10, **values})


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# The network


@FORMATS
def test_shards_of_an_outage_are_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output_format: str
) -> None:
    source = write_list(tmp_path / "list.txt", [*urls(10), *urls(10, "out.test"), *urls(5)])
    monkeypatch.setenv("FAKE_OUTAGE", "out.test")
    with pytest.raises(TryAgainError, match=r"1 shard is .* 00001: .*\(dns_temporary: 10\)") as error:
        run(source, output_format=output_format)
    assert error.value.exit_status == 75
    assert [name for name in names(tmp_path / "out") if "00001" in name] == []
    assert (tmp_path / "out/00002_stats.json").exists()
    monkeypatch.delenv("FAKE_OUTAGE")
    assert run(source, output_format=output_format).successes == 25
    assert (tmp_path / "out/00001_stats.json").exists()


def test_a_shard_may_have_as_many_retryable_failures_as_the_rate_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_OUTAGE", "out.test")
    source = write_list(tmp_path / "list.txt", [*urls(5), *urls(5, "out.test")])
    assert run(source).successes == 5
    source = write_list(tmp_path / "more.txt", [*urls(4), *urls(6, "out.test")])
    with pytest.raises(TryAgainError):
        run(source, incremental_mode="overwrite")
    assert run(source, max_retryable_rate=0.6).successes == 4
    # The rate is no part of what the shards are made of.
    assert run(source, max_retryable_rate=0.1).successes == 4


def test_files_of_an_outage_are_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(pa.table({"url": urls(10, "out.test")}), tmp_path / "list.parquet")
    monkeypatch.setenv("FAKE_OUTAGE", "out.test")
    with pytest.raises(TryAgainError):
        download_parquet(tmp_path / "list.parquet", tmp_path / "out")
    assert names(tmp_path / "out") == []
    counts = download_parquet(tmp_path / "list.parquet", tmp_path / "out", max_retryable_rate=1)
    assert counts.status_dict == {"dns_temporary": 10}


def test_the_command_tells_that_it_should_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pq.write_table(pa.table({"url": urls(10, "out.test")}), tmp_path / "list.parquet")
    monkeypatch.setenv("FAKE_OUTAGE", "out.test")
    paths = [str(tmp_path / "list.parquet"), str(tmp_path / "out")]
    assert main(["parquet", *paths]) == 75
    assert "dns_temporary" in capsys.readouterr().err
    assert main(["parquet", *paths, "--", "--max-retryable-rate=1.5"]) == 64
    assert main(["parquet", *paths, "--", "--max-retryable-rate=1"]) == 0
    assert main(["parquet", *paths[:1], str(tmp_path / "other"), "--max-retryable-rate=1"]) == 0
    source = write_list(tmp_path / "list.txt", urls(10, "out.test"))
    images = [f"--url_list={source}", f"--output_folder={tmp_path / 'images'}"]
    assert main(["download", *images]) == 75
    assert main(["download", *images, "--max_retryable_rate=1"]) == 0


@pytest.mark.binary
def test_shards_of_servers_that_cannot_be_reached_are_not_written(
    tmp_path: Path, binary: str, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBIMAGE", binary)
    source = write_list(tmp_path / "list.txt", [f"http://127.0.0.1:1/{number}" for number in range(10)])
    with pytest.raises(TryAgainError, match="connection_failed"):
        run(source, output_format="webdataset")
    assert names(tmp_path / "out") == []
    # Images that are not there are no outage.
    source = write_list(tmp_path / "list.txt", [origin.url(f"none/{number}") for number in range(10)])
    assert run(source, output_format="webdataset").status_dict == {"http_404": 10}


# The folder


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


def test_overwriting_does_not_remove_the_list(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    source = tmp_path / "out/00000.parquet"
    pq.write_table(pa.table({"url": urls(5)}), source)
    with pytest.raises(FolderError, match=r"00000\.parquet"):
        download_parquet(source, tmp_path / "out", overwrite=True)
    with pytest.raises(FolderError, match=r"00000\.parquet"):
        download(str(source), output_folder=str(tmp_path / "out"), input_format="parquet", incremental_mode="overwrite")
    assert pq.read_table(source).num_rows == 5


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


@pytest.mark.parametrize("output_format", ["files", "webdataset", "parquet"])
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
    def fail(path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(parts, "sync", fail)
    source = write_list(tmp_path / "list.txt", urls(5))
    command = ["download", f"--url_list={source}", f"--output_folder={tmp_path / 'out'}"]
    assert main([*command, f"--output_format={output_format}"]) == 74
    assert names(tmp_path / "out") == []


def test_a_list_that_cannot_be_read_is_an_error_of_the_arguments(tmp_path: Path) -> None:
    assert main(["download", f"--url_list={tmp_path / 'none.txt'}", f"--output_folder={tmp_path / 'out'}"]) == 64


# What differs from run to run


def test_samples_do_not_tell_how_often_an_image_was_requested(tmp_path: Path) -> None:
    run(write_list(tmp_path / "list.txt", urls(1)), output_format="files")
    [path] = (tmp_path / "out/00000").glob("*.json")
    assert "attempts" not in json.loads(path.read_text())
    assert pq.read_table(tmp_path / "out/00000.parquet")["attempts"].to_pylist() == [3]
