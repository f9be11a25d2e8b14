"""The table of servers in ``servers/``: of each dirty one its fault, and what ``linegate check`` has to say of it.

A fault of stdout is found by the scenario that shows it: ``stdout-clean`` where a plain session does. Its rule and its
first bad bytes are named. Other faults have neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

HANDSHAKE, CALL = ("handshake", "stdout-clean"), ("call", "stdout-clean")
TALK = ("--call", "work", '{"text":"{{marker}}"}')


@dataclass(frozen=True)
class Fault:
    """A dirty server."""

    language: str
    name: str
    # The scenarios that run; the last one has to find it.
    only: tuple[str, ...]
    # The class of the violation.
    kind: str
    # The rule of the first bad line, and bytes that are shown of it.
    rule: Optional[str] = None
    shows: bytes = b""
    options: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.language}-{self.name}"

    @property
    def scenario(self) -> str:
        """The scenario that has to find it."""
        return self.only[-1]


def _dirt(language: str, name: str, only: tuple[str, ...], rule: str, shows: bytes, *options: str) -> Fault:
    return Fault(language, name, only, "stdout", rule, shows, options)


def _life(language: str, name: str, scenario: str, *options: str) -> Fault:
    return Fault(language, name, (scenario,), "lifecycle", options=options)


BROKEN = ("--break-env", "FAULT_LIMIT")
BOGUS = ("start/variables-bogus",)
# What is no line of its own is no answer, and is waited for in vain.
UNANSWERED = ("--timeout", "4")

FAULTS = (
    _dirt("python", "banner", HANDSHAKE, "unexpected_byte", b"Loading model weights"),
    _dirt("python", "print_in_tool", CALL, "unexpected_byte", b"DEBUG work called with"),
    _dirt("python", "lazy_import", CALL, "unexpected_byte", b"pygreeter 2.6.1"),
    _dirt("python", "crash_handler", BOGUS, "unexpected_byte", b"Traceback (most recent call last)", *BROKEN),
    _dirt("python", "logging_to_stdout", HANDSHAKE, "unexpected_byte", b"INFO:server:request"),
    _dirt("python", "progress_bar", CALL, "bare_cr", b"\r 10%|##", *UNANSWERED),
    _dirt("python", "at_exit", HANDSHAKE, "unexpected_byte", b"Server stopped, goodbye!"),
    _dirt("python", "child_process", CALL, "unexpected_byte", b"On branch main"),
    _dirt("python", "debug_switch", ("start/debug-environment",), "unexpected_byte", b"[debug] settings loaded"),
    _dirt("python", "hidden_by_buffer", ("start/unbuffered",), "unexpected_byte", b"Ready (buffered)"),
    _dirt("python", "byte_order_mark", HANDSHAKE, "bom", b"\xef\xbb\xbf", *UNANSWERED),
    _dirt("python", "pretty_printed", HANDSHAKE, "unexpected_end", b"{\n", *UNANSWERED),
    _dirt("python", "not_a_number", CALL, "unexpected_byte", b'"score": NaN', *UNANSWERED),
    _dirt("node", "console_log", HANDSHAKE, "unexpected_byte", b"Server listening on stdio"),
    _dirt("node", "dotenv_banner", HANDSHAKE, "unexpected_byte", b"[dotenv@17.2.1] injecting env"),
    _dirt("node", "console_debug", HANDSHAKE, "bad_number", b"-> "),
    _dirt("node", "glued_banner", CALL, "unexpected_byte", b'{"jsonrpc":"2.0",cache warmed up\n', *UNANSWERED),
    _dirt("node", "unhandled_rejection", CALL, "unexpected_byte", b"Unhandled rejection: connect"),
    _dirt("node", "carriage_returns", HANDSHAKE, "bare_cr", b"}}\r\r\n"),
    _dirt("node", "colours", HANDSHAKE, "unexpected_byte", b"\x1b[32m"),
    _dirt("node", "answered_twice", CALL, "answered_twice", b'"id":"linegate-tested"'),
    _life("node", "not_at_end", "eof/at-once", "--timeout", "4"),
    _life("node", "status_at_end", "eof/after-traffic"),
    _dirt("c", "banner_at_exit", HANDSHAKE, "unexpected_byte", b"fault-server 1.0 up"),
    _dirt("c", "error_to_stdout", HANDSHAKE, "unexpected_byte", b"error: unsupported method"),
    _dirt("c", "nul_byte", HANDSHAKE, "nul_byte", b"\0"),
    _dirt("c", "latin_1", CALL, "invalid_utf8", b"\xe9negate", *UNANSWERED),
    _dirt("c", "crash_handler", BOGUS, "unexpected_byte", b"*** Caught signal 11", *BROKEN),
    _life("c", "short_lines", "traffic/large-request", "--timeout", "4"),
    _life("c", "child_left", "end/child-left"),
    _life("c", "deaf_to_sigterm", "end/sigterm", "--timeout", "4"),
    _life("c", "own_stdout", "end/own-stdout"),
    _dirt("sh", "stderr_to_stdout", HANDSHAKE, "unexpected_byte", b"request server/discover"),
    _dirt("sh", "starting", HANDSHAKE, "unexpected_byte", b"Starting MCP server..."),
    _dirt("sh", "cdpath", HANDSHAKE, "unexpected_byte", b"/"),
    _dirt("sh", "farewell", HANDSHAKE, "unexpected_byte", b"Shutting down"),
    _dirt("sh", "package_runner", HANDSHAKE, "frame_empty", b"\n"),
    _dirt("sh", "terminal_echo", HANDSHAKE, "wrong_direction", b'hello","method":"initialize","params"'),
    _dirt("sh", "background_job", ("start/idle",), "unexpected_byte", b"heartbeat: 1 session"),
    _dirt("sh", "tool_output", CALL, "unexpected_byte", b"total 48"),
    _life("sh", "stale_lock", "end/killed"),
)

# Two in each language.
CLEAN = (
    ("python", "clean_plain"),
    ("python", "clean_talkative"),
    ("node", "clean_plain"),
    ("node", "clean_console"),
    ("c", "clean_plain"),
    ("c", "clean_slow"),
    ("sh", "clean_plain"),
    ("sh", "clean_wrapper"),
)
# No servers themselves.
SHARED = {"python/serve.py", "python/greeter.py", "node/serve.js", "c/serve.h", "sh/serve.sh"}
