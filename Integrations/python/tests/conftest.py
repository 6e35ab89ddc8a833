"""Fixtures for all tests: the stand-in process, the real binary, and a server with images."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from origin import Origin

from webimage_batch.binary import find_binary

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def fake() -> str:
    """The path of the stand-in for the binary."""
    return str(Path(__file__).parent / "fake_webimage.py")


@pytest.fixture
def use_fake(fake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the package run the stand-in."""
    monkeypatch.setenv("WEBIMAGE", fake)


@pytest.fixture(scope="session")
def binary() -> str:
    """The path of the real binary: from WEBIMAGE, the wheel, a build of this repository, or PATH."""
    try:
        found: str | None = find_binary()
    except FileNotFoundError:
        builds = [str(ROOT / ".build" / kind / "webimage") for kind in ("release", "debug")]
        found = next((path for path in builds if shutil.which(path)), None)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("There is no webimage binary; with CI set, tests are not skipped for that.")
        pytest.skip("There is no webimage binary.")
    # Workers of engines find it as well.
    os.environ["WEBIMAGE"] = found
    return found


@pytest.fixture(scope="session")
def origin() -> Iterator[Origin]:
    """A server on this machine with images, and URLs that fail."""
    server = Origin()
    with server:
        yield server
