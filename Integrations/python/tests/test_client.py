"""The client against a stand-in for the binary, faults included."""

from __future__ import annotations

import inspect
import itertools
import math
import os
import pickle
import select
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from webimage_batch import Batch, BatchError, FolderError, OutputError, Result, TryAgainError, UsageError
from webimage_batch.client import STALL_TIMEOUT
from webimage_batch.frames import WatchedPipe


def rows(count: int) -> list[dict[str, Any]]:
    return [{"url": f"http://a.test/{number}"} for number in range(count)]


def run(fake: str, fault: str = "", count: int = 10, **parameters: Any) -> list[Result]:
    return list(Batch([f"--fake={fault}"], binary=fake, **parameters).results(rows(count)))


def test_each_row_gets_its_result(fake: str) -> None:
    results = run(fake, count=1000)
    assert [result.payload.decode() for result in results] == [row["url"] for row in rows(1000)]
    assert [result.record["index"] for result in results] == list(range(1000))
    assert all(result.is_success for result in results)


def test_no_rows_yield_no_results(fake: str) -> None:
    assert run(fake, count=0) == []


def test_the_summary_is_there_after_the_last_result(fake: str) -> None:
    results = Batch(binary=fake).results(rows(3))
    assert results.summary is None
    assert len(list(results)) == 3
    assert results.summary is not None and results.summary["count"] == 3


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("no-end:5", "without an end frame"),
        ("garbage:5", "not JSON"),
        ("short-payload:5", "within a payload"),
        ("short-record:5", "without its end"),
        ("no-index:5", "without an index"),
        ("huge:5", "payload of 1099511627776 bytes"),
        ("lose:5", "9 records and claims 9, for 10 rows"),
        ("more", "goes on after its end"),
        ("protocol", "speaks protocol 2"),
        ("no-start", "begin with a start frame"),
    ],
)
def test_a_stream_that_is_not_whole_is_an_error(fake: str, fault: str, message: str) -> None:
    with pytest.raises(BatchError, match=message):
        run(fake, fault)


def test_results_before_the_death_of_the_process_are_received(fake: str) -> None:
    received = []
    with pytest.raises(BatchError, match="ended by signal 9: a reason") as caught:
        for result in Batch(["--fake=die:700"], binary=fake).results(rows(2000)):
            received.append(result)
    assert len(received) == 700
    assert caught.value.exit_status == -9


def test_an_error_survives_pickling() -> None:
    copy = pickle.loads(pickle.dumps(OutputError("a message", exit_status=74)))
    assert (type(copy), str(copy), copy.exit_status) == (OutputError, "a message", 74)


@pytest.mark.parametrize(
    ("status", "kind"), [(1, BatchError), (65, FolderError), (74, OutputError), (75, TryAgainError)]
)
def test_the_exit_status_decides_the_error(fake: str, status: int, kind: type[BatchError]) -> None:
    with pytest.raises(kind) as caught:
        run(fake, f"status:{status}")
    assert caught.value.exit_status == status


def test_an_exit_status_after_the_end_frame_is_an_error(fake: str) -> None:
    with pytest.raises(TryAgainError):
        run(fake, "exit:75")


def test_a_process_that_was_told_to_end_is_an_error(fake: str) -> None:
    with pytest.raises(BatchError) as caught:
        run(fake, "terminated:5")
    assert caught.value.exit_status == 143


def test_rejected_options_are_a_usage_error(fake: str) -> None:
    with pytest.raises(UsageError, match="Unknown option '--fake'"):
        run(fake, "usage")


def test_a_process_that_stops_answering_is_killed(fake: str) -> None:
    with pytest.raises(BatchError, match=r"nothing for 0\.5 seconds"):
        run(fake, "stall:5", stall_timeout=0.5)


def test_waiting_for_a_rate_is_no_stall(fake: str) -> None:
    assert len(run(fake, "rate:5", stall_timeout=3)) == 10


def test_a_process_that_stops_reporting_that_it_waits_for_a_rate_is_killed(fake: str) -> None:
    with pytest.raises(BatchError, match=r"nothing for 0\.5 seconds"):
        run(fake, "rate-stall:5", stall_timeout=0.5)


def test_a_process_can_be_waited_for_without_end(fake: str) -> None:
    assert len(run(fake, stall_timeout=math.inf)) == 10


def test_the_process_may_be_silent_for_ten_minutes_by_default() -> None:
    assert STALL_TIMEOUT == 600
    assert inspect.signature(Batch).parameters["stall_timeout"].default == STALL_TIMEOUT
    readme = Path(__file__).parent.parent / "README.md"
    assert "sent nothing for 10 minutes (`stall_timeout`)" in readme.read_text()


def test_waiting_for_rows_is_no_stall() -> None:
    reader, writer = os.pipe()
    idle = iter([True, True, True])

    def state() -> None:
        if next(idle, None) is None:
            os.write(writer, b"data")

    with open(reader, "rb", buffering=0):
        assert WatchedPipe(reader, 0.01, state).read(10) == b"data"
    os.close(writer)


def test_an_error_of_the_rows_is_raised(fake: str) -> None:
    def failing_rows() -> Iterator[dict[str, Any]]:
        yield from rows(3)
        raise KeyError("a column")

    with pytest.raises(KeyError, match="a column"):
        list(Batch(binary=fake).results(failing_rows()))


def test_a_value_that_json_cannot_represent_raises_an_error(fake: str) -> None:
    with pytest.raises(TypeError, match="object"):
        list(Batch(binary=fake).results([{"url": object()}]))


def test_closing_early_ends_the_process(fake: str) -> None:
    endless = ({"url": f"http://a.test/{number}"} for number in itertools.count())
    with Batch(binary=fake).results(endless) as results:
        assert next(results).record["index"] == 0
        process = results._child._process
    assert process.poll() is not None
    assert list(results) == []


def test_another_thread_can_close(fake: str) -> None:
    results = Batch(["--fake=stall:1"], binary=fake).results(rows(10))
    next(results)
    errors: list[BaseException] = []

    def read() -> None:
        try:
            next(results)
        except (BatchError, StopIteration) as error:
            errors.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    time.sleep(0.5)  # By then, it waits.
    results.close()
    reader.join(30)
    assert len(errors) == 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_does_not_keep_a_run_from_ending(fake: str) -> None:
    results = Batch(binary=fake).results(rows(1000))
    next(results)
    ready, is_ready = os.pipe()
    # As while another thread waits for the process.
    with results._child._process._waitpid_lock:  # type: ignore[attr-defined]
        forked = os.fork()
        if forked == 0:
            try:
                results.close()
                os.write(is_ready, b"x")
                time.sleep(60)
            finally:
                os._exit(0)
    try:
        assert select.select([ready], [], [], 10)[0]
        assert len(list(results)) == 999
        assert os.waitpid(forked, os.WNOHANG) == (0, 0)
    finally:
        os.kill(forked, signal.SIGKILL)
        os.waitpid(forked, 0)
        os.close(ready)
        os.close(is_ready)


def test_rows_are_read_only_as_far_as_results_are_taken(fake: str) -> None:
    read = 0

    def counted() -> Iterator[dict[str, Any]]:
        nonlocal read
        while True:
            read += 1
            yield {"url": "http://a.test/" + "x" * 10_000}

    with Batch(binary=fake).results(counted()) as results:
        for _ in range(100):
            next(results)
        # The number of lines that fit into pipes and buffers.
        assert read < 1000


def test_statistics_are_reported(fake: str) -> None:
    reports: list[dict[str, Any]] = []
    run(fake, "statistics", on_statistics=reports.append)
    assert reports == [{"done": 0, "per_s": 1.5}]


def test_all_reports_have_been_delivered_when_the_results_end(fake: str) -> None:
    has_ended = threading.Event()
    reports: list[dict[str, Any]] = []

    def report_slowly(report: dict[str, Any]) -> None:
        has_ended.wait(0.2)
        reports.append(report)

    run(fake, "statistics", on_statistics=report_slowly)
    count = len(reports)
    has_ended.set()
    assert count == 1


def test_a_failing_report_does_not_end_the_process(fake: str) -> None:
    def fail(_: dict[str, Any]) -> None:
        raise RuntimeError

    assert len(run(fake, "statistics", on_statistics=fail)) == 10


def test_warnings_of_the_process_are_logged(fake: str, caplog: pytest.LogCaptureFixture) -> None:
    run(fake, "warning")
    assert [(record.name, record.message) for record in caplog.records] == [("webimage_batch", "fewer files, 100%")]


def test_another_program_is_named() -> None:
    with pytest.raises(BatchError, match="true has sent nothing: is it webimage"):
        list(Batch(binary="true").results([]))


@pytest.mark.parametrize("form", ["options", "arguments", "separate arguments"])
def test_checking_options_writes_no_files(tmp_path: Path, form: str) -> None:
    program = tmp_path / "webimage"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/arguments; exit 64\n')
    program.chmod(0o755)
    paths = {name: str(tmp_path / name) for name in ("summary", "failed-to", "cache")}
    values = {**paths, "cache-limit": "9", "cache-policy": "reload"}
    if form == "options":
        options: dict[str, Any] = {name.replace("-", "_"): value for name, value in values.items()}
        batch = Batch(binary=program, rate=1, **options)
    else:
        separator = "=" if form == "arguments" else " "
        arguments = [f"--{name}{separator}{value}" for name, value in values.items()]
        batch = Batch([part for argument in arguments for part in argument.split(" ")], binary=program, rate=1)
    with pytest.raises(UsageError):
        batch.check_options()
    lines = (tmp_path / "arguments").read_text().splitlines()
    assert "--rate=1" in lines
    given = "".join(lines)
    assert not [value for value in (*values.values(), *(f"--{name}" for name in values)) if value in given]


@pytest.mark.binary
def test_checking_options_leaves_files_as_they_are(tmp_path: Path, binary: str) -> None:
    for name in ("summary", "failed"):
        (tmp_path / name).write_text("mine")
    options: dict[str, Any] = {"summary": tmp_path / "summary", "failed_to": tmp_path / "failed"}
    Batch(binary=binary, cache=tmp_path / "cache", cache_limit=9, **options).check_options()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["failed", "summary"]
    assert {path.read_text() for path in tmp_path.iterdir()} == {"mine"}
