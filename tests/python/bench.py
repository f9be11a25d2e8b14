"""`Gate.feed` beside JSON readers of Python's, in one process, over the corpora of `tests/bench`.

usage: bench.py FOLDER          (FOLDER: what `tests/bench` writes with --dump)

Each contender reads every line of a corpus once in a round, all in turn, best of the rounds. A ratio is the time of
`json.loads` divided by the contender's: above 1 is faster. None of the others checks keys, shapes or bounds; the SDK's
validation makes objects of its own.
"""

from __future__ import annotations

import gc
import importlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import linegate

ROUNDS = 5
# Bytes that are read before the clock stops, so that it has something to show.
LEAST = 2_000_000

Reader = Callable[[bytes, "list[bytes]"], object]


def contenders(sender: Any) -> dict[str, Reader]:
    """What reads a corpus, given as a stream and as lines."""

    def feed(stream: bytes, lines: list[bytes]) -> None:
        gate = linegate.Gate(sender=sender, profile="strict")
        count = sum(1 for event in gate.feed(stream) if isinstance(event, linegate.Message))
        assert count == len(lines)

    def feed_and_params(stream: bytes, lines: list[bytes]) -> None:
        for event in linegate.Gate(sender=sender).feed(stream):
            assert isinstance(event, linegate.Message)
            _ = event.params or event.result

    def filtered(stream: bytes, lines: list[bytes]) -> None:
        passed, refused = linegate.Gate(sender=sender).filter(stream)
        assert len(passed) == len(stream) and not refused

    def each(read: Callable[[bytes], object]) -> Reader:
        def run(stream: bytes, lines: list[bytes]) -> None:
            for line in lines:
                read(line)

        return run

    found: dict[str, Reader] = {
        "json.loads": each(json.loads),
        "Gate.feed": feed,
        "Gate.feed, params read": feed_and_params,
        "Gate.filter (wrap)": filtered,
    }
    if orjson := optional("orjson"):
        found["orjson"] = each(orjson.loads)
    if msgspec := optional("msgspec"):
        found["msgspec"] = each(msgspec.json.Decoder().decode)
    if sdk := optional("mcp_types"):
        found["SDK's validation"] = each(lambda line: sdk.jsonrpc_message_adapter.validate_json(line, by_name=False))
    return found


def optional(name: str) -> Any:
    """A module, if there is one."""
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"no {name}: left out")
        return None


def measure(reader: Reader, stream: bytes, lines: list[bytes]) -> float:
    """Seconds for a pass."""
    times = max(1, LEAST // len(stream))
    began = time.process_time()
    for _ in range(times):
        reader(stream, lines)
    return (time.process_time() - began) / times


def main(folder: Path) -> None:
    rows = []
    for path in sorted(folder.iterdir()):
        stream = path.read_bytes()
        lines = stream.split(b"\n")[:-1]
        sender = "client" if b'"method"' in lines[0] else "server"
        readers = contenders(sender)
        best = dict.fromkeys(readers, float("inf"))
        gc.disable()
        for _ in range(ROUNDS):
            for name, reader in readers.items():
                best[name] = min(best[name], measure(reader, stream, lines))
            gc.collect()
        gc.enable()
        rows.append((path.stem, len(stream), len(lines), best))
    names = list(rows[0][3])
    print("| corpus | json.loads, MB/s |" + "".join(f" {name} |" for name in names[1:]))
    print("|---" * (len(names) + 1) + "|")
    for stem, size, _, best in rows:
        base = best["json.loads"]
        ratios = "".join(f" {base / best[name]:.2f} |" for name in names[1:])
        print(f"| {stem} | {size / base / 1e6:.0f} |{ratios}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
