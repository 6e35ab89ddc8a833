"""The places of lists in a folder: the numbers of their shards."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .counts import is_count
from .errors import FolderError
from .folders import complete_shards, list_path, list_paths, not_ours, read_object, shard_numbers
from .parts import write_durably


@dataclass(frozen=True)
class _List:
    """A list of which a folder has shards."""

    first: int
    head_sha256: str
    """The digest of the rows of its first shard, without keys; a list is recognized by it."""
    shard_count: int | None
    """The number of its shards, including those not written; `None` as long as it has not been read to its end."""


class ListPlace:
    """The numbers that a folder has for the shards of a list; the caller has locked the folder.

    The first list of a folder begins with shard 0. With `extends`, a list that the folder has no shards of begins after
    all others. A file such as `00012_list.json` is written before the files of its first shard get their names, so that
    a later run recognizes the list, and before another list is added, its number of shards is known.

    Raises `FolderError` if the list cannot have a place.
    """

    def __init__(self, folder: Path, head_sha256: str, *, extends: bool) -> None:
        self._folder = folder
        complete = sorted(complete_shards(folder))
        known = [_read(number, path) for number, path in list_paths(folder)]
        ends = [*(other.first for other in known[1:]), None]
        # A list without a shard needs no place. A shard that is not complete may be one that was being replaced.
        numbers = sorted(shard_numbers(folder))
        self._lists = [
            other
            for other, end in zip(known, ends, strict=False)
            if bisect_left(numbers, other.first) < (len(numbers) if end is None else bisect_left(numbers, end))
        ]
        self._unused = [list_path(folder, other.first) for other in known if other not in self._lists]
        self._list = self._extend(head_sha256, complete) if extends else self._begin(head_sha256)
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
            for path in self._unused:
                path.unlink(missing_ok=True)
            self._write()

    def finish(self, shard_count: int) -> None:
        """Records the number of shards, once the list has been read to its end."""
        known = self._list.shard_count
        # A list without a shard leaves nothing behind.
        if (known is None or known < shard_count) and (self._is_recorded or self._has_complete_shards(shard_count)):
            self._list = _List(self.first, self._list.head_sha256, shard_count)
            self._write()

    def _has_complete_shards(self, shard_count: int) -> bool:
        """Returns whether an earlier version of this package, which wrote no file about the list, completed a shard."""
        return not complete_shards(self._folder).isdisjoint(range(self.first, self.first + shard_count))

    def _write(self) -> None:
        value: dict[str, Any] = {"first_shard": self.first, "head_sha256": self._list.head_sha256}
        if self._list.shard_count is not None:
            value["shard_count"] = self._list.shard_count
        write_durably(list_path(self._folder, self.first), value)
        self._is_recorded = True

    def _begin(self, head_sha256: str) -> _List:
        """Returns the first list of the folder."""
        known = next((other for other in self._lists if other.first == 0), None)
        if known is not None and known.head_sha256 != head_sha256:
            raise FolderError(
                f"{self._folder} has shards of a list with other rows or columns: choose another folder, or use "
                "incremental_mode='extend' or 'overwrite'."
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
                    f"{self._folder} has a list that is not complete, which begins with shard {known.first:05}: repeat "
                    "its run before you add another list, or, to leave it as it is, remove "
                    f"{list_path(self._folder, known.first)}."
                )
            first = max(first, known.first + known.shard_count)
        return _List(first, head_sha256, None)


def _read(number: int, path: Path) -> _List:
    value = read_object(path)
    head, count = value.get("head_sha256"), value.get("shard_count")
    if value.get("first_shard") != number or not isinstance(head, str) or not (count is None or is_count(count)):
        raise not_ours(path)
    return _List(number, head, count)
