"""The identity of runs whose shards belong together."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence

from .options import Option

# Options that do not affect what a successful download results in. They may change from run to run, as in the command:
# after an outage, more time and more attempts help.
_CHANGEABLE = frozenset(
    {
        "binary",
        "cacert",
        "cache",
        "cache_limit",
        "cache_policy",
        "concurrency",
        "deadline",
        "die_with_parent",
        "dns_concurrency",
        "fail_on_error",
        "failed_to",
        "grace",
        "header",
        "insecure_host",
        "lookahead",
        "memory",
        "no_insecure_redirects",
        "on_statistics",
        "ordered",
        "per_host",
        "progress",
        "proxy",
        "public_only",
        "rate",
        "retries",
        "sharers",
        "stall_timeout",
        "stats_interval",
        "summary",
        "threads",
        "timeout",
    }
)


def identity(layout: Sequence[object], options: Mapping[str, Option]) -> str:
    """Returns a digest that runs have in common if their shards belong together."""
    kept = {name: value for name, value in sorted(options.items()) if name not in _CHANGEABLE}
    return hashlib.sha256(json.dumps([layout, kept], default=_plain).encode()).hexdigest()


def _plain(value: object) -> object:
    return os.fspath(value) if isinstance(value, os.PathLike) else list(value)  # type: ignore[call-overload]
