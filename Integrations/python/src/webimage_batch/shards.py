"""Writes results as a folder of shards, each complete or absent."""

from __future__ import annotations

import collections
import hashlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .client import Result
from .columns import rows_to_identify
from .conditions import Conditions, Refusals
from .counts import Counts, is_count
from .errors import BatchError, FolderError
from .folders import OVERWRITE, file_names, marker_name, not_ours, output_errors
from .overwriting import Overwriting
from .parts import Part, sync, write_part
from .rows import Row, encode_row, sent_rows
from .storage import Storage

_LOGGER = logging.getLogger("webimage_batch")


@dataclass(frozen=True)
class _Plan:
    """The rows of one shard."""

    number: int
    batches: list[Any]
    input_sha256: str
    count: int

    @property
    def input(self) -> dict[str, object]:
        """What a marker says about the rows."""
        return {"count": self.count, "sha256": self.input_sha256}


class Shards:
    """Shards of `rows_per_shard` rows of the input each, which come in the order of the input.

    `make_parts` returns the files of the shard with a stem such as `00000`. `00000_stats.json` is written last, and
    marks the shard as complete: a later run with the same input and `identity` leaves it alone, if it meets the
    `conditions`. A shard that does not is not written, and an earlier version of it, if there is one, remains.

    With `overwrites`, shards of earlier runs are replaced one by one, whatever they are, and those with higher numbers
    are removed at the end. An interrupted run of this kind is continued by one with the same rows and identity.

    The numbers begin with `first`, and must be below `end`. `before_commit` is called before the files of a shard get
    their names.
    """

    def __init__(
        self,
        storage: Storage,
        make_parts: Callable[[str], Sequence[Part]],
        *,
        url: str,
        send: Sequence[str] = (),
        rows_per_shard: int,
        identity: str,
        conditions: Conditions,
        overwrites: bool = False,
        first: int = 0,
        end: int | None = None,
        before_commit: Callable[[], None] = lambda: None,
    ) -> None:
        # Counted in the thread that reads the rows, and in the one that writes the results.
        self._earlier = Counts()
        self._written = Counts()
        self._storage = storage
        self._conditions = conditions
        self._refusals = Refusals()
        self._make_parts = make_parts
        self._url = url
        self._send = send
        self._rows_per_shard = rows_per_shard
        self._identity = identity
        self._overwriting = Overwriting(storage, identity) if overwrites else None
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

    @property
    def earlier_count(self) -> int:
        """The number of rows that earlier runs have completed, of those read so far."""
        return self._earlier.count

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
                for row in rows_to_identify(part):
                    digest.update(encode_row(row))
            plan = _Plan(number, parts, digest.hexdigest(), sum(part.num_rows for part in parts))
            if self._overwriting is not None and number == self._first:
                self._overwriting.begin(plan.input)
            if self._is_complete(plan):
                continue
            self._planned.append(plan)
            for part in parts:
                yield from sent_rows(part, self._url, self._send)

    def add(self, result: Result) -> None:
        """Writes the result of the next row."""
        if result.record["index"] != self._next_index:
            raise BatchError(f"The stream has line {result.record['index']} where line {self._next_index} is due.")
        self._next_index += 1
        with output_errors(self._storage.location):
            self._write(result)

    def finish(self) -> None:
        """Ends a run that has read and written all rows.

        Raises `TryAgainError` if there are shards that were not written because of their failures, and `ValueError` if
        it would replace shards with none.
        """
        self._refusals.check()
        with output_errors(self._storage.location):
            if self._overwriting is None:
                self._forget_overwriting()
            elif self.shard_count == 0:
                raise ValueError(f"The list has no rows: it cannot replace the shards in {self._storage.location}.")
            else:
                self._overwriting.finish(self._first + self.shard_count)

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
            shard.commit(self._storage, self._identity, self._record)
            self._written.merge(shard.counts)
        else:
            shard.discard()

    def _record(self) -> None:
        if self._overwriting is None:
            self._forget_overwriting()
        else:
            self._overwriting.record()
        self._before_commit()

    def _forget_overwriting(self) -> None:
        """Removes what an interrupted run that overwrites has left: the next one would skip shards of this run."""
        self._storage.remove(OVERWRITE)

    def _is_complete(self, plan: _Plan) -> bool:
        name = marker_name(plan.number)
        if self._overwriting is not None and not self._overwriting.has_replaced(name, plan.input):
            return False
        statistics = self._storage.read(name)
        if statistics is None:
            return False
        marker = self._storage.shown(name)
        if "options_sha256" not in statistics:
            raise not_ours(marker)
        if statistics["options_sha256"] != self._identity:
            raise FolderError(f"{marker} is of a run with other options.")
        if statistics.get("input") != plan.input:
            raise FolderError(f"{marker} is of a run with other rows. New rows belong in a list of their own.")
        counts, retryable = Counts.read(statistics), statistics.get("retryable")
        files: Any = statistics.get("files")
        if counts is None or counts.count != plan.count or not is_count(retryable) or not _are_files(files, plan):
            raise not_ours(marker)
        for file, details in files.items():
            if not self._storage.has(file, details):
                _LOGGER.warning(f"{file} is missing or has been changed: shard {plan.number:05} is made again.")
                return False
        if not self._conditions.allow_retryable(retryable, counts):
            return False
        if not self._conditions.allow_successes(counts.successes, plan.count):
            return False
        self._earlier.merge(counts)
        return True


def _are_files(value: Any, plan: _Plan) -> bool:
    """Returns whether this can be what a marker says about the files of a shard."""
    return (
        isinstance(value, dict)
        and value.keys() <= set(file_names(plan.number))
        and all(isinstance(details, dict) for details in value.values())
    )


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

    def commit(self, storage: Storage, identity: str, before_commit: Callable[[], None]) -> None:
        """Gives the files and the marker their names."""
        # As long as something remains to be written, for which there may be no room, the earlier version is complete.
        files = {part.name: part.prepare() for part in self._parts}
        sync(storage.folder)
        before_commit()
        end_time = time.time()
        marker: dict[str, Any] = {
            **vars(self.counts),
            "retryable": self.retryable.count,
            "duration": end_time - self._start_time,
            "start_time": self._start_time,
            "end_time": end_time,
            "input": self._plan.input,
            "options_sha256": identity,
            "files": files,
        }
        write_part(storage.folder / marker_name(self._plan.number), marker)
        # Now the shard is the new version: what an interruption leaves of this, the next run completes.
        self._is_decided = True
        storage.commit(self._plan.number, files)

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
