"""`webimage_ray` on a local Ray with two workers."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from origin import Origin
from runs import write_program

pa = pytest.importorskip("pyarrow")
ray = pytest.importorskip("ray")
pytest.importorskip("ray.data")
pytestmark = [pytest.mark.ray, pytest.mark.binary]

from webimage_batch import UsageError, webimage_ray  # noqa: E402


@pytest.fixture(scope="module")
def cluster(binary: str) -> Iterator[None]:
    os.environ["RAY_DISABLE_IMPORT_WARNING"] = "1"
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=256 << 20,
        runtime_env={"env_vars": {"WEBIMAGE": binary, "PYTHONPATH": os.environ.get("PYTHONPATH", "")}},
        _node_ip_address="127.0.0.1",
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def dataset(urls: list[str], blocks: int = 4) -> Any:
    table = pa.table({"label": list(range(len(urls))), "url": urls})
    return ray.data.from_arrow(table).repartition(blocks)


def check(rows: list[dict[str, Any]], urls: list[str]) -> None:
    assert sorted(row["label"] for row in rows) == list(range(len(urls)))
    assert all(row["url"] == urls[row["label"]] for row in rows)


@pytest.mark.usefixtures("cluster")
def test_each_row_comes_back_with_its_image(origin: Origin) -> None:
    urls = [*origin.images(500, "ray"), origin.url("none"), "#"]
    rows = webimage_ray(dataset(urls), actors=2, num_cpus=0.5, batch_size=50, max_pixel_size=32).take_all()
    check(rows, urls)
    assert sum(row["status"] == "success" for row in rows) == 500
    assert all(row["jpg"][:2] == b"\xff\xd8" and row["width"] == 32 for row in rows if row["status"] == "success")
    assert {row["error_code"] for row in rows if row["status"] != "success"} == {"http_404", "invalid_url"}


@pytest.mark.usefixtures("cluster")
def test_an_actor_that_is_killed_loses_nothing(origin: Origin, tmp_path: Path) -> None:
    """Kills the process of the actor itself, as ray.kill does, once it has requested some images."""
    urls = origin.images(400, "killed")
    parent = tmp_path / "parent"
    wrapper = tmp_path / "webimage"
    real = os.environ["WEBIMAGE"]
    write_program(wrapper, f'exec {real} "$@"')
    images = webimage_ray(
        dataset(urls), num_cpus=1, batch_size=20, batch_bytes=1, binary=str(wrapper), max_pixel_size=32
    )
    # Records the process of the first actor.
    write_program(wrapper, f'set -C\n(echo $PPID >{parent}) 2>/dev/null\nexec {real} "$@" --rate 100')
    batches = images.iter_batches(batch_size=None, batch_format="pyarrow")
    rows: list[dict[str, Any]] = []
    for batch in batches:
        if not rows:
            os.kill(int(parent.read_text()), signal.SIGKILL)
        rows.extend(batch.to_pylist())
    check(rows, urls)
    assert all(row["status"] == "success" for row in rows)


@pytest.mark.usefixtures("cluster")
def test_a_process_that_dies_is_replaced(origin: Origin, tmp_path: Path) -> None:
    urls = origin.images(200, "replaced")
    wrapper = tmp_path / "webimage"
    died = tmp_path / "died"
    real = os.environ["WEBIMAGE"]
    write_program(wrapper, f'exec {real} "$@"')
    images = webimage_ray(dataset(urls), batch_size=50, binary=str(wrapper), max_pixel_size=32)
    write_program(
        wrapper,
        f'if mkdir {died} 2>/dev/null; then timeout -s KILL 0.5 {real} "$@" --rate 20; exit; fi\nexec {real} "$@"',
    )
    rows = images.take_all()
    assert died.exists()
    check(rows, urls)
    assert all(row["status"] == "success" for row in rows)


@pytest.mark.usefixtures("cluster")
def test_columns_of_the_record_can_have_a_prefix(origin: Origin) -> None:
    ds = ray.data.from_arrow(pa.table({"url": origin.images(1), "attempts": ["many"]}))
    [row] = webimage_ray(ds, num_cpus=0.5, column_prefix="image_").take_all()
    assert (row["attempts"], row["image_attempts"], row["image_status"]) == ("many", 1, "success")


@pytest.mark.usefixtures("cluster")
def test_rejected_options_and_columns_are_errors_of_the_call(origin: Origin) -> None:
    with pytest.raises(UsageError, match="no-such-option"):
        webimage_ray(dataset(origin.images(1)), no_such_option=True)
    with pytest.raises(ValueError, match="no column address"):
        webimage_ray(dataset(origin.images(1)), url="address")
