"""`webimage_spark` on a local Spark with two workers."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from origin import Origin
from runs import write_program

pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")
pytestmark = [
    pytest.mark.spark,
    pytest.mark.binary,
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java."),
]

from webimage_batch import UsageError, webimage_spark  # noqa: E402


@pytest.fixture(scope="module")
def spark(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    local = tmp_path_factory.mktemp("spark")
    session = (
        # Two workers, and up to two attempts of a task.
        SparkSession.builder.master("local[2,2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.warehouse.dir", str(local / "warehouse"))
        .config("spark.local.dir", str(local))
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def frame(spark: Any, urls: list[str | None], partitions: int = 4) -> Any:
    rows = [(number, url) for number, url in enumerate(urls)]
    return spark.createDataFrame(rows, "label long, url string").repartition(partitions)


def test_each_row_comes_back_with_its_image(spark: Any, origin: Origin) -> None:
    urls: list[str | None] = [*origin.images(200, "spark"), origin.url("none"), "#", "", None, *origin.images(1)]
    rows = webimage_spark(frame(spark, urls), max_pixel_size=32).collect()
    answers = {row["label"]: row for row in rows}
    assert len(rows) == len(answers) == len(urls)
    assert [answers[label]["url"] for label in range(len(urls))] == urls
    successes = [row for row in rows if row["status"] == "success"]
    assert len(successes) == 201
    assert all(row["jpg"][:2] == b"\xff\xd8" and (row["width"], row["height"]) == (32, 24) for row in successes)
    assert all(len(row["sha256"]) == 64 and row["original_width"] == 64 for row in successes)
    assert [answers[label]["error_code"] for label in (200, 201, 202)] == ["http_404", "invalid_url", "invalid_url"]
    assert answers[203]["error_code"] == "bad_line"
    assert answers[200]["jpg"] is None and answers[200]["retryable"] is False


def test_a_task_that_fails_once_is_repeated_without_doubles(spark: Any, origin: Origin, tmp_path: Path) -> None:
    marker = tmp_path / "failed"

    def fail_once(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        yield from batches
        context = TaskContext.get()
        if context is not None and context.partitionId() == 1 and not marker.exists():
            marker.touch()
            raise RuntimeError("a task fails after its rows")

    result = webimage_spark(frame(spark, [*origin.images(200, "repeated")]), max_pixel_size=32)
    out = tmp_path / "out"
    result.mapInArrow(fail_once, result.schema).write.parquet(str(out))
    assert marker.exists()
    written = spark.read.parquet(str(out))
    assert written.count() == 200
    assert written.select("label").distinct().count() == 200
    assert sorted(path.name for path in tmp_path.iterdir()) == ["failed", "out"]


def test_a_process_that_dies_fails_its_task_which_is_repeated(spark: Any, origin: Origin, tmp_path: Path) -> None:
    died = tmp_path / "died"
    wrapper = tmp_path / "webimage"
    real = os.environ["WEBIMAGE"]
    write_program(wrapper, f'exec {real} "$@"')
    images = webimage_spark(frame(spark, [*origin.images(100, "died")], 2), binary=str(wrapper))
    # The first process of a task is killed while it has lines.
    write_program(
        wrapper,
        f'if mkdir {died} 2>/dev/null; then timeout -s KILL 0.5 {real} "$@" --rate 4; exit; fi\nexec {real} "$@"',
    )
    rows = images.collect()
    assert died.exists()
    assert sorted(row["label"] for row in rows) == list(range(100))
    assert all(row["status"] == "success" for row in rows)


def test_a_limit_ends_the_processes(spark: Any, origin: Origin) -> None:
    urls: list[str | None] = [*origin.images(300, "limit")]
    assert len(webimage_spark(frame(spark, urls), batch_bytes=1, max_pixel_size=32).limit(5).collect()) == 5


def test_a_host_has_one_partition(spark: Any) -> None:
    from pyspark.sql import functions

    from webimage_batch.spark import partitioned_by_host

    hosts = ["http://a.test/{}", "HTTP://A.test:80/{}", "https://u:p@b.test/{}?x", "http://[::1]:8080/{}", "bad {}"]
    urls: list[str | None] = [host.format(number) for number in range(20) for host in hosts]
    rows = (
        partitioned_by_host(frame(spark, urls), "url", 8).withColumn("part", functions.spark_partition_id()).collect()
    )
    parts: dict[str, set[int]] = {}
    for row in rows:
        host = next(name for name in ("a.test", "b.test", "[::1]", "bad") if name in row["url"].lower())
        parts.setdefault(host, set()).add(row["part"])
    assert {host: len(found) for host, found in parts.items()} == {"a.test": 1, "b.test": 1, "[::1]": 1, "bad": 1}


def test_columns_of_the_result_are_rejected_in_the_input(spark: Any, origin: Origin) -> None:
    urls: list[str | None] = [origin.url("image/1")]
    # Spark does not distinguish case.
    for name in ("status", "Status"):
        taken = frame(spark, urls).withColumnRenamed("label", name)
        with pytest.raises(ValueError, match=name):
            webimage_spark(taken)
    [row] = webimage_spark(taken, column_prefix="image_").collect()
    assert (row["Status"], row["image_status"]) == (0, "success")
    with pytest.raises(ValueError, match="no column digest"):
        webimage_spark(frame(spark, urls), send=["digest"])


def test_rejected_options_are_errors_of_the_call(spark: Any, origin: Origin, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="no-such-option"):
        webimage_spark(frame(spark, [*origin.images(1)]), no_such_option=True)
    with pytest.raises(ValueError, match="spread_host"):
        webimage_spark(frame(spark, [*origin.images(1)]), spread_host=["a.test"])
    # The machines of the tasks may have a binary that this one does not have.
    webimage_spark(frame(spark, [*origin.images(1)]), binary="/nonexistent")


def test_a_host_that_has_most_of_the_list_is_spread(spark: Any) -> None:
    from pyspark.sql import functions

    from webimage_batch.spark import partitioned_by_host

    urls: list[str | None] = [f"http://Large.test/{number}" for number in range(200)]
    urls += [f"http://small{number % 5}.test/{number}" for number in range(20)]
    spread = partitioned_by_host(frame(spark, urls), "url", 4, ["large.test"])
    rows = spread.withColumn("part", functions.spark_partition_id()).collect()
    large = [sum(row["part"] == part for row in rows if "Large" in row["url"]) for part in range(4)]
    assert min(large) > 20
    parts: dict[str, set[int]] = {}
    for row in rows:
        parts.setdefault(row["url"].split("/")[2], set()).add(row["part"])
    assert all(len(found) == 1 for host, found in parts.items() if host != "Large.test")


def test_the_tasks_share_the_rate_of_hosts_that_are_spread(spark: Any, origin: Origin, tmp_path: Path) -> None:
    write_program(tmp_path / "webimage", f'echo "$@" >>{tmp_path / "arguments"}\nexec {os.environ["WEBIMAGE"]} "$@"')
    options: dict[str, Any] = {"partition_by": "host", "spread_host": ["127.0.0.1"], "partitions": 3}
    rows = webimage_spark(frame(spark, [*origin.images(30)]), **options, binary=str(tmp_path / "webimage")).collect()
    assert len(rows) == 30
    calls = (tmp_path / "arguments").read_text().splitlines()
    assert len(calls) == 4 and all("--sharers=3" in call for call in calls)
