"""Which shards are complete, and which are made again, with the stand-in for the binary."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from origin import Origin
from runs import FORMATS, contents, names, outage, pa, pq, run, urls, write_list

from webimage_batch import FolderError, TryAgainError, download_parquet
from webimage_batch.__main__ import main
from webimage_batch.conditions import Conditions, Refusals
from webimage_batch.counts import Counts

pytestmark = pytest.mark.usefixtures("use_fake")


@FORMATS
def test_shards_of_an_outage_are_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output_format: str
) -> None:
    source = write_list(tmp_path / "list.txt", [*urls(10), *urls(10, "out.test"), *urls(5)])
    monkeypatch.setenv("FAKE_OUTAGE", "out.test")
    with pytest.raises(TryAgainError, match=r"1 shard is .* 00001: .*\(dns_temporary: 10\)") as error:
        run(source, output_format=output_format)
    assert error.value.exit_status == 75
    assert [name for name in names(tmp_path / "out") if "00001" in name] == []
    assert (tmp_path / "out/00002_stats.json").exists()
    monkeypatch.delenv("FAKE_OUTAGE")
    assert run(source, output_format=output_format).successes == 25
    assert (tmp_path / "out/00001_stats.json").exists()


def test_a_shard_may_have_as_many_retryable_failures_as_the_rate_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_OUTAGE", "out.test")
    source = write_list(tmp_path / "list.txt", [*urls(5), *urls(5, "out.test")])
    assert run(source).successes == 5
    source = write_list(tmp_path / "more.txt", [*urls(4), *urls(6, "out.test")])
    with pytest.raises(TryAgainError):
        run(source, incremental_mode="overwrite")
    assert run(source, incremental_mode="overwrite", max_retryable_rate=0.6).successes == 4


@FORMATS
def test_complete_shards_of_an_outage_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output_format: str
) -> None:
    source = outage(tmp_path, monkeypatch, output_format=output_format)
    before = contents(tmp_path / "out")
    assert run(source, output_format=output_format, max_retryable_rate=1).status_dict["dns_temporary"] == 10
    with pytest.raises(TryAgainError, match=r"1 shard is .* 00001: .*\(dns_temporary: 10\)"):
        run(source, output_format=output_format)
    # The new version is no better.
    assert contents(tmp_path / "out") == before
    monkeypatch.delenv("FAKE_OUTAGE")
    counts = run(source, output_format=output_format)
    assert (counts.successes, counts.status_dict) == (25, {"success": 25})
    after = contents(tmp_path / "out")
    assert {name for name in after if after[name] != before.get(name)} and all(
        name.startswith("00001") for name in after if after[name] != before.get(name)
    )


def test_nearly_only_tls_failures_are_an_outage() -> None:
    def counts(tls: int, successes: int) -> Counts:
        codes = {"tls": tls, "success": successes}
        return Counts(tls + successes, successes, tls, 0, codes)

    assert not Conditions().allow_retryable(0, counts(18, 2))
    assert Conditions().allow_retryable(0, counts(17, 3))
    # Too few to tell: the last shard of a list may have one line.
    assert Conditions().allow_retryable(0, counts(1, 0))
    assert Conditions().allow_retryable(0, counts(9, 0))
    assert Conditions(max_retryable_rate=1).allow_retryable(0, counts(10, 0))
    refusals = Refusals()
    assert not refusals.meets(Conditions(), 0, counts(10, 0), Counts())
    with pytest.raises(TryAgainError, match=r"\(tls: 10\)"):
        refusals.check()


def test_markers_count_the_failures_that_may_be_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outage(tmp_path, monkeypatch)
    markers = [json.loads((tmp_path / f"out/{number:05}_stats.json").read_text()) for number in range(3)]
    assert [marker["retryable"] for marker in markers] == [0, 10, 0]


@FORMATS
def test_shards_with_too_few_successes_are_not_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output_format: str
) -> None:
    monkeypatch.setenv("FAKE_OUTAGE", "out.test")
    source = write_list(
        tmp_path / "list.txt", [*urls(9), *urls(1, "out.test"), *urls(8, "b.test"), *urls(2, "out.test")]
    )
    with pytest.raises(
        TryAgainError, match=r"1 shard .* 00001: .* \(dns_temporary: 2\).*lower min_success_rate"
    ) as error:
        run(source, output_format=output_format, min_success_rate=0.9)
    assert error.value.exit_status == 75
    assert not (tmp_path / "out/00001_stats.json").exists()
    assert run(source, output_format=output_format).successes == 17
    before = contents(tmp_path / "out")
    with pytest.raises(TryAgainError):
        run(source, output_format=output_format, min_success_rate=0.9)
    assert contents(tmp_path / "out") == before
    monkeypatch.delenv("FAKE_OUTAGE")
    assert run(source, output_format=output_format, min_success_rate=0.9).successes == 19


@pytest.mark.parametrize("rate", ["max_retryable_rate", "min_success_rate"])
@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_rates_are_from_0_to_1(tmp_path: Path, rate: str, value: float) -> None:
    with pytest.raises(ValueError, match=rate):
        run(write_list(tmp_path / "list.txt", urls(1)), **{rate: value})
    pq.write_table(pa.table({"url": urls(1)}), tmp_path / "list.parquet")
    with pytest.raises(ValueError, match=rate):
        download_parquet(tmp_path / "list.parquet", tmp_path / "out", **{rate: value})  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_a_run_may_be_repeated_with_more_attempts_and_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_OUTAGE", "out.test")
    source = write_list(tmp_path / "list.txt", [*urls(10), *urls(10, "out.test")])
    with pytest.raises(TryAgainError):
        run(source)
    monkeypatch.delenv("FAKE_OUTAGE")
    assert run(source, retries=5, timeout=60).successes == 20
    with pytest.raises(FolderError, match="other options"):
        run(source, image_size=100)


def test_files_of_an_outage_are_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(pa.table({"url": urls(10, "out.test")}), tmp_path / "list.parquet")
    monkeypatch.setenv("FAKE_OUTAGE", "out.test")
    with pytest.raises(TryAgainError):
        download_parquet(tmp_path / "list.parquet", tmp_path / "out")
    assert names(tmp_path / "out") == []
    counts = download_parquet(tmp_path / "list.parquet", tmp_path / "out", max_retryable_rate=1)
    assert counts.status_dict == {"dns_temporary": 10}


def test_the_command_tells_that_it_should_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pq.write_table(pa.table({"url": urls(10, "out.test")}), tmp_path / "list.parquet")
    monkeypatch.setenv("FAKE_OUTAGE", "out.test")
    paths = [str(tmp_path / "list.parquet"), str(tmp_path / "out")]
    assert main(["parquet", *paths]) == 75
    assert "dns_temporary" in capsys.readouterr().err
    assert main(["parquet", *paths, "--max-retryable-rate=1.5"]) == 64
    assert main(["parquet", *paths, "--", "--max-retryable-rate=1"]) == 64
    assert "write it before --" in capsys.readouterr().err
    assert main(["parquet", *paths, "--max-retryable-rate=1"]) == 0
    assert main(["parquet", *paths[:1], str(tmp_path / "other"), "--max-retryable-rate=1"]) == 0
    source = write_list(tmp_path / "list.txt", urls(10, "out.test"))
    images = [f"--url_list={source}", f"--output_folder={tmp_path / 'images'}"]
    assert main(["parquet", *paths, "--min-success-rate=0.1", "--max-retryable-rate=1"]) == 75
    assert main(["download", *images]) == 75
    assert main(["download", *images, "--max_retryable_rate=1", "--min_success_rate=0.1"]) == 75
    assert main(["download", *images, "--max_retryable_rate=1"]) == 0


@pytest.mark.binary
def test_shards_of_servers_that_cannot_be_reached_are_not_written(
    tmp_path: Path, binary: str, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBIMAGE", binary)
    source = write_list(tmp_path / "list.txt", [f"http://127.0.0.1:1/{number}" for number in range(10)])
    with pytest.raises(TryAgainError, match="connection_failed"):
        run(source, output_format="webdataset")
    assert names(tmp_path / "out") == []
    # Images that are not there are no outage.
    source = write_list(tmp_path / "list.txt", [origin.url(f"none/{number}") for number in range(10)])
    assert run(source, output_format="webdataset").status_dict == {"http_404": 10}
