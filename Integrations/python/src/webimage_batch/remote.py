"""Lists and folders of shards behind fsspec, such as `s3://bucket/folder`, of which this machine has copies.

A list is copied before it is read. A shard is made in a temporary folder, and copied when it is complete.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .folders import OVERWRITE, file_names, file_number, list_number, locked, marker_name, marker_number, output_errors
from .parts import check_sample, remove
from .storage import Storage, are_files


class RemoteStorage(Storage):
    """A folder behind fsspec; its markers are also in a temporary folder, which has the shard that is being made.

    File systems for objects cannot rename files: a shard of which not all files have been copied has no marker. There
    is no lock: one process at a time may write to the folder.
    """

    def __init__(self, url: str, folder: Path) -> None:
        super().__init__(folder, url.rstrip("/"))
        self._system, root = _file_system(url)
        self._root = root.rstrip("/")
        self._sizes = {name: None if is_folder else size for name, is_folder, size in self._entries(self._root)}
        """The files in the folder with their sizes, and the folders without."""
        for name in self._sizes:
            if marker_number(name) is not None or list_number(name) is not None or name == OVERWRITE:
                self._system.get_file(self._path(name), str(folder / name))

    def names(self) -> list[str]:
        """Returns the names of all files and folders."""
        return list(self._sizes)

    def has(self, name: str, details: Mapping[str, object]) -> bool:
        """Returns whether a file or folder of a complete shard is there, as far as its marker's `details` tell."""
        if self._is_folder(name) or (name not in self._sizes and "files" in details):
            # Object stores have no empty folders.
            return are_files([size for _, _, size in self._entries(self._path(name))], details)
        return name in self._sizes and "files" not in details and self._sizes[name] == details.get("bytes")

    def write(self, name: str, value: Any) -> None:
        """Writes a JSON file."""
        super().write(name, value)
        self._put(name)

    def remove(self, name: str) -> None:
        """Removes a file or folder, if there is one."""
        super().remove(name)
        self._delete(name)

    def commit(self, number: int, names: Collection[str]) -> None:
        """Copies the files of a shard, which replace those of an earlier version, and then its marker."""
        super().commit(number, names)
        marker = marker_name(number)
        earlier = [name for name in file_names(number) if name in self._sizes]
        self._check(earlier)
        samples = [f"{name}/{child}" for name in earlier if self._is_folder(name) for child in self._children(name)]
        # If the rest fails, the shard has no marker, and nothing is gone before all new files are there.
        self._delete(marker)
        for name in names:
            self._put(name)
        for name in earlier:
            if name not in names:
                self._delete(name)
        for sample in samples:
            if sample.partition("/")[0] in names and not (self.folder / sample).exists():
                self._system.rm_file(self._path(sample))
        self._put(marker)
        for name in names:
            remove(self.folder / name)

    def check_samples(self) -> None:
        """Raises `FolderError` if a file that is not part of a sample would be removed with the shards."""
        self._check(name for name in self._sizes if file_number(name) is not None)

    def _check(self, names: Iterable[str]) -> None:
        for name in names:
            if self._is_folder(name):
                for child, is_folder, _ in self._entries(self._path(name)):
                    check_sample(f"{self._path(name)}/{child}", is_folder=is_folder)

    def _delete(self, name: str) -> None:
        if name in self._sizes:
            self._system.rm(self._path(name), recursive=self._sizes.pop(name) is None)

    def _put(self, name: str) -> None:
        source = self.folder / name
        if source.is_dir():
            if not self._is_folder(name):
                self._delete(name)
            files = sorted(source.iterdir())
            self._system.makedirs(self._path(name), exist_ok=True)
            self._system.put([str(file) for file in files], [f"{self._path(name)}/{file.name}" for file in files])
            self._sizes[name] = None
        else:
            self._system.makedirs(self._root, exist_ok=True)
            self._system.put_file(str(source), self._path(name))
            self._sizes[name] = source.stat().st_size

    def _children(self, name: str) -> list[str]:
        return [child for child, _, _ in self._entries(self._path(name))]

    def _is_folder(self, name: str) -> bool:
        return name in self._sizes and self._sizes[name] is None

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _entries(self, path: str) -> list[tuple[str, bool, int | None]]:
        """Returns the names in a folder, whether they are folders, and their sizes."""
        self._system.invalidate_cache()
        try:
            entries = self._system.ls(path, detail=True)
        except FileNotFoundError:
            return []
        return [
            (entry["name"].rstrip("/").rpartition("/")[2], entry["type"] == "directory", entry.get("size"))
            for entry in entries
        ]


@contextlib.contextmanager
def opened_remote(url: str) -> Iterator[Storage]:
    """Opens a folder behind fsspec."""
    with tempfile.TemporaryDirectory(prefix="webimage-batch-") as folder, locked(Path(folder)):
        with output_errors(url):
            storage = RemoteStorage(url, Path(folder))
        yield storage


@contextlib.contextmanager
def copied_list(url: str, input_format: str) -> Iterator[Path]:
    """Copies a list, or the files of this format in a folder, to this machine."""
    system, path = _file_system(url)
    with tempfile.TemporaryDirectory(prefix="webimage-batch-") as folder:
        if system.isdir(path):
            files = system.glob(f"{path.rstrip('/')}/*.{input_format}")
            system.get(files, [f"{folder}/{file.rpartition('/')[2]}" for file in files])
            yield Path(folder)
        else:
            copy = Path(folder, path.rpartition("/")[2])
            system.get_file(path, str(copy))
            yield copy


def _file_system(url: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise ImportError(f"{url} needs fsspec, and a package for its file system, such as s3fs or gcsfs.") from error
    return url_to_fs(url)  # type: ignore[no-any-return]
