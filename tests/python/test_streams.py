"""The readers and the writer as streams: no descriptor, whole lines, ends and faults as their users expect them."""

from __future__ import annotations

import io
import json
import os
import threading
from typing import Any

import linegate
import pytest
from linegate import aio

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
OK = b'{"jsonrpc":"2.0","id":1,"result":{}}'


def wrapped(data: bytes, **options: Any) -> tuple[io.BufferedReader, list[linegate.Refused]]:
    told: list[linegate.Refused] = []
    return linegate.wrap(io.BytesIO(data), on_refused=told.append, **options), told


def test_a_gated_reader_has_no_descriptor() -> None:
    file: Any = open(os.devnull, "rb")  # noqa: SIM115
    for stream in (io.BytesIO(PING), file):
        with linegate.wrap(stream) as reader, io.TextIOWrapper(reader) as text:
            everything: list[Any] = [reader, reader.raw, text]
            for gated in everything:
                with pytest.raises(io.UnsupportedOperation, match=r"no descriptor.*linegate\.pump"):
                    gated.fileno()
                assert not gated.isatty()


def test_the_ways_of_reading() -> None:
    data = b"{}\n".join([PING + b"\n"] * 3)
    for read in (
        lambda r: r.read(),
        lambda r: b"".join(r),
        lambda r: b"".join(r.readlines()),
        lambda r: b"".join(iter(lambda: r.read1(5), b"")),
    ):
        reader, told = wrapped(data, policy="continue")
        assert read(reader) == (PING + b"\n") * 3 and [refused.code for refused in told] == [303, 303]
    reader, _ = wrapped(PING + b"\r\n" + PING + b"\n")
    # A carriage return is stripped: what is passed on ends with the line feed alone.
    assert reader.readline() == PING + b"\n"
    assert list(io.TextIOWrapper(reader, encoding="utf-8", newline="\n")) == [PING.decode() + "\n"]


def test_a_session_that_ended_is_the_end_of_the_stream() -> None:
    reader, told = wrapped(PING + b"\n{not json}\n" + PING + b"\n")
    assert reader.read() == PING + b"\n" and reader.read() == b"" and len(told) == 1
    reader, told = wrapped(PING)
    assert reader.read() == b"" and [refused.code for refused in told] == [104]


def test_what_is_no_binary_stream_is_not_wrapped() -> None:
    for thing in (io.StringIO("x"), "x", b"x", None, 5):
        with pytest.raises(TypeError, match=r"a binary stream: sys\.stdin\.buffer"):
            linegate.wrap(thing)
        if not isinstance(thing, io.StringIO):
            nothing: Any = thing
            with pytest.raises(TypeError, match=r"asyncio\.StreamReader"):
                aio.Reader(nothing)

    class Text:
        def read(self, size: int) -> str:
            return PING.decode()

        def close(self) -> None:
            pass

    with pytest.raises(TypeError, match="gives text"):
        linegate.wrap(Text()).read(1)


def test_a_stream_that_has_nothing_yet() -> None:
    chunks = [None, PING, None, b"\n", b""]

    class Slow(io.RawIOBase):
        def read(self, size: int = -1, /) -> Any:
            return chunks.pop(0)

    reader = linegate.wrap(Slow())
    assert [reader.raw.read(100) for _ in range(3)] == [None, None, PING + b"\n"]


def test_closing_closes_the_stream() -> None:
    source = io.BytesIO(PING)
    with linegate.wrap(source):
        pass
    assert source.closed


def test_a_faulty_stream_is_no_refusal() -> None:
    class Faulty(io.RawIOBase):
        def read(self, size: int = -1, /) -> bytes:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        linegate.wrap(Faulty()).read()


def test_by_default_a_refusal_is_told_on_stderr_without_payload(capsys: pytest.CaptureFixture[str]) -> None:
    linegate.wrap(io.BytesIO(b'{"jsonrpc":"secret"}\n')).read()
    told = capsys.readouterr().err
    assert (
        told.startswith("linegate: refused line 1 of the client: 304 jsonrpc_wrong at byte 11") and "secret" not in told
    )


def test_what_a_refused_response_would_have_settled_is_settled_for_the_reader() -> None:
    client, server = linegate.session()
    list(client.feed(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'))
    list(
        client.feed(
            b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}\n'
        )
    )
    told: list[linegate.Refused] = []
    answer = b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
    reader = linegate.wrap(io.BytesIO(answer), gate=server, on_refused=told.append)
    (settled,) = [json.loads(line) for line in reader]
    assert (settled["id"], settled["error"]["code"]) == (1, -32603) and told[0].code == 408


# The writer.


class Sink(io.RawIOBase):
    """Takes a few bytes at a time."""

    def __init__(self, most: int = 5) -> None:
        self.got = bytearray()
        self.most = most

    def write(self, data: Any, /) -> int:
        piece = bytes(data[: self.most])
        self.got += piece
        return len(piece)


def wire(**more: Any) -> tuple[linegate.Wire, Sink, list[linegate.Refused], list[bytes]]:
    sink = Sink()
    told: list[linegate.Refused] = []
    strays: list[bytes] = []
    return linegate.Wire(sink, on_refused=told.append, on_stray=strays.append, **more), sink, told, strays


def test_lines_are_written_whole_and_what_is_none_is_withheld() -> None:
    out, sink, told, strays = wire()
    for piece in (OK[:7], OK[7:] + b"\nStarting up...\n" + OK, b"\n", b"50% done", b"\n"):
        assert out.write(piece) == len(piece)
    assert bytes(sink.got) == (OK + b"\n") * 2
    assert strays == [b"Starting up...\n", b"50% done\n"] and [refused.code for refused in told] == [202, 207]
    out.write(OK)
    out.close()
    # A line without its end was never one.
    assert strays[2:] == [OK] and bytes(sink.got) == (OK + b"\n") * 2
    with pytest.raises(ValueError):
        out.write(OK)


def test_write_line_says_what_is_wrong() -> None:
    out, sink, _, _ = wire()
    out.write_line(OK)
    out.write_line(OK.decode() + "\n")
    for bad in (b"hello", b"", OK + b"\n" + OK, b"{}\n{}"):
        with pytest.raises((linegate.RefusedError, ValueError)):
            out.write_line(bad)
    out.write_line(OK)
    assert bytes(sink.got) == (OK + b"\n") * 3


def test_answers() -> None:
    out, sink, _, _ = wire(revision="jsonrpc")
    request, notification = linegate.Gate(revision="jsonrpc").feed(
        b'{"jsonrpc":"2.0","id":"\\u00e9","method":"a"}\n{"jsonrpc":"2.0","method":"a"}\n'
    )
    assert isinstance(request, linegate.Message) and isinstance(notification, linegate.Message)
    for message in (request, notification):
        out.answer(message, {"x": [1, "\u2028"]})
        out.answer_error(message, -32000, "no")
    assert sink.got.count(b"\n") == 2 and b'"id":"\\u00e9"' in sink.got
    first, second = (json.loads(line) for line in bytes(sink.got).splitlines())
    assert first["result"] == {"x": [1, "\u2028"]} and second["error"] == {"code": -32000, "message": "no"}


def test_a_line_that_is_too_long_takes_no_memory() -> None:
    out, sink, told, strays = wire(limits=linegate.Limits(max_frame=100))
    for _ in range(1000):
        out.write(b"x" * 1000)
    out.write(b"\n" + OK + b"\n")
    assert bytes(sink.got) == OK + b"\n" and len(told) == 1 and sum(map(len, strays)) < 5000


def test_a_broken_wire_stays_broken() -> None:
    class Broken(Sink):
        def write(self, data: Any, /) -> int:
            raise BrokenPipeError("gone")

    out = linegate.Wire(Broken())
    for _ in range(2):
        with pytest.raises(BrokenPipeError):
            out.write_line(OK)


@pytest.mark.parametrize("count", [2000])
def test_eight_threads_write_and_one_reads(count: int) -> None:
    eight_threads(count)


def eight_threads(count: int) -> None:
    """No line is torn, lost or doubled, whoever writes whatever in between."""
    inside, outside = os.pipe()
    strays: list[bytes] = []
    out = linegate.Wire(os.fdopen(outside, "wb", buffering=0), on_refused=lambda refused: None, on_stray=strays.append)

    def write(name: int) -> None:
        for number in range(count):
            line = b'{"jsonrpc":"2.0","id":"%d.%d","result":{"pad":"%s"}}\n' % (name, number, b"x" * (number % 97))
            if number % 5 == 0:
                out.write(b"stray of %d\n" % name)
            if number % 3:
                out.write(line[: number % 40])
                out.write(line[number % 40 :])
            else:
                out.write_line(line)

    threads = [threading.Thread(target=write, args=(name,)) for name in range(8)]
    seen: list[list[int]] = [[] for _ in range(8)]

    def read() -> None:
        for line in linegate.wrap(os.fdopen(inside, "rb", buffering=0), sender="server"):
            name, number = json.loads(line)["id"].split(".")
            seen[int(name)].append(int(number))

    reader = threading.Thread(target=read)
    for thread in [*threads, reader]:
        thread.start()
    for thread in threads:
        thread.join()
    out.close()
    reader.join()
    assert seen == [list(range(count))] * 8
    assert len(strays) == 8 * ((count + 4) // 5)


def test_who_is_told_of_refusals_is_a_plain_function() -> None:
    async def later(refused: object) -> None: ...

    for wrong, text in ((later, "on_refused is an `async def`"), ("stderr", "on_refused is a function, not a str")):
        for begin in (
            lambda given: linegate.wrap(io.BytesIO(), on_refused=given),
            lambda given: linegate.pump(on_refused=given),
            lambda given: linegate.Wire(io.BytesIO(), on_refused=given),
        ):
            with pytest.raises(linegate.UsageError, match=text):
                begin(wrong)
