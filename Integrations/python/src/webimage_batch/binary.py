"""Finds the `webimage` binary."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_BUNDLE = Path(__file__).parent / "bundle"

# Where distributions keep the certificate authorities: Debian and Ubuntu, Fedora and RHEL, openSUSE, Alpine.
_DEFAULT_AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"
_OTHER_AUTHORITIES = (
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


def find_binary(path: str | os.PathLike[str] | None = None) -> str:
    """Returns the path of the `webimage` binary.

    The first one that is set or exists is used: `path`, the environment variable `WEBIMAGE`, the binary in the
    wheel, or the command `webimage` in `PATH`. Raises `FileNotFoundError` if there is none, or it is not executable.
    """
    named = os.fspath(path) if path is not None else os.environ.get("WEBIMAGE")
    if named:
        found = shutil.which(named)
        if found is None:
            raise FileNotFoundError(f"{named} is not an executable file.")
        return os.path.abspath(found)
    bundled = _BUNDLE / "webimage"
    if bundled.is_file():
        return str(bundled)
    found = shutil.which("webimage")
    if found is None:
        raise FileNotFoundError(
            "There is no webimage binary: install a wheel that bundles it, put webimage in PATH, or set WEBIMAGE."
        )
    return os.path.abspath(found)


def certificate_authorities(binary: str) -> str | None:
    """Returns the file for `--cacert`, if the binary needs one.

    It is the one of the environment variable `SSL_CERT_FILE`, if it exists, as in Python. The libcurl in the wheel
    looks for the certificate authorities only where Debian keeps them.
    """
    named = os.environ.get("SSL_CERT_FILE")
    if named and os.path.exists(named):
        return named
    if Path(binary).parent != _BUNDLE or os.path.exists(_DEFAULT_AUTHORITIES):
        return None
    return next((path for path in _OTHER_AUTHORITIES if os.path.exists(path)), None)
