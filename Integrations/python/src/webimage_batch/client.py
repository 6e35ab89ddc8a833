"""Downloads images with one `webimage batch` process."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import NamedTuple

from .binary import find_binary
from .child import Child, Statistics
from .errors import BatchError
from .frames import CutOffError, Record, is_end
from .options import Option
from .options import arguments as option_arguments
from .rows import Row, encode_row

STALL_TIMEOUT = 600.0
"""The default for the number of seconds without a sign of life after which the process is considered dead."""

_FILE_OPTIONS = frozenset({"--summary", "--failed-to", "--cache", "--cache-limit", "--cache-policy"})


class Result(NamedTuple):
    """The record of one line and the bytes of its image, empty if it failed."""

    record: Record
    payload: bytes

    @property
    def is_success(self) -> bool:
        """`True` if there is an image."""
        return bool(self.record.get("status") == "success")


class Batch:
    """The options of `webimage batch`, by their names in Python, and the methods that run it.

    >>> batch = Batch(max_pixel_size=256, public_only=True)
    >>> for record, payload in batch.results({"url": url} for url in urls):
    ...     print(record["index"], record["status"], len(payload))

    `webimage batch --help` lists the options. `arguments` are passed on unchanged. `binary` is the path of the
    executable file; see `find_binary` for the default. If no record arrives for `stall_timeout` seconds while lines
    wait for theirs, and not for a rate, the process is killed and `BatchError` raised; `None` waits forever.
    `on_statistics` is called with each report on progress, from another thread, and for the last time before the
    results end.
    """

    def __init__(
        self,
        arguments: Sequence[str] = (),
        *,
        binary: str | os.PathLike[str] | None = None,
        stall_timeout: float | None = STALL_TIMEOUT,
        on_statistics: Callable[[Statistics], None] | None = None,
        **options: Option,
    ) -> None:
        self._arguments = [*arguments, *option_arguments(options)]
        self._binary = binary
        self._stall_timeout = stall_timeout
        self._on_statistics = on_statistics

    def results(self, rows: Iterable[Row]) -> Results:
        """Starts a process and returns its results, one for each row, in order of completion.

        `record["index"]` is the number of the row, from 0. With `ordered=True` as an option, the results come in the
        order of the rows. `rows` is read in a thread of its own, only as fast as the process accepts them.
        """
        return Results(self.start(), rows)

    def check_options(self) -> None:
        """Raises the error of a process that refuses these options; downloads and writes nothing.

        Options for files that the process writes, and for its cache, are not checked.

        For the tasks of an engine, this tells in the call what they would find out later. Does nothing if this machine
        has no binary: those of the tasks may have one.
        """
        try:
            find_binary(self._binary)
        except FileNotFoundError:
            return
        arguments = _without_files(self._arguments)
        with Results(Child(arguments, binary=self._binary, stall_timeout=self._stall_timeout), ()) as results:
            for _ in results:
                pass

    def start(self) -> Child:
        """Starts a process with these options, whose input and output are left to the caller."""
        return Child(
            self._arguments,
            binary=self._binary,
            stall_timeout=self._stall_timeout,
            on_statistics=self._on_statistics,
        )


def _without_files(arguments: Sequence[str]) -> list[str]:
    """Returns the arguments without the options for files that the process writes, and for its cache."""
    kept: list[str] = []
    remaining = iter(arguments)
    for argument in remaining:
        name, separator, _ = argument.partition("=")
        if name not in _FILE_OPTIONS:
            kept.append(argument)
        elif not separator:
            next(remaining, None)  # Its value.
    return kept


class Results(Iterator[Result]):
    """The results of one process. Iterate to the end, or call `close`, or use it as a context manager.

    Raises `BatchError` if the process ends early, so that some rows have no result.
    """

    def __init__(self, child: Child, rows: Iterable[Row]) -> None:
        self.summary: Record | None = None
        """The counts of the process, once all results have been read."""
        self._child = child
        self._feeder = _Feeder(child, rows)
        self._feeder.start()
        self._results = self._read()

    def __next__(self) -> Result:
        return next(self._results)

    def __enter__(self) -> Results:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process, if it still runs. Any thread may call this."""
        self._child.kill()
        # Another thread may wait for a result; it closes the output itself.
        with contextlib.suppress(ValueError):
            self._results.close()
            self._child.close()

    def _read(self) -> Generator[Result, None, None]:
        try:
            yield from self._read_frames()
        except CutOffError:
            self._feeder.check()
            self._child.wait_for_exit()
            raise
        finally:
            self._child.close()

    def _read_frames(self) -> Iterator[Result]:
        while (frame := self._child.read()) is not None:
            record, payload = frame
            if not is_end(record):
                yield Result(record, payload)
                continue
            if self._child.read() is not None:
                raise BatchError("The stream goes on after its end.")
            self._child.wait_for_exit()
            self._feeder.check()
            received, claimed, expected = self._child.received, record.get("count"), self._feeder.finished_count()
            if not received == claimed == expected:
                raise BatchError(f"The stream has {received} records and claims {claimed}, for {expected} rows.")
            self.summary = record
            return
        raise CutOffError("The stream ends without an end frame.")


class _Feeder(threading.Thread):
    """Writes rows to a process until all are written, or the process ends or stops reading."""

    def __init__(self, child: Child, rows: Iterable[Row]) -> None:
        super().__init__(daemon=True, name="webimage-rows")
        self._child = child
        self._rows = rows
        self._error: BaseException | None = None
        self._is_finished = False

    def run(self) -> None:
        """Writes all rows."""
        try:
            for row in self._rows:
                self._child.send(encode_row(row))
            self._is_finished = True
        except BrokenPipeError:
            pass  # The process has ended; the code that waits for it reports the reason.
        except BaseException as error:
            self._error = error
            self._child.kill()
        finally:
            self._child.finish_input()

    def check(self) -> None:
        """Raises the error of the rows, if there was one."""
        if self._error is not None:
            raise self._error

    def finished_count(self) -> int | None:
        """Returns the number of rows, or `None` if not all were written."""
        return self._child.sent if self._is_finished else None
