"""Several lists in one folder (`incremental_mode="extend"`), with the stand-in for the binary."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from webimage_batch import BatchError, Counts, FolderError, TryAgainError, download, parts

pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.usefixtures("use_fake")


def write_list(folder: Path, host: str, count: int) -> Path:
    path = folder / f"{host}.txt"
    path.write_text("".join(f"http://{host}/{number}\n" for number in range(count)))
    return path


def run(source: Path, mode: str = "extend", **values: Any) -> Counts:
    """Downloads a list in shards of ten rows into the folder `out` beside it."""
    values = {"number_sample_per_shard": 10, "output_format": "parquet", **values}
    return download(str(source), output_folder=str(source.parent / "out"), incremental_mode=mode, **values)


def hosts(folder: Path) -> dict[int, str]:
    """Returns the host of the URLs of each complete shard; checks that keys and URLs are those of the shard."""
    urls: list[str] = []
    result = {}
    for marker in sorted((folder / "out").glob("*_stats.json")):
        number = int(marker.name[:5])
        table = pq.read_table(folder / f"out/{number:05}.parquet")
        assert table["key"].to_pylist() == [f"{number:05}{row}" for row in range(table.num_rows)]
        urls.extend(table["url"].to_pylist())
        [result[number]] = {url.split("/")[2] for url in table["url"].to_pylist()}
    assert len(set(urls)) == len(urls)
    return result


@pytest.mark.parametrize("mode", ["incremental", "extend"])
def test_an_interrupted_list_is_continued_before_another_one_is_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    first, second = write_list(tmp_path, "a.test", 45), write_list(tmp_path, "b.test", 25)
    monkeypatch.setenv("FAKE", "die:25")
    with pytest.raises(BatchError):
        run(first, mode)
    monkeypatch.delenv("FAKE")
    assert hosts(tmp_path) == {0: "a.test", 1: "a.test"}
    with pytest.raises(FolderError, match=r"not complete, which begins with shard 00000.*00000_list\.json") as error:
        run(second)
    assert error.value.exit_status == 65
    assert run(first).successes == 45
    assert run(second).successes == 25
    assert hosts(tmp_path) == {**dict.fromkeys(range(5), "a.test"), **dict.fromkeys(range(5, 8), "b.test")}


def test_an_interrupted_list_that_was_added_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(write_list(tmp_path, "a.test", 15))
    second = write_list(tmp_path, "b.test", 45)
    for line in ("25", "15"):
        monkeypatch.setenv("FAKE", f"die:{line}")
        with pytest.raises(BatchError):
            run(second)
    monkeypatch.delenv("FAKE")
    assert run(second).successes == 45
    run(write_list(tmp_path, "c.test", 5))
    assert hosts(tmp_path) == {0: "a.test", 1: "a.test", **dict.fromkeys(range(2, 7), "b.test"), 7: "c.test"}


def test_shards_of_an_outage_keep_their_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(write_list(tmp_path, "a.test", 10))
    # The first and the last shard of the second list fail.
    second = tmp_path / "b.txt"
    second.write_text("".join(f"http://{host}.test/{n}\n" for host in ("out1", "b", "out2") for n in range(10)))
    monkeypatch.setenv("FAKE_OUTAGE", "out")
    with pytest.raises(TryAgainError, match="2 shards"):
        run(second)
    third = write_list(tmp_path, "c.test", 10)
    run(third)
    assert hosts(tmp_path) == {0: "a.test", 2: "b.test", 4: "c.test"}
    monkeypatch.delenv("FAKE_OUTAGE")
    assert run(second).successes == 30
    run(third)
    assert hosts(tmp_path) == {0: "a.test", 1: "out1.test", 2: "b.test", 3: "out2.test", 4: "c.test"}


def test_a_list_without_a_complete_shard_has_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(write_list(tmp_path, "a.test", 10))
    second, third = write_list(tmp_path, "b.test", 20), write_list(tmp_path, "c.test", 10)
    monkeypatch.setenv("FAKE", "die:5")
    with pytest.raises(BatchError):
        run(second)
    monkeypatch.delenv("FAKE")
    monkeypatch.setenv("FAKE_OUTAGE", "b.test")
    with pytest.raises(TryAgainError):
        run(second)
    monkeypatch.delenv("FAKE_OUTAGE")
    # As if the machine had crashed before the first marker.
    (tmp_path / "out/00001_list.json").write_text(json.dumps({"first_shard": 1, "head_sha256": "0"}))
    run(third)
    run(second)
    assert hosts(tmp_path) == {0: "a.test", 1: "c.test", 2: "b.test", 3: "b.test"}


def test_a_list_that_a_folder_has_is_not_added_again(tmp_path: Path) -> None:
    sources = [write_list(tmp_path, host, 15) for host in ("a.test", "b.test")]
    for _ in range(2):
        for source in sources:
            assert run(source).successes == 15
    assert hosts(tmp_path) == {0: "a.test", 1: "a.test", 2: "b.test", 3: "b.test"}


def test_an_unfinished_list_can_be_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = write_list(tmp_path, "a.test", 45), write_list(tmp_path, "b.test", 5)
    monkeypatch.setenv("FAKE", "die:25")
    with pytest.raises(BatchError):
        run(first)
    monkeypatch.delenv("FAKE")
    (tmp_path / "out/00000_list.json").unlink()
    run(second)
    assert hosts(tmp_path) == {0: "a.test", 1: "a.test", 2: "b.test"}


def test_a_list_whose_only_shard_has_lost_its_marker_keeps_its_place(tmp_path: Path) -> None:
    first, second = write_list(tmp_path, "a.test", 5), write_list(tmp_path, "b.test", 5)
    run(first, output_format="webdataset")
    # As if the machine had crashed while the shard was replaced.
    (tmp_path / "out/00000_stats.json").unlink()
    archive = (tmp_path / "out/00000.tar").read_bytes()
    run(second, output_format="webdataset")
    assert hosts(tmp_path) == {1: "b.test"}
    assert (tmp_path / "out/00000.tar").read_bytes() == archive
    run(first, output_format="webdataset")
    assert hosts(tmp_path) == {0: "a.test", 1: "b.test"}


def test_a_list_is_known_before_its_files_have_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = write_list(tmp_path, "a.test", 5), write_list(tmp_path, "b.test", 5)
    place = parts.place

    def crash(path: Path) -> None:
        place(path)
        raise KeyboardInterrupt

    with monkeypatch.context() as patches, pytest.raises(KeyboardInterrupt):
        patches.setattr("webimage_batch.folders.place", crash)
        run(first)
    content = (tmp_path / "out/00000.parquet").read_bytes()
    assert hosts(tmp_path) == {}
    with pytest.raises(FolderError, match=r"not complete, which begins with shard 00000"):
        run(second)
    assert (tmp_path / "out/00000.parquet").read_bytes() == content
    run(first)
    run(second)
    assert hosts(tmp_path) == {0: "a.test", 1: "b.test"}


def test_lists_follow_shards_of_lists_that_are_not_known(tmp_path: Path) -> None:
    run(write_list(tmp_path, "a.test", 15), "incremental")
    (tmp_path / "out/00000_list.json").unlink()
    run(write_list(tmp_path, "b.test", 5))
    assert hosts(tmp_path) == {0: "a.test", 1: "a.test", 2: "b.test"}


def test_a_list_that_has_grown_takes_no_shards_of_the_next_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = write_list(tmp_path, "a.test", 20)
    run(first)
    run(write_list(tmp_path, "b.test", 20))
    # The first shard of the second list is not complete.
    (tmp_path / "out/00002_stats.json").unlink()
    for mode in ("incremental", "extend"):
        with pytest.raises(FolderError, match="Shard 00002 belongs to the next list, which was added"):
            run(write_list(tmp_path, "a.test", 25), mode)
    assert hosts(tmp_path) == {0: "a.test", 1: "a.test", 3: "b.test"}


def test_a_list_that_has_grown_keeps_the_numbers_of_its_new_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = write_list(tmp_path, "a.test", 20)
    run(first)
    with first.open("a") as file:
        file.writelines(f"http://out.test/{number}\n" for number in range(10))
    monkeypatch.setenv("FAKE_OUTAGE", "out.test")
    with pytest.raises(TryAgainError):
        run(first)
    monkeypatch.delenv("FAKE_OUTAGE")
    run(write_list(tmp_path, "b.test", 10))
    assert hosts(tmp_path) == {0: "a.test", 1: "a.test", 3: "b.test"}
    assert run(first).successes == 30
    assert hosts(tmp_path) == {0: "a.test", 1: "a.test", 2: "out.test", 3: "b.test"}


def test_another_list_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    run(write_list(tmp_path, "a.test", 15), "incremental")
    (tmp_path / "out/00000_stats.json").unlink()
    with pytest.raises(FolderError, match="other rows or columns"):
        run(write_list(tmp_path, "b.test", 15), "incremental")
    assert hosts(tmp_path) == {1: "a.test"}
    run(write_list(tmp_path, "b.test", 15), "overwrite")
    assert hosts(tmp_path) == {0: "b.test", 1: "b.test"}


@pytest.mark.parametrize(
    "text",
    [
        *["{", "[]", "{}", "[" * 100_000, '{"first_shard": 1, "head_sha256": "0"}'],
        *[
            f'{{"first_shard": 0, "head_sha256": "0", "shard_count": {count}}}'
            for count in ("-1", "true", "1e3", 10**10)
        ],
    ],
)
def test_a_foreign_file_about_a_list_is_an_error(tmp_path: Path, text: str) -> None:
    run(write_list(tmp_path, "a.test", 5))
    (tmp_path / "out/00000_list.json").write_text(text)
    with pytest.raises(FolderError, match=r"00000_list\.json was not written by webimage_batch"):
        run(write_list(tmp_path, "b.test", 5))


def test_an_empty_list_adds_nothing(tmp_path: Path) -> None:
    run(write_list(tmp_path, "a.test", 5))
    assert run(write_list(tmp_path, "b.test", 0)).count == 0
    assert run(write_list(tmp_path, "c.test", 5)).count == 5
    assert hosts(tmp_path) == {0: "a.test", 1: "c.test"}


def test_nothing_is_removed_if_the_first_shard_cannot_be_read(tmp_path: Path) -> None:
    run(write_list(tmp_path, "a.test", 15), "incremental", number_sample_per_shard=3000)
    content = gzip.compress(b"".join(b"http://b.test/%s\n" % os.urandom(20).hex().encode() for _ in range(3000)))
    (tmp_path / "b.txt.gz").write_bytes(content[:-100])
    with pytest.raises(ValueError, match="damaged"):
        run(tmp_path / "b.txt.gz", "overwrite", input_format="txt.gz", number_sample_per_shard=3000)
    assert (tmp_path / "out/00000_stats.json").exists()
