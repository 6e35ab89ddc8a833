"""Writes results as a folder of shards, each complete or absent."""

from __future__ import annotations

import collections
import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .client import Result
from .conditions import Conditions, Refusals
from .counts import Counts, is_count
from .errors import BatchError, FolderError
from .folders import marker_path, not_ours, output_errors, read_object, remove_marker
from .parts import Part, count_retryable, place, sync, write_part
from .rows import Row, encode_row


@dataclass(frozen=True)
class _Plan:
    """The rows of one shard."""

    number: int
    batches: list[Any]
    input_sha256: str
    count: int


class Shards:
    """Shards of `rows_per_shard` rows of the input each, which come in the order of the input.

    The caller has locked the folder. `make_parts` returns the files of the shard with a stem such as `00000`.
    `00000_stats.json` is written last, and marks the shard as complete: a later run with the same input and one of the
    same `identities` leaves it alone, if it meets the `conditions`. A shard that does not is not written, and an
    earlier version of it, if there is one, remains.

    The numbers begin with `first`, and must be below `end`. `before_commit` is called before the files of a shard get
    their names.
    """

    def __init__(
        self,
        folder: Path,
        make_parts: Callable[[str], Sequence[Part]],
        *,
        url: str,
        send: Iterable[str] = (),
        rows_per_shard: int,
        identities: Sequence[str],
        conditions: Conditions,
        first: int = 0,
        end: int | None = None,
        before_commit: Callable[[], None] = lambda: None,
    ) -> None:
        # Counted in the thread that reads the rows, and in the one that writes the results.
        self._earlier = Counts()
        self._written = Counts()
        self._folder = folder
        self._conditions = conditions
        self._refusals = Refusals()
        self._make_parts = make_parts
        self._sent_columns = {"url": url, **{name: name for name in send}}
        self._rows_per_shard = rows_per_shard
        self._options_sha256 = [hashlib.sha256(identity.encode()).hexdigest() for identity in identities]
        self._first = first
        self._end = end
        self._before_commit = before_commit
        self._planned: collections.deque[_Plan] = collections.deque()
        self._next_index = 0
        self._open: _OpenShard | None = None
        self.shard_count = 0
        """The number of shards that the rows read so far belong to."""

    @property
    def counts(self) -> Counts:
        """The sum over all shards, including those of earlier runs."""
        counts = Counts()
        counts.merge(self._earlier)
        counts.merge(self._written)
        return counts

    def plan(self, batches: Iterable[Any]) -> Iterator[Row]:
        """Returns the rows to download, those of shards that are not complete yet. Another thread may iterate."""
        for number, parts in enumerate(_split(batches, self._rows_per_shard), self._first):
            if number == self._end:
                raise FolderError(
                    f"Shard {number:05} belongs to the next list, which was added before this one was complete."
                )
            self.shard_count += 1
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
        with output_errors(self._folder):
            self._write(result)

    def check(self) -> None:
        """Raises `TryAgainError` if there are shards that were not written because of their failures."""
        self._refusals.check()

    def close(self) -> None:
        """Removes the shard that is not complete, if any."""
        if self._open is not None:
            self._open.discard()
            self._open = None

    def _write(self, result: Result) -> None:
        if self._open is None:
            plan = self._planned.popleft()
            self._open = _OpenShard(plan, self._make_parts(f"{plan.number:05}"))
        self._open.add(result)
        if self._open.is_complete:
            self._finish(self._open)
            self._open = None

    def _finish(self, shard: _OpenShard) -> None:
        """Writes a shard that has all its results, or removes it if it does not meet the conditions."""
        if self._refusals.meets(self._conditions, shard.number, shard.counts, shard.retryable):
            shard.commit(self._folder, self._options_sha256[0], self._before_commit)
            self._written.merge(shard.counts)
        else:
            shard.discard()

    def _is_complete(self, plan: _Plan) -> bool:
        marker = marker_path(self._folder, plan.number)
        if not marker.exists():
            return False
        statistics = read_object(marker)
        if statistics.get("options_sha256") not in self._options_sha256:
            raise FolderError(f"{marker} is of a run with other options.")
        if statistics.get("input") != {"count": plan.count, "sha256": plan.input_sha256}:
            raise FolderError(f"{marker} is of a run with other rows.")
        counts, retryable = Counts.read(statistics), statistics.get("retryable")
        if counts is None or counts.count != plan.count or not (retryable is None or is_count(retryable)):
            raise not_ours(marker)
        if retryable is None:  # A marker of an earlier version.
            retryable = count_retryable(self._folder, f"{plan.number:05}")
        if not self._conditions.allow_retryable(retryable, plan.count):
            return False
        if not self._conditions.allow_successes(counts.successes, plan.count):
            return False
        self._earlier.merge(counts)
        return True


class _OpenShard:
    """A shard that is being written."""

    def __init__(self, plan: _Plan, parts: Sequence[Part]) -> None:
        self._plan = plan
        self._parts = parts
        self.counts = Counts()
        self.retryable = Counts()
        """The failures for reasons that may be temporary."""
        self._start_time = time.time()
        self._is_decided = False
        self._rows = ((batch, row) for batch in plan.batches for row in range(batch.num_rows))

    @property
    def is_complete(self) -> bool:
        return self.counts.count == self._plan.count

    @property
    def number(self) -> int:
        return self._plan.number

    def add(self, result: Result) -> None:
        batch, row = next(self._rows)
        self.counts.add(result)
        if result.record.get("retryable") is True:
            self.retryable.add(result)
        for part in self._parts:
            part.add(batch, row, result)

    def commit(self, folder: Path, options_sha256: str, before_commit: Callable[[], None]) -> None:
        """Gives the files and the marker their names."""
        # As long as something remains to be written, for which there may be no room, the earlier version is complete.
        files = {part.name: {"bytes": part.prepare()} for part in self._parts}
        sync(folder)
        before_commit()
        end_time = time.time()
        marker: dict[str, Any] = {
            **vars(self.counts),
            "retryable": self.retryable.count,
            "duration": end_time - self._start_time,
            "start_time": self._start_time,
            "end_time": end_time,
            "input": {"count": self._plan.count, "sha256": self._plan.input_sha256},
            "options_sha256": options_sha256,
            "files": files,
        }
        path = marker_path(folder, self._plan.number)
        write_part(path, marker)
        # Now the shard is the new version: what an interruption leaves of this, the next run completes.
        self._is_decided = True
        remove_marker(path)
        for part in self._parts:
            part.commit()
        place(path)

    def discard(self) -> None:
        if not self._is_decided:
            for part in self._parts:
                part.discard()


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
