"""Several batches of rows at the same time in one `webimage batch` process."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import os
import queue
import threading
from collections.abc import AsyncGenerator, Mapping, Sequence

from .child import Child
from .client import Batch, Result
from .errors import BatchError, UsageError
from .frames import CutOffError, is_end
from .rows import Row, encode_row

# The maximum size of results that wait for their callers; beyond it, nothing more is read from the process.
_QUEUED_BYTES = 64 << 20


class Session:
    """A process that serves several calls of `results` at once, so that it never idles at the end of one.

    The results of all calls come from one stream: if 64 MiB of them wait for callers that do not take them, those of
    other calls wait as well. Take the results of every call, or end it (`aclose()`).

    If the process dies, a new one is started for the rows without a result, at most `restarts` times for each call.
    """

    def __init__(self, batch: Batch, *, restarts: int = 3) -> None:
        self._batch = batch
        self._restarts = restarts
        self._lock = threading.Lock()
        self._connection: _Connection | None = None
        self._process_id = os.getpid()
        self._is_closed = False

    async def results(self, rows: Sequence[Row]) -> AsyncGenerator[Result, None]:
        """Yields a result for each of the rows, in order of completion; `record["index"]` is the position in `rows`."""
        remaining = {position: encode_row(row) for position, row in enumerate(rows)}
        failures = 0
        while remaining:
            # Starting a process takes milliseconds, which the event loop should not wait for.
            connection = await asyncio.to_thread(self._connect)
            call = connection.submit(remaining)
            try:
                while remaining:
                    result = await call.next()
                    del remaining[result.record["index"]]
                    yield result
            except UsageError:
                raise
            except BatchError:
                failures += 1
                if failures > self._restarts:
                    raise
            finally:
                call.cancel()

    def close(self) -> None:
        """Ends the process, for good; results that are still awaited, and later calls, raise `BatchError`."""
        self._leave_parent()
        with self._lock:
            self._is_closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _leave_parent(self) -> None:
        """Forgets the connection of another process, from which this one was forked: its threads are not here."""
        if self._process_id != os.getpid():
            self._lock, self._connection, self._process_id = threading.Lock(), None, os.getpid()

    def _connect(self) -> _Connection:
        self._leave_parent()
        with self._lock:
            if self._is_closed:
                raise BatchError("The session is closed.")
            if self._connection is None or self._connection.has_ended:
                self._connection = _Connection(self._batch.start())
            return self._connection


class _Call:
    """The results of one call, on their way from the reading thread to an event loop."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._ready = asyncio.Event()
        self._results: collections.deque[Result] = collections.deque()
        self._error: BaseException | None = None
        self._is_canceled = False

    async def next(self) -> Result:
        """Returns the next result."""
        while True:
            with self._connection.changed:
                if self._results:
                    result = self._results.popleft()
                    self._connection.release(len(result.payload))
                    return result
                if self._error is not None:
                    raise self._error
                self._ready.clear()
            await self._ready.wait()

    def cancel(self) -> None:
        """Discards the results that have not been taken, and later ones."""
        with self._connection.changed:
            self._is_canceled = True
            self._connection.release(sum(len(result.payload) for result in self._results))
            self._results.clear()

    # The connection calls these with its lock held.

    def put(self, result: Result) -> int:
        """Adds a result; returns the number of its bytes, which now wait for the caller."""
        if self._is_canceled:
            return 0
        self._results.append(result)
        self._wake()
        return len(result.payload)

    def fail(self, error: BaseException) -> None:
        """Ends the results with an error."""
        self._error = error
        self._wake()

    def _wake(self) -> None:
        # The event loop may have been closed in the meantime; then nobody waits.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._ready.set)


_Line = tuple[_Call, int, bytes]
_Submission = list[_Line] | None


class _Connection:
    """One process with the threads that write to it and read from it."""

    def __init__(self, child: Child) -> None:
        self.changed = threading.Condition()
        self.has_ended = False
        self._child = child
        self._waiting: dict[int, tuple[_Call, int]] = {}
        self._queued_bytes = 0
        self._is_closed = False
        self._submissions: queue.SimpleQueue[_Submission] = queue.SimpleQueue()
        for target in (self._write, self._read):
            threading.Thread(target=target, daemon=True, name="webimage-session").start()

    def submit(self, lines: Mapping[int, bytes]) -> _Call:
        """Sends lines; the results carry their keys as indices."""
        call = _Call(self)
        with self.changed:
            if self.has_ended:
                call.fail(BatchError("webimage batch has ended."))
            else:
                self._submissions.put([(call, position, line) for position, line in lines.items()])
        return call

    def release(self, count: int) -> None:
        """Lets the reading thread continue; the caller holds the lock."""
        self._queued_bytes -= count
        self.changed.notify_all()

    def close(self) -> None:
        """Ends the process, also if results wait for their callers."""
        self._child.kill()
        with self.changed:
            self._is_closed = True
            self.changed.notify_all()

    def _write(self) -> None:
        index = 0
        while (lines := self._submissions.get()) is not None:
            for call, position, line in lines:
                with self.changed:
                    if self.has_ended:
                        call.fail(BatchError("webimage batch has ended."))
                        break
                    self._waiting[index] = (call, position)
                index += 1
                try:
                    self._child.send(line)
                except BrokenPipeError:
                    break  # The reading thread tells the callers.
        self._child.finish_input()

    def _read(self) -> None:
        try:
            self._read_results()
        except BaseException as error:
            self._end(error)

    def _read_results(self) -> None:
        try:
            while (frame := self._child.read()) is not None:
                record, payload = frame
                if is_end(record):
                    raise BatchError("webimage batch has ended before its input.")
                self._deliver(Result(record, payload))
            raise CutOffError("The stream ends without an end frame.")
        except CutOffError:
            self._child.wait_for_exit()
            raise

    def _deliver(self, result: Result) -> None:
        with self.changed:
            owner = self._waiting.pop(result.record["index"], None)
            if owner is None:
                raise BatchError(f"The stream has a record for line {result.record['index']}, which was not sent.")
            call, result.record["index"] = owner
            self._queued_bytes += call.put(result)
            while self._queued_bytes > _QUEUED_BYTES and not self._is_closed:
                self.changed.wait()

    def _end(self, error: BaseException) -> None:
        self._child.close()
        with self.changed:
            self.has_ended = True
            calls = {call for call, _ in self._waiting.values()}
            self._waiting.clear()
            for call in calls:
                call.fail(error)
            self._submissions.put(None)
