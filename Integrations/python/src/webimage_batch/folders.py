"""Folders of shards: the names in them, their lock, and what an interrupted run has left."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from .errors import FolderError, OutputError
from .parts import SUFFIX, check_samples, part_path, place, remove, sync

_NUMBER = r"(\d{5}|[1-9]\d{5,})"
_MARKER = re.compile(rf"{_NUMBER}_stats\.json", re.ASCII)
_LIST = re.compile(rf"{_NUMBER}_list\.json", re.ASCII)
_FILE = re.compile(rf"{_NUMBER}(\.tar|\.parquet)?", re.ASCII)
_LEFTOVER = re.compile(rf"\.{_NUMBER}(\.tar|\.parquet|_(stats|list|overwrite)\.json)?{re.escape(SUFFIX)}", re.ASCII)
_LOCK = ".webimage-batch.lock"
OVERWRITE = "00000_overwrite.json"
"""The name of the file about a run that replaces all shards, as long as it has not ended."""


def marker_name(number: int) -> str:
    """Returns the name of the file that marks a shard as complete."""
    return f"{number:05}_stats.json"


def list_name(number: int) -> str:
    """Returns the name of the file about the list whose first shard has a number."""
    return f"{number:05}_list.json"


def marker_number(name: str) -> int | None:
    """Returns the number of the shard that a marker has; `None` if this is not the name of one."""
    return _number(_MARKER, name)


def list_number(name: str) -> int | None:
    """Returns the number of the first shard of a list; `None` if this is not the name of a file about one."""
    return _number(_LIST, name)


def file_number(name: str) -> int | None:
    """Returns the number of the shard that a file or a folder of samples is part of; `None` for another name."""
    return _number(_FILE, name)


def _number(pattern: re.Pattern[str], name: str) -> int | None:
    match = pattern.fullmatch(name)
    return int(match[1]) if match else None


def file_names(number: int) -> list[str]:
    """Returns the names that files of a shard can have."""
    return [f"{number:05}{extension}" for extension in ("", ".tar", ".parquet")]


def read_object(path: Path, shown: str) -> dict[str, Any]:
    """Returns the content of a marker, or of a file about a list; raises `FolderError` if it is neither.

    `shown` is the path for messages.
    """
    try:
        value = json.loads(path.read_bytes())
    except (ValueError, RecursionError, IsADirectoryError):
        value = None
    if not isinstance(value, dict):
        raise not_ours(shown)
    return value


def not_ours(path: str) -> FolderError:
    """Returns the error for a file with the name of a marker, or of a file about a list, that has other content."""
    remedy = "; remove it to make its shard again" if _MARKER.fullmatch(path.rpartition("/")[2]) else ""
    return FolderError(f"{path} was not written by webimage_batch, or is damaged{remedy}.")


@contextlib.contextmanager
def output_errors(folder: Path | str) -> Iterator[None]:
    """Turns errors of the operating system into `OutputError`."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {error}") from error


def commit(folder: Path, number: int, names: Collection[str]) -> None:
    """Gives the files of a shard and its marker, which are on the disk under temporary names, their names.

    They replace an earlier version, of any format, whose marker is removed first: a marker beside files of two versions
    would vouch for both. What an interruption leaves of this, the next run completes. Raises `FolderError`, and changes
    nothing, if the earlier version has files that are not part of a sample.
    """
    marker = folder / marker_name(number)
    earlier = [folder / name for name in file_names(number) if (folder / name).exists()]
    for path in earlier:
        if path.is_dir():
            check_samples(path)
    if marker.exists():
        remove(marker)
        sync(folder)
    for name in names:
        if part_path(folder / name).exists():
            place(folder / name)
    for path in earlier:
        if path.name not in names:
            remove(path)
    place(marker)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Makes a folder, if necessary, keeps other processes from it, and completes or removes what one has left.

    The lock also holds for other machines, on file systems that have locks for files.
    """
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = _lock(folder / _LOCK)
    if descriptor is None:
        raise FolderError(f"Another process writes to {folder}.")
    try:
        with output_errors(folder):
            _complete_commits(folder)
            for path in list(folder.iterdir()):
                if _LEFTOVER.fullmatch(path.name):
                    remove(path)
        yield
    finally:
        # While it is locked: a process that has opened it notices that it is not the file of this name anymore.
        with contextlib.suppress(OSError):
            (folder / _LOCK).unlink()
        os.close(descriptor)


def _complete_commits(folder: Path) -> None:
    """Completes the commits of an interrupted run that had written all files of a shard, and the marker, to the disk.

    They replace earlier versions, of which some files may be gone.
    """
    for part in list(folder.iterdir()):
        marker = folder / part.name[1 : -len(SUFFIX)]
        number = marker_number(marker.name)
        if number is None or part != part_path(marker):
            continue
        try:
            files = read_object(part, str(part)).get("files")
        except FolderError:  # It has not been written to its end.
            continue
        if not isinstance(files, dict) or not set(files) <= set(file_names(number)):
            continue
        if all(part_path(folder / name).exists() or (folder / name).exists() for name in files):
            commit(folder, number, files)


def _lock(path: Path) -> int | None:
    """Locks a file, which it creates, and returns its descriptor; `None` if another process has it."""
    while True:
        # A folder cannot be locked across machines: NFS has exclusive locks only for files open for writing.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The process that had it may have removed the file.
            if os.path.samestat(os.fstat(descriptor), os.lstat(path)):
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            return None
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
