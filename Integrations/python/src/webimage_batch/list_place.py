"""The places of lists in a folder: the numbers of their shards."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .counts import is_count
from .errors import FolderError
from .folders import file_number, list_name, list_number, marker_number, not_ours
from .storage import Storage


@dataclass(frozen=True)
class _List:
    """A list of which a folder has shards."""

    first: int
    head_sha256: str
    """The digest of the rows of its first shard, without keys; a list is recognized by it."""
    shard_count: int | None
    """The number of its shards, including those not written; `None` as long as it has not been read to its end."""


class ListPlace:
    """The numbers that a folder has for the shards of a list.

    The first list of a folder begins with shard 0. With the mode `extend`, a list that the folder has no shards of
    begins after all others; with `overwrite`, a list takes the place of all others. A file such as `00012_list.json` is
    written before the files of its first shard get their names, so that a later run recognizes the list, and before
    another list is added, its number of shards is known.

    Raises `FolderError` if the list cannot have a place.
    """

    def __init__(self, storage: Storage, head_sha256: str, mode: str) -> None:
        self._storage = storage
        names = storage.names()
        firsts = _numbers(names, list_number)
        if mode == "overwrite":
            # Of an interrupted run that is being continued.
            known = [other for other in _readable(storage, firsts) if other == _List(0, head_sha256, None)]
        else:
            known = [_read(storage, first) for first in firsts]
        ends = [*(other.first for other in known[1:]), None]
        complete = _numbers(names, marker_number)
        # A list without a shard needs no place. A shard that is not complete may be one that was being replaced.
        numbers = sorted({*complete, *_numbers(names, file_number)})
        self._lists = [
            other
            for other, end in zip(known, ends, strict=False)
            if bisect_left(numbers, other.first) < (len(numbers) if end is None else bisect_left(numbers, end))
        ]
        self._unused = [first for first in firsts if first not in [other.first for other in self._lists]]
        self._list = self._extend(head_sha256, complete) if mode == "extend" else self._begin(head_sha256)
        self._is_recorded = self._list in self._lists

    @property
    def first(self) -> int:
        """The number of the first shard."""
        return self._list.first

    @property
    def end(self) -> int | None:
        """The number of the first shard of the next list; `None` if there is none."""
        return min((other.first for other in self._lists if other.first > self.first), default=None)

    def record(self) -> None:
        """Writes the file about the list, unless that has been done; called before a shard gets its files."""
        if not self._is_recorded:
            for first in self._unused:
                self._storage.remove(list_name(first))
            self._write()

    def finish(self, shard_count: int) -> None:
        """Records the number of shards, once the list has been read to its end."""
        known = self._list.shard_count
        # A list without a shard leaves nothing behind.
        if self._is_recorded and (known is None or known < shard_count):
            self._list = _List(self.first, self._list.head_sha256, shard_count)
            self._write()

    def _write(self) -> None:
        value: dict[str, Any] = {"first_shard": self.first, "head_sha256": self._list.head_sha256}
        if self._list.shard_count is not None:
            value["shard_count"] = self._list.shard_count
        self._storage.write(list_name(self.first), value)
        self._is_recorded = True

    def _begin(self, head_sha256: str) -> _List:
        """Returns the first list of the folder."""
        known = next((other for other in self._lists if other.first == 0), None)
        if known is not None and known.head_sha256 != head_sha256:
            raise FolderError(
                f"{self._storage.location} has shards of a list with other rows or columns: choose another folder, or "
                "use incremental_mode='extend' or 'overwrite'."
            )
        return known or _List(0, head_sha256, None)

    def _extend(self, head_sha256: str, complete: list[int]) -> _List:
        """Returns a list that the folder has, or one after all others."""
        for known in self._lists:
            if known.head_sha256 == head_sha256:
                return known
        first = complete[-1] + 1 if complete else 0
        for known in self._lists:
            if known.shard_count is None:
                raise FolderError(
                    f"{self._storage.location} has a list that is not complete, which begins with shard "
                    f"{known.first:05}: repeat its run before you add another list, or, to leave it as it is, remove "
                    f"{self._storage.shown(list_name(known.first))}."
                )
            first = max(first, known.first + known.shard_count)
        return _List(first, head_sha256, None)


def _numbers(names: Iterable[str], number_of: Callable[[str], int | None]) -> list[int]:
    return sorted(number for number in map(number_of, names) if number is not None)


def _readable(storage: Storage, firsts: Iterable[int]) -> Iterator[_List]:
    for first in firsts:
        with suppress(FolderError):
            yield _read(storage, first)


def _read(storage: Storage, first: int) -> _List:
    value = storage.read(list_name(first)) or {}
    head, count = value.get("head_sha256"), value.get("shard_count")
    if value.get("first_shard") != first or not isinstance(head, str) or not (count is None or is_count(count)):
        raise not_ours(storage.shown(list_name(first)))
    return _List(first, head, count)
