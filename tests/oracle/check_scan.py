#!/usr/bin/env python3
"""Judges lines with `linegate scan` and with the oracle; exit 1 and the first differences where the two say otherwise.

The lines are those of the vectors, and a seeded crowd of lines made from them by cutting, doubling, swapping and
spoiling bytes. With LINEGATE_REFERENCE set, the rows of its case files as well. The binary is LINEGATE_BIN, or what
cargo builds.
"""

from __future__ import annotations

import base64
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from check_vectors import VECTORS, stream_of
from linegate_oracle import Options, Refused, judge

ROOT = Path(__file__).resolve().parent.parent.parent
# What each run gives to both sides: the arguments of scan, and the oracle's options.
FACES: list[tuple[list[str], dict[str, Any]]] = [
    ([], {}),
    (["--profile", "data"], {"profile": "data"}),
    (["--profile", "rfc8259", "--max-depth", "70"], {"profile": "rfc8259", "max_depth": 70}),
    (["--from", "server"], {"from": "server"}),
    (["--revision", "jsonrpc"], {"revision": "jsonrpc"}),
    (["--revision", "2025-03-26"], {"revision": "2025-03-26"}),
    (["--revision", "2026-07-28", "--max-frame", "100"], {"revision": "2026-07-28", "max_frame": 100}),
    (["--revision", "2026-07-28"], {"revision": "2026-07-28"}),
    (["--revision", "2025-11-25"], {"revision": "2025-11-25"}),
    (["--from", "server", "--revision", "2024-11-05"], {"from": "server", "revision": "2024-11-05"}),
    (["--from", "server", "--revision", "2025-06-18"], {"from": "server", "revision": "2025-06-18"}),
    (["--from", "server", "--revision", "2026-07-28"], {"from": "server", "revision": "2026-07-28"}),
]
LONGEST = 20_000
MUTANTS = int(os.environ.get("LINEGATE_MUTANTS", "15000"))
SPOILS = [
    b'"',
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b" ",
    b"\t",
    b"\r",
    b"\x00",
    b"\xff",
    b"\xc3\xa9",
    b"\xe2\x80\xa8",
]
SPOILS += [
    b"0",
    b"-",
    b".",
    b"e",
    b"\\ud800",
    b"\\u0000",
    b"null",
    b"true",
    b"1e999",
    b'"id":1,',
    b'"Id":1,',
    b'"method":"ping",',
]


def binary() -> str:
    given = os.environ.get("LINEGATE_BIN")
    if given:
        return given
    build = ["cargo", "build", "--quiet", "-p", "linegate-cli", "--message-format", "json"]
    said = subprocess.run(build, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    for line in said.splitlines():
        built = json.loads(line)
        if built.get("executable") and built["target"]["name"] == "linegate":
            return str(built["executable"])
    raise SystemExit("cargo built no binary")


def vector_lines() -> Iterator[bytes]:
    for path in sorted(VECTORS.glob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            yield from (piece for piece in stream_of(json.loads(line)).split(b"\n") if len(piece) < LONGEST)


def reference_lines() -> Iterator[bytes]:
    folder = os.environ.get("LINEGATE_REFERENCE")
    if not folder:
        print("LINEGATE_REFERENCE is not set: its case files are not compared", file=sys.stderr)
        return
    for name in ("jsontestsuite.jsonl", "differential.jsonl", "bugs.jsonl"):
        for line in (Path(folder) / "cases" / name).read_bytes().splitlines():
            row = json.loads(line)
            stream = base64.b64decode(row["bytes_b64"]) if "bytes_b64" in row else stream_of(row)
            yield from stream.split(b"\n")


def mutants(lines: list[bytes]) -> Iterator[bytes]:
    chance = random.Random(20_260_728)
    short = [line for line in lines if len(line) < 400]
    for _ in range(MUTANTS):
        line = chance.choice(short)
        for _ in range(chance.randint(1, 3)):
            a, b = sorted((chance.randint(0, len(line)), chance.randint(0, len(line))))
            kind = chance.randrange(5)
            if kind == 0:
                line = line[:a] + line[b:]
            elif kind == 1:
                line = line[:b] + line[a:b] + line[b:]
            elif kind == 2:
                line = line[:a] + chance.choice(SPOILS) + line[a:]
            elif kind == 3:
                line = line[:a] + chance.choice(SPOILS) + line[b:]
            else:
                line = line[:a] + line[a : a + 1].swapcase() + line[a + 1 :]
        yield line.replace(b"\n", b"")


def scanned(program: str, arguments: list[str], stream: bytes) -> list[dict[str, Any]]:
    run = subprocess.run([program, "scan", "--format", "json", *arguments, "-"], input=stream, stdout=subprocess.PIPE)
    return [shown(json.loads(line)) for line in run.stdout.splitlines() if b'"summary"' not in line[:12]]


def shown(row: dict[str, Any]) -> dict[str, Any]:
    if row["verdict"] == "accept":
        return {"accept": row["kind"], "method": row.get("method"), "id": row.get("id")}
    return {name: row[name] for name in ("code", "at", "length", "rpc_code")}


def judged(options: dict[str, Any], stream: bytes) -> list[dict[str, Any]]:
    events = []
    for event in judge(stream, Options.of({**options, "policy": "continue"})).events:
        if isinstance(event, Refused):
            row = {"code": event.code, "at": event.at, "length": event.length, "rpc_code": event.rpc_code}
        else:
            said = event.as_vector()
            row = {"accept": said["accept"], "method": said.get("method"), "id": json.loads(said.get("id", "null"))}
        events.append(row)
    return events


def main() -> int:
    program = binary()
    lines = [*vector_lines(), *reference_lines()]
    lines += mutants(lines)
    stream = b"".join(line + b"\n" for line in lines)
    wrong = 0
    for arguments, options in FACES:
        got, want = scanned(program, arguments, stream), judged(options, stream)
        pairs = zip(got, want)
        differing = [(n, a, b) for n, (a, b) in enumerate(pairs) if a != b]
        wrong += len(differing) + abs(len(got) - len(want))
        for n, a, b in differing[:5]:
            print(f"{arguments} {lines[n][:300]!r}\n  scan   {a}\n  oracle {b}")
        if len(got) != len(want):
            print(f"{arguments}: scan judged {len(got)} lines, the oracle {len(want)}")
    total = len(lines) * len(FACES)
    print(f"{total - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
