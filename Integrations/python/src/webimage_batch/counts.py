"""The numbers of rows that succeeded and failed, by error code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeGuard

from .client import Result


@dataclass
class Counts:
    """The numbers of rows by status, of one shard or of all shards."""

    count: int = 0
    successes: int = 0
    failed_to_download: int = 0
    failed_to_resize: int = 0
    status_dict: dict[str, int] = field(default_factory=dict)
    """The number of results for each error code, and of successes."""

    def add(self, result: Result) -> None:
        """Counts a result."""
        status = str(result.record.get("status"))
        self.count += 1
        self.successes += status == "success"
        self.failed_to_download += status == "failed_to_download"
        self.failed_to_resize += status == "failed_to_resize"
        code = str(result.record.get("error_code") or status)
        self.status_dict[code] = self.status_dict.get(code, 0) + 1

    def merge(self, other: Counts) -> None:
        """Adds other counts."""
        self.count += other.count
        self.successes += other.successes
        self.failed_to_download += other.failed_to_download
        self.failed_to_resize += other.failed_to_resize
        for code, number in other.status_dict.items():
            self.status_dict[code] = self.status_dict.get(code, 0) + number

    @classmethod
    def read(cls, marker: dict[str, Any]) -> Counts | None:
        """Returns the counts of a marker; `None` if it does not have them."""
        values: dict[str, Any] = {name: marker.get(name) for name in vars(cls())}
        codes = values.pop("status_dict")
        if not isinstance(codes, dict) or not all(map(is_count, (*values.values(), *codes.values()))):
            return None
        counts = cls(**values, status_dict=codes)
        sums = {counts.successes + counts.failed_to_download + counts.failed_to_resize, sum(codes.values())}
        return counts if sums == {counts.count} else None


def is_count(value: Any) -> TypeGuard[int]:
    """Returns whether a value of a marker can be a number of rows or shards."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 1_000_000_000
