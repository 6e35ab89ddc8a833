"""Where the shards of a run are: in a folder of this machine, or behind fsspec."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .errors import FolderError
from .folders import commit, file_number, list_number, locked, marker_number, read_object
from .parts import check_samples, remove, sync, write_durably

# In the order in which they are removed: without its marker, a shard is incomplete, even if the machine crashes then.
_NUMBERS = (marker_number, list_number, file_number)


class Storage:
    """A folder of shards that no other process writes to."""

    def __init__(self, folder: Path, location: str) -> None:
        self.folder = folder
        """The folder for the files of a shard as long as it is not complete, which also has all markers."""
        self.location = location
        """The path or URL for messages."""

    def names(self) -> list[str]:
        """Returns the names of all files and folders."""
        return [path.name for path in self.folder.iterdir()]

    def has(self, name: str, details: Mapping[str, object]) -> bool:
        """Returns whether a file or folder of a complete shard is there, as far as its marker's `details` tell."""
        path = self.folder / name
        if path.is_dir():
            with os.scandir(path) as entries:
                return are_files([entry.stat().st_size for entry in entries], details)
        return path.is_file() and "files" not in details and path.stat().st_size == details.get("bytes")

    def shown(self, name: str) -> str:
        """Returns the path of a file for messages."""
        return f"{self.location}/{name}"

    def read(self, name: str) -> dict[str, Any] | None:
        """Returns the content of a marker, or of a file about a list; `None` if there is none.

        Raises `FolderError` if it has other content.
        """
        path = self.folder / name
        return read_object(path, self.shown(name)) if path.exists() else None

    def write(self, name: str, value: Any) -> None:
        """Writes a JSON file that appears when it is complete."""
        write_durably(self.folder / name, value)

    def remove(self, name: str) -> None:
        """Removes a file or folder, if there is one."""
        remove(self.folder / name)

    def commit(self, number: int, names: Collection[str]) -> None:
        """Gives the files of a shard and its marker, which are on the disk under temporary names, their names."""
        commit(self.folder, number, names)

    def check_samples(self) -> None:
        """Raises `FolderError` if a file that is not part of a sample would be removed with the shards."""
        for path in self.folder.iterdir():
            if file_number(path.name) is not None and path.is_dir():
                check_samples(path)

    def remove_from(self, first: int) -> None:
        """Removes the shards with this number and higher ones, whoever made them."""
        self.check_samples()
        for number_of in _NUMBERS:
            for name in self.names():
                if (number := number_of(name)) is not None and number >= first:
                    self.remove(name)
            sync(self.folder)


def are_files(sizes: Sequence[int | None], details: Mapping[str, object]) -> bool:
    """Returns whether files of these sizes are those of a folder with these `details` in a marker."""
    # Markers of earlier versions of the package do not have their number.
    return sum(size or 0 for size in sizes) == details.get("bytes") and details.get("files", len(sizes)) == len(sizes)


@contextlib.contextmanager
def opened(folder: str | os.PathLike[str]) -> Iterator[Storage]:
    """Opens a folder, which it makes if necessary, or a URL of fsspec such as `s3://bucket/folder`."""
    if is_remote(folder):
        from .remote import opened_remote

        with opened_remote(str(folder)) as remote:
            yield remote
        return
    path = Path(folder)
    with locked(path):
        yield Storage(path, str(path))


@contextlib.contextmanager
def local(source: str | os.PathLike[str], input_format: str) -> Iterator[Path]:
    """Opens a list: a path of this machine, or a copy of what a URL of fsspec has."""
    if is_remote(source):
        from .remote import copied_list

        with copied_list(str(source), input_format) as copy:
            yield copy
    else:
        yield Path(source)


def is_remote(path: str | os.PathLike[str]) -> bool:
    """Returns whether this is a URL of fsspec, instead of a path of this machine."""
    return "://" in os.fspath(path)


def check_list_is_elsewhere(
    folder: str | os.PathLike[str], source: str | os.PathLike[str], files: Iterable[Path], input_format: str
) -> None:
    """Raises `FolderError` if shards in a folder would replace a file of a list, or become a part of it.

    `files` are those of the list, or their copies if it is behind fsspec.
    """
    if is_remote(folder):
        root, paths = os.fspath(folder).rstrip("/"), [os.fspath(source).rstrip("/")]
        is_same = paths[0] == root
    else:
        root, paths = str(Path(folder).resolve()), [str(file.resolve()) for file in files]
        is_same = os.path.isdir(source) and str(Path(source).resolve()) == root
    # The files about shards and lists are JSON.
    if is_same and input_format in ("parquet", "json"):
        raise FolderError(f"{folder} has the list, of which its shards would be a part. Choose another folder.")
    for path in paths:
        name = path.removeprefix(f"{root}/").partition("/")[0]
        if path.startswith(f"{root}/") and any(number(name) is not None for number in _NUMBERS):
            raise FolderError(f"{path} is part of the list, and has the name of a shard. Choose another folder.")
