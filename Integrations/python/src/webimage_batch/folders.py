"""Folders of shards: their lock, the numbers of their shards, and the removal of all of them."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .errors import FolderError, OutputError
from .parts import SUFFIX, check_samples, part_path, place, remove, sync

_NUMBER = r"(\d{5}|[1-9]\d{5,})"
_MARKER = re.compile(rf"{_NUMBER}_stats\.json", re.ASCII)
_LIST = re.compile(rf"{_NUMBER}_list\.json", re.ASCII)
_FILE = re.compile(rf"{_NUMBER}\.(tar|parquet)", re.ASCII)
_SAMPLES = re.compile(_NUMBER, re.ASCII)
_LEFTOVER = re.compile(rf"\.{_NUMBER}(\.tar|\.parquet|_stats\.json|_list\.json)?{re.escape(SUFFIX)}", re.ASCII)
_LOCK = ".webimage-batch.lock"


def marker_path(folder: Path, number: int) -> Path:
    """Returns the path of the file that marks a shard as complete."""
    return folder / f"{number:05}_stats.json"


def list_path(folder: Path, number: int) -> Path:
    """Returns the path of the file about the list whose first shard has a number."""
    return folder / f"{number:05}_list.json"


def read_object(path: Path) -> dict[str, Any]:
    """Returns the content of a marker, or of a file about a list; raises `FolderError` if it is neither."""
    try:
        value = json.loads(path.read_bytes())
    except (ValueError, RecursionError, IsADirectoryError):
        value = None
    if not isinstance(value, dict):
        raise not_ours(path)
    return value


def not_ours(path: Path) -> FolderError:
    """Returns the error for a file with the name of a marker, or of a file about a list, that has other content."""
    remedy = "; remove it to make its shard again" if _MARKER.fullmatch(path.name) else ""
    return FolderError(f"{path} was not written by webimage_batch, or is damaged{remedy}.")


def remove_marker(path: Path) -> None:
    """Removes the marker of a shard whose files are about to be replaced, one by one: without it, it is incomplete."""
    if path.exists():
        path.unlink()
        sync(path.parent)


def complete_shards(folder: Path) -> set[int]:
    """Returns the numbers of the complete shards in a folder."""
    matches = (_MARKER.fullmatch(path.name) for path in folder.iterdir())
    return {int(match[1]) for match in matches if match}


def shard_numbers(folder: Path) -> set[int]:
    """Returns the numbers of the shards in a folder, including those that are not complete."""
    patterns = (_MARKER, _FILE, _SAMPLES)
    matches = (pattern.fullmatch(path.name) for path in folder.iterdir() for pattern in patterns)
    return {int(match[1]) for match in matches if match}


def list_paths(folder: Path) -> list[tuple[int, Path]]:
    """Returns the files about the lists of a folder, with the numbers of their first shards, in order."""
    matches = ((_LIST.fullmatch(path.name), path) for path in folder.iterdir())
    return sorted((int(match[1]), path) for match, path in matches if match)


@contextlib.contextmanager
def output_errors(folder: Path) -> Iterator[None]:
    """Turns errors of the operating system into `OutputError`."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {error}") from error


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
            _complete_shards_that_were_replaced(folder)
            for path in list(folder.iterdir()):
                if _LEFTOVER.fullmatch(path.name):
                    remove(path)
        yield
    finally:
        # While it is locked: a process that has opened it notices that it is not the file of this name anymore.
        with contextlib.suppress(OSError):
            (folder / _LOCK).unlink()
        os.close(descriptor)


def _complete_shards_that_were_replaced(folder: Path) -> None:
    """Gives the files of shards their names if an interrupted run had written all of them, and the marker, to the disk.

    They replace earlier versions, of which some files may be gone.
    """
    for part in list(folder.iterdir()):
        marker = folder / part.name[1 : -len(SUFFIX)]
        match = _MARKER.fullmatch(marker.name)
        if not match or part != part_path(marker):
            continue
        try:
            files = read_object(part).get("files")
        except FolderError:  # It has not been written to its end.
            continue
        if not isinstance(files, dict):
            continue
        targets = [folder / name for name in files if name.partition(".")[0] == match[1]]
        if len(targets) == len(files) and all(part_path(path).exists() or path.exists() for path in targets):
            remove_marker(marker)
            for path in targets:
                if part_path(path).exists():
                    place(path)
            place(marker)


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


def check_list_is_elsewhere(folder: Path, source: Path, files: Iterable[Path], input_format: str) -> None:
    """Raises `FolderError` if shards in a folder would replace a file of a list, or become a part of it."""
    root = folder.resolve()
    # The files about shards and lists are JSON.
    if input_format in ("parquet", "json") and source.is_dir() and source.resolve() == root:
        raise FolderError(f"{folder} has the list, of which its shards would be a part. Choose another folder.")
    for file in files:
        path = file.resolve()
        if root in path.parents:
            name = path.relative_to(root).parts[0]
            if any(pattern.fullmatch(name) for pattern in (_MARKER, _LIST, _FILE, _SAMPLES)):
                raise FolderError(f"{file} is part of the list, and has the name of a shard. Choose another folder.")


def remove_shards(folder: Path) -> None:
    """Removes all shards, whoever made them, from a folder that the caller has locked.

    Raises `FolderError`, and removes nothing, if a file that is not part of a sample would be removed.
    """
    contents = list(_contents(folder))
    for path in contents:
        if path.is_dir():
            check_samples(path)
    with output_errors(folder):
        # Without their markers, shards are incomplete, even if the machine crashes before all are removed.
        for path in list(folder.iterdir()):
            if _MARKER.fullmatch(path.name) and path.is_file():
                path.unlink()
        sync(folder)
        for path in contents:
            remove(path)


def _contents(folder: Path) -> Iterator[Path]:
    """Yields the files and folders of shards, and those about lists, other than markers."""
    for path in folder.iterdir():
        patterns = (_SAMPLES,) if path.is_dir() else (_FILE, _LIST)
        if any(pattern.fullmatch(path.name) for pattern in patterns):
            yield path
