#!/usr/bin/env python3
"""Stands in for `webimage batch` where tests need faults that the real one cannot be made to show.

It answers each line with a payload that repeats its URL. The option `--fake=FAULT` chooses what goes wrong. URLs that
contain the value of the environment variable `FAKE_OUTAGE` fail as if there were no network. The variable `FAKE` is the
fault without the option.
"""

import json
import os
import signal
import sys
import time
from typing import Any

output = sys.stdout.buffer
options = dict(argument.lstrip("-").partition("=")[::2] for argument in sys.argv[1:])
fault, _, number = options.get("fake", os.environ.get("FAKE", "")).partition(":")
after = int(number or 0)
outage = os.environ.get("FAKE_OUTAGE", "")
UNREACHABLE = {"status": "failed_to_download", "error_code": "dns_temporary", "retryable": True}


def write(record: dict[str, Any], payload: bytes = b"") -> None:
    output.write(json.dumps(record).encode() + b"\n" + payload)
    output.flush()


def end_at_fault(index: int) -> None:
    if fault == "once":
        # Only the first process of a test dies.
        marker = options["fake-marker"]
        if index == after and not os.path.exists(marker):
            open(marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
    if index != after:
        return
    if fault == "die":
        print("a reason\n" * 3, end="", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "no-end":
        sys.exit(0)
    if fault == "garbage":
        output.write(b"\x00\xff not JSON\n")
    if fault == "short-payload":
        output.write(b'{"index":0,"status":"success","payload":1000}\nshort')
        output.flush()
        sys.exit(0)
    if fault == "short-record":
        output.write(b'{"index":0,"sta')
        output.flush()
        sys.exit(0)
    if fault == "stall":
        time.sleep(60)
    if fault == "rate":
        for _ in range(4):
            print('{"waiting_rate": 1}', file=sys.stderr, flush=True)
            time.sleep(1)
    if fault == "rate-stall":
        print('{"waiting_rate": 1}', file=sys.stderr, flush=True)
        time.sleep(60)
    if fault == "unknown-index":
        write({"index": 10_000, "status": "success", "payload": 0})
    if fault == "no-index":
        write({"status": "success", "payload": 0})
    if fault == "huge":
        write({"index": 0, "payload": 1 << 40})
    if fault == "terminated":
        write({"end": True, "count": index})
        sys.exit(143)


def main() -> None:
    if fault == "usage":
        print("Error: Unknown option '--fake'", file=sys.stderr)
        sys.exit(64)
    if fault == "status":
        sys.exit(after)
    if options["output"] != "-":
        for _ in sys.stdin.buffer:
            pass
        return
    if fault == "no-start":
        write({"index": 0, "status": "success", "payload": 0})
    write({"start": True, "protocol": 2 if fault == "protocol" else 1, "version": "fake"})
    if fault == "statistics":
        print('{"done": 0, "per_s": 1.5}', file=sys.stderr, flush=True)
    if fault == "warning":
        print("fewer files, 100%", file=sys.stderr, flush=True)
    count = 0
    for index, line in enumerate(sys.stdin.buffer):
        end_at_fault(index)
        row = json.loads(line)
        count += 1
        if fault == "lose" and index == after:
            continue
        if outage and outage in (row["url"] or ""):
            write({"index": index, **UNREACHABLE, "payload": 0})
            continue
        payload = (row["url"] or "").encode()
        record = {"index": index, "status": "success", "width": 2, "height": 1, "sha256": "0" * 64, "attempts": 3}
        write({**record, "payload": len(payload)}, payload)
    write({"end": True, "count": count - (fault == "lose"), "successes": count})
    if fault == "more":
        write({"index": count, "status": "success", "payload": 0})
    sys.exit(int(number) if fault == "exit" else 0)


main()
