"""Keyword arguments and rows as the process gets them."""

from __future__ import annotations

import datetime
import decimal
import json
from pathlib import Path
from typing import Any

import pytest

from webimage_batch import Batch, find_binary
from webimage_batch.binary import certificate_authorities
from webimage_batch.identity import identity
from webimage_batch.options import arguments, lasting
from webimage_batch.rows import encode_row


def test_options_have_their_names_in_python() -> None:
    options: dict[str, Any] = {
        "max_pixel_size": 256,
        "rate": 0.5,
        "public_only": True,
        "insecure": False,
        "proxy": None,
        "header": ["A: 1", "B: -2"],
        "disallowed_header_directives": "",
    }
    assert arguments(options) == [
        "--max-pixel-size=256",
        "--rate=0.5",
        "--public-only",
        "--header=A: 1",
        "--header=B: -2",
        "--disallowed-header-directives",
        "",
    ]


def test_scalars_of_numpy_are_options() -> None:
    numpy = pytest.importorskip("numpy")
    assert arguments({"max_pixel_size": numpy.int64(32), "public_only": numpy.bool_(True)}) == [
        "--max-pixel-size=32",
        "--public-only",
    ]
    assert arguments({"header": numpy.array(["A: 1", "B: 2"])}) == ["--header=A: 1", "--header=B: 2"]
    assert identity([], lasting({"max_pixel_size": numpy.int64(32)})) == identity([], {"max_pixel_size": 32})


def test_functions_are_no_options() -> None:
    with pytest.raises(ValueError, match="rate cannot be a function"):
        arguments({"rate": print})


@pytest.mark.parametrize("name", ["input", "output", "stream", "input_format"])
def test_options_of_the_package_are_rejected(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        arguments({name: "x"})


@pytest.mark.parametrize(
    "name", ["min_success_rate", "max_retryable_rate", "samples_per_shard", "sidecar", "retry_failed", "extend"]
)
def test_options_for_folders_of_the_command_are_rejected(name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} applies to folders"):
        Batch(**{name: 0.5})  # type: ignore[arg-type]


def test_options_with_several_values_can_be_read_several_times() -> None:
    options = lasting({"header": (field for field in ("A: 1", "B: 2")), "rate": 1, "cache": Path("/cache")})
    for _ in range(2):
        assert arguments(options) == ["--header=A: 1", "--header=B: 2", "--rate=1", "--cache=/cache"]


def test_numbers_of_numpy_that_json_does_not_have_are_null() -> None:
    numpy = pytest.importorskip("numpy")
    row = {
        "url": "http://a.test/",
        "a": numpy.float32("nan"),
        "b": numpy.array([1.0, numpy.inf]),
        "c": memoryview(b"c"),
    }
    assert json.loads(encode_row(row)) == {"url": "http://a.test/", "a": None, "b": [1.0, None], "c": "Yw=="}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1 << 60, 1 << 60),
        ("ü\n\ud800", "ü\n\ud800"),
        (float("nan"), None),
        ([1.0, float("inf")], [1.0, None]),
        ({"a": float("nan")}, {"a": None}),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (b"\x00\xff", "AP8="),
        (decimal.Decimal("1.10"), "1.10"),
        (None, None),
    ],
)
def test_rows_are_lines_of_json(value: object, expected: object) -> None:
    line = encode_row({"url": "http://a.test/", "value": value})
    assert line.count(b"\n") == 1 and line.endswith(b"\n")
    assert json.loads(line) == {"url": "http://a.test/", "value": expected}


def executable(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_binary_is_found_by_argument_environment_bundle_and_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webimage_batch.binary._BUNDLE", tmp_path / "bundle")
    monkeypatch.delenv("WEBIMAGE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    with pytest.raises(FileNotFoundError, match="no webimage binary"):
        find_binary()
    in_path = executable(tmp_path / "path/webimage")
    assert find_binary() == in_path
    bundled = executable(tmp_path / "bundle/webimage")
    assert find_binary() == bundled
    named = executable(tmp_path / "named")
    monkeypatch.setenv("WEBIMAGE", named)
    assert find_binary() == named
    assert find_binary(in_path) == in_path


def test_a_named_binary_must_be_executable(tmp_path: Path) -> None:
    (tmp_path / "webimage").write_text("")
    with pytest.raises(FileNotFoundError, match="not an executable file"):
        find_binary(tmp_path / "webimage")


def test_the_bundled_binary_is_told_where_the_certificate_authorities_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundled = executable(tmp_path / "bundle/webimage")
    authorities = tmp_path / "ca-bundle.crt"
    authorities.touch()
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setattr("webimage_batch.binary._BUNDLE", tmp_path / "bundle")
    monkeypatch.setattr("webimage_batch.binary._OTHER_AUTHORITIES", (str(authorities),))
    monkeypatch.setattr("webimage_batch.binary._DEFAULT_AUTHORITIES", str(tmp_path / "none"))
    assert certificate_authorities(bundled) == str(authorities)
    assert certificate_authorities("/usr/bin/webimage") is None
    monkeypatch.setattr("webimage_batch.binary._DEFAULT_AUTHORITIES", str(authorities))
    assert certificate_authorities(bundled) is None


def test_the_variable_for_certificate_authorities_is_heeded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authorities = tmp_path / "company.pem"
    monkeypatch.setenv("SSL_CERT_FILE", str(authorities))
    # As in Python, a file that does not exist is ignored.
    assert certificate_authorities("/usr/bin/webimage") is None
    authorities.touch()
    assert certificate_authorities("/usr/bin/webimage") == str(authorities)
