"""`fetch` and `Fetcher`, alone and with the libraries of the examples."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from origin import Origin
from runs import pa, write_program

from webimage_batch import BatchError, Fetcher, UsageError, fetch
from webimage_batch.columns import rows_to_identify

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def examples() -> Any:
    """The functions of the examples."""
    specification = importlib.util.spec_from_file_location("tables", EXAMPLES / "tables.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def fetcher(binary: str) -> Iterator[Fetcher]:
    with Fetcher(max_pixel_size=32) as fetcher:
        yield fetcher


def columns(origin: Origin, count: int = 50) -> dict[str, list[Any]]:
    """Returns URLs, of which the last one fails, and labels."""
    return {"url": [*origin.images(count - 1), origin.url("none")], "label": list(range(count))}


def check(rows: list[dict[str, Any]], count: int = 50) -> None:
    """Checks that each row has kept its place, and has its image."""
    assert [row["label"] for row in rows] == list(range(count))
    assert [row["jpg"] is None for row in rows] == [False] * (count - 1) + [True]
    assert all(row["jpg"][:2] == b"\xff\xd8" for row in rows[:-1])


def test_a_table_keeps_its_rows_and_their_order(binary: str, origin: Origin) -> None:
    table = pa.table(columns(origin))
    result = fetch(table, max_pixel_size=32)
    assert result.column_names[:4] == ["url", "label", "jpg", "status"]
    check(result.to_pylist())
    assert result["error_code"].to_pylist() == [None] * 49 + ["http_404"]
    assert result["width"].to_pylist()[0] == 32


def test_columns_can_be_sent_and_have_other_names(binary: str, origin: Origin) -> None:
    table = pa.table({"address": origin.images(1), "width": [7], "digest": ["0" * 64]})
    result = fetch(table, "address", "image", send=["digest"], column_prefix="image_", verify_hash="sha256=digest")
    assert (result["width"].to_pylist(), result["image_error_code"].to_pylist()) == ([7], ["hash_mismatch"])
    with pytest.raises(ValueError, match="width"):
        fetch(table, "address")
    with pytest.raises(ValueError, match="no column url"):
        fetch(table, column_prefix="image_")


def test_a_table_without_rows_has_the_columns_of_the_result_and_needs_no_process(fake: str) -> None:
    table = pa.table({"url": pa.array([], pa.string())})
    result = Fetcher(binary="/nonexistent")(table)
    assert (result.num_rows, result.column_names[:2]) == (0, ["url", "jpg"])
    with pytest.raises(FileNotFoundError):
        Fetcher(binary="/nonexistent")(pa.table({"url": ["http://a.test/"]}))


def test_rejected_options_are_an_error(binary: str) -> None:
    with pytest.raises(UsageError, match="no-such-option"):
        fetch(pa.table({"url": ["http://a.test/"]}), no_such_option=True)


def test_progress_is_reported(fake: str) -> None:
    reports: list[dict[str, Any]] = []
    fetch(pa.table({"url": ["http://a.test/"]}), binary=fake, fake="statistics", on_statistics=reports.append)
    assert reports == [{"done": 0, "per_s": 1.5}]


def test_two_columns_with_urls_are_refused(fake: str) -> None:
    urls = ["http://a.test/"]
    with pytest.raises(ValueError, match="There are two columns url"):
        fetch(pa.Table.from_arrays([pa.array(urls), pa.array(urls)], names=["url", "url"]), binary=fake)


def test_several_threads_share_one_process(fake: str) -> None:
    results: dict[tuple[int, int], Any] = {}
    with Fetcher(binary=fake) as fetcher:

        def run(thread: int) -> None:
            for call in range(5):
                table = pa.table({"url": [f"http://{thread}.test/{call}/{row}" for row in range(20)]})
                results[thread, call] = fetcher(table)["jpg"].to_pylist()

        threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for (number, call), images in results.items():
        assert images == [f"http://{number}.test/{call}/{row}".encode() for row in range(20)]
    assert len(results) == 20


def test_a_table_is_fetched_where_an_event_loop_runs(fake: str) -> None:
    async def run() -> Any:
        return fetch(pa.table({"url": ["http://a.test/"]}), binary=fake)

    assert asyncio.run(run())["jpg"].to_pylist() == [b"http://a.test/"]


def test_a_process_that_dies_is_replaced(fake: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"fake": "once:5", "fake_marker": str(tmp_path / "died")}
    table = pa.table({"url": [f"http://a.test/{row}" for row in range(20)]})
    assert fetch(table, binary=fake, **options)["jpg"].to_pylist() == [url.encode() for url in table["url"].to_pylist()]
    with pytest.raises(BatchError):
        fetch(table, binary=fake, fake="die:0")


def test_a_copy_has_a_process_of_its_own(fake: str) -> None:
    with Fetcher("address", binary=fake) as fetcher:
        copy = pickle.loads(pickle.dumps(fetcher))
        table = pa.table({"address": ["http://a.test/"]})
        with copy:
            assert copy(table).equals(fetcher(table))
        assert fetcher(table)["jpg"].to_pylist() == [b"http://a.test/"]


def test_pandas(origin: Origin, fetcher: Fetcher, examples: Any) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(columns(origin), index=[f"row {number}" for number in range(50)])
    result = examples.with_pandas(frame, fetcher)
    check(result.to_dict("records"))
    assert list(result.index) == list(frame.index)


def test_polars(origin: Origin, fetcher: Fetcher, examples: Any) -> None:
    polars = pytest.importorskip("polars")
    check(examples.with_polars(polars.DataFrame(columns(origin)), fetcher).to_dicts())


def test_dask(origin: Origin, fetcher: Fetcher, examples: Any) -> None:
    dask, pandas = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    frame = dask.from_pandas(pandas.DataFrame(columns(origin)), npartitions=4)
    check(examples.with_dask(frame, fetcher).compute().to_dict("records"))


def test_daft(origin: Origin, fetcher: Fetcher, examples: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DO_NOT_TRACK", "true")
    daft = pytest.importorskip("daft")
    check(examples.with_daft(daft.from_pydict(columns(origin)), fetcher).sort("label").to_pylist())


@pytest.mark.parametrize("processes", [None, 2])
def test_datasets(
    origin: Origin,
    fetcher: Fetcher,
    examples: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    processes: int | None,
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    check(examples.with_datasets(datasets.Dataset.from_dict(columns(origin)), fetcher, processes).to_list())


def test_fetching_leaves_no_process(binary: str, origin: Origin, tmp_path: Path) -> None:
    program = tmp_path / "webimage"
    write_program(program, f'echo $$ >>{tmp_path / "pids"}\nexec {binary} "$@"')
    fetch(pa.table(columns(origin)), binary=program)
    [process] = (tmp_path / "pids").read_text().split()
    with pytest.raises(ProcessLookupError):
        os.kill(int(process), 0)


def test_rows_with_any_time_can_be_identified() -> None:
    table = pa.table(
        {
            "a": pa.array([1], pa.timestamp("ns")),
            "b": pa.array([253_402_300_800_000], pa.timestamp("ms")),
            "c": pa.array([3_000_000], pa.int32()).cast(pa.date32()),
            "d": pa.array([1], pa.duration("ns")),
            "e": pa.array([2], pa.time32("ms")),
            "f": ["x"],
        }
    )
    expected = [{"a": 1, "b": 253_402_300_800_000, "c": 3_000_000, "d": 1, "e": 2, "f": "x"}]
    assert rows_to_identify(table) == expected
    assert rows_to_identify(table.to_batches()[0]) == expected
