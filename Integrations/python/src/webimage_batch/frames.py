"""Reads the frame stream of `webimage batch --stream frames`."""

from __future__ import annotations

import io
import json
import math
import os
import select
from collections.abc import Callable
from typing import Any

from .errors import BatchError

Record = dict[str, Any]
"""The result for one line of the input: `index`, `status`, `error_code`, `width`, `height`, and so on."""

PROTOCOL = 1
"""The version of the protocol that this package reads."""

# An input line has at most 1 MiB, and a record may repeat it with escapes.
_LONGEST_LINE = 16 << 20
_LARGEST_PAYLOAD = 2 << 30
_PIPE_BYTES = 1 << 18


class CutOffError(BatchError):
    """The stream ended before its end frame: the process has probably died."""


class WatchedPipe(io.RawIOBase):
    """The read end of a pipe that raises `BatchError` if nothing arrives for too long.

    `state` returns `None` if no data is expected, because no line of the input waits for its record, and otherwise a
    number that changes with other signs of life.
    """

    def __init__(self, descriptor: int, timeout: float | None, state: Callable[[], int | None]) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._timeout = None if timeout == math.inf else timeout
        self._state = state
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)

    def readable(self) -> bool:
        """Returns `True`."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Waits for data and reads what is there, or returns 0 at the end."""
        if self._timeout is not None:
            while True:
                state = self._state()
                if self._poll.poll(self._timeout * 1000):
                    break
                # The time for a line that was sent during the wait, or after a sign of life, begins anew.
                if state is not None and state == self._state():
                    raise BatchError(f"webimage batch has sent nothing for {self._timeout:g} seconds.")
        return os.readv(self._descriptor, [buffer])


class FrameReader:
    """Splits the bytes of a stream into records and payloads."""

    def __init__(self, raw: io.RawIOBase) -> None:
        self._stream = io.BufferedReader(raw, _PIPE_BYTES)

    def read(self) -> tuple[Record, bytes] | None:
        """Returns the next record and its payload, or `None` at the end of the stream.

        Raises `BatchError` for anything that is not a complete frame.
        """
        line = self._stream.readline(_LONGEST_LINE)
        if not line:
            return None
        if not line.endswith(b"\n"):
            kind = BatchError if len(line) == _LONGEST_LINE else CutOffError
            raise kind(f"The stream has a record without its end: {_excerpt(line)}")
        try:
            record = json.loads(line)
        except ValueError as error:
            raise BatchError(f"The stream has a record that is not JSON: {_excerpt(line)}") from error
        if not isinstance(record, dict):
            raise BatchError(f"The stream has a record that is not an object: {_excerpt(line)}")
        size = record.pop("payload", 0)
        if not isinstance(size, int) or not 0 <= size <= _LARGEST_PAYLOAD:
            raise BatchError(f"The stream has a record with a payload of {size!r} bytes.")
        payload = self._stream.read(size) if size else b""
        if len(payload) < size:
            raise CutOffError("The stream ends within a payload.")
        return record, payload


def is_end(record: Record) -> bool:
    """Returns whether this is the last frame; a record of a line always has an index."""
    return record.get("end") is True and "index" not in record


def check_start(record: Record) -> None:
    """Raises `BatchError` unless this is a first frame of the right protocol."""
    if record.get("start") is not True:
        raise BatchError("The stream does not begin with a start frame.")
    if record.get("protocol") != PROTOCOL:
        raise BatchError(
            f"webimage {record.get('version')} speaks protocol {record.get('protocol')}; this package needs {PROTOCOL}."
        )


def _excerpt(line: bytes) -> str:
    return repr(line[:80])
