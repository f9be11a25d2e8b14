#!/usr/bin/env python3
"""Makes a seed corpus out of the vectors: seeds.py TARGET VECTORS CORPUS. What is there already stays."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import sys
from pathlib import Path
from typing import Any

LONGEST = 4096
# Many calls of short lines find more than few of long ones.
LONGEST_CALLS = 512
# Choices of a seed for `calls`; its longest script has 96.
SCRIPT = 64
PROFILES = ["strict", "data", "rfc8259"]
POLICIES = ["continue", "close_malformed", "close_all"]
BATCHES = ["by_revision", "allow", "refuse"]
REVISIONS = ["auto", "jsonrpc", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
ERROR_IDS = ["by_revision", "null", "absent"]


def stream_of(vector: dict[str, Any]) -> bytes:
    if "input_b64" in vector:
        return base64.b64decode(vector["input_b64"], validate=True)
    if "input" in vector:
        return str(vector["input"]).encode()
    if "steps" in vector:
        return "".join(step["line"] + "\n" for step in vector["steps"]).encode()
    gen = vector["gen"]
    if gen.get("count", 0) * len(gen.get("repeat", "")) + gen.get("count2", 0) * len(gen.get("repeat2", "")) > LONGEST:
        return bytes(LONGEST + 1)
    text = gen.get("prefix", "") + gen.get("repeat", "") * gen.get("count", 0) + gen.get("middle", "")
    text += gen.get("repeat2", "") * gen.get("count2", 0) + gen.get("suffix", "")
    return str(text).encode()


def marked(vector: dict[str, Any]) -> bytes:
    """The lines with their senders in front, as the target `session` reads them."""
    steps = vector.get("steps", [])
    return "".join(("s" if step["from"] == "server" else "b") + step["line"] + "\n" for step in steps).encode()


def header_of(options: dict[str, Any]) -> bytes:
    """The four bytes from which the target `chunks` makes these options, as near as they come: see src/lib.rs."""
    server = options.get("from") == "server"
    profile = PROFILES.index(options.get("profile", "data" if server else "strict"))
    policy = POLICIES.index(options.get("policy", "close_malformed"))
    batches = BATCHES.index(options.get("batches", "by_revision"))
    revision = REVISIONS.index(options.get("revision", "auto"))
    error_id = ERROR_IDS.index(options.get("error_id", "by_revision"))
    both = next(byte for byte in range(256) if byte % 7 == revision and (byte >> 4) % 3 == error_id)
    frame = max(1, min(255, (options["max_frame"] - 4) // 16)) if "max_frame" in options else 0
    depth = max(1, min(15, options["max_depth"] // 4)) if "max_depth" in options else 0
    small = [options[name] for name in ("max_keys", "max_id", "max_replies") if name in options]
    bound = max(1, min(15, small[0])) if small else 0
    return bytes([server | profile << 1 | policy << 3 | batches << 5, both, frame, depth | bound << 4])


def script_of(stream: bytes) -> bytes:
    """Random choices before a stream, as the target `calls` reads them; always the same for the same stream."""
    choices = random.Random(hashlib.sha1(stream).digest()).randbytes(SCRIPT)
    return bytes([SCRIPT]) + choices


def main() -> None:
    target, vectors, corpus = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    corpus.mkdir(parents=True, exist_ok=True)
    made = 0
    for path in sorted(vectors.glob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            vector = json.loads(line)
            seed = stream_of(vector)
            if target == "session":
                seed = marked(vector)
            if target in ("chunks", "session"):
                seed = header_of(vector.get("options", {})) + seed
            if target == "calls":
                seed = script_of(seed) + seed
            if len(seed) <= (LONGEST_CALLS if target == "calls" else LONGEST):
                (corpus / hashlib.sha1(seed).hexdigest()).write_bytes(seed)
                made += 1
    print(f"fuzz: {target}: {made} seeds from {vectors}")


if __name__ == "__main__":
    main()
