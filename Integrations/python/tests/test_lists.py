"""The lists that `download` reads, and what is wrong with them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import random
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from webimage_batch import download, text_lists
from webimage_batch.__main__ import main
from webimage_batch.lists import read_list

LIST = [{"url": "http://a.test/ü", "caption": 'a, "b"\nc'}, {"url": "http://b.test/", "caption": "d"}]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("jsonl", "".join(json.dumps(row) + "\n" for row in LIST) + "\n"),
        ("json", json.dumps(LIST)),
        ("json", json.dumps({key: {str(i): row[key] for i, row in enumerate(LIST)} for key in ("url", "caption")})),
        ("csv", 'url,caption\nhttp://a.test/ü,"a, ""b""\nc"\nhttp://b.test/,d\n'),
        ("json", json.dumps({key: [row[key] for row in LIST] for key in ("url", "caption")})),
    ],
)
def test_lists_are_read(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / f"list.{name}").write_text(text)
    (tmp_path / f"list.{name}.gz").write_bytes(gzip.compress(text.encode()))
    assert list(read_list(tmp_path / f"list.{name}", name)) == LIST
    assert list(read_list(tmp_path, f"{name}.gz")) == LIST


def test_quotation_marks_are_characters_of_tsv(tmp_path: Path) -> None:
    captions = ['"a', 'b "c" d', '""', 'e"', "f"]
    text = "".join(f"http://{row}.test/\t{caption}\r\n" for row, caption in enumerate(captions))
    (tmp_path / "list.tsv").write_text("url\tcaption\n" + text)
    rows = list(read_list(tmp_path / "list.tsv", "tsv"))
    assert [row["caption"] for row in rows] == captions
    assert [row["url"] for row in rows] == [f"http://{row}.test/" for row in range(5)]


@pytest.mark.parametrize("end", ["\n", ""])
def test_a_quoted_field_that_does_not_end_is_one_row(tmp_path: Path, end: str) -> None:
    lines = ["url,caption", 'http://a.test/,5" a', 'http://b.test/,"b', "http://c.test/,c", "http://d.test/,d"]
    (tmp_path / "list.csv").write_text("\n".join(lines) + end)
    rows = list(read_list(tmp_path / "list.csv", "csv"))
    assert [row["url"] for row in rows] == ["http://a.test/", None, "http://c.test/", "http://d.test/"]
    assert rows[0]["caption"] == '5" a'


def test_each_line_of_a_long_list_has_a_row_although_a_quoted_field_does_not_end(tmp_path: Path) -> None:
    lines = [f"http://a.test/{number},{'x' * 100}" for number in range(20_000)]
    lines[2] = 'http://a.test/2,"'
    (tmp_path / "list.csv").write_text("\n".join(["url,caption", *lines]))
    rows = list(read_list(tmp_path / "list.csv", "csv"))
    assert [row["url"] for row in rows] == [None if n == 2 else f"http://a.test/{n}" for n in range(20_000)]


@pytest.mark.parametrize("seed", range(20))
def test_random_text_has_the_rows_that_python_reads_and_no_fewer_than_lines_without_quotation_marks(
    tmp_path: Path, seed: int
) -> None:
    generator = random.Random(seed)
    for _ in range(50):
        text = "url,caption\n" + "".join(generator.choices('a",\n', [6, 2, 2, 2], k=60))
        (tmp_path / "list.csv").write_text(text)
        rows = list(read_list(tmp_path / "list.csv", "csv"))
        ended = list(csv.reader(io.StringIO(text), strict=True)) if is_strict(text) else None
        if ended is not None:
            header, *records = [fields for fields in ended if fields]
            assert rows == [
                dict(zip(header, fields, strict=True)) if len(fields) == len(header) else {"url": None}
                for fields in records
            ]
        # The lines that no quoted field can contain.
        plain = text[: text.index('"')].count("\n") - 1 if '"' in text else 0
        assert len(rows) >= len([line for line in text.splitlines()[1 : 1 + plain] if line])


def is_strict(text: str) -> bool:
    """Returns whether all quoted fields end, and nothing but a comma follows them."""
    try:
        list(csv.reader(io.StringIO(text), strict=True))
    except csv.Error:
        return False
    return True


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("txt", "http://a.test/\n"),
        ("jsonl", '{"url": "http://a.test/"}\n'),
        ("json", '[{"url": "http://a.test/"}]'),
        ("csv", "url\nhttp://a.test/\n"),
        ("tsv", "url\tcaption\nhttp://a.test/\t\n"),
    ],
)
def test_byte_order_marks_are_no_part_of_lists(tmp_path: Path, name: str, text: str) -> None:
    content = text.encode("utf-8-sig")
    (tmp_path / f"list.{name}").write_bytes(content)
    (tmp_path / f"list.{name}.gz").write_bytes(gzip.compress(content))
    for source in (f"{name}", f"{name}.gz"):
        rows = list(read_list(tmp_path / f"list.{source}", source, ["url"]))
        assert [row["url"] for row in rows] == ["http://a.test/"]


def write_rows(path: Path, input_format: str, rows: list[dict[str, Any]]) -> Path:
    """Writes rows with the same columns in a format."""
    name, _, compression = input_format.partition(".")
    if name == "parquet":
        pa = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pa.Table.from_pylist(rows), path)
        return path
    if name == "json":
        text = json.dumps(rows)
    elif name == "jsonl":
        text = "".join(json.dumps(row) + "\n" for row in rows)
    else:
        lines = [list(rows[0]), *(row.values() for row in rows)]
        text = "".join(("\t" if name == "tsv" else ",").join(map(str, line)) + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode()) if compression else text.encode())
    return path


WITH_COLUMNS = [*("csv", "tsv", "jsonl", "json", "csv.gz", "tsv.gz", "jsonl.gz", "json.gz"), "parquet"]


@pytest.mark.parametrize("name", WITH_COLUMNS)
@pytest.mark.parametrize(
    ("values", "missing"),
    [
        ({"url_col": "link"}, "link"),
        ({"caption_col": "text"}, "text"),
        ({"save_additional_columns": ["license"]}, "license"),
        ({"verify_hash": ["digest", "sha256"]}, "digest"),
    ],
)
def test_columns_that_a_list_does_not_have_are_an_error(
    tmp_path: Path, fake: str, monkeypatch: pytest.MonkeyPatch, name: str, values: dict[str, Any], missing: str
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("WEBIMAGE", fake)
    path = write_rows(tmp_path / f"list.{name}", name, [{"url": "http://a.test/", "size": 1}])
    with pytest.raises(ValueError, match=rf"no column {missing} in .*{name}; the columns are url, size"):
        download(str(path), output_folder=str(tmp_path / "out"), input_format=name, **values)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", WITH_COLUMNS)
def test_every_file_of_a_list_is_checked_before_anything_is_removed(
    tmp_path: Path, fake: str, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("WEBIMAGE", fake)
    source, out = tmp_path / "list", tmp_path / "out"
    source.mkdir()
    for file in "abc":
        write_rows(source / f"{file}.{name}", name, [{"url": f"http://{file}.test/"}])
    assert download(str(source), output_folder=str(out), input_format=name).successes == 3
    before = sorted(path.name for path in out.iterdir())
    write_rows(source / f"c.{name}", name, [{"URL": "http://c.test/"}])
    with pytest.raises(ValueError, match=rf"no column url in .*c\.{name}; the columns are URL"):
        download(str(source), output_folder=str(out), input_format=name, incremental_mode="overwrite")
    assert sorted(path.name for path in out.iterdir()) == before


def test_empty_files_of_a_list_are_skipped(tmp_path: Path, fake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("WEBIMAGE", fake)
    (tmp_path / "list").mkdir()
    for name in ("csv", "jsonl"):
        (tmp_path / f"list/a.{name}").write_text("")
        write_rows(tmp_path / f"list/b.{name}", name, [{"url": "http://b.test/"}])
        folder = str(tmp_path / name)
        assert download(str(tmp_path / "list"), output_folder=folder, input_format=name).successes == 1
        (tmp_path / f"list/b.{name}").write_text("\n")
        assert download(str(tmp_path / "list"), output_folder=folder + "2", input_format=name).count == 0


def test_objects_may_lack_columns_that_others_have(tmp_path: Path, fake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setenv("WEBIMAGE", fake)
    (tmp_path / "list").mkdir()
    (tmp_path / "list/a.jsonl").write_text('{"url": "http://a.test/"}\n{}\n')
    (tmp_path / "list/b.jsonl").write_text('{"text": "b"}\n{"url": "http://b.test/"}\n')
    options = {"caption_col": "text", "input_format": "jsonl", "output_format": "parquet"}
    assert download(str(tmp_path / "list"), output_folder=str(tmp_path / "out"), **options).count == 4  # type: ignore[arg-type]
    assert pq.read_table(tmp_path / "out/00000.parquet")["caption"].to_pylist() == [None, None, "b", None]


def test_the_beginning_of_a_list_has_room_for_long_lines(
    tmp_path: Path, fake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("WEBIMAGE", fake)
    rows = [{"url": f"http://a.test/{number}", "alt": "a" * 50_000} for number in range(30)]
    source = write_rows(tmp_path / "list.jsonl", "jsonl", [*rows, {"url": "http://a.test/30", "text": "b"}])
    options: dict[str, Any] = {"input_format": "jsonl", "caption_col": "text", "output_format": "dummy"}
    assert download(str(source), output_folder=str(tmp_path / "out"), **options).successes == 31


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["{}"] * 1000 + ['{"url": "http://a.test/"}'], "none"),
        (["http://a.test/", "[1]"], "none"),
        (['{"link": "http://a.test/"}', '{"size": 1}'], "link, size"),
    ],
)
def test_lists_whose_first_lines_have_no_url_are_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: list[str], found: str
) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "list.jsonl").write_text("\n".join(lines))
    command = ["download", f"--url_list={tmp_path / 'list.jsonl'}", f"--output_folder={tmp_path / 'out'}"]
    assert main([*command, "--input_format=jsonl"]) == 64
    part = f"the beginning (1,000 lines or 16 MiB) of {tmp_path}/list.jsonl"
    assert f"There is no column url in {part}; the columns are {found}." in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("json", "[", r"list\.json is not JSON"),
        ("json", "[" * 100_000, r"list\.json is not JSON"),
        ("json", '{"url": "http://a.test/"}', "neither an array of objects nor"),
        ("json", "7", "neither an array of objects nor"),
        ("json", "[1, 2]", "no column url"),
        ("csv", "url,url\na,b\n", "two columns url"),
        ("csv", "u" * (1 << 20) + "u,url\n", r"header line of .*list\.csv cannot be read"),
        ("txt.gz", "http://a.test/", "not compressed with gzip"),
    ],
)
def test_files_of_another_format_are_an_error(tmp_path: Path, name: str, text: str, message: str) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / f"list.{name}").write_text(text)
    with pytest.raises(ValueError, match=message):
        download(str(tmp_path / f"list.{name}"), output_folder=str(tmp_path / "out"), input_format=name)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"url": "http://a.test/"}\n', "begins with JSON, not with a URL: use input_format='jsonl"),
        ('\ufeff\n# a\n  {"url": "http://a.test/"}', "begins with JSON"),
        ('[{"url": "http://a.test/"}]', "is a JSON array: use input_format='json"),
        ("[" + " " * 100_000, "is a JSON array"),
        ("url\nhttp://a.test/\n", r"the header of a CSV list \(url\), .*use input_format='csv"),
        ('"URL","caption"\nhttp://a.test/,a\n', "input_format='csv"),
        ("address,caption\r\nhttp://a.test/,a\r\n", "input_format='csv"),
        ("id\tImage_URL\n1\thttp://a.test/\n", "the header of a TSV list .*input_format='tsv"),
        ("id;link\n1;http://a.test/\n", "separator is ;: convert the list to CSV"),
        ("a|b\n1|http://a.test/\n", r"separator is \|"),
    ],
)
@pytest.mark.parametrize("compression", ["", ".gz"])
def test_lists_in_another_format_than_lines_are_an_error(
    tmp_path: Path, text: str, message: str, compression: str
) -> None:
    pytest.importorskip("pyarrow")
    source, content = tmp_path / f"list.txt{compression}", text.encode()
    source.write_bytes(gzip.compress(content) if compression else content)
    values: dict[str, Any] = {"input_format": f"txt{compression}"} if compression else {}
    with pytest.raises(ValueError, match=message):
        download(str(source), output_folder=str(tmp_path / "out"), **values)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "first", ["http://a.test/?url,b", "a.test/1,2", "images", "# url,caption", "{a.test", "a,b", "a.test|url", "BZh"]
)
def test_lines_that_resemble_another_format_are_read(
    tmp_path: Path, fake: str, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("WEBIMAGE", fake)
    source = tmp_path / "list.txt"
    source.write_text(f"http://b.test/\n{first}\n" if first.startswith("{") else f"{first}\nhttp://b.test/\n")
    assert download(str(source), output_folder=str(tmp_path / "out")).count == 2 - first.startswith("#")


@pytest.mark.parametrize("input_format", ["txt", "csv", "tsv", "jsonl", "json", "txt.gz"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PAR1\x15\4", "is a Parquet file, .*: use input_format='parquet'"),
        (b"ARROW1", "is an Arrow file"),
        (b"ORC\n", "is an ORC file"),
        (b"Obj\1", "is an Avro file"),
        (b"SQLite format 3\0", "is an SQLite database"),
        (b"PK\3\4", "is a ZIP archive or a spreadsheet"),
        (b"\xd0\xcf\x11\xe0", "is a document of Office"),
        (b"\x28\xb5\x2f\xfd", "is compressed with Zstandard"),
        (b"BZh91AY&SY", "is compressed with bzip2"),
        (b"\xfd7zXZ\0", "is compressed with xz"),
        (gzip.compress(b"http://a.test/\n"), "is compressed with gzip"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "is an image"),
        (b"\x89PNG\r\n\x1a\n", "is an image"),
        (b"GIF89a", "is an image"),
        (b"RIFF\1\2\3\4WEBPVP8 ", "is an image"),
        (b"\0\0\0\x1cftypavif", "is an image or a video"),
        (b"II*\0", "is an image"),
        (b"%PDF-1.7", "is a PDF"),
        (b"\n <!DOCTYPE html>", "is HTML or XML"),
        ("http://a.test/".encode("utf-16"), "is a text in UTF-16"),
        ("http://a.test/".encode("utf-16-be"), "is a text in UTF-16"),
        (b"http://a.test/\0", "is not a text"),
    ],
)
def test_binary_files_are_an_error(tmp_path: Path, input_format: str, content: bytes, message: str) -> None:
    pytest.importorskip("pyarrow")
    source = tmp_path / f"list.{input_format}"
    source.write_bytes(gzip.compress(content) if input_format.endswith(".gz") else content)
    with pytest.raises(ValueError, match=rf"list\.{input_format} {message}"):
        download(str(source), output_folder=str(tmp_path / "out"), input_format=input_format)
    assert not (tmp_path / "out").exists()


def test_the_format_of_a_compressed_list_is_named(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "list").write_bytes(gzip.compress(b"http://a.test/\n"))
    with pytest.raises(ValueError, match=r"compressed with gzip: use input_format='txt\.gz'"):
        download(str(tmp_path / "list"), output_folder=str(tmp_path / "out"))


def test_a_truncated_file_is_an_error_at_its_end(tmp_path: Path, fake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("WEBIMAGE", fake)
    content = gzip.compress(b"".join(b"http://a.test/%s\n" % os.urandom(20).hex().encode() for _ in range(4000)))
    (tmp_path / "list.txt.gz").write_bytes(content[:-100])
    values: dict[str, Any] = {"output_format": "dummy", "number_sample_per_shard": 1000}
    with pytest.raises(ValueError, match=r"list\.txt\.gz is damaged"):
        download(str(tmp_path / "list.txt.gz"), output_folder=str(tmp_path / "out"), input_format="txt.gz", **values)
    assert (tmp_path / "out/00000_stats.json").exists()


@pytest.mark.parametrize(
    "values",
    [{"url_col": "link"}, {"caption_col": "text"}, {"save_additional_columns": ["n"]}, {"input_format": "txt.gz"}],
)
def test_columns_of_lists_without_columns_are_an_error(tmp_path: Path, values: dict[str, Any]) -> None:
    pytest.importorskip("pyarrow")
    values = {"verify_hash": ["digest", "sha256"], **values} if "input_format" in values else values
    with pytest.raises(ValueError, match="txt has no columns; see input_format"):
        download(str(tmp_path / "list.txt"), output_folder=str(tmp_path / "out"), **values)


def test_a_list_can_be_a_pipe(tmp_path: Path, fake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("WEBIMAGE", fake)
    os.mkfifo(tmp_path / "list")
    lines = "".join(json.dumps({"url": f"http://a.test/{n}"}) + "\n" for n in range(3000))
    writer = threading.Thread(target=(tmp_path / "list").write_text, args=(lines,))
    writer.start()
    values: dict[str, Any] = {"input_format": "jsonl", "output_format": "dummy"}
    assert download(str(tmp_path / "list"), output_folder=str(tmp_path / "out"), **values).successes == 3000
    writer.join()


def test_hidden_files_are_no_part_of_a_list(tmp_path: Path) -> None:
    write_rows(tmp_path / "a.csv", "csv", [{"url": "http://a.test/"}])
    (tmp_path / "._a.csv").write_bytes(b"\0\1")
    assert list(read_list(tmp_path, "csv")) == [{"url": "http://a.test/"}]


def test_a_header_may_follow_blank_lines(tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("\n\nurl\n\nhttp://a.test/\n")
    assert list(read_list(tmp_path / "list.csv", "csv", ["url"])) == [{"url": "http://a.test/"}]


@pytest.mark.parametrize(
    ("name", "template"), [("txt", "{}\n"), ("jsonl", '{{"url": "{}"}}\n'), ("csv", "{},a\n"), ("csv", '"{}",a\n')]
)
def test_lines_that_are_too_long_have_no_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, template: str
) -> None:
    monkeypatch.setattr(text_lists, "_LONGEST_LINE", 100)
    lines = [template.format(f"http://a.test/{text}") for text in ("", "b" * 1000, "c")]
    (tmp_path / "list").write_text(("url,caption\n" if name == "csv" else "") + "".join(lines))
    urls = [row["url"] for row in read_list(tmp_path / "list", name)]
    assert urls == ["http://a.test/", None, "http://a.test/c"]


def test_lines_that_are_no_objects_have_no_url(tmp_path: Path) -> None:
    lines = ['{"url": "http://a.test/"}', "{", "[1]", "9" * 5_000, "[" * 100_000, '{"url": "http://b.test/"}']
    (tmp_path / "list.jsonl").write_text("\n".join(lines))
    urls = [row["url"] for row in read_list(tmp_path / "list.jsonl", "jsonl")]
    assert urls == ["http://a.test/", None, None, None, None, "http://b.test/"]


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("txt", [b"http://a.test/\xe9"]),
        ("csv", [b"http://a.test/\xe9,a", b"http://a.test/,\xe9", b"http://a.test/", b"http://a.test/b,c,d"]),
        ("tsv", [b"http://a.test/\xe9\ta", b"http://a.test/", b"http://a.test/b\tc\td"]),
        (
            "jsonl",
            [
                b'{"url": "http://a.test/\xe9"}',
                b'{"url": "http://a.test/", "url": "http://b.test/"}',
                b'{"url": "http://a.test/", "width": NaN}',
            ],
        ),
    ],
)
def test_lines_that_the_command_refuses_have_no_url(tmp_path: Path, name: str, lines: list[bytes]) -> None:
    header = {"csv": [b"url,caption"], "tsv": [b"url\tcaption"]}.get(name, [])
    (tmp_path / "list").write_bytes(b"\n".join([*header, *lines]))
    assert [row["url"] for row in read_list(tmp_path / "list", name)] == [None] * len(lines)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("json", b'[{"url": "http://a.test/\xe9"}, {"url": "http://a.test/"}]'),
        ("jsonl", b'{"url": "http://a.test/\\udce9"}\n{"url": "http://a.test/"}'),
    ],
)
def test_urls_that_are_no_text_are_not_requested(
    tmp_path: Path, fake: str, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes
) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setenv("WEBIMAGE", fake)
    (tmp_path / "list").write_bytes(content)
    download(str(tmp_path / "list"), input_format=name, output_folder=str(tmp_path / "out"), output_format="parquet")
    table = pq.read_table(tmp_path / "out" / "00000.parquet")
    assert table["url"].to_pylist() == [None, "http://a.test/"]


def test_fields_that_are_too_long_have_no_url(tmp_path: Path) -> None:
    lines = ["url,caption", "http://a.test/,a", f"http://b.test/,{'b' * (1 << 20)}b", "http://c.test/,c"]
    (tmp_path / "list.csv").write_text("\n".join(lines))
    urls = [row["url"] for row in read_list(tmp_path / "list.csv", "csv")]
    assert urls == ["http://a.test/", None, "http://c.test/"]


def test_halves_of_surrogate_pairs_are_replaced(tmp_path: Path, fake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setenv("WEBIMAGE", fake)
    (tmp_path / "list.jsonl").write_text('{"url": "http://a.test/", "text": "a\\ud83d \\ud83d\\ude00"}')
    options = ("--input_format=jsonl", "--caption_col=text", "--output_format=parquet")
    assert main(["download", f"--url_list={tmp_path / 'list.jsonl'}", f"--output_folder={tmp_path}", *options]) == 0
    assert pq.read_table(tmp_path / "00000.parquet")["caption"].to_pylist() == ["a\ufffd \U0001f600"]


def test_lines_of_text_are_urls(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_bytes(b"http://c.test/\xff")
    (tmp_path / "a.txt").write_text("http://a.test/,x\r\n\n \t\n # comment\n http://b.test/# \n")
    urls = [row["url"] for row in read_list(tmp_path, "txt")]
    assert urls == ["http://a.test/,x", " http://b.test/# ", None]


def csv_records(text: str) -> list[list[str] | None]:
    """Returns what Python's csv makes of a text; `None` for a line with a quoted field that does not end."""
    lines = text.splitlines(keepends=True)
    records: list[list[str] | None] = []
    while lines:
        reader = csv.reader([*lines, "\0 end\n"])
        record = next(reader)
        is_open = any("\0" in field for field in record)
        if record:
            records.append(None if is_open else record)
        lines = lines[1 if is_open else reader.line_num :]
    return records


def test_stray_quotation_marks_do_not_take_long(tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("url,caption\n" + 'x"y,"b\n' * 100_000)
    assert list(read_list(tmp_path / "list.csv", "csv")) == [{"url": None}] * 100_000


@pytest.mark.parametrize("last", ['end",d,e', "http://c.test/,c,d"])
def test_a_record_has_at_most_a_mebibyte(tmp_path: Path, last: str) -> None:
    text = "b" * 95 + ",c,d\n"
    short, long = (f'http://a.test/,"{text * count}end",a\n' for count in (10_000, 11_000))
    (tmp_path / "list.csv").write_text(f"url,caption,n\n{short}{long}{last}\n")
    rows = list(read_list(tmp_path / "list.csv", "csv"))
    assert rows[0] == {"url": "http://a.test/", "caption": text * 10_000 + "end", "n": "a"}
    assert rows[1] == {"url": None}
    assert [row["url"] for row in rows[2:]] == [*["b" * 95] * 10_999, None, last.partition(",")[0]]


def random_text(generator: random.Random) -> str:
    pieces = ['"', '""', ",", "\n", "\r\n", "a", "é", '","', '\n"']
    return "".join(generator.choices(pieces, k=generator.randrange(25)))


@pytest.mark.binary
def test_random_csv_is_read_by_the_command_as_by_python(tmp_path: Path, binary: str) -> None:
    generator = random.Random(48)
    texts = ["x,y\n", *(random_text(generator) + "\n" for _ in range(3_000))]
    # Each text is a list of its own up to a line that ends any field.
    text = "".join(f'{text}"\n",\n' if '"' in text else text for text in texts)
    (tmp_path / "list.csv").write_text("url,caption\n" + text, newline="")
    arguments = ["--input", str(tmp_path / "list.csv"), "--output", "-", "--stream=ndjson", "--ordered"]
    process = subprocess.run(
        [binary, "batch", *arguments, "--caption-col=caption", "--summary", str(tmp_path / "summary")],
        capture_output=True,
        check=True,
    )
    records = [record for record in map(json.loads, process.stdout.splitlines()) if "status" in record]
    expected = csv_records(text)
    assert len(records) == len(expected)
    for record, fields in zip(records, expected, strict=True):
        if fields is None or len(fields) != 2:
            assert record["error_code"] == "bad_line"
        else:
            assert [record["url"], record["caption"]] == fields
    counts = json.loads((tmp_path / "summary").read_text())["list"]
    assert counts["lines"] == text.count("\n") + 1
    assert counts["lines"] == len(records) + counts["header"] + counts["blank"] + counts["continued"]
