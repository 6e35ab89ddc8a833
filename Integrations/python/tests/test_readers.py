"""Shards as webdataset and Hugging Face's datasets, the libraries that they are written for, read them."""

from __future__ import annotations

import glob
import io
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from origin import Origin

from webimage_batch import download

pytestmark = pytest.mark.binary

# Two shards of ten rows and one of five; a dead link is in the middle of the first one.
DEAD = 4
ROWS = 25
SAMPLES = [row for row in range(ROWS) if row != DEAD]

# The columns that img2dataset has as well, and that its readers rely on.
IMG2DATASET = {
    *("key", "caption", "url", "status", "error_message", "width", "height"),
    *("original_width", "original_height", "sha256"),
}


def write_list(path: Path, origin: Origin) -> Path:
    """Writes a list with captions, one of which is missing, and a dead link."""
    urls = origin.images(ROWS)
    urls[DEAD] = origin.url("none")
    rows = [{"url": url, "text": f"Ümlaut {number}", "label": number} for number, url in enumerate(urls)]
    del rows[7]["text"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_with_command(source: Path, folder: Path, binary: str, extension: str) -> None:
    file_format = {"jpg": "jpeg"}.get(extension, extension)
    options = ["--caption-col=text", "--samples-per-shard=10", "--max-pixel-size=32", f"--format={file_format}"]
    subprocess.run([binary, "batch", f"--input={source}", f"--output={folder}", *options], check=True)


def write_with_download(source: Path, folder: Path, binary: str, extension: str) -> None:
    pytest.importorskip("pyarrow")
    download(
        str(source),
        output_folder=str(folder),
        input_format="jsonl",
        output_format="webdataset",
        caption_col="text",
        save_additional_columns=["label"],
        number_sample_per_shard=10,
        resize_mode="keep_ratio_largest",
        image_size=32,
        encode_format=extension,
    )


@pytest.fixture(params=[write_with_command, write_with_download], ids=["batch", "download"])
def write(request: pytest.FixtureRequest) -> Any:
    """The function that writes the shards: the command with `--output`, or `download`."""
    return request.param


@pytest.mark.parametrize("extension", ["jpg", "png", "webp"])
def test_webdataset_reads_each_sample_with_all_its_members(
    tmp_path: Path, binary: str, origin: Origin, write: Any, extension: str
) -> None:
    wds, image = pytest.importorskip("webdataset"), pytest.importorskip("PIL.Image")
    write(write_list(tmp_path / "list.jsonl", origin), tmp_path / "out", binary, extension)

    samples = list(wds.WebDataset(str(tmp_path / "out/{00000..00002}.tar"), shardshuffle=False))

    # Five digits for the shard, and as many as the rows of a shard need.
    assert [sample["__key__"] for sample in samples] == [f"{row:06}" for row in SAMPLES]
    for row, sample in zip(SAMPLES, samples, strict=True):
        assert {name for name in sample if not name.startswith("__")} == {extension, "json", "txt"}
        assert sample["txt"].decode() == ("" if row == 7 else f"Ümlaut {row}")
        record = json.loads(sample["json"])
        assert set(record) >= IMG2DATASET
        assert (record["key"], record["url"]) == (sample["__key__"], origin.url(f"image/{row}"))
        assert (record["status"], record["error_message"]) == ("success", None)
        with image.open(io.BytesIO(sample[extension])) as decoded:
            decoded.load()
            assert decoded.size == (record["width"], record["height"]) == (32, 24)


def test_webdataset_decodes_and_shuffles(tmp_path: Path, binary: str, origin: Origin, write: Any) -> None:
    wds = pytest.importorskip("webdataset")
    pytest.importorskip("PIL")
    write(write_list(tmp_path / "list.jsonl", origin), tmp_path / "out", binary, "jpg")
    shards = sorted(glob.glob(str(tmp_path / "out/*.tar")))

    dataset = wds.WebDataset(shards, shardshuffle=3).shuffle(100).decode("rgb8").to_tuple("jpg", "json", "txt")

    samples = list(dataset)
    assert {pixels.shape for pixels, _, _ in samples} == {(24, 32, 3)}
    # The origin's red is the number of the image.
    for pixels, record, text in samples:
        row = int(record["key"])
        assert abs(int(pixels[0, 0, 0]) - row) <= 4
        assert text == (record["caption"] or "")
    assert sorted(int(record["key"]) for _, record, _ in samples) == SAMPLES


@pytest.mark.parametrize("streaming", [False, True], ids=["cached", "streaming"])
def test_datasets_loads_the_shards_as_one_split(
    tmp_path: Path, binary: str, origin: Origin, write: Any, streaming: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    pytest.importorskip("PIL")
    write(write_list(tmp_path / "list.jsonl", origin), tmp_path / "out", binary, "jpg")

    split = datasets.load_dataset(
        "webdataset",
        data_files=str(tmp_path / "out/*.tar"),
        split="train",
        streaming=streaming,
        cache_dir=str(tmp_path / "cache"),
    )

    samples = list(split)
    assert [sample["__key__"] for sample in samples] == [f"{row:06}" for row in SAMPLES]
    assert all(sample["jpg"].size == (32, 24) for sample in samples)
    assert [sample["json"]["url"] for sample in samples] == [origin.url(f"image/{row}") for row in SAMPLES]
    assert samples[0]["txt"] == "Ümlaut 0"
    if not streaming:
        assert isinstance(split.features["jpg"], datasets.Image)
        assert split.features["txt"].dtype == "string"
        assert split.features["json"]["width"].dtype in ("int32", "int64")


def test_the_sidecar_of_the_command_has_a_record_for_each_line(tmp_path: Path, binary: str, origin: Origin) -> None:
    datasets = pytest.importorskip("datasets")
    write_with_command(write_list(tmp_path / "list.jsonl", origin), tmp_path / "out", binary, "jpg")

    split = datasets.load_dataset(
        "json", data_files=str(tmp_path / "out/*.jsonl"), split="train", cache_dir=str(tmp_path / "cache")
    )

    assert split["index"][:] == list(range(ROWS))
    assert split["key"][:] == [f"{row:06}" for row in range(ROWS)]
    assert [row for row in range(ROWS) if split[row]["error_code"] == "http_404"] == [DEAD]
    assert split["label"][:] == list(range(ROWS))
