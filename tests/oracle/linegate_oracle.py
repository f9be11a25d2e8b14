#!/usr/bin/env python3
"""The rules of the gate as one small, slow, readable program.

It judges a whole byte stream by the rules of frames (1xx), JSON text (2xx), JSON-RPC shape (3xx) and MCP shape (4xx)
and says what a gate must say: which lines pass, which are refused, with which code, where, and what the reply would be.
It was written from the text of the rules alone and shares nothing with the gate but the table of methods, so that a
difference means that one of the two is wrong.

It copies, allocates and reads every line as often as it likes; the gate does none of that. Do not translate it.

    judge(stream, Options())          -> Session(events, counters)
    python3 linegate_oracle.py < file -> one event a line, as JSON
    python3 linegate_oracle.py '{"from":"server","policy":"continue"}' < file
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional, Union

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
UNSUPPORTED_VERSION = -32022

PARSE_CODES = {102, 103, 105, 106, 201, 202, 203, 205, 206, 207, 216}
RPC_CODES = dict.fromkeys(PARSE_CODES, PARSE_ERROR)  # every other code is INVALID_REQUEST
RPC_CODES.update(dict.fromkeys((309, 403, 404, 405, 406), INVALID_PARAMS))
RPC_CODES.update({402: METHOD_NOT_FOUND, 407: UNSUPPORTED_VERSION})
# These don't end a close_malformed session.
OPEN_CODES = {102, 107, 204, 208, 210, 211, 212, 213, 214, 215, 217, 309, 402, 403, 404, 405, 406, 407, 408, 409}
MCP_ORDER = (401, 410, 402, 407, 405, 403, 404, 406, 409, 408)  # the order within the stage, responses included

SAFE_INTEGER = 2**53 - 1
MAX_KEY = 8192
MAX_METHOD = 255
WALK_DEPTH = 64  # how deep the walk for a reply's id goes
DEEPEST = 512  # and that for the id of a server's response
SPACES = b" \t"
BEGINNERS = frozenset(b'{["-0123456789tfn \t\r\n')  # bytes that may begin a line (CR and LF wait for more)

STRICT = frozenset({"separators", "inexact_decimals"})
DATA = STRICT | {"case_collisions", "escaped_nul", "big_integers", "number_range", "forbidden_keys"}
PROFILES = {
    "strict": STRICT,
    "data": DATA,
    "rfc8259": DATA | {"surrounding_space", "lone_surrogates", "long_keys", "escaped_nul_in_keys"},
}
SWITCHES = PROFILES["rfc8259"] | {"blank_lines", "unknown_members"}

Json = dict[str, Any]

TABLE = Path(__file__).resolve().parent.parent.parent / "core" / "src" / "mcp" / "methods.json"
PROTOCOL: Json = json.loads(TABLE.read_text(encoding="utf-8"))
METHODS: dict[str, Json] = PROTOCOL["methods"]
META: dict[str, Json] = PROTOCOL["meta"]
REVISIONS: dict[str, str] = {name: letter for letter, name in sorted(PROTOCOL["revisions"].items())}  # oldest first
MODERN = REVISIONS["2026-07-28"]  # no handshake: every request says its version, only clients ask, only servers answer
NAMED_KEYS = "CDE"  # revisions with a grammar of _meta keys
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"

ENVELOPE = frozenset(("jsonrpc", "id", "method", "params", "result", "error"))
ERROR_NAMES = frozenset(("code", "message", "data"))


# Options, events


@dataclass(frozen=True)
class Options:
    """What the gate is told; defaults as in the rules."""

    direction: str = "client"
    allowed: frozenset[str] = STRICT
    revision: str = "auto"
    max_frame: int = 8 << 20
    max_depth: int = 32
    max_keys: int = 1 << 16
    max_id: int = 255
    max_replies: int = 16
    policy: str = "close_malformed"
    batches: str = "by_revision"
    error_id: str = "by_revision"
    revisions: tuple[str, ...] = tuple(REVISIONS)  # what the host supports, for 407
    allow_methods: frozenset[str] = frozenset()
    allow_result_types: frozenset[str] = frozenset()

    @staticmethod
    def of(given: Json) -> Options:
        """Options from the `options` object of a vector."""
        rest = dict(given)
        direction = rest.pop("from", "client")
        profile = rest.pop("profile", "strict" if direction == "client" else "data")
        allow, refuse = set(rest.pop("allow", ())), set(rest.pop("refuse", ()))
        unknown = (allow | refuse) - SWITCHES
        if unknown:
            raise ValueError(f"no such switch: {sorted(unknown)}")
        rest.setdefault("max_depth", 32 if profile == "strict" else 64)
        supported = rest.pop("revisions", list(REVISIONS))
        if not set(supported) <= set(REVISIONS):
            raise ValueError(f"no such revision: {sorted(set(supported) - set(REVISIONS))}")
        rest["revisions"] = tuple(name for name in REVISIONS if name in supported)
        for name in ("allow_methods", "allow_result_types"):
            rest[name] = frozenset(rest.get(name, ()))
        return Options(direction=direction, allowed=frozenset((PROFILES[profile] | allow) - refuse), **rest)

    @property
    def is_mcp(self) -> bool:
        return self.revision != "jsonrpc"

    @property
    def letters(self) -> str:
        """The revisions that a line is judged by, newest first: any of them may accept it."""
        if self.is_mcp and self.revision != "auto":
            return REVISIONS[self.revision]
        return "".join(reversed(REVISIONS.values())) if self.is_mcp else ""

    @property
    def takes_batches(self) -> bool:
        return self.batches == "allow" or (self.batches == "by_revision" and self.revision == "2025-03-26")

    @property
    def unknown_id(self) -> str:
        """How a reply without an echoed id says so."""
        if self.error_id != "by_revision":
            return self.error_id
        return "absent" if self.revision in ("2025-11-25", "2026-07-28") else "null"


@dataclass(frozen=True)
class Accepted:
    kind: str  # request, notification, result, error, batch
    method: Optional[str]  # decoded; requests and notifications
    id: Optional[str]  # the raw token

    def as_vector(self) -> Json:
        shown: Json = {"accept": self.kind}
        if self.method is not None:
            shown["method"] = self.method
        if self.id is not None:
            shown["id"] = self.id
        return shown


@dataclass(frozen=True)
class Refused:
    code: int
    at: int
    length: int
    rpc_code: Optional[int]  # None where no reply is due
    id: Optional[str]  # the raw token that the reply echoes
    closes: bool  # whether it ended the session
    reply: bool  # whether a reply is made: due, and not over max_replies
    reply_id: Optional[str]  # what the reply says as id: a token, `null` or `absent`; None without a reply
    reply_data: Optional[Json]  # the reply's error.data, where it has one

    def as_vector(self) -> Json:
        shown: Json = {"refuse": self.code, "at": self.at, "length": self.length, "rpc_code": self.rpc_code}
        if self.id is not None:
            shown["id"] = self.id
        if self.rpc_code is not None and not self.reply:
            shown["reply"] = False
        return shown


@dataclass(frozen=True)
class Closed:
    def as_vector(self) -> Json:
        return {"closed": True}


Event = Union[Accepted, Refused, Closed]


@dataclass
class Session:
    events: list[Event] = field(default_factory=list)
    counters: dict[str, int] = field(
        default_factory=lambda: {"accepted": 0, "refused": 0, "blank_lines": 0, "stripped_crs": 0, "replies": 0}
    )


class Fault(Exception):
    """The verdict on a line: a code, the offset it is given at, and what a reply says beside them."""

    def __init__(self, code: int, at: int, data: Optional[Json] = None) -> None:
        super().__init__(code, at)
        self.code, self.at, self.data = code, at, data


# Sessions and frames


def judge(stream: bytes, options: Options) -> Session:
    """Everything that a gate says of a stream, end of input included."""
    session = Session()
    streak = 0  # replies since a line was accepted
    start = 0
    while start < len(stream):
        end = stream.find(b"\n", start)
        whole = end >= 0
        if not whole:
            end = len(stream)
        line = stream[start:end]
        start = end + 1
        try:
            content = frame(line, whole, options, session.counters)
            if content is None:
                session.counters["blank_lines"] += 1
                continue
            root = read(content, options)
            accepted = message(root, options)
            check_mcp(root, options)
        except Fault as fault:
            session.counters["refused"] += 1
            rpc_code, token = reply_of(fault, line, options)
            made = rpc_code is not None and streak < options.max_replies
            if made:
                streak += 1
                session.counters["replies"] += 1
            closes = fault.code == 104 or options.policy == "close_all"
            closes = closes or (options.policy == "close_malformed" and fault.code not in OPEN_CODES)
            reply_id = (options.unknown_id if token is None else token) if made else None
            data = fault.data if made else None
            refused = Refused(fault.code, fault.at, len(line), rpc_code, token, closes, made, reply_id, data)
            session.events.append(refused)
            if closes:
                if start < len(stream):
                    session.events.append(Closed())
                return session
        else:
            session.counters["accepted"] += 1
            streak = 0
            session.events.append(accepted)
    return session


def frame(line: bytes, whole: bool, options: Options, counters: dict[str, int]) -> Optional[bytes]:
    """The content of a line, or None for a blank one that is skipped. `whole`: its LF arrived."""
    early(line, whole, options.max_frame)
    if not whole:
        raise Fault(104, len(line))
    content = line
    if line.endswith(b"\r"):
        content = line[:-1]
        counters["stripped_crs"] += 1
    if not content:
        if "blank_lines" in options.allowed:
            return None
        raise Fault(102, 0)
    faults = [(at, code) for at, code in ((content.find(b"\r"), 103), (content.find(b"\0"), 106)) if at >= 0]
    if "surrounding_space" not in options.allowed:
        if content[0] in SPACES:
            faults.append((0, 107))
        elif content[-1] in SPACES:
            faults.append((len(content.rstrip(SPACES)), 107))
    if faults:
        at, code = min(faults)
        raise Fault(code, at)
    return content


def early(line: bytes, whole: bool, max_frame: int) -> None:
    """Verdicts given as bytes arrive, before the LF."""
    text = line + b"\n" if whole else line
    first = text[0]
    if first == 0:
        raise Fault(106, 0)
    if first == 0xEF:
        bom = b"\xef\xbb\xbf"
        seen = text[:3]
        if seen == bom:
            raise Fault(105, 0)
        if not bom.startswith(seen):
            raise Fault(202, 0)
    elif first == 0x0D:
        if len(text) > 1 and text[1] != 0x0A:
            raise Fault(103, 0)
    elif first not in BEGINNERS:
        raise Fault(202, 0)
    if len(line) > max_frame:
        raise Fault(101, max_frame)


# JSON text


@dataclass
class Node:
    """A value that was read, with its place in the line."""

    kind: str  # object, array, string, number, true, false, null
    start: int
    end: int = 0
    text: str = ""  # a string after unescaping, a number as written
    raw: str = ""  # a scalar as written
    plain: bool = True  # a string without escapes
    members: list[tuple[Node, Node]] = field(default_factory=list)
    elements: list[Node] = field(default_factory=list)


def fold(name: str) -> str:
    """Case folding: ASCII, long s, Kelvin sign."""
    return "".join(c.lower() if c.isascii() else {"\u017f": "s", "\u212a": "k"}.get(c, c) for c in name)


def utf8_length(data: bytes, at: int) -> int:
    """Bytes of the well-formed UTF-8 sequence at `at`, 0 where it is ill-formed."""
    for length in (1, 2, 3, 4):
        try:
            data[at : at + length].decode("utf-8")
        except UnicodeDecodeError:
            continue
        return length
    return 0


ESCAPES = {ord(c): v for c, v in zip('"\\/bfnrt', '"\\/\b\f\n\r\t')}
HEX = frozenset(b"0123456789abcdefABCDEF")
DIGITS = frozenset(b"0123456789")
PLAIN = re.compile(rb"[ !#-\[\]-\x7f]+")  # what stands for itself in a string, non-ASCII apart


class Reader:
    """Reads one line from left to right and raises the first fault it meets.

    `allowed` are the switches that are loosened. With `grammar` nothing counts but RFC 8259 and the depth.
    """

    def __init__(self, data: bytes, allowed: frozenset[str], max_depth: int, max_keys: int, grammar: bool) -> None:
        self.data, self.at = data, 0
        self.allowed, self.max_depth, self.max_keys = allowed, max_depth, max_keys
        self.grammar = grammar

    def refuses(self, switch: str) -> bool:
        return not self.grammar and switch not in self.allowed

    def peek(self) -> int:
        """The byte at hand; the end of the line is a fault."""
        if self.at >= len(self.data):
            raise Fault(216, len(self.data))
        return self.data[self.at]

    def impossible(self, code: int) -> Fault:
        """The byte at hand cannot stand here: 201 where it isn't even UTF-8, else `code`."""
        if utf8_length(self.data, self.at) == 0:
            return Fault(201, self.at)
        return Fault(code, self.at)

    def space(self) -> None:
        while self.at < len(self.data) and self.data[self.at] in b" \t":
            self.at += 1

    def document(self) -> Node:
        """The one value of the line. Open containers lie on a list: no recursion."""
        root: Optional[Node] = None
        path: list[Node] = []
        known: list[tuple[set[str], set[str]]] = []  # for each open object: its keys, and the same folded
        self.space()
        while True:
            node = self.value(len(path) + 1)
            if root is None:
                root = node
            if node.kind in ("object", "array"):
                path.append(node)
                known.append((set(), set()))
            elif path:
                self.keep(path[-1], node)
            # Go on to the place of the next value, closing what ends here.
            fresh = node.kind in ("object", "array")
            while path:
                top = path[-1]
                self.space()
                if self.peek() == (0x7D if top.kind == "object" else 0x5D):
                    self.at += 1
                    top.end = self.at
                    path.pop()
                    known.pop()
                    fresh = False
                    if path:
                        self.keep(path[-1], top)
                    continue
                if not fresh:
                    if self.peek() != 0x2C:
                        raise self.impossible(202)
                    self.at += 1
                    self.space()
                if top.kind == "object":
                    self.key(top, known)
                break
            if not path:
                break
        self.space()
        if self.at < len(self.data):
            raise self.impossible(207)
        return root

    @staticmethod
    def keep(parent: Node, child: Node) -> None:
        """Hangs a value that ended under its parent; an object's last member waits for it."""
        if parent.kind == "array":
            parent.elements.append(child)
        else:
            key, _ = parent.members[-1]
            parent.members[-1] = (key, child)

    def key(self, owner: Node, known: list[tuple[set[str], set[str]]]) -> None:
        """A key, its colon and the space around; then the value may begin."""
        if self.peek() != 0x22:
            raise self.impossible(202)
        key = self.string(is_key=True)
        names, folded = known[-1]
        if not self.grammar:
            name = key.text
            alive = sum(len(kept) for kept, _ in known)
            if name in names:
                raise Fault(209, key.start)
            if alive >= self.max_keys:
                raise Fault(210, key.start)
            if self.refuses("long_keys") and len(name.encode("utf-8", "surrogatepass")) > MAX_KEY:
                raise Fault(211, key.start)
            if self.refuses("case_collisions") and fold(name) in folded:
                raise Fault(212, key.start)
            if self.refuses("forbidden_keys") and (name == "__proto__" or name.startswith("$serde_json::private::")):
                raise Fault(215, key.start)
            names.add(name)
            folded.add(fold(name))
        owner.members.append((key, key))  # the value takes the second place when it ends
        self.space()
        if self.peek() != 0x3A:
            raise self.impossible(202)
        self.at += 1
        self.space()

    def value(self, depth: int) -> Node:
        """A scalar, or the opening bracket of a container."""
        c = self.peek()
        if c not in b'{["-0123456789tfn':
            raise self.impossible(202)
        if depth > self.max_depth:
            raise Fault(208, self.at)
        node = Node("", self.at)
        if c == 0x22:
            return self.string(is_key=False)
        if c == 0x7B or c == 0x5B:
            node.kind = "object" if c == 0x7B else "array"
            self.at += 1
        elif c in b"tfn":
            node.kind = {"t": "true", "f": "false", "n": "null"}[chr(c)]
            for expected in node.kind.encode():
                if self.peek() != expected:
                    raise self.impossible(202)
                self.at += 1
        else:
            node.kind = "number"
            self.number()
            node.text = self.data[node.start : self.at].decode()
            if not self.grammar:
                self.number_range(node)
        node.end, node.raw = self.at, self.data[node.start : self.at].decode()
        return node

    def digits(self) -> None:
        if self.peek() not in DIGITS:
            raise self.impossible(206)
        while self.at < len(self.data) and self.data[self.at] in DIGITS:
            self.at += 1

    def number(self) -> None:
        def next_in(wanted: bytes) -> bool:
            return self.at < len(self.data) and self.data[self.at] in wanted

        if next_in(b"-"):
            self.at += 1
        if self.peek() == 0x30:
            self.at += 1
            if next_in(b"0123456789"):
                raise Fault(206, self.at)
        else:
            self.digits()
        if next_in(b"."):
            self.at += 1
            self.digits()
        if next_in(b"eE"):
            self.at += 1
            if self.peek() in b"+-":
                self.at += 1
            self.digits()

    def number_range(self, node: Node) -> None:
        """214, on decimal digits alone."""
        if not self.refuses("number_range"):
            return
        fault = Fault(214, node.start)
        mantissa, has_exponent, exponent = node.text.lower().partition("e")
        whole, has_point, fraction = mantissa.lstrip("-").partition(".")
        if not has_exponent and not has_point:
            if node.text == "-0" or (self.refuses("big_integers") and int_beyond(whole)):
                raise fault
            return
        digits = (whole + fraction).lstrip("0")
        if not digits:
            if has_exponent:
                raise fault
            return
        if len(digits) > (15 if self.refuses("inexact_decimals") else 17) or len(exponent.lstrip("+-")) > 3:
            raise fault
        power = int(exponent or "0") - len(fraction)
        if not decimal_at_least(digits, power, "22250738585072014", -308 - 16):
            raise fault
        if not decimal_at_least("17976931348623157", 308 - 16, digits, power):
            raise fault

    def string(self, is_key: bool) -> Node:
        node = Node("string", self.at)
        out: list[str] = []
        self.at += 1
        while True:
            c = self.peek()
            if c == 0x22:
                self.at += 1
                break
            if c == 0x5C:
                node.plain = False
                out.append(self.escape(is_key))
            elif c < 0x20:
                raise Fault(205, self.at)
            elif c < 0x80:
                run = PLAIN.match(self.data, self.at)
                assert run is not None
                out.append(run.group().decode())
                self.at = run.end()
            else:
                length = utf8_length(self.data, self.at)
                if length == 0:
                    raise Fault(201, self.at)
                char = self.data[self.at : self.at + length].decode("utf-8")
                if char in "\u0085\u2028\u2029" and self.refuses("separators"):
                    raise Fault(217, self.at)
                out.append(char)
                self.at += length
        node.end, node.text, node.raw = self.at, "".join(out), self.data[node.start : self.at].decode("utf-8")
        return node

    def escape(self, is_key: bool) -> str:
        backslash = self.at
        self.at += 1
        c = self.peek()
        if c in ESCAPES:
            self.at += 1
            return ESCAPES[c]
        if c != 0x75:
            raise self.impossible(203)
        self.at += 1
        for _ in range(4):
            if self.peek() not in HEX:
                raise self.impossible(203)
            self.at += 1
        unit = int(self.data[self.at - 4 : self.at], 16)
        if 0xD800 <= unit < 0xDC00:
            low = self.data[self.at : self.at + 6]
            if len(low) == 6 and low[:2] == b"\\u" and all(c in HEX for c in low[2:]):
                second = int(low[2:], 16)
                if 0xDC00 <= second < 0xE000:
                    self.at += 6
                    return chr(0x10000 + ((unit - 0xD800) << 10) + second - 0xDC00)
        if 0xD800 <= unit < 0xE000 and self.refuses("lone_surrogates"):
            raise Fault(204, backslash)
        if unit == 0 and self.refuses("escaped_nul_in_keys" if is_key else "escaped_nul"):
            raise Fault(213, backslash)
        return chr(unit)


def int_beyond(digits: str) -> bool:
    """Whether an integer of these digits (no leading zero) lies beyond 2^53-1."""
    return len(digits) > 16 or int(digits) > SAFE_INTEGER


def decimal_at_least(a: str, a_power: int, b: str, b_power: int) -> bool:
    """a * 10^a_power >= b * 10^b_power, for digits without leading zeros."""
    if len(a) + a_power != len(b) + b_power:
        return len(a) + a_power > len(b) + b_power
    width = max(len(a), len(b))
    return a.ljust(width, "0") >= b.ljust(width, "0")


def read(content: bytes, options: Options) -> Node:
    return Reader(content, options.allowed, options.max_depth, options.max_keys, grammar=False).document()


# JSON-RPC shape


def message(root: Node, options: Options) -> Accepted:
    """The line as a message, or the first fault of its shape."""
    if root.kind == "object":
        faults = Faults()
        accepted = judge_object(root, options, faults, in_batch=False)
        faults.raise_first()
        return accepted
    if root.kind != "array":
        raise Fault(301, root.start)
    if not options.takes_batches or not root.elements:
        raise Fault(302, root.start)
    faults = Faults()
    asks: Optional[bool] = None  # whether the batch holds requests and notifications, or responses
    for element in root.elements:
        if element.kind == "array":
            raise Fault(302, element.start)
        if element.kind != "object":
            raise Fault(301, element.start)
        accepted = judge_object(element, options, faults, in_batch=True)
        faults.raise_first(but_params=True)
        element_asks = accepted.kind in ("request", "notification")
        if asks is None:
            asks = element_asks
        elif asks != element_asks:
            raise Fault(302, element.start)
    faults.raise_first()
    return Accepted("batch", None, None)


class Faults:
    """Faults of a message with the place where each is met; the first place wins, there the lower code."""

    def __init__(self) -> None:
        self.met: list[tuple[int, int, int]] = []  # place, code, at
        self.params: Optional[Fault] = None  # 309 comes last of all

    def add(self, code: int, at: int, met: Optional[int] = None) -> None:
        self.met.append((at if met is None else met, code, at))

    def raise_first(self, but_params: bool = False) -> None:
        if self.met:
            _, code, at = min(self.met)
            raise Fault(code, at)
        if self.params is not None and not but_params:
            raise self.params


def is_integer(node: Node) -> bool:
    return node.kind == "number" and node.text != "-0" and not set(node.text) & set(".eE")


def id_fault(node: Node, max_id: int) -> Optional[int]:
    """306, 307 or 308 where the value can't be an id."""
    if node.kind == "null":
        return 307
    if node.kind == "string":
        return 308 if node.end - node.start - 2 > max_id else None
    if not is_integer(node):
        return 306
    return 308 if int_beyond(node.text.lstrip("-")) else None


def misspelt(key: Node, names: frozenset[str]) -> bool:
    """A key that folds to a name without being it, or spells one with escapes."""
    if key.text in names:
        return not key.plain
    folded = fold(key.text)
    return any(folded == fold(name) for name in names)


def check_names(node: Node, names: frozenset[str], faults: Faults) -> None:
    for key, _ in node.members:
        if misspelt(key, names):
            faults.add(313, key.start)


def get(node: Node, name: str) -> Optional[Node]:
    for key, value in node.members:
        if key.text == name:
            return value
    return None


def judge_object(node: Node, options: Options, faults: Faults, in_batch: bool) -> Accepted:
    closing = node.end - 1
    method, ident, params = get(node, "method"), get(node, "id"), get(node, "params")
    result, error = get(node, "result"), get(node, "error")
    for key, _ in node.members:
        if misspelt(key, ENVELOPE):
            faults.add(313, key.start)
        elif key.text not in ENVELOPE and "unknown_members" not in options.allowed:
            faults.add(312, key.start)
    version = get(node, "jsonrpc")
    if version is None:
        faults.add(303, closing)
    elif version.kind != "string" or version.text != "2.0":
        faults.add(304, version.start)
    if method is not None:
        size = len(method.text.encode("utf-8", "surrogatepass"))
        if method.kind != "string" or not 1 <= size <= MAX_METHOD or has_lone_surrogate(method.text):
            faults.add(305, method.start)
        elif in_batch and method.text == "initialize":
            faults.add(302, method.start)
    if ident is not None:
        code = id_fault(ident, options.max_id)
        if code == 307:
            if error is None or method is not None or result is not None:
                faults.add(307, closing)
        elif code is not None:
            faults.add(code, ident.start)
    if params is not None:
        if params.kind != "object" and not (params.kind == "array" and not options.is_mcp):
            faults.params = faults.params or Fault(309, params.start)
        if options.is_mcp and params.kind == "object":
            check_params(params, method, options, faults)
    if result is not None and options.is_mcp:
        if result.kind != "object":
            faults.add(315, result.start)
        else:
            check_meta(result, faults)
    if error is not None:
        check_error(error, faults)
    shapes = [shape for shape in (method, result, error) if shape is not None]
    if len(shapes) > 1 or (params is not None and method is None):
        faults.add(310, closing)
    if not shapes:
        faults.add(311, closing)
    if result is not None and ident is None:
        faults.add(316, closing)
    token = None if ident is None else ident.raw
    if method is not None:
        return Accepted("notification" if ident is None else "request", method.text, token)
    return Accepted("error" if error is not None else "result", None, token)


def check_params(params: Node, method: Optional[Node], options: Options, faults: Faults) -> None:
    members = guarded_members(method.text, options) if method is not None else {}
    check_names(params, frozenset(members) | {"_meta"}, faults)
    check_meta(params, faults)
    for name, member in members.items():
        value = get(params, name)
        if value is not None and value.kind == "object":
            check_names(value, frozenset(member.get("members", ())), faults)


def guarded_members(method: str, options: Options) -> Json:
    """The params members whose names 313 guards: all of the table's, if a revision that judges has the method."""
    entry = METHODS.get(method, {})
    known = set("".join(entry.get(place, "") for place in ("client", "server", "embedded")))
    return dict(entry.get("params", {})) if known & set(options.letters) else {}


def check_meta(owner: Node, faults: Faults) -> None:
    meta = get(owner, "_meta")
    if meta is not None and meta.kind == "object":
        check_names(meta, frozenset(META), faults)


def check_error(error: Node, faults: Faults) -> None:
    if error.kind != "object":
        faults.add(314, error.start)
        return
    check_names(error, ERROR_NAMES, faults)
    code, text = get(error, "code"), get(error, "message")
    if code is not None and not is_integer(code):
        faults.add(314, code.start)
    if text is not None and text.kind != "string":
        faults.add(314, text.start)
    if code is None or text is None:
        faults.add(314, error.start, met=error.end - 1)


# MCP shape


def check_mcp(root: Node, options: Options) -> None:
    """The stage's verdict on a line: it stands where every revision that is asked refuses the line."""
    verdicts = []
    for letter in options.letters:
        try:
            for node in root.elements if root.kind == "array" else [root]:
                check_message(node, letter, options)
        except Fault as fault:
            verdicts.append(fault)
        else:
            return
    if verdicts:
        raise max(verdicts, key=lambda fault: MCP_ORDER.index(fault.code))  # of equals the newest revision's


def check_message(node: Node, letter: str, options: Options) -> None:
    method = get(node, "method")
    if method is None:
        check_response(node, letter, options)
        return
    ident, params = get(node, "id"), get(node, "params")
    kind = "notification" if ident is None else "request"
    entry = METHODS.get(method.text, {})
    other = "server" if options.direction == "client" else "client"
    ours, theirs = letter in entry.get(options.direction, ""), letter in entry.get(other, "")
    # A method that this side has in another revision is unknown here, not on its way in the wrong direction.
    theirs_alone = theirs and not entry.get(options.direction, "")
    if theirs_alone or (letter == MODERN and options.direction == "server" and kind == "request"):
        raise Fault(401, method.start)
    if ours and kind != entry["kind"]:
        raise Fault(410, method.start if ident is None else ident.start)
    if not ours and method.text not in options.allow_methods:
        raise Fault(402, method.start)
    if kind == "request" and letter == MODERN:
        check_request_meta(node, params, options)
    members: Json = entry.get("params", {}) if ours else {}
    if params is None:
        if ours and letter in entry.get("params_required", ""):
            raise Fault(403, node.end - 1)
        return
    raise_leftmost(403, missing(params, members, letter))
    meta = get(params, "_meta")
    wrongs = list(wrong_members(params, members, letter, options))
    if meta is not None:
        wrongs += wrong_meta(meta, kind, letter, options)
    raise_leftmost(404, wrongs)
    check_meta_keys(params, letter)


def check_request_meta(node: Node, params: Optional[Node], options: Options) -> None:
    """407, then 405: what every request says of itself under the newest revision."""
    meta = None if params is None else get(params, "_meta")
    if params is None or meta is None:
        raise Fault(405, node.end - 1 if params is None else params.start)
    if meta.kind != "object":
        return
    version = get(meta, VERSION_KEY)
    if version is not None and version.kind == "string" and version.text not in options.revisions:
        requested = version.text if len(version.raw.encode("utf-8")) - 2 <= 255 else ""
        raise Fault(407, version.start, {"supported": list(options.revisions), "requested": requested})
    if any(MODERN in spec.get("required", "") and get(meta, key) is None for key, spec in META.items()):
        raise Fault(405, meta.start)


def raise_leftmost(code: int, places: list[int]) -> None:
    if places:
        raise Fault(code, min(places))


def missing(owner: Node, members: Json, letter: str) -> list[int]:
    """The objects that lack a required member: `owner`, and those in it."""
    places = []
    for name, member in members.items():
        value = get(owner, name)
        if value is None:
            if letter in member.get("required", "") and in_its_case(owner, member, members, letter):
                places.append(owner.start)
        elif value.kind == "object" and knows(member, letter):
            places += missing(value, member.get("members", {}), letter)
    return places


def knows(member: Json, letter: str) -> bool:
    return letter in member.get("required", "") + member.get("optional", "")


def in_its_case(owner: Node, member: Json, members: Json, letter: str) -> bool:
    """Whether the sibling that `when` names has a value for which the member is required."""
    when = member.get("when")
    if when is None:
        return True
    sibling = get(owner, when["member"]) if knows(members[when["member"]], letter) else None
    if sibling is None:
        return bool(when.get("absent", False))
    return sibling.kind == "string" and sibling.text in when["is"]


def wrong_members(owner: Node, members: Json, letter: str, options: Options) -> Iterator[int]:
    """The places of values that the table doesn't allow, of members that the revision knows."""
    for name, member in members.items():
        value = get(owner, name)
        if value is not None and knows(member, letter):
            yield from wrong_value(value, member, letter, options)


def wrong_value(value: Node, member: Json, letter: str, options: Options) -> Iterator[int]:
    types = member.get("type") or next(t for letters, t in member["types"].items() if letter in letters)
    listed = member["enum"] if letter in member.get("enum_in", letter) and "enum" in member else None
    if not fits(value, types, options) or (listed is not None and value.text not in listed):
        yield value.start
        return
    if "each" in member:
        held = value.elements if value.kind == "array" else [inner for _, inner in value.members]
        yield from (inner.start for inner in held if not fits(inner, member["each"], options))
    yield from wrong_members(value, member.get("members", {}), letter, options)


def wrong_meta(meta: Node, kind: str, letter: str, options: Options) -> Iterator[int]:
    """The same for `_meta` and the well-known keys that the revision checks in this kind of message."""
    if meta.kind != "object":
        yield meta.start
        return
    for key, spec in META.items():
        value = get(meta, key)
        if value is not None and letter in spec.get(kind, ""):
            yield from wrong_value(value, spec, letter, options)


def fits(value: Node, types: str, options: Options) -> bool:
    """Whether a value has one of the types, `a|b`."""
    for name in types.split("|"):
        if name == "any" or name == value.kind:
            return True
        if name == "id" and id_fault(value, options.max_id) is None:
            return True
        if name == "integer" and value.kind == "number" and is_integral(value.text):
            return True
        if name == "boolean" and value.kind in ("true", "false"):
            return True
    return False


def is_integral(number: str) -> bool:
    """Whether a number has no fraction, however it is written: 1.0, 1e2, 10e-1."""
    mantissa, _, exponent = number.lower().lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).rstrip("0")
    if not digits.strip("0"):
        return True
    size = exponent.lstrip("+-").lstrip("0")
    if len(size) > 18:  # far beyond what the digits of a line make up for
        return not exponent.startswith("-")
    power = int(size or "0") * (-1 if exponent.startswith("-") else 1)
    return power >= len(digits) - len(whole)


META_KEY = re.compile(
    r"(?:[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*/)?"  # labels, slash
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?"  # name
)


def check_meta_keys(owner: Node, letter: str) -> None:
    """406: the grammar of the keys of `_meta`; whose prefixes they are is nobody's business here."""
    meta = get(owner, "_meta")
    if meta is None or meta.kind != "object" or letter not in NAMED_KEYS:
        return
    raise_leftmost(406, [key.start for key, _ in meta.members if META_KEY.fullmatch(key.text) is None])


def check_response(node: Node, letter: str, options: Options) -> None:
    result, error = get(node, "result"), get(node, "error")
    value = error if result is None else result
    assert value is not None
    if letter == MODERN and options.direction == "client":
        raise Fault(401, value.start)
    if result is not None:
        check_meta_keys(result, letter)
    if letter != MODERN:
        return
    if error is not None:
        code = get(error, "code")
        assert code is not None
        if is_retired(code.text):
            raise Fault(409, code.start)
    if result is not None:
        raise_leftmost(408, list(wrong_result(result, letter, options)))


def is_retired(code: str) -> bool:
    """Codes that the newest revision's servers don't emit."""
    if len(code) > 8:
        return False
    number = int(code)
    return number in (-32002, -32042) or -32099 <= number <= -32023


def wrong_result(result: Node, letter: str, options: Options) -> Iterator[int]:
    """408 as far as it is known without the request: resultType, what input_required holds, `_meta`."""
    meta = get(result, "_meta")
    if meta is not None:
        yield from wrong_meta(meta, "result", letter, options)
    result_type = get(result, "resultType")
    if result_type is None:
        yield result.start
        return
    known = options.allow_result_types | {"complete", "input_required"}
    if result_type.kind != "string" or result_type.text not in known:
        yield result_type.start
        return
    if result_type.text != "input_required":
        return
    requests, state = get(result, "inputRequests"), get(result, "requestState")
    if requests is None and state is None:
        yield result.start
    if state is not None and state.kind != "string":
        yield state.start
    if requests is not None and requests.kind != "object":
        yield requests.start
    elif requests is not None:
        for _, asked in requests.members:
            yield from wrong_input_request(asked, letter)


def wrong_input_request(asked: Node, letter: str) -> Iterator[int]:
    if asked.kind != "object":
        yield asked.start
        return
    method, params = get(asked, "method"), get(asked, "params")
    if method is None:
        yield asked.start
    elif method.kind != "string" or letter not in METHODS.get(method.text, {}).get("embedded", ""):
        yield method.start
    if params is not None and params.kind != "object":
        yield params.start


# Replies


def refused_response(fault: Fault, line: bytes, options: Options) -> Optional[Node]:
    """The id of a refused line that looks like a response, if it can be read beyond doubt."""
    if fault.code in (101, 104) or fault.code in PARSE_CODES:
        return None
    content = line[:-1] if line.endswith(b"\r") else line
    walk = WALK_DEPTH if options.direction == "client" else DEEPEST
    depth = options.max_depth if fault.code >= 300 else walk
    try:
        root = Reader(content, frozenset(), depth, 0, grammar=True).document()
    except Fault:
        return None
    if root.kind != "object":
        return None
    names = [key.text for key, _ in root.members]
    if "method" in names or not ("result" in names or "error" in names):
        return None
    return readable_id(root, options)


def readable_id(root: Node, options: Options) -> Optional[Node]:
    """An object's id, if it stands there once, spelt plainly, and is valid."""
    ids = [(key, value) for key, value in root.members if fold(key.text) == "id"]
    if len(ids) != 1:
        return None
    key, value = ids[0]
    valid = key.plain and key.text == "id" and id_fault(value, options.max_id) is None
    return value if valid and is_sound(value, options) else None


def reply_of(fault: Fault, line: bytes, options: Options) -> tuple[Optional[int], Optional[str]]:
    """The JSON-RPC code of the reply, None where none is due, and the id that it echoes."""
    if options.direction != "client" or fault.code == 104:
        return None, None
    rpc_code = RPC_CODES.get(fault.code, INVALID_REQUEST)
    if fault.code == 101 or fault.code in PARSE_CODES:
        return rpc_code, None
    content = line[:-1] if line.endswith(b"\r") else line
    # A fault of 3xx or 4xx may lie deeper than the walk goes; there the whole line was read already.
    depth = options.max_depth if fault.code >= 300 else WALK_DEPTH
    try:
        root = Reader(content, frozenset(), depth, 0, grammar=True).document()
    except Fault:
        return rpc_code, None
    if root.kind != "object":
        return rpc_code, None
    names = [key.text for key, _ in root.members]
    if "method" in names:
        if "id" not in names:
            return None, None
    elif "result" in names or "error" in names:
        return None, None
    ident = readable_id(root, options)
    return rpc_code, None if ident is None else ident.raw


def is_sound(node: Node, options: Options) -> bool:
    """Whether a string has nothing in it that the options refuse: the reply would carry it back."""
    if node.kind != "string":
        return True
    if "lone_surrogates" not in options.allowed and has_lone_surrogate(node.text):
        return False
    if "separators" not in options.allowed and any(char in node.raw for char in "\u0085\u2028\u2029"):
        return False
    return "escaped_nul" in options.allowed or "\0" not in node.text


def has_lone_surrogate(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)


def main() -> None:
    options = Options.of(json.loads(sys.argv[1]) if len(sys.argv) > 1 else {})
    for event in judge(sys.stdin.buffer.read(), options).events:
        print(json.dumps(event.as_vector()))


if __name__ == "__main__":
    main()
