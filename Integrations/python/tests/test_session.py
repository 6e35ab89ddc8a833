"""Several calls at once in one process, with the stand-in for the binary."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from webimage_batch import Batch, BatchError, Result, Session, UsageError
from webimage_batch.child import Child


def rows(name: str, count: int) -> list[dict[str, Any]]:
    return [{"url": f"{name}/{number}"} for number in range(count)]


async def collect(session: Session, sent: list[dict[str, Any]]) -> list[Result]:
    return [result async for result in session.results(sent)]


def check(sent: list[dict[str, Any]], results: list[Result]) -> None:
    answers = {result.record["index"]: result.payload.decode() for result in results}
    assert len(results) == len(answers) == len(sent)
    assert answers == {index: row["url"] for index, row in enumerate(sent)}


def test_calls_at_once_get_their_own_results(fake: str) -> None:
    async def run() -> None:
        session = Session(Batch(binary=fake))
        sent = [rows(str(call), 300) for call in range(4)]
        for call, results in zip(sent, await asyncio.gather(*(collect(session, call) for call in sent)), strict=True):
            check(call, results)
        check(sent[0], await collect(session, sent[0]))
        session.close()

    asyncio.run(run())


def test_a_process_that_dies_is_replaced_for_the_rows_without_a_result(fake: str, tmp_path: Path) -> None:
    async def run() -> None:
        session = Session(Batch(["--fake=once:500", f"--fake-marker={tmp_path / 'died'}"], binary=fake))
        sent = [rows(str(call), 300) for call in range(4)]
        for call, results in zip(sent, await asyncio.gather(*(collect(session, call) for call in sent)), strict=True):
            check(call, results)
        session.close()

    asyncio.run(run())
    assert (tmp_path / "died").exists()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_starts_its_own(fake: str) -> None:
    session = Session(Batch(binary=fake))
    check(rows("a", 3), asyncio.run(collect(session, rows("a", 3))))
    forked = os.fork()
    if forked == 0:
        status = 99
        try:
            status = len(asyncio.run(asyncio.wait_for(collect(session, rows("b", 3)), 30)))
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]) == 3
    check(rows("c", 3), asyncio.run(collect(session, rows("c", 3))))
    session.close()


def test_a_process_that_always_dies_is_an_error(fake: str) -> None:
    async def run() -> None:
        session = Session(Batch(["--fake=die:0"], binary=fake), restarts=2)
        with pytest.raises(BatchError, match="signal 9"):
            await collect(session, rows("a", 3))
        session.close()

    asyncio.run(run())


@pytest.mark.parametrize(("restarts", "answered"), [(3, 4), (2, 3), (0, 1)])
def test_a_call_survives_as_many_deaths_as_it_has_restarts(fake: str, restarts: int, answered: int) -> None:
    results: list[Result] = []

    async def run() -> None:
        # Each process answers one row, and dies at the next one.
        session = Session(Batch(["--fake=die:1"], binary=fake), restarts=restarts)
        try:
            async for result in session.results(rows("a", 4)):
                results.append(result)
        finally:
            session.close()

    if answered == 4:
        asyncio.run(run())
        check(rows("a", 4), results)
    else:
        with pytest.raises(BatchError, match="signal 9"):
            asyncio.run(run())
    assert len(results) == answered


@pytest.mark.parametrize("fault", ["unknown-index:5", "garbage:5", "no-end:5"])
def test_a_stream_that_is_not_whole_is_an_error(fake: str, fault: str) -> None:
    async def run() -> None:
        session = Session(Batch([f"--fake={fault}"], binary=fake), restarts=0)
        with pytest.raises(BatchError):
            await collect(session, rows("a", 10))
        session.close()

    asyncio.run(run())


def test_closing_ends_the_process_although_results_wait(fake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webimage_batch.session._QUEUED_BYTES", 100)

    async def run() -> None:
        session = Session(Batch(binary=fake), restarts=0)
        results = session.results(rows("a", 1_000))
        await anext(results)
        session.close()
        with pytest.raises(BatchError):
            [result async for result in results]

    before = set(threading.enumerate())
    asyncio.run(run())
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=60)
        assert not thread.is_alive()


def test_rejected_options_are_not_retried(fake: str) -> None:
    async def run() -> None:
        session = Session(Batch(["--fake=usage"], binary=fake))
        with pytest.raises(UsageError):
            await collect(session, rows("a", 1))
        session.close()

    asyncio.run(run())


def test_an_abandoned_call_does_not_hold_up_others(fake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webimage_batch.session._QUEUED_BYTES", 1000)

    async def run() -> None:
        session = Session(Batch(binary=fake))
        abandoned = session.results(rows("x" * 500, 50))
        await anext(abandoned)
        other = asyncio.ensure_future(collect(session, rows("b", 50)))
        await abandoned.aclose()
        check(rows("b", 50), await other)
        session.close()

    asyncio.run(run())


def test_results_that_an_abandoned_call_has_not_taken_make_room_for_others(
    fake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webimage_batch.session._QUEUED_BYTES", 1000)

    async def run() -> None:
        session = Session(Batch(binary=fake))
        for _ in range(3):
            abandoned = session.results(rows("x" * 300, 3))
            await anext(abandoned)
            # The results are in the order of the rows: afterward, two of the other call wait.
            check(rows("b", 1), await asyncio.wait_for(collect(session, rows("b", 1)), 60))
            await abandoned.aclose()
        session.close()

    asyncio.run(run())


def test_closing_fails_the_calls_under_way(fake: str) -> None:
    async def run() -> None:
        session = Session(Batch(["--fake=stall:1"], binary=fake), restarts=0)
        call = session.results(rows("a", 3))
        await anext(call)
        session.close()
        with pytest.raises(BatchError):
            await anext(call)

    asyncio.run(run())


@pytest.mark.parametrize("restarts", [0, 3])
def test_a_closed_session_starts_no_process(fake: str, restarts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    batch = Batch(["--fake=stall:1"], binary=fake)
    start = batch.start

    def count() -> Child:
        started.append(None)
        return start()

    monkeypatch.setattr(batch, "start", count)

    async def run() -> None:
        session = Session(batch, restarts=restarts)
        call = session.results(rows("a", 3))
        await anext(call)
        session.close()
        with pytest.raises(BatchError, match="closed" if restarts else "signal 9"):
            await asyncio.wait_for(anext(call), 30)
        with pytest.raises(BatchError, match="The session is closed"):
            await anext(session.results(rows("b", 1)))
        session.close()

    asyncio.run(run())
    assert len(started) == 1
