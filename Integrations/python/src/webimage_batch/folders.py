"""Folders of shards: their lock, the numbers of their shards, and the removal of all of them."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from .errors import FolderError
from .parts import SUFFIX, check_samples, remove, sync

_NUMBER = r"(\d{5}|[1-9]\d{5,})"
_MARKER = re.compile(rf"{_NUMBER}_stats\.json", re.ASCII)
_FILE = re.compile(rf"{_NUMBER}\.(tar|parquet)", re.ASCII)
_SAMPLES = re.compile(_NUMBER, re.ASCII)


def marker_path(folder: Path, number: int) -> Path:
    """Returns the path of the file that marks a shard as complete."""
    return folder / f"{number:05}_stats.json"


def next_number(folder: Path) -> int:
    """Returns the number of the first shard after those in a folder."""
    if not folder.is_dir():
        return 0
    matches = (_MARKER.fullmatch(path.name) for path in folder.iterdir())
    return max((int(match[1]) for match in matches if match), default=-1) + 1


def lock(folder: Path) -> int:
    """Makes a folder, if necessary, locks it, and removes what a process that died has left; returns the lock."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise FolderError(f"Another process writes to {folder}.") from None
    for path in folder.glob(f".*{SUFFIX}"):
        remove(path)
    return descriptor


def remove_shards(folder: Path, sources: Iterable[Path]) -> None:
    """Removes all shards, whoever made them, from a folder that the caller has locked.

    Raises `FolderError`, and removes nothing, if one of the files of the list, `sources`, or a file that is not part
    of a sample would be removed.
    """
    kept = {source.resolve() for source in sources}
    contents = list(_contents(folder))
    for path in contents:
        if path.resolve() in kept:
            raise FolderError(f"{path} is part of the list. Choose another folder for the output.")
        if path.is_dir():
            check_samples(path)
    # Without their markers, shards are incomplete, even if the machine crashes before all are removed.
    for path in list(folder.iterdir()):
        if _MARKER.fullmatch(path.name) and path.is_file():
            path.unlink()
    sync(folder)
    for path in contents:
        remove(path)


def _contents(folder: Path) -> Iterator[Path]:
    """Yields the files and folders of shards other than markers."""
    for path in folder.iterdir():
        pattern = _SAMPLES if path.is_dir() else _FILE
        if pattern.fullmatch(path.name):
            yield path
