"""The files of a shard, each of which appears when it is complete."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import shutil
import tarfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from .client import Result
from .columns import ResultBuffer, ResultColumns
from .errors import FolderError
from .rows import encode_row

RUN_DETAILS = frozenset(
    {"id", "index", "http_status", "final_url", "content_type", "etag", "last_modified", "attempts", "ms", "source"}
)
"""The members of a record that differ from run to run; samples omit them, so that two runs produce equal samples."""

SUFFIX = ".part"
"""The end of a temporary name."""


class Part(ABC):
    """A file or folder of a shard under a temporary name."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        """The final name."""
        self._path = part_path(folder / name)

    @abstractmethod
    def add(self, source: Any, row: int, result: Result) -> None:
        """Adds a result for a row of a record batch."""

    @abstractmethod
    def close(self) -> None:
        """Completes the content."""

    def prepare(self) -> dict[str, int]:
        """Writes all of the content to the disk, so that the final name needs no more room.

        Returns what a marker says about it: the number of `bytes` and, for a folder, of `files`.
        """
        self.close()
        sync(self._path)
        return {"bytes": self._path.stat().st_size}

    def discard(self) -> None:
        """Removes what has been written."""
        with contextlib.suppress(Exception):
            self.close()
        with contextlib.suppress(OSError):  # The next run removes it.
            remove(self._path)


class ParquetPart(Part):
    """A Parquet file with all rows, in row groups of some megabytes."""

    def __init__(self, folder: Path, stem: str, columns: ResultColumns, batch_bytes: int) -> None:
        super().__init__(folder, f"{stem}.parquet")
        self._image = columns.image
        self._buffer = ResultBuffer(columns, batch_bytes)
        self._writer: Any = None

    def add(self, source: Any, row: int, result: Result) -> None:
        """Adds a row."""
        self._buffer.add(source, row, result)
        if self._buffer.is_full:
            self._flush()

    def close(self) -> None:
        """Writes the remaining rows."""
        if self._buffer:
            self._flush()
        if self._writer is not None:
            self._writer.close()

    def _flush(self) -> None:
        table = self._buffer.take()
        if self._writer is None:
            others = [name for name in table.column_names if name != self._image]
            # Encoded images do not compress, and their statistics would be copies of images.
            compression = dict.fromkeys(others, "snappy")
            if self._image is not None:
                compression[self._image] = "none"
            self._writer = pq.ParquetWriter(
                self._path, table.schema, compression=compression, use_dictionary=others, write_statistics=others
            )
        self._writer.write_table(table)


class SamplePart(Part):
    """The samples of the rows with an image: the image, the record as JSON, and the caption."""

    def __init__(self, folder: Path, name: str, extension: str, *, has_captions: bool) -> None:
        super().__init__(folder, name)
        self._extension = extension
        self._has_captions = has_captions

    def add(self, source: Any, row: int, result: Result) -> None:
        """Adds the files of a sample, by name."""
        if not result.is_success:
            return
        [values] = source.slice(row, 1).to_pylist()
        details = {name: value for name, value in result.record.items() if name not in RUN_DETAILS}
        files = {
            self._extension: result.payload,
            "json": encode_row({**details, **values, "exif": details.get("exif")}),
        }
        if self._has_captions:
            caption = values["caption"]
            files["txt"] = ("" if caption is None else str(caption)).encode()
        for extension in sorted(files):
            self._write(f"{values['key']}.{extension}", files[extension])

    @abstractmethod
    def _write(self, name: str, content: bytes) -> None:
        """Writes a file."""


class TarPart(SamplePart):
    """The samples as a tar file for WebDataset, whose bytes depend on the samples alone."""

    def __init__(self, folder: Path, stem: str, extension: str, *, has_captions: bool) -> None:
        super().__init__(folder, f"{stem}.tar", extension, has_captions=has_captions)
        self._tar = tarfile.TarFile(self._path, "w", format=tarfile.USTAR_FORMAT)

    def close(self) -> None:
        """Writes the end of the archive."""
        self._tar.close()

    def _write(self, name: str, content: bytes) -> None:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        member.mode = 0o444
        member.uname = member.gname = "webimage"
        self._tar.addfile(member, io.BytesIO(content))


class FolderPart(SamplePart):
    """The samples as files of a folder."""

    def __init__(self, folder: Path, stem: str, extension: str, *, has_captions: bool) -> None:
        super().__init__(folder, stem, extension, has_captions=has_captions)
        if (folder / stem).is_dir():
            check_samples(folder / stem)
        self._path.mkdir()

    def close(self) -> None:
        """Does nothing: each file is complete."""

    def prepare(self) -> dict[str, int]:
        """Writes all files to the disk, so that a marker never stands for incomplete ones; returns their numbers."""
        sizes = []
        for path in self._path.iterdir():
            sync(path)
            sizes.append(path.stat().st_size)
        super().prepare()
        return {"bytes": sum(sizes), "files": len(sizes)}

    def _write(self, name: str, content: bytes) -> None:
        (self._path / name).write_bytes(content)


def check_samples(folder: Path) -> None:
    """Raises `FolderError` if a folder has anything but files of samples."""
    for path in folder.iterdir():
        check_sample(str(path), is_folder=path.is_dir())


def check_sample(path: str, *, is_folder: bool) -> None:
    """Raises `FolderError` if a path is not that of a file of a sample."""
    if is_folder or not path.rpartition("/")[2].partition(".")[0].isdigit():
        raise FolderError(f"{path} is not a file of a sample. Move it elsewhere.")


def remove(path: Path) -> None:
    """Removes a file or folder, if there is one."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def part_path(target: Path) -> Path:
    """Returns the temporary name of a file or folder."""
    return target.with_name(f".{target.name}{SUFFIX}")


def write_durably(path: Path, value: Any) -> None:
    """Writes a JSON file that appears when it is complete."""
    write_part(path, value)
    place(path)


def write_part(path: Path, value: Any) -> None:
    """Writes a JSON file under its temporary name to the disk."""
    part = part_path(path)
    try:
        part.write_text(json.dumps(value, indent=4))
        sync(part)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def place(target: Path) -> None:
    """Gives a file or folder, which is on the disk, its final name, so that it survives a crash of the machine."""
    part = part_path(target)
    if part.is_dir():
        remove(target)
    part.rename(target)
    sync(target.parent)


def sync(path: Path) -> None:
    """Waits until a file or the entries of a folder are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems cannot do this for folders, and do not need it.
        if error.errno != errno.EINVAL or not path.is_dir():
            raise
    finally:
        os.close(descriptor)
