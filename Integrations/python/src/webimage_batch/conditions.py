"""The conditions for a shard to be complete, and the shards that do not meet them."""

from __future__ import annotations

from dataclasses import dataclass

from .counts import Counts
from .errors import TryAgainError

MAX_RETRYABLE_RATE = 0.5
"""The default for the share of results of a shard that may be failures for reasons that may be temporary."""

_TLS_OUTAGE = 0.9
"""The share of results that failed with `tls` from which on the cause is not the servers."""
_LEAST_TLS_FAILURES = 10
"""The number of these failures below which they tell nothing: the last shard of a list may have one row."""


@dataclass(frozen=True)
class Conditions:
    """What the results of a shard must be for it to be complete."""

    max_retryable_rate: float = MAX_RETRYABLE_RATE
    """The maximum share of failures for reasons that may be temporary: with more, the network was probably out."""
    min_success_rate: float = 0.0
    """The minimum share of successes."""

    def __post_init__(self) -> None:
        for name, rate in vars(self).items():
            if not 0 <= rate <= 1:
                raise ValueError(f"{name} is {rate}; it can be from 0 to 1.")

    def allow_retryable(self, retryable: int, counts: Counts) -> bool:
        """Returns whether so many of the results may be failures for reasons that may be temporary.

        If nearly all of them, and at least ten, failed with `tls`, that is such a reason, too: a proxy or a missing
        certificate.
        """
        tls = counts.status_dict.get("tls", 0)
        is_outage = tls >= _LEAST_TLS_FAILURES and tls >= _TLS_OUTAGE * counts.count
        outage = retryable + (tls if is_outage else 0)
        return outage / counts.count <= self.max_retryable_rate

    def allow_successes(self, successes: int, count: int) -> bool:
        """Returns whether so few of the results may be successes."""
        return successes / count >= self.min_success_rate


class Refusals:
    """The shards that were not written because of their failures."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._failures: dict[str, int] = {}
        self._remedies: dict[str, None] = {}

    def meets(self, conditions: Conditions, number: int, counts: Counts, retryable: Counts) -> bool:
        """Returns whether a shard meets the conditions; keeps it in mind otherwise.

        `retryable` are those of its `counts` that are failures for reasons that may be temporary.
        """
        if not conditions.allow_retryable(retryable.count, counts):
            is_tls = not conditions.allow_retryable(0, counts)
            remedy, failures = "raise max_retryable_rate", counts if is_tls else retryable
        elif not conditions.allow_successes(counts.successes, counts.count):
            remedy, failures = "lower min_success_rate", counts
        else:
            return True
        self._numbers.append(number)
        self._remedies[remedy] = None
        for code, count in failures.status_dict.items():
            if code != "success":
                self._failures[code] = self._failures.get(code, 0) + count
        return False

    def check(self) -> None:
        """Raises `TryAgainError` if there are any."""
        if not self._numbers:
            return
        count = len(self._numbers)
        shards = "1 shard is not written" if count == 1 else f"{count} shards are not written"
        reasons = " for reasons that may be temporary" if list(self._remedies) == ["raise max_retryable_rate"] else ""
        codes = ", ".join(f"{code}: {number}" for code, number in self._failures.items())
        raise TryAgainError(
            f"{shards}, the first is {self._numbers[0]:05}: too many downloads failed{reasons} ({codes}). "
            f"Run it again later, or {' and '.join(self._remedies)}."
        )
