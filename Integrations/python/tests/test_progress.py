"""The reports of long runs on standard error."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from runs import pa, pq, run, urls, write_list

from webimage_batch import download_parquet
from webimage_batch.progress import progress_text, reported


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("statistics", "earlier", "total", "expected"),
    [
        ({}, 0, None, "0 rows, 0/s"),
        ({"done": 1500, "success": 1350, "per_s": 99.6}, 0, None, "1,500 rows, 100/s, 90.0% successful"),
        (
            {"done": 100, "success": 100, "per_s": 10},
            400,
            1000,
            "[###############               ] 500 of 1,000 rows, 400 of them by earlier runs, 10/s, 100.0% successful, "
            "50 s left",
        ),
        ({"done": 0, "per_s": 0.1}, 0, 3000, f"[{' ' * 30}] 0 of 3,000 rows, 0/s, 8 h 20 min left"),
        (
            {"done": 5, "success": 0, "per_s": 1},
            0,
            605,
            f"[{' ' * 30}] 5 of 605 rows, 1/s, 0.0% successful, 10 min left",
        ),
        ({"done": 0, "per_s": 0}, 0, 0, "0 of 0 rows, 0/s"),
    ],
)
def test_a_report_tells_how_far_a_run_is(
    statistics: dict[str, Any], earlier: int, total: int | None, expected: str
) -> None:
    assert progress_text(statistics, earlier, total) == expected


@pytest.mark.parametrize(("stream", "interval"), [(Terminal(), 1), (io.StringIO(), 60)])
def test_there_is_a_bar_on_a_terminal_and_otherwise_a_line_per_minute(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, interval: int
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    with reported({"rate": 5}, lambda: 0, None) as options:
        assert (options["rate"], options["stats_interval"]) == (5, interval)
        show: Any = options["on_statistics"]
        show({"done": 10, "per_s": 2})
        show({"done": 20, "per_s": 2})
    text = stream.getvalue()
    if interval == 1:
        assert text.count("\r") == 2 and text.count("\n") == 1 and text.endswith("\n")
    else:
        assert text.splitlines() == ["10 rows, 2/s, 0.0% successful", "20 rows, 2/s, 0.0% successful"]


@pytest.mark.parametrize("function", ["download", "download_parquet"])
def test_functions_report_their_progress(
    tmp_path: Path, use_fake: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], function: str
) -> None:
    def call(**options: Any) -> None:
        if function == "download":
            run(write_list(tmp_path / "list.txt", urls(25)), **options)
        else:
            pq.write_table(pa.table({"url": urls(25)}), tmp_path / "list.parquet")
            download_parquet(tmp_path / "list.parquet", tmp_path / "out", rows_per_file=10, **options)

    reports: list[dict[str, Any]] = []
    monkeypatch.setenv("FAKE", "statistics")
    call(on_statistics=reports.append)
    assert (reports, capsys.readouterr().err) == ([{"done": 0, "per_s": 1.5}], "")
    call()
    error = capsys.readouterr().err
    assert "rows" in error and "2/s" in error
