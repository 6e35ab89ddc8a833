"""Writes results as a folder of shards, each complete or absent."""

from __future__ import annotations

import collections
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .client import Result
from .counts import Counts
from .errors import BatchError, FolderError, OutputError, TryAgainError
from .folders import lock, marker_path, remove_shards
from .parts import Part, write_durably
from .rows import Row, encode_row

MAX_RETRYABLE_RATE = 0.5
"""The default for the share of results of a shard that may be failures for reasons that may be temporary."""


@dataclass(frozen=True)
class _Plan:
    """The rows of one shard."""

    number: int
    batches: list[Any]
    input_sha256: str
    count: int


class Shards:
    """A folder of shards of `rows_per_shard` rows of the input each, which come in the order of the input.

    `make_parts` returns the files of the shard with a stem such as `00000`. `00000_stats.json` is written last, and
    marks the shard as complete: a later run with the same input and the same `identity` leaves it alone. A shard is not
    written if more than `max_retryable_rate` of its results are retryable failures: the network seems to have been out.

    `overwrite` removes all shards of earlier runs at first; `sources` are the files of the list, which must remain.
    """

    def __init__(
        self,
        folder: Path,
        make_parts: Callable[[str], Sequence[Part]],
        *,
        url: str,
        send: Iterable[str] = (),
        rows_per_shard: int,
        identity: str,
        max_retryable_rate: float = MAX_RETRYABLE_RATE,
        overwrite: bool = False,
        sources: Iterable[Path] = (),
        first: int = 0,
    ) -> None:
        if not 0 <= max_retryable_rate <= 1:
            raise ValueError(f"max_retryable_rate is {max_retryable_rate}; it can be from 0 to 1.")
        # Counted in the thread that reads the rows, and in the one that writes the results.
        self._earlier = Counts()
        self._written = Counts()
        self._folder = folder
        self._refused = _Refused()
        self._make_parts = make_parts
        self._sent_columns = {"url": url, **{name: name for name in send}}
        self._rows_per_shard = rows_per_shard
        self._options_sha256 = hashlib.sha256(identity.encode()).hexdigest()
        self._max_retryable_rate = max_retryable_rate
        self._first = first
        self._planned: collections.deque[_Plan] = collections.deque()
        self._next_index = 0
        self._open: _OpenShard | None = None
        self._lock = lock(folder)
        if overwrite:
            try:
                with _output_errors(folder):
                    remove_shards(folder, sources)
            except BaseException:
                self.close()
                raise

    @property
    def counts(self) -> Counts:
        """The sum over all shards, including those of earlier runs."""
        counts = Counts()
        counts.merge(vars(self._earlier))
        counts.merge(vars(self._written))
        return counts

    def plan(self, batches: Iterable[Any]) -> Iterator[Row]:
        """Returns the rows to download, those of shards that are not complete yet. Another thread may iterate."""
        for number, parts in enumerate(_split(batches, self._rows_per_shard), self._first):
            digest = hashlib.sha256()
            for part in parts:
                for row in part.to_pylist():
                    digest.update(encode_row(row))
            plan = _Plan(number, parts, digest.hexdigest(), sum(part.num_rows for part in parts))
            if self._is_complete(plan):
                continue
            self._planned.append(plan)
            for part in parts:
                values = {name: part.column(column).to_pylist() for name, column in self._sent_columns.items()}
                for row in range(part.num_rows):
                    yield {name: column[row] for name, column in values.items()}

    def add(self, result: Result) -> None:
        """Writes the result of the next row."""
        if result.record["index"] != self._next_index:
            raise BatchError(f"The stream has line {result.record['index']} where line {self._next_index} is due.")
        self._next_index += 1
        with _output_errors(self._folder):
            self._write(result)

    def check(self) -> None:
        """Raises `TryAgainError` if there are shards that were not written because of their failures."""
        self._refused.check()

    def close(self) -> None:
        """Removes the shard that is not complete, if any, and leaves the folder to other processes."""
        if self._open is not None:
            self._open.discard()
            self._open = None
        os.close(self._lock)

    def _write(self, result: Result) -> None:
        if self._open is None:
            plan = self._planned.popleft()
            self._open = _OpenShard(plan, self._make_parts(f"{plan.number:05}"))
        self._open.add(result)
        if self._open.is_complete:
            self._finish(self._open)
            self._open = None

    def _finish(self, shard: _OpenShard) -> None:
        """Writes a shard that has all its results, or removes it if too many of them may be other ones later."""
        if shard.retryable_rate > self._max_retryable_rate:
            shard.discard()
            self._refused.add(shard)
        else:
            self._written.merge(shard.commit(self._folder, self._options_sha256))

    def _is_complete(self, plan: _Plan) -> bool:
        marker = marker_path(self._folder, plan.number)
        if not marker.exists():
            return False
        statistics = json.loads(marker.read_bytes())
        if statistics.get("options_sha256") != self._options_sha256:
            raise FolderError(f"{marker} is of a run with other options.", exit_status=65)
        if statistics.get("input", {}).get("sha256") != plan.input_sha256:
            raise FolderError(f"{marker} is of a run with other rows.", exit_status=65)
        self._earlier.merge(statistics)
        return True


@contextmanager
def _output_errors(folder: Path) -> Iterator[None]:
    """Turns errors of the operating system into `OutputError`."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {error}", exit_status=74) from error


class _OpenShard:
    """A shard that is being written."""

    def __init__(self, plan: _Plan, parts: Sequence[Part]) -> None:
        self._plan = plan
        self._parts = parts
        self.retryable = Counts()
        """The failures for reasons that may be temporary."""
        self._counts = Counts()
        self._start_time = time.time()
        self._rows = ((batch, row) for batch in plan.batches for row in range(batch.num_rows))

    @property
    def is_complete(self) -> bool:
        return self._counts.count == self._plan.count

    @property
    def number(self) -> int:
        return self._plan.number

    @property
    def retryable_rate(self) -> float:
        return self.retryable.count / self._plan.count

    def add(self, result: Result) -> None:
        batch, row = next(self._rows)
        self._counts.add(result)
        if result.record.get("retryable") is True:
            self.retryable.add(result)
        for part in self._parts:
            part.add(batch, row, result)

    def commit(self, folder: Path, options_sha256: str) -> dict[str, Any]:
        """Gives the files their names, then writes the marker, which it returns."""
        files = {part.name: {"bytes": part.commit()} for part in self._parts}
        end_time = time.time()
        marker: dict[str, Any] = {
            **vars(self._counts),
            "duration": end_time - self._start_time,
            "start_time": self._start_time,
            "end_time": end_time,
            "input": {"count": self._plan.count, "sha256": self._plan.input_sha256},
            "options_sha256": options_sha256,
            "files": files,
        }
        write_durably(marker_path(folder, self._plan.number), marker)
        return marker

    def discard(self) -> None:
        for part in self._parts:
            part.discard()


class _Refused:
    """The shards that were not written because too many of their failures may be temporary."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._failures = Counts()

    def add(self, shard: _OpenShard) -> None:
        self._numbers.append(shard.number)
        self._failures.merge(vars(shard.retryable))

    def check(self) -> None:
        """Raises `TryAgainError` if there are any."""
        if not self._numbers:
            return
        count = len(self._numbers)
        shards = "1 shard is not written" if count == 1 else f"{count} shards are not written"
        codes = ", ".join(f"{code}: {number}" for code, number in self._failures.status_dict.items())
        raise TryAgainError(
            f"{shards}, the first is {self._numbers[0]:05}: too many downloads failed for reasons that may be "
            f"temporary ({codes}). Run it again later, or raise max_retryable_rate.",
            exit_status=75,
        )


def _split(batches: Iterable[Any], count: int) -> Iterator[list[Any]]:
    """Regroups record batches into lists with `count` rows in total, the last one with the rest."""
    parts: list[Any] = []
    missing = count
    for batch in batches:
        while batch.num_rows:
            part = batch.slice(0, missing)
            parts.append(part)
            missing -= part.num_rows
            batch = batch.slice(part.num_rows)
            if missing == 0:
                yield parts
                parts, missing = [], count
    if parts:
        yield parts
