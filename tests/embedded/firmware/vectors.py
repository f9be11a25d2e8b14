"""The vectors that fit a frame buffer of 2 KiB and a table of 256 keys, for a machine without a JSON reader.

    vectors.py VECTORS FOLDER

FOLDER/vectors.bin holds for each vector a header (struct row of vectors.c), then its stream; a header whose last byte
is 1 ends it. FOLDER/events.bin holds what must be said of them, one event after the other (struct expected). Both are
little-endian. Each vector stands twice, fed in pieces of 64 bytes and of 7."""

import base64
import json
import struct
import sys
from pathlib import Path
from typing import Any

FRAME, KEYS = 2048, 256
PROFILES = ["", "strict", "data", "rfc8259"]
REVISIONS = ["auto", "jsonrpc", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
POLICIES = ["close_malformed", "close_all", "continue"]
BATCHES = ["by_revision", "allow", "refuse"]
ERROR_IDS = ["by_revision", "null", "absent"]
KINDS = ["", "request", "notification", "result", "error", "batch"]
SWITCHES = [
    "blank_lines",
    "surrounding_space",
    "separators",
    "lone_surrogates",
    "long_keys",
    "case_collisions",
    "escaped_nul",
    "escaped_nul_in_keys",
    "big_integers",
    "number_range",
    "inexact_decimals",
    "forbidden_keys",
    "unknown_members",
    "max_depth",
]
CLOSED, NO_REPLIES = 905, 0xFFFFFFFF


def stream_of(vector: dict[str, Any]) -> bytes:
    """The bytes of a vector."""
    if "input_b64" in vector:
        return base64.b64decode(vector["input_b64"])
    if "input" in vector:
        return str(vector["input"]).encode()
    gen = vector["gen"]
    parts = [gen.get("prefix", ""), gen.get("repeat", "") * gen.get("count", 0), gen.get("middle", "")]
    return "".join([*parts, gen.get("repeat2", "") * gen.get("count2", 0), gen.get("suffix", "")]).encode()


def fits(stream: bytes, options: dict[str, Any]) -> bool:
    """Whether the device's bounds change nothing: no list of names, no line beyond its buffer, no wide object."""
    if any(name in options for name in ("revisions", "allow_methods", "allow_result_types")):
        return False
    if options.get("max_keys", 0) > KEYS or options.get("max_frame", 0) > FRAME or len(stream) > 0xFFFF:
        return False
    lines = stream.split(b"\n")
    longest = FRAME if "max_frame" not in options else 0xFFFF
    return all(len(line) <= longest and line.count(b":") <= KEYS - 16 for line in lines)


def bits(names: list[str]) -> int:
    """A set of switches."""
    return sum(1 << SWITCHES.index(name) for name in names)


def header(options: dict[str, Any], stream: bytes, events: int, piece: int) -> bytes:
    """A struct row."""
    replies = options.get("max_replies")
    return struct.pack(
        "<3I6H8B",
        options.get("max_frame", FRAME),
        options.get("max_keys", KEYS),
        0 if replies is None else replies or NO_REPLIES,
        options.get("max_depth", 0),
        options.get("max_id", 0),
        bits(options.get("allow", [])),
        bits(options.get("refuse", [])),
        len(stream),
        events,
        options.get("from") == "server",
        PROFILES.index(options.get("profile", "")),
        REVISIONS.index(options.get("revision", "auto")),
        POLICIES.index(options.get("policy", "close_malformed")),
        BATCHES.index(options.get("batches", "by_revision")),
        ERROR_IDS.index(options.get("error_id", "by_revision")),
        piece,
        0,
    )


def expected(event: dict[str, Any]) -> bytes:
    """A struct expected."""
    if "closed" in event:
        return struct.pack("<IHH", 0, CLOSED, 0)
    if "refuse" in event:
        return struct.pack("<IHH", event["at"], event["refuse"], 0)
    return struct.pack("<IHH", 0, 0, KINDS.index(event["accept"]))


def main(vectors: Path, folder: Path) -> None:
    """Writes both files."""
    streams, answers, taken, left = bytearray(), bytearray(), 0, 0
    for path in sorted(vectors.glob("*.jsonl")):
        if path.name == "action.jsonl":
            # What becomes of an action stands behind the gate.
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            vector = json.loads(line)
            if "steps" in vector:
                continue
            stream, options, events = stream_of(vector), vector["options"], vector["events"]
            if not fits(stream, options):
                left += 1
                continue
            taken += 1
            for piece in (64, 7):
                streams += header(options, stream, len(events), piece) + stream
                answers += b"".join(map(expected, events))
    streams += bytes(len(header({}, b"", 0, 0)) - 1) + b"\x01"
    folder.joinpath("vectors.bin").write_bytes(streams)
    folder.joinpath("events.bin").write_bytes(answers)
    print(f"{taken} vectors fit a device, {left} do not")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
