"""The table of malformed client lines, each with the verdict that the gate owes it.

Every row spoils one and the same valid request, a call of the tool ``record``, in
its own way. So a gate that lets a row pass shows it by an effect, not only by a
missing error.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Optional

SPOILT, SECOND, GOOD = "spoilt", "second", "good"
SPOILT_ID, SECOND_ID, GOOD_ID = 41, 42, 43

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602


@dataclass(frozen=True)
class Pair:
    """Two valid requests without their LF, for a row to spoil."""

    first: bytes
    second: bytes


@dataclass(frozen=True)
class Row:
    """One way to spoil a request."""

    name: str
    # The bytes to send, LF included where the row has one.
    spoil: Callable[[Pair], bytes]
    # The refusal of the first bad line: its name in the rules, and the JSON-RPC
    # code of the reply, None where no reply is due.
    rule: str
    reply: Optional[int]
    # The input ends right after it: nothing can follow.
    last: bool = False
    # Effects of lines in it that are valid by themselves.
    valid_too: tuple[str, ...] = ()


def request(identifier: int, text: str, meta: Optional[dict[str, Any]]) -> bytes:
    """A valid call of ``record``, without its LF."""
    params: dict[str, Any] = {"name": "record", "arguments": {"text": text}}
    if meta:
        params["_meta"] = meta
    message = {"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": params}
    return json.dumps(message, separators=(",", ":")).encode()


def pair(meta: Optional[dict[str, Any]]) -> Pair:
    """The two requests that rows spoil."""
    return Pair(request(SPOILT_ID, SPOILT, meta), request(SECOND_ID, SECOND, meta))


def good(meta: Optional[dict[str, Any]]) -> bytes:
    """The valid line that is sent after the spoilt one."""
    return request(GOOD_ID, GOOD, meta) + b"\n"


def _swap(old: bytes, new: bytes) -> Callable[[Pair], bytes]:
    """A row that differs from the valid request in one place."""

    def spoil(valid: Pair) -> bytes:
        assert valid.first.count(old) == 1, old
        return valid.first.replace(old, new) + b"\n"

    return spoil


def _around(before: bytes, after: bytes) -> Callable[[Pair], bytes]:
    """A row with something before or after the valid request."""
    return lambda valid: before + valid.first + after + b"\n"


def _text(data: bytes) -> Callable[[Pair], bytes]:
    """A row whose argument has these bytes behind the word."""
    return _swap(b'"text":"spoilt"', b'"text":"spoilt' + data + b'"')


def _argument(member: bytes) -> Callable[[Pair], bytes]:
    """A row with one more member in the arguments."""
    return _swap(b'"text":"spoilt"', b'"text":"spoilt",' + member)


def _just(data: bytes) -> Callable[[Pair], bytes]:
    """A row that isn't made from a request."""
    return lambda _: data


def _without_arguments(params: bytes) -> Callable[[Pair], bytes]:
    """A row with other params."""

    def spoil(valid: Pair) -> bytes:
        return valid.first[: valid.first.index(b'"params":')] + params + b"}\n"

    return spoil


_METHOD = b'"method":"tools/call"'
_ID = b'"id":41'
_NAME = b'"name":"record"'
_ARGUMENTS = b'"arguments":{"text":"spoilt"}'
_HTML = b"""<!DOCTYPE html>
<html><head><title>502 Bad Gateway</title></head>
<body><h1>Bad Gateway</h1></body></html>
"""


def _pretty(valid: Pair) -> bytes:
    return json.dumps(json.loads(valid.first), indent=2).encode() + b"\n"


def _utf16(valid: Pair) -> bytes:
    return valid.first.decode().encode("utf-16-le") + b"\n"


def _utf16_mark(valid: Pair) -> bytes:
    return b"\xff\xfe" + _utf16(valid)


ROWS = (
    # Something else on the stream.
    Row("debug_line", _just(b"DEBUG record\n"), "unexpected_byte", PARSE_ERROR),
    Row("debug_prefix", _around(b"DEBUG ", b""), "unexpected_byte", PARSE_ERROR),
    Row("colour", _around(b"\x1b[32m", b"\x1b[0m"), "unexpected_byte", PARSE_ERROR),
    Row("banner_behind", _around(b"", b" ready."), "trailing_bytes", PARSE_ERROR),
    Row("html_page", _just(_HTML), "unexpected_byte", PARSE_ERROR),
    Row(
        "content_length",
        lambda v: b"Content-Length: %d\r\n\r\n" % len(v.first) + v.first + b"\n",
        "unexpected_byte",
        PARSE_ERROR,
        valid_too=(SPOILT,),
    ),
    # Where a line begins and ends.
    Row("cut_off", lambda v: v.first[:-30], "truncated", None, last=True),
    Row("no_newline", lambda v: v.first, "truncated", None, last=True),
    Row("two_objects", lambda v: v.first + v.second + b"\n", "trailing_bytes", PARSE_ERROR),
    Row("two_objects_space", lambda v: v.first + b" " + v.second + b"\n", "trailing_bytes", PARSE_ERROR),
    Row("bare_cr", lambda v: v.first + b"\r" + v.second + b"\n", "bare_cr", PARSE_ERROR),
    Row("cr_as_space", _swap(b',"params"', b',\r"params"'), "bare_cr", PARSE_ERROR),
    Row("cr_before", _around(b"\r", b""), "bare_cr", PARSE_ERROR),
    Row("cr_cr_lf", _around(b"", b"\r\r"), "bare_cr", PARSE_ERROR),
    Row("newline_in_string", _text(b"\n"), "unexpected_end", PARSE_ERROR),
    Row("pretty_printed", _pretty, "unexpected_end", PARSE_ERROR),
    Row("empty_line", _just(b"\n"), "frame_empty", PARSE_ERROR),
    Row("space_before", _around(b" ", b""), "surrounding_space", INVALID_REQUEST),
    Row("tab_behind", _around(b"", b"\t"), "surrounding_space", INVALID_REQUEST),
    Row("too_long", _text(b"x" * (8 << 20)), "frame_too_long", INVALID_REQUEST),
    # Bytes that are not the text they seem to be.
    Row("bom", _around(b"\xef\xbb\xbf", b""), "bom", PARSE_ERROR),
    Row("nul_before", _around(b"\0", b""), "nul_byte", PARSE_ERROR),
    Row("nul_behind", _around(b"", b"\0"), "nul_byte", PARSE_ERROR),
    Row("nul_in_string", _text(b"\0"), "nul_byte", PARSE_ERROR),
    Row("utf16", _utf16, "nul_byte", PARSE_ERROR),
    Row("utf16_mark", _utf16_mark, "unexpected_byte", PARSE_ERROR),
    Row("byte_ff", _text(b"\xff"), "invalid_utf8", PARSE_ERROR),
    Row("overlong_slash", _text(b"\xc0\xaf"), "invalid_utf8", PARSE_ERROR),
    Row("raw_surrogate", _text(b"\xed\xa0\x80"), "invalid_utf8", PARSE_ERROR),
    Row("latin_1", _text(b"\xe9"), "invalid_utf8", PARSE_ERROR),
    Row("tab_in_string", _text(b"\t"), "control_in_string", PARSE_ERROR),
    Row("lone_surrogate", _text(rb"\ud800"), "lone_surrogate", INVALID_REQUEST),
    Row("escaped_nul", _text(rb"\u0000"), "escaped_nul", INVALID_REQUEST),
    Row("bad_escape", _text(rb"\x41"), "bad_escape", PARSE_ERROR),
    # JSON that only some parsers take.
    Row("trailing_comma", _argument(b""), "unexpected_byte", PARSE_ERROR),
    Row("comment", _swap(_ID, b"/* */" + _ID), "unexpected_byte", PARSE_ERROR),
    Row("single_quotes", _swap(_NAME, b"'name':'record'"), "unexpected_byte", PARSE_ERROR),
    Row("python_true", _argument(b'"count":True'), "unexpected_byte", PARSE_ERROR),
    Row("nan", _argument(b'"other":NaN'), "unexpected_byte", PARSE_ERROR),
    Row("infinity", _argument(b'"other":-Infinity'), "bad_number", PARSE_ERROR),
    Row("zero_one", _argument(b'"count":01'), "bad_number", PARSE_ERROR),
    Row("plus_one", _argument(b'"count":+1'), "unexpected_byte", PARSE_ERROR),
    Row("one_point", _argument(b'"count":1.'), "bad_number", PARSE_ERROR),
    Row("point_one", _argument(b'"count":.1'), "unexpected_byte", PARSE_ERROR),
    Row("two_to_53", _argument(b'"count":9007199254740992'), "number_range", INVALID_REQUEST),
    Row("huge_float", _argument(b'"other":1e999'), "number_range", INVALID_REQUEST),
    Row("deep", _argument(b'"other":' + b"[" * 40 + b"]" * 40), "too_deep", INVALID_REQUEST),
    Row("proto", _argument(b'"__proto__":{}'), "forbidden_key", INVALID_REQUEST),
    # Names that are there twice.
    Row("duplicate_method", _swap(_METHOD, b'"method":"tools/list",' + _METHOD), "duplicate_key", INVALID_REQUEST),
    Row(
        "duplicate_by_escape",
        _swap(_METHOD, rb'"method":"tools/list","m\u0065thod":"tools/call"'),
        "duplicate_key",
        INVALID_REQUEST,
    ),
    Row("duplicate_id", _swap(_ID, b'"id":40,' + _ID), "duplicate_key", INVALID_REQUEST),
    Row("duplicate_tool", _swap(_NAME, b'"name":"echo",' + _NAME), "duplicate_key", INVALID_REQUEST),
    Row("duplicate_argument", _argument(b'"text":"spoilt"'), "duplicate_key", INVALID_REQUEST),
    Row("two_cases", _swap(_METHOD, _METHOD + b',"Method":"tools/list"'), "case_collision", INVALID_REQUEST),
    Row("two_cases_of_tool", _swap(_NAME, _NAME + b',"Name":"echo"'), "case_collision", INVALID_REQUEST),
    Row("method_in_capitals", _swap(_METHOD, b'"Method":"tools/call"'), "misspelt_member", INVALID_REQUEST),
    Row("method_by_escape", _swap(_METHOD, rb'"m\u0065thod":"tools/call"'), "misspelt_member", INVALID_REQUEST),
    Row("tool_in_capitals", _swap(_NAME, b'"NAME":"record"'), "misspelt_member", INVALID_REQUEST),
    # JSON that is no JSON-RPC request.
    Row("null", _just(b"null\n"), "not_an_object", INVALID_REQUEST),
    Row("number", _just(b"41\n"), "not_an_object", INVALID_REQUEST),
    Row("request_in_string", lambda v: json.dumps(v.first.decode()).encode() + b"\n", "not_an_object", INVALID_REQUEST),
    Row("empty_object", _just(b"{}\n"), "jsonrpc_missing", INVALID_REQUEST),
    Row("batch_of_one", _around(b"[", b"]"), "batch", INVALID_REQUEST),
    Row("batch_of_two", lambda v: b"[" + v.first + b"," + v.second + b"]\n", "batch", INVALID_REQUEST),
    Row("jsonrpc_missing", _swap(b'"jsonrpc":"2.0",', b""), "jsonrpc_missing", INVALID_REQUEST),
    Row("jsonrpc_1", _swap(b'"2.0"', b'"1.0"'), "jsonrpc_wrong", INVALID_REQUEST),
    Row("jsonrpc_number", _swap(b'"2.0"', b"2.0"), "jsonrpc_wrong", INVALID_REQUEST),
    Row("id_null", _swap(_ID, b'"id":null'), "id_null", INVALID_REQUEST),
    Row("id_true", _swap(_ID, b'"id":true'), "id_type", INVALID_REQUEST),
    Row("id_fraction", _swap(_ID, b'"id":41.0'), "id_type", INVALID_REQUEST),
    Row("id_exponent", _swap(_ID, b'"id":41e0'), "id_type", INVALID_REQUEST),
    Row("id_array", _swap(_ID, b'"id":[41]'), "id_type", INVALID_REQUEST),
    Row("id_two_to_53", _swap(_ID, b'"id":9007199254740992'), "number_range", INVALID_REQUEST),
    Row("unknown_member", _swap(_ID, b'"extra":1,' + _ID), "unknown_member", INVALID_REQUEST),
    Row("result_too", _swap(_ID, b'"result":{},' + _ID), "mixed_shape", INVALID_REQUEST),
    Row("method_number", _swap(_METHOD, b'"method":1'), "method_type", INVALID_REQUEST),
    Row("method_empty", _swap(_METHOD, b'"method":""'), "method_type", INVALID_REQUEST),
    # JSON-RPC that MCP narrows.
    Row("params_string", _without_arguments(b'"params":"record spoilt"'), "params_type", INVALID_PARAMS),
    Row("params_array", _without_arguments(b'"params":["record","spoilt"]'), "params_type", INVALID_PARAMS),
    # No message of MCP.
    Row("id_missing", _swap(_ID + b",", b""), "id_presence", None),
    Row("method_unknown", _swap(_METHOD, b'"method":"tools/run"'), "unknown_method", METHOD_NOT_FOUND),
    Row("tool_missing", _swap(_NAME + b",", b""), "param_missing", INVALID_PARAMS),
    Row("tool_number", _swap(_NAME, b'"name":41'), "param_type", INVALID_PARAMS),
    Row("arguments_array", _swap(_ARGUMENTS, b'"arguments":["spoilt"]'), "param_type", INVALID_PARAMS),
)
