"""The arguments of img2dataset, and the lists that it reads."""

from __future__ import annotations

import gzip
import inspect
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from origin import Origin

from webimage_batch import FolderError, download, parts
from webimage_batch.__main__ import main
from webimage_batch.img2dataset_arguments import Arguments
from webimage_batch.lists import read_list


def arguments(**values: Any) -> Arguments:
    defaults = {name: parameter.default for name, parameter in inspect.signature(download).parameters.items()}
    return Arguments({**defaults, "url_list": "list.txt", **values})


def test_images_are_encoded_as_by_img2dataset() -> None:
    assert arguments().options() == {
        "format": "jpeg",
        "quality": 95,
        "filter": "box",
        "resize_mode": "border",
        "image_size": 256,
        "resize_only_if_bigger": True,
        "timeout": 10,
        "retries": 0,
        "compute_hash": "sha256",
        "exif": True,
    }
    assert arguments().warnings == []


def test_arguments_become_options() -> None:
    options = arguments(
        encode_format="webp",
        encode_quality=80,
        thread_count=128,
        compute_hash=None,
        extract_exif=False,
        min_image_size=100,
        max_image_area=1e6,
        max_aspect_ratio=3.0,
        disallowed_header_directives=[],
        user_agent_token="me",
        resize_mode="no",
    ).options()
    assert options == {
        "format": "webp",
        "quality": 80,
        "timeout": 10,
        "retries": 0,
        "concurrency": 128,
        "compute_hash": "none",
        "min_image_size": 100,
        "max_image_area": 1000000,
        "max_aspect_ratio": 3.0,
        "user_agent_token": "me",
        "disallowed_header_directives": "",
    }


def test_images_can_be_enlarged_and_cropped() -> None:
    options = arguments(
        resize_mode="center_crop", image_size=100, resize_only_if_bigger=False, downscale_interpolation="cubic"
    ).options()
    assert (options["resize_mode"], options["image_size"], options["filter"]) == ("center_crop", 100, "catmull-rom")
    assert not options["resize_only_if_bigger"]


def test_images_can_stay_as_they_are() -> None:
    assert arguments(disable_all_reencoding=True).options()["format"] == "original"
    assert arguments(skip_reencode=True, resize_mode="no").options()["format"] == "original"


@pytest.mark.parametrize(
    "values",
    [
        {"bbox_col": "faces"},
        {"distributor": "pyspark"},
        {"distributor": "ray"},
        {"oom_shard_count": 6},
        {"output_format": "tfrecord"},
        {"input_format": "xlsx"},
        {"resize_mode": "fixed"},
        {"downscale_interpolation": "nearest"},
        {"encode_format": "avif"},
        {"skip_reencode": True},
        {"url_list": "s3://bucket/list.txt"},
        {"output_folder": "hdfs://out"},
        {"verify_hash": ["digest", "md5"]},
        {"compute_hash": "crc32"},
        {"save_additional_columns": ["width"]},
        {"incremental_mode": "again"},
    ],
)
def test_unsupported_arguments_are_an_error(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(values))):
        arguments(**values)


@pytest.mark.parametrize(
    "name",
    ["processes_count", "subjob_size", "max_shard_retry", "enable_wandb", "upscale_interpolation"],
)
def test_ignored_arguments_are_a_warning(name: str) -> None:
    assert [warning.split()[0] for warning in arguments(**{name: 8}).warnings] == [name]


def test_columns_have_the_names_of_the_output() -> None:
    chosen = arguments(
        input_format="csv",
        url_col="address",
        caption_col="text",
        verify_hash=["digest", "sha256"],
        save_additional_columns=["license"],
    )
    expected = {"url": "address", "caption": "text", "expected_sha256": "digest", "license": "license"}
    assert chosen.columns() == expected
    assert chosen.options()["verify_hash"] == "sha256=expected_sha256"


LIST = [{"url": "http://a.test/ü", "caption": 'a, "b"\nc'}, {"url": "http://b.test/", "caption": "d"}]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("jsonl", "".join(json.dumps(row) + "\n" for row in LIST) + "\n"),
        ("json", json.dumps(LIST)),
        ("json", json.dumps({key: {str(i): row[key] for i, row in enumerate(LIST)} for key in ("url", "caption")})),
        ("csv", 'url,caption\nhttp://a.test/ü,"a, ""b""\nc"\nhttp://b.test/,d\n'),
        ("tsv", 'url\tcaption\nhttp://a.test/ü\t"a, ""b""\nc"\nhttp://b.test/\td\n'),
    ],
)
def test_lists_are_read(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / f"list.{name}").write_text(text)
    (tmp_path / f"list.{name}.gz").write_bytes(gzip.compress(text.encode()))
    assert list(read_list(tmp_path / f"list.{name}", name)) == LIST
    assert list(read_list(tmp_path, f"{name}.gz")) == LIST


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("txt", "http://a.test/\n"),
        ("jsonl", '{"url": "http://a.test/"}\n'),
        ("json", '[{"url": "http://a.test/"}]'),
        ("csv", "url\nhttp://a.test/\n"),
        ("tsv", "url\tcaption\nhttp://a.test/\t\n"),
    ],
)
def test_byte_order_marks_are_no_part_of_lists(tmp_path: Path, name: str, text: str) -> None:
    content = text.encode("utf-8-sig")
    (tmp_path / f"list.{name}").write_bytes(content)
    (tmp_path / f"list.{name}.gz").write_bytes(gzip.compress(content))
    for source in (f"{name}", f"{name}.gz"):
        rows = list(read_list(tmp_path / f"list.{source}", source, ["url"]))
        assert [row["url"] for row in rows] == ["http://a.test/"]


@pytest.mark.parametrize("name", ["csv", "tsv", "csv.gz", "tsv.gz", "parquet"])
@pytest.mark.parametrize(
    ("values", "missing"),
    [
        ({"url_col": "link"}, "link"),
        ({"caption_col": "text"}, "text"),
        ({"save_additional_columns": ["license"]}, "license"),
        ({"verify_hash": ["digest", "sha256"]}, "digest"),
    ],
)
def test_columns_that_a_list_does_not_have_are_an_error(
    tmp_path: Path, fake: str, monkeypatch: pytest.MonkeyPatch, name: str, values: dict[str, Any], missing: str
) -> None:
    pa = pytest.importorskip("pyarrow")
    monkeypatch.setenv("WEBIMAGE", fake)
    path = tmp_path / f"list.{name}"
    if name == "parquet":
        pa.parquet.write_table(pa.table({"url": ["http://a.test/"], "size": ["1"]}), path)
    else:
        content = "url,size\nhttp://a.test/,1\n".replace(",", "\t" if name.startswith("tsv") else ",").encode()
        path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(ValueError, match=rf"no column {missing} in .*{name}; the columns are url, size"):
        download(str(path), output_folder=str(tmp_path / "out"), input_format=name, **values)
    assert not (tmp_path / "out").exists()


def test_every_file_of_a_list_must_have_the_columns(tmp_path: Path, fake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("WEBIMAGE", fake)
    (tmp_path / "list").mkdir()
    (tmp_path / "list/a.csv").write_text("url\nhttp://a.test/\n")
    (tmp_path / "list/b.csv").write_text("")
    (tmp_path / "list/c.csv").write_text("URL\nhttp://a.test/\n")
    arguments = [f"--url_list={tmp_path / 'list'}", f"--output_folder={tmp_path / 'out'}", "--input_format=csv"]
    assert main(["download", *arguments]) == 64
    (tmp_path / "list/c.csv").unlink()
    assert main(["download", *arguments]) == 0


def test_lines_that_are_no_objects_have_no_url(tmp_path: Path) -> None:
    lines = ['{"url": "http://a.test/"}', "{", "[1]", "9" * 5_000, "[" * 100_000, '{"url": "http://b.test/"}']
    (tmp_path / "list.jsonl").write_text("\n".join(lines))
    urls = [row["url"] for row in read_list(tmp_path / "list.jsonl", "jsonl")]
    assert urls == ["http://a.test/", None, None, None, None, "http://b.test/"]


def test_fields_that_are_too_long_have_no_url(tmp_path: Path) -> None:
    lines = ["url,caption", "http://a.test/,a", f"http://b.test/,{'b' * (1 << 20)}b", "http://c.test/,c"]
    (tmp_path / "list.csv").write_text("\n".join(lines))
    urls = [row["url"] for row in read_list(tmp_path / "list.csv", "csv")]
    assert urls == ["http://a.test/", None, "http://c.test/"]


def test_halves_of_surrogate_pairs_are_replaced(tmp_path: Path, fake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setenv("WEBIMAGE", fake)
    (tmp_path / "list.jsonl").write_text('{"url": "http://a.test/", "text": "a\\ud83d \\ud83d\\ude00"}')
    options = ("--input_format=jsonl", "--caption_col=text", "--output_format=parquet")
    assert main(["download", f"--url_list={tmp_path / 'list.jsonl'}", f"--output_folder={tmp_path}", *options]) == 0
    assert pq.read_table(tmp_path / "00000.parquet")["caption"].to_pylist() == ["a\ufffd \U0001f600"]


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


def test_lines_of_text_are_urls(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_bytes(b"http://c.test/\xff")
    (tmp_path / "a.txt").write_text("http://a.test/,x\r\n\n#\n")
    urls = [row["url"] for row in read_list(tmp_path, "txt")]
    assert urls == ["http://a.test/,x", "#", "http://c.test/\ufffd"]


def test_the_command_writes_parquet(tmp_path: Path, fake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setenv("WEBIMAGE", fake)
    (tmp_path / "list.csv").write_text("address,text\n" + "".join(f"http://a.test/{n},t{n}\n" for n in range(25)))
    status = main(
        [
            *("download", f"--url_list={tmp_path / 'list.csv'}", f"--output_folder={tmp_path / 'out'}"),
            *("--input-format=csv", "--url_col=address", "--caption_col=text", "--output_format=parquet"),
            *("--number_sample_per_shard=10", "--resize_mode=center_crop", "--disallowed_header_directives=[]"),
        ]
    )
    assert status == 0
    table = pq.read_table(tmp_path / "out/00002.parquet")
    assert table["key"].to_pylist() == ["000020", "000021", "000022", "000023", "000024"]
    assert table["caption"].to_pylist() == ["t20", "t21", "t22", "t23", "t24"]
    assert table["jpg"][0].as_py() == b"http://a.test/20"


def shards(tmp_path: Path, binary: str, origin: Origin, monkeypatch: pytest.MonkeyPatch, **values: Any) -> Path:
    """Downloads 24 images and a dead link in shards of ten rows, and returns the folder."""
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("WEBIMAGE", binary)
    urls = [*origin.images(24), origin.url("none")]
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
    assert (sample["width"], sample["original_width"], sample["exif"]) == (32, 64, None)
    pq = pytest.importorskip("pyarrow.parquet")
    table = pq.read_table(out / "00002.parquet")
    assert table["status"].to_pylist() == ["success"] * 4 + ["failed_to_download"]
    assert "jpg" not in table.column_names
    statistics = json.loads((out / "00002_stats.json").read_text())
    assert statistics["status_dict"] == {"success": 4, "http_404": 1}


@pytest.mark.binary
@pytest.mark.parametrize(
    ("values", "size"), [({}, (32, 32)), ({"image_size": 100}, (64, 48)), ({"resize_mode": "keep_ratio"}, (43, 32))]
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
@pytest.mark.parametrize(("extract", "expected"), [(True, ['{"Make":"Abc"}', None]), (False, None)])
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
    (tmp_path / "list.txt").write_text("\n".join([origin.url("exif"), *origin.images(1)]))
    download(str(tmp_path / "list.txt"), output_folder=str(tmp_path / "out"), extract_exif=extract)
    table = pq.read_table(tmp_path / "out/00000.parquet")
    assert (table["exif"].to_pylist() if "exif" in table.column_names else None) == expected
    samples = [json.loads((tmp_path / f"out/00000/00000000{n}.json").read_text()) for n in range(2)]
    assert [sample["exif"] for sample in samples] == (expected or [None, None])


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
    shards(tmp_path, binary, origin, monkeypatch, output_format="webdataset", incremental_mode="extend")
    with tarfile.open(out / "00003.tar") as tar:
        assert tar.getnames()[0] == "000030.jpg"
    assert (out / "00005_stats.json").exists()


def test_the_command_has_the_exit_status_of_the_process(
    tmp_path: Path, fake: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pa = pytest.importorskip("pyarrow")
    monkeypatch.setenv("WEBIMAGE", fake)
    pa.parquet.write_table(pa.table({"url": ["http://a.test/"]}), tmp_path / "list.parquet")
    arguments = ["parquet", str(tmp_path / "list.parquet"), str(tmp_path / "out"), "--"]
    assert main([*arguments, "--fake=status:75"]) == 75
    assert main([*arguments, "surplus"]) == 64
    assert "surplus is not an option" in capsys.readouterr().err
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["successes"] == 1
