"""Every vector of the shared files: whole, byte by byte, cut in two, and through the readers."""

from __future__ import annotations

import io
import json
from typing import Any

import linegate
import pytest

from . import vectors

STREAMS = vectors.streams()
# Longer streams are fed whole alone.
SHORT = 4096


def test_there_are_enough_of_them() -> None:
    assert len(STREAMS) > 3000


def test_every_vector_whole_byte_by_byte_and_cut_in_two() -> None:
    for row in STREAMS:
        stream, want = vectors.stream(row), vectors.expected(row)
        ways = [[stream]]
        if len(stream) <= SHORT:
            ways += [[bytes([byte]) for byte in stream], [stream[: len(stream) // 2], stream[len(stream) // 2 :]]]
        for pieces in ways:
            gate = linegate.Gate(**vectors.options(row))
            got = [vectors.said(event) for event in vectors.drive(gate, pieces)]
            assert got == want, f"{row['name']} in {len(pieces)} pieces"
            assert gate.closed
            counted = gate.counters
            known: dict[str, Any] = {**counted._asdict(), "refused": counted.refused}
            assert {name: known[name] for name in row.get("counters", {})} == row.get("counters", {}), row["name"]


def test_the_replies_of_every_vector() -> None:
    for row in STREAMS:
        events = vectors.drive(linegate.Gate(**vectors.options(row)), [vectors.stream(row)])
        replies = [event.reply for event in events if isinstance(event, linegate.Refused) and event.reply]
        for reply in replies:
            assert reply.endswith(b"\n") and reply.count(b"\n") == 1 and json.loads(reply)["jsonrpc"] == "2.0"
        if "reply_ids" in row:
            ids = [json.dumps(json.loads(reply)["id"]) if b'"id":' in reply else "absent" for reply in replies]
            assert [json.loads(i) if i != "absent" else i for i in ids] == [
                json.loads(i) if i != "absent" else i for i in row["reply_ids"]
            ], row["name"]
        if "reply_data" in row:
            assert [json.loads(reply)["error"].get("data") for reply in replies] == row["reply_data"], row["name"]


def test_a_closed_gate_says_nothing_more() -> None:
    seen = 0
    for row in filter(vectors.is_cut_short, STREAMS):
        gate = linegate.Gate(**vectors.options(row))
        last = list(gate.feed(vectors.stream(row)))[-1]
        assert isinstance(last, linegate.Refused) and last.closes and gate.closed
        assert list(gate.feed(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')) == []
        seen += 1
    assert seen > 50


@pytest.mark.parametrize("chunk", [7, 65536])
def test_through_wrap_comes_what_the_gate_accepts(chunk: int) -> None:
    for row in STREAMS:
        options, stream = vectors.options(row), vectors.stream(row)
        if len(stream) > SHORT and chunk < SHORT:
            continue
        lines = [
            event.raw + b"\n"
            for event in vectors.drive(linegate.Gate(**options), [stream])
            if isinstance(event, linegate.Message)
        ]
        told: list[linegate.Refused] = []
        sent: list[bytes] = []
        reader = linegate.wrap(Dribble(stream, chunk), on_refused=told.append, reply=sent.append, **options)
        assert list(iter(reader.readline, b"")) == lines, row["name"]
        assert [vectors.said(refused) for refused in told] == [e for e in vectors.expected(row) if "refuse" in e]
        assert sent == [refused.reply for refused in told if refused.reply]


class Dribble(io.RawIOBase):
    """A stream that gives so many bytes at a time."""

    def __init__(self, stream: bytes, size: int) -> None:
        self._rest = memoryview(stream)
        self._size = size

    def read(self, size: int = -1, /) -> bytes:
        piece, self._rest = self._rest[: self._size], self._rest[self._size :]
        return bytes(piece)


def test_every_transcript() -> None:
    for row in vectors.rows("session.jsonl"):
        client, server = pair(row)
        for step in row["steps"]:
            gate = client if step["from"] == "client" else server
            events = list(gate.feed(step["line"].encode("utf-8") + b"\n"))
            want = {name: value for name, value in step["event"].items() if name != "reply_id"}
            assert [vectors.said(event) for event in events] == ([] if "closed" in want else [want]), row["name"]
            for event in events:
                if isinstance(event, linegate.Refused) and "reply_id" in step["event"]:
                    assert event.reply is not None
                    assert (b'"id":null,' in event.reply) == (step["event"]["reply_id"] == "null"), row["name"]
        tracker = TRACKERS.pop()
        assert (tracker.late_responses if tracker else 0) == row.get("late_responses", 0), row["name"]


TRACKERS: list[Any] = []


def pair(row: vectors.Row) -> tuple[linegate.Gate, linegate.Gate]:
    """The two gates of a transcript: all options are those of both, which is more than `session` has for a server."""
    from linegate._options import encode

    options, tracker = {**vectors.options(row), "key": b"a key of vectors"}, None
    both = ({**options, "sender": "client"}, {**options, "sender": "server"})
    if row["options"].get("track") and options.get("revision") != "jsonrpc":
        tracker = linegate.Tracker(encode(both[0]), encode(both[1]), row["options"].get("max_ids", 1024))
    TRACKERS.append(tracker)
    return linegate.Gate(tracker=tracker, **both[0]), linegate.Gate(tracker=tracker, **both[1])
