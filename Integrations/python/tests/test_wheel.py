"""The wheel with the bundled binary: it needs nothing else of its machine than glibc and the compiler's libraries.

`Scripts/test-integrations.sh` makes the wheel and names it in WEBIMAGE_WHEEL.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from origin import Origin

pytestmark = pytest.mark.skipif("WEBIMAGE_WHEEL" not in os.environ, reason="WEBIMAGE_WHEEL names no wheel.")

SYSTEM = ("ld-linux", "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "libresolv.so")
COMPILER = ("libstdc++.so", "libgcc_s.so")
UNSHARE = ("unshare", "--mount", "--propagation=private")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a package installed from the wheel."""
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run([*command, os.environ["WEBIMAGE_WHEEL"]], check=True)
    return target


def test_the_client_uses_the_bundled_binary(installed: Path, origin: Origin) -> None:
    program = (
        "import json, sys, webimage_batch\n"
        "rows = ({'url': url} for url in json.loads(sys.argv[1]))\n"
        "count = sum(result.is_success for result in webimage_batch.Batch(max_pixel_size=32).results(rows))\n"
        "print(json.dumps([webimage_batch.find_binary(), count]))\n"
    )
    output = subprocess.run(
        [sys.executable, "-S", "-c", program, json.dumps(origin.images(10))],
        env={"PYTHONPATH": str(installed)},
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    assert json.loads(output) == [str(installed / "webimage_batch/bundle/webimage"), 10]


def may_change_root() -> bool:
    """Returns whether this user may mount and change the root folder."""
    return shutil.which("unshare") is not None and subprocess.run([*UNSHARE, "true"], check=False).returncode == 0


@pytest.mark.skipif(not may_change_root(), reason="Only root can change the root folder.")
def test_the_binary_runs_where_there_are_only_the_libraries_of_glibc_and_gcc(
    installed: Path, origin: Origin, tmp_path: Path
) -> None:
    bundle = shutil.copytree(installed / "webimage_batch/bundle", tmp_path / "bundle")
    libraries = subprocess.run(["ldd", bundle / "webimage"], stdout=subprocess.PIPE, text=True, check=True).stdout
    for word in libraries.split():
        path = Path(word)
        if path.is_absolute() and path.name.startswith(SYSTEM + COMPILER):
            (tmp_path / word.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, tmp_path / word.lstrip("/"))
    (tmp_path / "tmp").mkdir()
    # The dynamic linker and Swift read it. The mount ends with its namespace.
    (tmp_path / "proc").mkdir()
    command = 'mount --bind /proc "$0/proc" && exec env -i "$(command -v chroot)" "$0" /bundle/webimage "$@"'
    output = subprocess.run(
        [*UNSHARE, "sh", "-c", command, tmp_path, "batch", "--input=-", "--output=-", "--stream=ndjson"],
        input="\n".join(origin.images(10)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    assert [json.loads(line)["status"] for line in output.splitlines()] == ["success"] * 10


def test_the_licenses_of_the_libraries_are_in_the_wheel() -> None:
    names = {Path(name) for name in zipfile.ZipFile(os.environ["WEBIMAGE_WHEEL"]).namelist()}
    licenses = {path.name for path in names if path.parent.name == "licenses"}
    assert "async-web-image" in licenses
    if shutil.which("dpkg"):
        assert {"libcurl.so.4", "libcrypto.so.3"} <= licenses
