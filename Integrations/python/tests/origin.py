"""A server on the loopback interface with generated images."""

from __future__ import annotations

import collections
import struct
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

EXIF = b"MM\0*\0\0\0\x08\0\x01\x01\x0f\0\x02\0\0\0\x04Abc\0\0\0\0\0"
"""Exif data with the maker Abc."""

TURNED = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
"""Exif data with the orientation 6."""


def png(width: int, height: int, shade: int, exif: bytes = b"") -> bytes:
    """Returns a PNG file of one color."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    row = b"\0" + bytes([shade % 256, 100, 200]) * width
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(row * height))
        + (chunk(b"eXIf", exif) if exif else b"")
        + chunk(b"IEND", b"")
    )


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        with self.server.lock:
            self.server.requests[self.path] += 1
        kind, _, number = self.path.strip("/").partition("/")
        if kind == "image":
            self._answer(200, png(64, 48, int(number.split(".")[0])))
        elif kind == "exif":
            self._answer(200, png(64, 48, 0, EXIF))
        elif kind == "turned":
            self._answer(200, png(64, 48, 0, TURNED))
        elif kind == "noai":
            self._answer(200, png(64, 48, 0), ("X-Robots-Tag", "noai"))
        else:
            self._answer(404, b"")

    def _answer(self, status: int, body: bytes, *fields: tuple[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in fields:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.lock = threading.Lock()
        self.requests: collections.Counter[str] = collections.Counter()

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # A process that is killed leaves its connections behind.


class Origin:
    """Answers `/image/N` with a PNG of 64 by 48 pixels, `/noai/N` with one that opts out, and all else with 404."""

    def __init__(self) -> None:
        self._server = _Server()

    def __enter__(self) -> Origin:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def url(self, path: str) -> str:
        """Returns the URL of a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/{path}"

    def images(self, count: int, group: str = "") -> list[str]:
        """Returns the URLs of images, each different; `group` tells the requests of tests apart."""
        return [self.url(f"image/{number}{group and '.'}{group}") for number in range(count)]

    def request_count(self, group: str) -> collections.Counter[str]:
        """Returns how often each image of a group was requested."""
        with self._server.lock:
            return collections.Counter(
                {path: count for path, count in self._server.requests.items() if path.endswith(f".{group}")}
            )
