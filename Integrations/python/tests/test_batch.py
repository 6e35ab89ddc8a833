"""The client with the real binary."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from origin import Origin, png

from webimage_batch import Batch, BatchError, UsageError, download_parquet

pytestmark = pytest.mark.binary


def rows(urls: list[str]) -> Iterator[dict[str, Any]]:
    return ({"url": url} for url in urls)


def test_images_are_downloaded_and_resized(binary: str, origin: Origin) -> None:
    urls = origin.images(500)
    results = list(Batch(binary=binary, max_pixel_size=32).results(rows(urls)))
    assert sorted(result.record["index"] for result in results) == list(range(500))
    for result in results:
        record = result.record
        assert record["status"] == "success" and result.payload[:2] == b"\xff\xd8"
        assert (record["width"], record["height"]) == (32, 24)
        assert (record["original_width"], record["original_height"]) == (64, 48)
        assert record["url"] == urls[record["index"]]
        assert record["bytes"] == len(result.payload)


def test_records_have_the_members_that_the_package_knows(binary: str, origin: Origin) -> None:
    pytest.importorskip("pyarrow")
    from webimage_batch.columns import ResultColumns
    from webimage_batch.parts import RUN_DETAILS

    options: dict[str, Any] = {"max_pixel_size": 32, "exif": True, "compute_phash": True, "compute_thumbhash": True}
    batch = Batch(binary=binary, **options)
    columns = ResultColumns(None, options)
    for result in batch.results(rows([origin.url("exif"), origin.url("none")])):
        # Those of the list, and those that have a column.
        assert set(result.record) == {"id", "index", "url", *columns.types}
        assert result.record.keys() >= RUN_DETAILS
        # The values have the types of the columns.
        assert columns.table([result]).num_rows == 1


def test_ordered_results_come_in_the_order_of_the_rows(binary: str, origin: Origin) -> None:
    results = Batch(binary=binary, ordered=True).results(rows(origin.images(300)))
    assert [result.record["index"] for result in results] == list(range(300))


def test_failures_are_records(binary: str, origin: Origin) -> None:
    urls = [origin.url("image/1"), origin.url("none"), "#comment", "", "http://127.0.0.1:9/", origin.url("noai/1")]
    results = Batch(binary=binary, ordered=True, retries=0).results(rows(urls))
    records = [result.record for result in results]
    codes = [record["error_code"] for record in records]
    assert codes == [None, "http_404", "invalid_url", "invalid_url", "connection_failed", "robots_tag"]
    assert [record["retryable"] for record in records[1:]] == [False, False, False, True, False]
    assert results.summary is not None
    assert results.summary["status_dict"]["http_404"] == 1


@pytest.mark.parametrize("written", ["{} ", "\t{}", "{}\r\n", "\ufeff{}", "{}\u00a0", "\u200b{}\u3000"])
def test_blanks_around_urls_are_ignored(tmp_path: Path, binary: str, origin: Origin, written: str) -> None:
    url = written.format(origin.url("image/1"))
    (record, _), *_ = Batch(binary=binary, retries=0).results([{"url": url}])
    assert (record["status"], record["url"]) == ("success", url)
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"url": [url]}), tmp_path / "list.parquet")
    assert download_parquet(tmp_path / "list.parquet", tmp_path / "out", binary=binary, retries=0).successes == 1
    assert pq.read_table(tmp_path / "out/00000.parquet")["url"].to_pylist() == [url]


def test_identifiers_are_returned_unchanged(binary: str, origin: Origin) -> None:
    identifiers = [1 << 62, "ü\n", 1.5, True, None, ""]
    sent = [{"id": identifier, "url": origin.url("image/1")} for identifier in identifiers]
    records = [result.record for result in Batch(binary=binary, ordered=True).results(sent)]
    assert [record["id"] for record in records] == identifiers


def test_wrong_rows_are_records(binary: str, origin: Origin) -> None:
    wrong: list[dict[str, Any]] = [{}, {"url": None}, {"url": 7}, {"url": "x" * (2 << 20)}, {"url": "a\ud800"}]
    records = [result.record for result in Batch(binary=binary, ordered=True).results(wrong)]
    assert [record["error_code"] for record in records] == ["bad_line"] * 5


def test_every_line_has_its_record(binary: str, origin: Origin, tmp_path: Path) -> None:
    """Lines that the client would not write: blank ones, other JSON, and bytes that are not UTF-8."""
    image = origin.url("image/1")
    lines: list[bytes] = []
    for number in range(3000):
        kind = number % 10
        lines.append(
            {
                0: b"",
                1: b"#",
                2: b"\t" + image.encode(),
                3: b"\xff\xfe",
                4: b"{",
                5: json.dumps({"id": f"none-{number}", "url": origin.url("none")}).encode(),
                6: b"[1]",
                7: b'{"url":7}',
            }.get(kind, json.dumps({"id": f"image-{number}", "url": image}).encode())
        )
    lines[1234] = b'{"url":"' + b"x" * (2 << 20) + b'"}'
    process = subprocess.run(
        [binary, "batch", "--input=-", "--input-format=ndjson", "--output=-", "--stream=ndjson", "--retries=0"],
        input=b"\n".join(lines),
        stdout=subprocess.PIPE,
        check=True,
    )
    records = [json.loads(line) for line in process.stdout.splitlines()]
    answered = [line for line in lines if line]
    expected: list[Any] = []
    for index, line in enumerate(answered):
        has_id = line.startswith(b'{"id"')
        expected.append(json.loads(line)["id"] if has_id else index)
    assert sorted(map(str, (record["id"] for record in records))) == sorted(map(str, expected))
    assert sorted(record["index"] for record in records) == list(range(len(answered)))


def test_a_killed_process_is_an_error_and_not_a_shorter_list(binary: str, origin: Origin) -> None:
    results = Batch(binary=binary).results(rows(origin.images(2000, "dies")))
    received = 0
    with pytest.raises(BatchError) as caught:
        for _ in results:
            received += 1
            if received == 700:
                os.kill(results._child._process.pid, signal.SIGKILL)
    assert caught.value.exit_status == -9
    assert 700 <= received < 2000


def test_a_process_that_is_told_to_end_is_an_error(binary: str, origin: Origin) -> None:
    results = Batch(binary=binary, rate=20, grace=1).results(rows(origin.images(2000, "ends")))
    with pytest.raises(BatchError) as caught:
        for result in results:
            if result.record["index"] == 10:
                os.kill(results._child._process.pid, signal.SIGTERM)
    assert caught.value.exit_status == 143


def test_a_reader_that_stops_holds_up_the_downloads(binary: str, origin: Origin) -> None:
    with Batch(binary=binary, lookahead=50, concurrency=8).results(rows(origin.images(2000, "stops"))) as results:
        for _ in range(10):
            next(results)
        before = -1
        # Wait until no further requests arrive.
        while (requested := sum(origin.request_count("stops").values())) != before:
            before = requested
            time.sleep(1)
        # Small records also wait in the pipe and in the buffers of both sides.
        assert requested < 2000


def test_closing_early_ends_the_process(binary: str, origin: Origin) -> None:
    with Batch(binary=binary).results(rows(origin.images(2000))) as results:
        next(results)
        process = results._child._process
    assert process.poll() is not None


def test_unknown_options_are_a_usage_error(binary: str) -> None:
    with pytest.raises(UsageError, match="no-such-option"):
        list(Batch(binary=binary, no_such_option=1).results([]))


def test_public_only_rejects_this_machine(binary: str, origin: Origin) -> None:
    results = list(Batch(binary=binary, public_only=True).results(rows(origin.images(3, "policy"))))
    assert [result.record["error_code"] for result in results] == ["policy"] * 3
    assert not origin.request_count("policy")


def test_digests_are_verified(binary: str, origin: Origin) -> None:
    digest = hashlib.md5(png(64, 48, 5)).hexdigest()
    sent = [{"url": origin.url("image/5"), "sum": value} for value in (digest, "0" * 32)]
    batch = Batch(binary=binary, ordered=True, verify_hash="md5=sum", compute_hash="md5")
    records = [result.record for result in batch.results(sent)]
    assert [record["error_code"] for record in records] == [None, "hash_mismatch"]
    assert records[0]["md5"] == digest


def test_parquet_files_become_parquet_files(binary: str, origin: Origin, tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    urls = [*origin.images(250), "#"]
    pq.write_table(pa.table({"url": urls, "label": list(range(251))}), tmp_path / "list.parquet")
    counts = download_parquet(
        tmp_path / "list.parquet", tmp_path / "out", binary=binary, rows_per_file=100, max_pixel_size=32
    )
    assert counts.status_dict == {"success": 250, "invalid_url": 1}
    table = pa.concat_tables(pq.read_table(path) for path in sorted((tmp_path / "out").glob("*.parquet")))
    assert table["label"].to_pylist() == list(range(251))
    assert all(image[:2] == b"\xff\xd8" for image in table["jpg"].to_pylist()[:250])
