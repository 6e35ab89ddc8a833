"""The arguments of img2dataset, and the lists that it reads."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from webimage_batch import __main__ as command
from webimage_batch import download
from webimage_batch.__main__ import main
from webimage_batch.img2dataset_arguments import Arguments


def arguments(**values: Any) -> Arguments:
    parameters = inspect.signature(download).parameters
    defaults = {name: parameter.default for name, parameter in parameters.items() if name != "options"}
    return Arguments({**defaults, "url_list": "list.txt", **values})


def test_images_are_encoded_as_by_img2dataset() -> None:
    assert arguments().options() == {
        "format": "jpeg",
        "quality": 95,
        "filter": "box",
        "resize_mode": "border",
        "image_size": 256,
        "resize_only_if_bigger": False,
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
    assert arguments(skip_reencode=True).options()["skip_reencode"] is True


def test_certificates_need_not_be_verified() -> None:
    assert arguments(ignore_ssl_certificate=True).options()["insecure_host"] == ["*"]
    assert "insecure_host" not in arguments().options()


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
        {"verify_hash": ["digest", "md5"]},
        {"compute_hash": "crc32"},
        {"verify_hash": ["digest"], "input_format": "csv"},
        {"save_additional_columns": ["width"], "input_format": "csv"},
        {"save_additional_columns": ["jpg"], "input_format": "csv", "output_format": "parquet"},
        {
            "save_additional_columns": ["expected_sha256"],
            "verify_hash": ["digest", "sha256"],
            "input_format": "csv",
        },
        {"number_sample_per_shard": 0},
        {"min_success_rate": 2},
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


def test_options_of_the_process_are_passed_on(tmp_path: Path) -> None:
    options = Arguments(arguments()._values, {"rate": 10, "public_only": True, "cacert": "ca.pem"}).options()
    assert (options["rate"], options["public_only"], options["cacert"]) == (10, True, "ca.pem")
    with pytest.raises(ValueError, match="quality cannot be an option"):
        Arguments(arguments()._values, {"quality": 50})
    with pytest.raises(ValueError, match="samples_per_shard applies to folders"):
        Arguments(arguments()._values, {"samples_per_shard": 50})


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


def test_the_command_reads_values_as_img2dataset_does(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dict[str, Any]] = []
    parser = command._parser

    def with_recorder() -> Any:
        result = parser()
        [action] = (action for action in result._actions if action.dest != "help")
        action.choices["download"].set_defaults(run=lambda **values: calls.append(values))  # type: ignore[index]
        return result

    monkeypatch.setattr(command, "_parser", with_recorder)
    flags = ["--enable_wandb", "--extract_exif=False", "--compute_hash=None", "--thread-count=None", "--timeout=5"]
    lists = ['--verify_hash=["a","md5"]', "--save_additional_columns=[b,c]", "--disallowed_header_directives=[]"]
    assert main(["download", "--url_list=list.txt", *flags, *lists]) == 0
    [values] = calls
    assert (values["enable_wandb"], values["extract_exif"], values["compute_hash"]) == (True, False, None)
    assert (values["thread_count"], values["timeout"], values["max_image_area"]) == (None, 5.0, float("inf"))
    assert (values["verify_hash"], values["save_additional_columns"]) == (["a", "md5"], ["b", "c"])
    assert values["disallowed_header_directives"] == []


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
