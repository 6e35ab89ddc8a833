"""The identity of runs whose shards belong together."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence

from .options import Option

# Options that affect the speed, but not the result.
_WITHOUT_EFFECT = frozenset(
    {
        "binary",
        "cache",
        "cache_limit",
        "concurrency",
        "dns_concurrency",
        "lookahead",
        "on_statistics",
        "per_host",
        "proxy",
        "rate",
        "sharers",
        "stall_timeout",
        "threads",
    }
)

# Options that affect which downloads succeed, or what is reported. They may change from run to run, as in the command:
# after an outage, more time and more attempts help.
_CHANGEABLE = frozenset(
    {
        "cacert",
        "cache_policy",
        "deadline",
        "die_with_parent",
        "fail_on_error",
        "failed_to",
        "grace",
        "header",
        "insecure_host",
        "memory",
        "no_insecure_redirects",
        "ordered",
        "progress",
        "public_only",
        "retries",
        "stats_interval",
        "summary",
        "timeout",
    }
)


def identities(layout: Sequence[object], options: Mapping[str, Option]) -> list[str]:
    """Returns texts of which runs have one in common if their shards belong together.

    The first one is that of this version; the second one, which earlier versions wrote, includes more options.
    """
    return [_text(layout, options, _WITHOUT_EFFECT | _CHANGEABLE), _text(layout, options, _WITHOUT_EFFECT)]


def _text(layout: Sequence[object], options: Mapping[str, Option], ignored: frozenset[str]) -> str:
    options = {name: value for name, value in sorted(options.items()) if name not in ignored}
    return json.dumps([layout, options], default=_plain)


def _plain(value: object) -> object:
    return os.fspath(value) if isinstance(value, os.PathLike) else list(value)  # type: ignore[call-overload]
