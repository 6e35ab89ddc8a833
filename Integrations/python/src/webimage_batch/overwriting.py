"""Runs that replace the shards of a folder, one by one."""

from __future__ import annotations

import time
from typing import Any

from .errors import FolderError
from .folders import OVERWRITE
from .storage import Storage


class Overwriting:
    """A run that replaces the shards of a folder, and knows those that it has replaced before it was interrupted."""

    def __init__(self, storage: Storage, identity: str) -> None:
        self._storage = storage
        self._value: dict[str, Any] = {"options_sha256": identity, "start_time": time.time()}
        self._is_recorded = False

    def begin(self, first_input: dict[str, object]) -> None:
        """Continues an interrupted run, if one with the same first rows and options has left a file about it."""
        self._value["input"] = first_input
        earlier = self._read(OVERWRITE)
        start_time = earlier.get("start_time")
        if isinstance(start_time, float) and {**self._value, "start_time": start_time} == earlier:
            self._value, self._is_recorded = earlier, True

    def has_replaced(self, name: str, rows: dict[str, object]) -> bool:
        """Returns whether the complete shard with a marker of this name, if there is one, is of this run."""
        marker = self._read(name)
        end_time = marker.get("end_time")
        return (
            marker.get("options_sha256") == self._value["options_sha256"]
            and marker.get("input") == rows
            and isinstance(end_time, float)
            and end_time >= self._value["start_time"]
        )

    def record(self) -> None:
        """Writes the file about the run, unless that has been done; called before a shard is replaced."""
        if not self._is_recorded:
            self._storage.write(OVERWRITE, self._value)
            self._is_recorded = True

    def finish(self, end: int) -> None:
        """Removes the shards that remain, which begin with this number."""
        self._storage.remove_from(end)
        self._storage.remove(OVERWRITE)

    def _read(self, name: str) -> dict[str, Any]:
        """Returns the content of a file that is replaced if it cannot be read."""
        try:
            return self._storage.read(name) or {}
        except FolderError:
            return {}
