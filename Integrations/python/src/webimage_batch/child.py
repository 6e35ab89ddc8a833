"""Runs `webimage batch` as a child process."""

from __future__ import annotations

import collections
import contextlib
import json
import logging
import os
import subprocess
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from .binary import certificate_authorities, find_binary
from .errors import BatchError, error_for_exit
from .frames import CutOffError, FrameReader, Record, WatchedPipe, check_start, is_end

_LOGGER = logging.getLogger("webimage_batch")

Statistics = dict[str, Any]
"""One report of `webimage batch` on its progress: `done`, `per_s`, `in_flight`, and so on."""

# The part of standard error that an error message repeats.
_LOG_LINES = 20
_LOG_LINE_BYTES = 2000
_SECONDS_TO_EXIT = 30.0


class Child:
    """A process of `webimage batch` that reads lines from standard input.

    One thread may call `send` and `finish_input`, and another one `read` and `close`.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        binary: str | os.PathLike[str] | None = None,
        stall_timeout: float | None = None,
        on_statistics: Callable[[Statistics], None] | None = None,
    ) -> None:
        self._path = path = find_binary(binary)
        command = [path, "batch", "--input=-", "--input-format=ndjson", "--output=-", "--stream=frames", *arguments]
        authorities = certificate_authorities(path)
        if authorities and not any(argument.startswith("--cacert") for argument in arguments):
            command.append(f"--cacert={authorities}")
        self.sent = 0
        """The number of lines written."""
        self.received = 0
        """The number of records read."""
        self._on_statistics = on_statistics
        self._rate_wait_count = 0
        """The number of reports of lines that wait for a rate, which are signs of life."""
        self._log: collections.deque[str] = collections.deque(maxlen=_LOG_LINES)
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        _CHILDREN.add(self)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._logger = threading.Thread(target=self._read_log, daemon=True, name="webimage-log")
        self._logger.start()
        self._input = self._process.stdin
        self._frames = FrameReader(
            WatchedPipe(
                self._process.stdout.fileno(),
                stall_timeout,
                lambda: self._rate_wait_count if self.received < self.sent else None,
            )
        )
        self._has_started = False

    def send(self, line: bytes) -> None:
        """Writes a line; waits while the process reads no further.

        Raises `BrokenPipeError` if the process has ended.
        """
        self.sent += 1
        self._input.write(line)
        self._input.flush()

    def finish_input(self) -> None:
        """Tells the process that there are no more lines."""
        with contextlib.suppress(BrokenPipeError):
            self._input.close()

    def read(self) -> tuple[Record, bytes] | None:
        """Returns the next record and its payload, or `None` if the stream ends.

        The start frame is checked and skipped; the end frame is returned.
        """
        if not self._has_started:
            first = self._frames.read()
            if first is None:
                raise CutOffError(f"{self._path} has sent nothing: is it webimage?")
            check_start(first[0])
            self._has_started = True
        frame = self._frames.read()
        if frame is not None and not is_end(frame[0]):
            if not isinstance(frame[0].get("index"), int):
                raise BatchError("The stream has a record without an index.")
            self.received += 1
        return frame

    def wait_for_exit(self) -> None:
        """Waits for the end of a process whose output has ended, and raises the error for its exit status, if any.

        Afterward, all of its standard error has been read, and its reports have been delivered.
        """
        try:
            status = self._process.wait(_SECONDS_TO_EXIT)
        except subprocess.TimeoutExpired:
            self.kill()
            raise BatchError(f"webimage batch has not ended {_SECONDS_TO_EXIT:g} seconds after its output.") from None
        # The last lines of standard error may still be on their way.
        self._logger.join(_SECONDS_TO_EXIT)
        if status != 0:
            raise error_for_exit(status, "\n".join(self._log))
        for line in self._log:
            _LOGGER.warning(line)

    def kill(self) -> None:
        """Ends the process, if it still runs. Any thread may call this."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def close(self) -> None:
        """Ends the process, if it still runs, and closes its output."""
        self.kill()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def leave(self) -> None:
        """Closes the pipes in a forked process, which would otherwise keep the input from ending."""
        # So that nothing in this process waits for that of its parent, or kills it.
        self._process.returncode = 0
        null = os.open(os.devnull, os.O_RDWR)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None and not pipe.closed:
                # The descriptors remain in use, because objects that own them will close them.
                os.dup2(null, pipe.fileno(), inheritable=False)
        os.close(null)

    def _read_log(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as stream:
            while line := stream.readline(1 << 20):
                self._take_log(line)

    def _take_log(self, line: bytes) -> None:
        if line.startswith(b"{"):
            with contextlib.suppress(ValueError):
                statistics = json.loads(line)
                self._report(statistics)
                return
        text = line[:_LOG_LINE_BYTES].decode(errors="replace").rstrip()
        if text:
            self._log.append(text)

    def _report(self, statistics: Statistics) -> None:
        if statistics.get("waiting_rate"):
            self._rate_wait_count += 1
        if self._on_statistics is None:
            return
        try:
            self._on_statistics(statistics)
        except Exception as error:
            # This thread must keep reading: a full pipe would block the process.
            self._log.append(f"on_statistics failed: {error!r}")


_CHILDREN: weakref.WeakSet[Child] = weakref.WeakSet()


def _leave_children() -> None:
    for child in list(_CHILDREN):
        child.leave()


os.register_at_fork(after_in_child=_leave_children)
