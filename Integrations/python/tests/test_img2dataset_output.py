"""The folders that `download` writes: their samples, tables, and names."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from origin import Origin

from webimage_batch import FolderError, download, parts


def test_folder_with_other_files_is_not_replaced(
    tmp_path: Path, binary: str, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out/00000").mkdir(parents=True)
    (tmp_path / "out/00000/000000000.jpg").touch()
    (tmp_path / "out/00000/notes.txt").write_text("mine")
    with pytest.raises(FolderError, match=r"notes\.txt"):
        shards(tmp_path, binary, origin, monkeypatch, output_format="files")
    (tmp_path / "out/00000/notes.txt").unlink()
    folder = shards(tmp_path, binary, origin, monkeypatch, output_format="files")
    assert not (folder / "00000/000000000.jpg").exists()


def test_files_are_on_the_disk_before_their_marker(
    tmp_path: Path, binary: str, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync, synced = parts.sync, []

    def record(path: Path) -> None:
        synced.append(path.name)
        sync(path)

    monkeypatch.setattr(parts, "sync", record)
    folder = shards(tmp_path, binary, origin, monkeypatch, output_format="files")
    for shard in range(3):
        before = synced[: synced.index(f".{shard:05}_stats.json.part")]
        files = [path.name for path in (folder / f"{shard:05}").iterdir()]
        assert files
        assert set(files) < set(before)
        assert f".{shard:05}.part" in before


def shards(
    tmp_path: Path, binary: str, origin: Origin, monkeypatch: pytest.MonkeyPatch, *, group: str = "", **values: Any
) -> Path:
    """Downloads 24 images and a dead link in shards of ten rows, and returns the folder."""
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("WEBIMAGE", binary)
    urls = [*origin.images(24, group), origin.url("none")]
    lines = [json.dumps({"url": url, "text": f"t{n}", "n": n}) for n, url in enumerate(urls)]
    (tmp_path / "list.jsonl").write_text("\n".join(lines))
    counts = download(
        str(tmp_path / "list.jsonl"),
        output_folder=str(tmp_path / "out"),
        input_format="jsonl",
        caption_col="text",
        save_additional_columns=["n"],
        number_sample_per_shard=10,
        **{"resize_mode": "keep_ratio_largest", "image_size": 32, **values},
    )
    assert (counts.count, counts.successes, counts.failed_to_download) == (25, 24, 1)
    return tmp_path / "out"


@pytest.mark.binary
def test_shards_are_tar_files_for_webdataset(
    tmp_path: Path, binary: str, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = shards(tmp_path, binary, origin, monkeypatch, output_format="webdataset")
    with tarfile.open(out / "00002.tar") as tar:
        names = tar.getnames()
        member = tar.extractfile("000021.json")
        assert member is not None
        sample = json.load(member)
    assert names == [f"00002{n}.{extension}" for n in range(4) for extension in ("jpg", "json", "txt")]
    assert (sample["key"], sample["caption"], sample["n"], sample["status"]) == ("000021", "t21", "21", "success")
    assert (sample["width"], sample["original_width"], sample["exif"]) == (32, 64, "{}")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pq.read_table(out / "00002.parquet")
    assert table["status"].to_pylist() == ["success"] * 4 + ["failed_to_download"]
    assert "jpg" not in table.column_names
    statistics = json.loads((out / "00002_stats.json").read_text())
    assert statistics["status_dict"] == {"success": 4, "http_404": 1}


@pytest.mark.binary
@pytest.mark.parametrize(
    ("values", "size"),
    [
        ({}, (32, 32)),
        ({"image_size": 100}, (100, 100)),
        ({"image_size": 100, "resize_only_if_bigger": True}, (64, 48)),
        ({"resize_mode": "keep_ratio"}, (43, 32)),
    ],
)
def test_images_have_the_size_that_img2dataset_gives_them(
    tmp_path: Path,
    binary: str,
    origin: Origin,
    monkeypatch: pytest.MonkeyPatch,
    values: dict[str, Any],
    size: tuple[int, int],
) -> None:
    values = {"resize_mode": "border", **values}
    out = shards(tmp_path, binary, origin, monkeypatch, output_format="files", **values)
    pq = pytest.importorskip("pyarrow.parquet")
    table = pq.read_table(out / "00000.parquet")
    assert (table["width"][0].as_py(), table["height"][0].as_py()) == size


@pytest.mark.binary
def test_the_bytes_of_a_tar_file_depend_on_the_samples_alone(
    tmp_path: Path, binary: str, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    outs = []
    for concurrency in (1, 32):
        folder = tmp_path / str(concurrency)
        folder.mkdir()
        outs.append(shards(folder, binary, origin, monkeypatch, output_format="webdataset", thread_count=concurrency))
    for name in ("00000.tar", "00001.tar", "00002.tar"):
        assert (outs[0] / name).read_bytes() == (outs[1] / name).read_bytes()


@pytest.mark.binary
@pytest.mark.parametrize(("extract", "expected"), [(True, ['{"Make":"Abc"}', "{}", None]), (False, None)])
def test_exif_data_are_a_column_unless_they_are_not_extracted(
    tmp_path: Path,
    binary: str,
    origin: Origin,
    monkeypatch: pytest.MonkeyPatch,
    extract: bool,
    expected: list[str | None] | None,
) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setenv("WEBIMAGE", binary)
    (tmp_path / "list.txt").write_text("\n".join([origin.url("exif"), *origin.images(1), origin.url("none")]))
    download(str(tmp_path / "list.txt"), output_folder=str(tmp_path / "out"), extract_exif=extract)
    table = pq.read_table(tmp_path / "out/00000.parquet")
    assert (table["exif"].to_pylist() if "exif" in table.column_names else None) == expected
    samples = [json.loads((tmp_path / f"out/00000/00000000{n}.json").read_text()) for n in range(2)]
    assert [sample["exif"] for sample in samples] == (expected or [None, None])[:2]


@pytest.mark.binary
@pytest.mark.parametrize(("values", "orientation"), [({}, 1), ({"disable_all_reencoding": True}, 6)])
def test_an_image_that_has_been_turned_has_no_orientation(
    tmp_path: Path,
    binary: str,
    origin: Origin,
    monkeypatch: pytest.MonkeyPatch,
    values: dict[str, Any],
    orientation: int,
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("WEBIMAGE", binary)
    (tmp_path / "list.txt").write_text(origin.url("turned"))
    download(str(tmp_path / "list.txt"), output_folder=str(tmp_path / "out"), **values)
    sample = json.loads((tmp_path / "out/00000/000000000.json").read_text())
    assert json.loads(sample["exif"]) == {"Orientation": orientation}


@pytest.mark.binary
def test_images_keep_the_extension_of_their_format_argument_if_they_stay_as_they_are(
    tmp_path: Path, binary: str, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = shards(tmp_path, binary, origin, monkeypatch, output_format="webdataset", disable_all_reencoding=True)
    with tarfile.open(out / "00000.tar") as tar:
        assert tar.getnames()[0] == "000000.jpg"


@pytest.mark.binary
@pytest.mark.parametrize(("directives", "successes"), [(None, 0), ([], 1)])
def test_opting_out_can_be_ignored(
    tmp_path: Path,
    binary: str,
    origin: Origin,
    monkeypatch: pytest.MonkeyPatch,
    directives: list[str] | None,
    successes: int,
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("WEBIMAGE", binary)
    (tmp_path / "list.txt").write_text(origin.url("noai/1"))
    values: dict[str, Any] = {"disallowed_header_directives": directives, "proxy": ""}
    assert download(str(tmp_path / "list.txt"), output_folder=str(tmp_path / "out"), **values).successes == successes


def test_captions_can_have_any_type_and_columns_any_name(
    tmp_path: Path, fake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pa = pytest.importorskip("pyarrow")
    monkeypatch.setenv("WEBIMAGE", fake)
    values = [5, 1.5, None, ["a", "b"], True]
    columns = {f"c{number}": [value] for number, value in enumerate(values)}
    table = pa.table({"url": ["http://a.test/"], "id": [7], "index": [8], "error_code": ["own"], **columns})
    pa.parquet.write_table(table, tmp_path / "list.parquet")
    for number, text in enumerate(["5", "1.5", "", "['a', 'b']", "True"]):
        out = tmp_path / f"out{number}"
        download(
            str(tmp_path / "list.parquet"),
            output_folder=str(out),
            input_format="parquet",
            caption_col=f"c{number}",
            save_additional_columns=["id", "index", "error_code"],
        )
        assert (out / "00000/000000000.txt").read_text() == text
        sample = json.loads((out / "00000/000000000.json").read_text())
        assert (sample["id"], sample["index"], sample["error_code"]) == (7, 8, "own")
        assert pa.parquet.read_table(out / "00000.parquet")["id"].to_pylist() == [7]


@pytest.mark.binary
def test_shards_are_folders_of_files(
    tmp_path: Path, binary: str, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = shards(tmp_path, binary, origin, monkeypatch, output_format="files", encode_format="webp")
    assert (out / "00001/000017.webp").read_bytes()[:4] == b"RIFF"
    assert (out / "00001/000017.txt").read_text() == "t17"
    assert len(list((out / "00001").iterdir())) == 30
    # A second run finds everything complete.
    written = (out / "00001").stat().st_mtime_ns
    shards(tmp_path, binary, origin, monkeypatch, output_format="files", encode_format="webp")
    assert (out / "00001").stat().st_mtime_ns == written


@pytest.mark.binary
def test_a_second_list_can_follow_the_first(
    tmp_path: Path, binary: str, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = shards(tmp_path, binary, origin, monkeypatch, output_format="webdataset")
    extended = {"output_format": "webdataset", "incremental_mode": "extend"}
    shards(tmp_path, binary, origin, monkeypatch, group="second", **extended)
    with tarfile.open(out / "00003.tar") as tar:
        assert tar.getnames()[0] == "000030.jpg"
    assert (out / "00005_stats.json").exists()
