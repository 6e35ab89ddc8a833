"""The examples, as a reader would run them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from origin import Origin

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
pytestmark = pytest.mark.binary


def run(*command: object, **variables: str) -> str:
    # Workers of Spark and Ray get the interpreter and the binary from the environment.
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", **variables}
    arguments = [str(argument) for argument in command]
    return subprocess.run(arguments, env=environment, stdout=subprocess.PIPE, text=True, check=True, timeout=300).stdout


def urls(origin: Origin, folder: Path) -> Path:
    (folder / "urls.txt").write_text("\n".join([*origin.images(50), origin.url("none")]) + "\n")
    return folder / "urls.txt"


SHARDS = ["--max-pixel-size=32", "--samples-per-shard=20"]


def check(folder: Path) -> None:
    """Checks that the shards have a sample for each image, and a record for each line."""
    records: list[dict[str, object]] = []
    samples = 0
    for shard in range(3):
        assert (folder / f"{shard:05}_stats.json").exists()
        records.extend(json.loads(line) for line in (folder / f"{shard:05}.jsonl").read_text().splitlines())
        with tarfile.open(folder / f"{shard:05}.tar") as tar:
            samples += sum(name.endswith(".jpg") for name in tar.getnames())
    assert len({record["url"] for record in records}) == len(records) == 51
    assert samples == 50
    assert not list(folder.glob(".*.part"))


@pytest.mark.skipif(shutil.which("parallel") is None, reason="GNU parallel is not installed.")
def test_gnu_parallel(binary: str, origin: Origin, tmp_path: Path) -> None:
    run(EXAMPLES / "gnu_parallel.sh", urls(origin, tmp_path), tmp_path / "out", 2, *SHARDS, WEBIMAGE=binary)
    check(tmp_path / "out")


def test_slurm(binary: str, origin: Origin, tmp_path: Path) -> None:
    source = urls(origin, tmp_path)
    script = shutil.copy(EXAMPLES / "slurm_array.sh", tmp_path / "slurm_script")
    for index in range(2):
        variables = {
            "SLURM_ARRAY_TASK_ID": str(index),
            "SLURM_ARRAY_TASK_COUNT": "2",
            "WEBIMAGE": binary,
        }
        run(script, source, tmp_path / "out", *SHARDS, **variables)
    check(tmp_path / "out")


def test_kubernetes(binary: str, origin: Origin, tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    job = yaml.safe_load((EXAMPLES / "kubernetes_job.yaml").read_text())
    container = job["spec"]["template"]["spec"]["containers"][0]
    [text] = container["args"]
    count = job["spec"]["completions"]
    assert f'--part "$JOB_COMPLETION_INDEX/{count}" ' in text
    # The server of the tests is not public, and the limit on requests per second would take the time of the test.
    text = text.replace("exec webimage", f'exec "{binary}"').replace(f"/{count}", "/2")
    text = text.replace("--public-only", "").replace("--rate=10", "--samples-per-shard=20")
    source = urls(origin, tmp_path)
    for index in range(2):
        variables = {"LIST": str(source), "FOLDER": str(tmp_path / "out"), "JOB_COMPLETION_INDEX": str(index)}
        run(*container["command"], text, **variables)
    check(tmp_path / "out")


def write_parquet(origin: Origin, folder: Path) -> Path:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    addresses = [*origin.images(50), origin.url("none")]
    pq.write_table(pa.table({"url": addresses, "label": list(range(51))}), folder / "urls.parquet")
    return folder / "urls.parquet"


def check_parquet(folder: Path) -> None:
    dataset = pytest.importorskip("pyarrow.dataset")
    table = dataset.dataset([str(path) for path in folder.glob("*.parquet")]).to_table()
    assert sorted(table["label"].to_pylist()) == list(range(51))
    assert sum(image is not None for image in table["jpg"].to_pylist()) == 50


@pytest.mark.spark
@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java.")
def test_spark(binary: str, origin: Origin, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    submit = ["spark-submit", "--master", "local[2]", "--conf", "spark.ui.enabled=false"]
    job = [EXAMPLES / "spark_job.py", write_parquet(origin, tmp_path), tmp_path / "out"]
    output = run(*submit, *job, "--rate=1000", "--allow-private")
    assert "http_404" in output
    check_parquet(tmp_path / "out")


@pytest.mark.ray
def test_ray(binary: str, origin: Origin, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    job = [EXAMPLES / "ray_job.py", write_parquet(origin, tmp_path), tmp_path / "out"]
    output = run(sys.executable, *job, "--num-cpus=0.5", "--rate=1000", "--allow-private")
    assert "http_404" in output
    check_parquet(tmp_path / "out")
