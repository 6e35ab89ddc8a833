"""The command lines that img2dataset's README and its examples of datasets publish, with the real binary."""

from __future__ import annotations

import json
import shlex
import tarfile
from pathlib import Path
from typing import Any

import pytest
from origin import Origin
from runs import pa, pq

from webimage_batch.__main__ import main

pytestmark = [pytest.mark.binary, pytest.mark.filterwarnings("ignore:.* is ignored")]

PARQUET = "--input_format parquet --url_col URL --caption_col TEXT --output_format webdataset --output_folder out"
KEEP_RATIO = "--resize_only_if_bigger=True --resize_mode=keep_ratio --skip_reencode=True"
ART = '\'["similarity","hash","punsafe","pwatermark","aesthetic","LANGUAGE"]\''
TSV = "--input_format tsv --url_col url --caption_col caption --output_format webdataset --output_folder out"

COMMANDS = {
    "README": "--url_list=list.txt --output_folder=out --thread_count=64 --image_size=256",
    "README, certificates": "--url_list=list.txt --output_folder=out --ignore_ssl_certificate True",
    "SBU": "--url_list list.json --input_format json --url_col image_urls --caption_col captions "
    "--output_format webdataset --output_folder out --processes_count 16 --thread_count 64 --image_size 256",
    "CC3M, CC12M": f"--url_list list.tsv {TSV} --processes_count 16 --thread_count 64 --image_size 256 "
    '--enable_wandb True --user_agent_token img2dataset --disallowed_header_directives \'["noai", "noindex"]\'',
    "MSCOCO": f"--url_list list.parquet {PARQUET} --processes_count 16 --thread_count 64 --image_size 256 "
    "--enable_wandb True",
    "LAION-400M": f"--url_list folder {PARQUET} --processes_count 16 --thread_count 128 --image_size 256 "
    '--save_additional_columns \'["NSFW","similarity","LICENSE"]\' --enable_wandb True',
    "LAION-400M, large": "--url_list folder --input_format parquet --url_col URL --caption_col TEXT "
    "--output_folder out --processes_count 16 --thread_count 128 --min_image_size 32 --resize_mode no "
    '--save_additional_columns \'["NSFW","similarity","LICENSE"]\' --enable_wandb True',
    "LAION-aesthetic": f"--url_list folder {PARQUET} --processes_count 16 --thread_count 64 --image_size 384 "
    f'{KEEP_RATIO} --save_additional_columns \'["similarity","hash","punsafe","pwatermark","aesthetic"]\' '
    "--enable_wandb True",
    "LAION-art": f"--url_list folder {PARQUET} --processes_count 16 --thread_count 64 --image_size 384 {KEEP_RATIO} "
    f"--save_additional_columns {ART} --enable_wandb True",
    "LAION-art, noai": f"--url_list folder {PARQUET} --processes_count 16 --thread_count 64 --image_size 384 "
    f"{KEEP_RATIO} --save_additional_columns {ART} --enable_wandb True "
    '--user_agent_token img2dataset --disallowed_header_directives \'["noai", "noindex"]\'',
    "LAION-art, all": f"--url_list folder {PARQUET} --processes_count 16 --thread_count 64 --image_size 384 "
    f"{KEEP_RATIO} --save_additional_columns {ART} --enable_wandb True "
    "--user_agent_token img2dataset --disallowed_header_directives '[]'",
    "LAION-COCO": f"--url_list folder {PARQUET} --processes_count 16 --thread_count 64 --image_size 256 {KEEP_RATIO} "
    '--save_additional_columns \'["similarity","hash","punsafe","pwatermark","top_caption","all_captions",'
    '"all_similarities"]\' --enable_wandb True',
    "LAION-high-resolution": f"--url_list folder {PARQUET} --processes_count 16 --thread_count 64 --image_size 1024 "
    f'{KEEP_RATIO} --save_additional_columns \'["similarity","hash","punsafe","pwatermark","LANGUAGE"]\' '
    "--enable_wandb True",
    "COYO-700M": "--url_list coyo --input_format parquet --url_col url --caption_col text --output_format webdataset "
    "--output_folder out --processes_count 16 --thread_count 64 --image_size 384 --resize_only_if_bigger=True "
    "--resize_mode=keep_ratio --skip_reencode=True --save_additional_columns "
    '\'["clip_similarity_vitb32","nsfw_score_opennsfw2","watermark_score"]\' --enable_wandb False',
}


def write_lists(folder: Path, origin: Origin) -> None:
    """Writes a list of each kind with three images and one that opts out, and the columns of the datasets."""
    urls = [*origin.images(3), origin.url("noai/1")]
    captions = [f"caption {number}" for number in range(4)]
    (folder / "list.txt").write_text("".join(f"{url}\n" for url in urls))
    (folder / "list.json").write_text(json.dumps({"image_urls": urls, "user_ids": [1] * 4, "captions": captions}))
    rows = [f"{caption}\t{url}\n" for caption, url in zip(captions, urls, strict=True)]
    (folder / "list.tsv").write_text("".join(["caption\turl\n", *rows]))
    scores = dict.fromkeys(["similarity", "punsafe", "pwatermark", "aesthetic"], [0.5] * 4)
    texts: dict[str, Any] = dict.fromkeys(["NSFW", "LICENSE", "LANGUAGE", "top_caption"], captions)
    lists: dict[str, Any] = {"all_captions": [captions] * 4, "all_similarities": [[0.5, 1.5]] * 4, "hash": [-5] * 4}
    laion = pa.table({"URL": urls, "TEXT": captions, **scores, **texts, **lists})
    (folder / "folder").mkdir()
    pq.write_table(laion, folder / "folder/part-00000.snappy.parquet")
    pq.write_table(laion, folder / "list.parquet")
    names = ["clip_similarity_vitb32", "nsfw_score_opennsfw2", "watermark_score"]
    (folder / "coyo").mkdir()
    coyo = pa.table({"id": range(4), "url": urls, "text": captions, **dict.fromkeys(names, [0.5] * 4)})
    pq.write_table(coyo, folder / "coyo/part-00000.parquet")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_published_command_line_makes_a_data_set(
    tmp_path: Path, binary: str, origin: Origin, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    write_lists(tmp_path, origin)
    monkeypatch.chdir(tmp_path)
    assert main(["download", *shlex.split(COMMANDS[name])]) == 0
    statistics = json.loads(Path("out/00000_stats.json").read_text())
    successes = 4 if name == "LAION-art, all" else 3
    assert statistics["status_dict"] == {"success": successes, **({"robots_tag": 1} if successes == 3 else {})}
    sample = {"000000000.jpg", "000000000.json", *(["000000000.txt"] if "caption_col" in COMMANDS[name] else [])}
    if "webdataset" in COMMANDS[name]:
        with tarfile.open("out/00000.tar") as tar:
            members = set(tar.getnames())
    else:
        members = {path.name for path in Path("out/00000").iterdir()}
    assert {member for member in members if member.startswith("000000000.")} == sample
    row = pq.read_table("out/00000.parquet").to_pylist()[0]
    # As img2dataset does, a size is enforced unless images may stay smaller.
    size = 64 if "resize_only_if_bigger" in COMMANDS[name] or "resize_mode no" in COMMANDS[name] else 256
    assert row["width"] == size
