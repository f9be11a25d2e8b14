"""``linegate run`` under random traffic, kills, closed pipes and stalls, for LINEGATE_SOAK_SECONDS (20).

No line may be lost or torn, no process may be left behind, no session may hang, and memory has to stay flat.
`make soak-run` does it for ten minutes. A failure names its seed: LINEGATE_SOAK_SEED plays it again, as far as time
allows.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Optional

from .environments import HERE
from .processes import MARK

SECONDS = float(os.environ.get("LINEGATE_SOAK_SECONDS", "20"))
SEED = int(os.environ.get("LINEGATE_SOAK_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
# No session takes longer, whatever happens in it.
SESSION_SECONDS = 60.0
SIDE_BY_SIDE = 3
# What the process that has run all the time may have grown by since its first tenth.
GROWTH_BYTES = 4 << 20
TOKEN = "soak-token-that-nobody-may-read"

# Memory and processes are read there. Where it is missing the sessions are held to everything else all the same.
PROC = Path("/proc")
WATCHED = (PROC / "self" / "statm").exists()

Request = dict[str, Any]


class Session:
    """One ``linegate run`` with the server of the soak behind it."""

    def __init__(self, linegate: str, mark: str, *options: str, reads: bool = True, close: int = 2) -> None:
        interpreter = str(getattr(sys, "_base_executable", sys.executable))
        server = [interpreter, "-I", "-S", str(HERE / "programs" / "soaked.py")]
        # `close`: how long a server may take for what it has read before it is made to end.
        waits = ["--close-wait", str(close), "--term-wait", "0.5"]
        self.process = subprocess.Popen(
            [linegate, "run", "--revision", "jsonrpc", *waits, *options, "--", *server],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, MARK: mark, "SOAK_TOKEN": TOKEN},
        )
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.stdin, self.stdout, self.stderr = self.process.stdin, self.process.stdout, self.process.stderr
        self.out, self.err = bytearray(), bytearray()
        self.readers = [
            threading.Thread(target=self._gather, args=pair, daemon=True)
            for pair in ((self.stdout, self.out), (self.stderr, self.err))
        ]
        if reads:
            self.read()

    def read(self) -> None:
        """Takes what comes from now on."""
        for reader in self.readers:
            reader.start()

    def _gather(self, pipe: Any, into: bytearray) -> None:
        while piece := os.read(pipe.fileno(), 65536):
            into += piece

    def send(self, requests: list[Request]) -> bool:
        """Writes the requests; ``False`` where nobody takes them any more."""
        lines = [json.dumps({"jsonrpc": "2.0", **request}).encode() + b"\n" for request in requests]
        try:
            self.stdin.write(b"".join(lines))
            self.stdin.flush()
        except OSError:
            return False
        return True

    def wait_for(self, count: int) -> None:
        """Waits for so many lines, or the end."""
        until = time.monotonic() + SESSION_SECONDS
        while self.out.count(b"\n") < count and self.process.poll() is None and time.monotonic() < until:
            time.sleep(0.002)

    def finish(self) -> int:
        """Closes the input, and waits for the end of the process and of its pipes."""
        with contextlib.suppress(OSError):
            self.stdin.close()
        status = self.process.wait(SESSION_SECONDS)
        for reader in self.readers:
            reader.join(SESSION_SECONDS)
            assert not reader.is_alive(), "a pipe is still held"
        self.stdout.close()
        self.stderr.close()
        assert TOKEN.encode() not in self.err, "a secret was passed on"
        return status

    def messages(self) -> list[dict[str, Any]]:
        """Every line that came; each is whole."""
        assert not self.out or self.out.endswith(b"\n"), f"the last line is torn: {bytes(self.out[-80:])!r}"
        return [json.loads(line) for line in bytes(self.out).splitlines()]

    def resident(self) -> int:
        """Bytes of memory that the process has; 0 where nobody can tell."""
        if not WATCHED:
            return 0
        pages = Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


def traffic(rng: random.Random, count: int, *more: str) -> list[Request]:
    """Random requests, numbered."""

    def one(number: int) -> Request:
        what = rng.choice(["echo", "echo", "echo", "notes", "log", *more])
        # Most are short, some are longer than a pipe takes.
        params: Request = {"text": "t" * int(min(rng.paretovariate(0.5), 200_000))}
        params.update(count=rng.randrange(40), size=rng.randrange(3000), seconds=rng.random() / 20)
        return {"id": number, "method": what, "params": params}

    return [one(number) for number in range(count)]


def in_pieces(rng: random.Random, requests: list[Request]) -> Iterator[list[Request]]:
    """The same in bursts."""
    while requests:
        size = rng.randrange(1, 30)
        yield requests[:size]
        requests = requests[size:]


def answered(session: Session, requests: list[Request]) -> None:
    """Each request has its own answer, once, and each note has come in order."""
    messages = session.messages()
    texts = {message["id"]: message["result"]["text"] for message in messages if "id" in message}
    assert Counter(message["id"] for message in messages if "id" in message) == Counter(range(len(requests)))
    assert texts == {request["id"]: request["params"]["text"] for request in requests}
    notes = [message["params"]["number"] for message in messages if message.get("method") == "note"]
    sent = [range(request["params"]["count"]) for request in requests if request["method"] == "notes"]
    assert notes == [number for numbers in sent for number in numbers]


def calm(linegate: str, mark: str, rng: random.Random) -> None:
    """Nothing happens, or what changes nothing: prints, stalls, children that are left behind."""
    session = Session(linegate, mark, "--on-reject", "continue", close=60)
    requests = traffic(rng, rng.randrange(1, 120), "noise", "stall", "child")
    for burst in in_pieces(rng, requests):
        assert session.send(burst)
        if rng.random() < 0.2:
            time.sleep(rng.random() / 50)
    assert session.finish() == 0, session.err[-500:]
    answered(session, requests)


def killed(linegate: str, mark: str, rng: random.Random) -> None:
    """The server is killed from outside, in the middle of whatever it does."""
    session = Session(linegate, mark)
    session.send([{"id": -1, "method": "echo", "params": {}}])
    session.wait_for(1)
    requests = traffic(rng, 60)
    sender = threading.Thread(target=session.send, args=(requests,), daemon=True)
    sender.start()
    time.sleep(rng.random() / 20)
    first = json.loads(bytes(session.out).split(b"\n")[0])
    os.kill(first["result"]["pid"], signal.SIGKILL)
    sender.join(SESSION_SECONDS)
    # 1 where it was in the middle of a line, which is refused.
    assert session.finish() in (1, 137), session.err[-500:]
    session.messages()


def broken(linegate: str, mark: str, rng: random.Random) -> None:
    """The server dies inside a line, or closes one of its pipes and stays."""
    how = rng.choice(["die", "close_stdout", "close_stdin"])
    session = Session(linegate, mark)
    before = traffic(rng, rng.randrange(20))
    for burst in in_pieces(rng, [*before, {"id": len(before), "method": how, "params": {}}]):
        session.send(burst)
    session.wait_for(len(before))
    status = session.finish()
    assert status == {"die": 1, "close_stdout": 143, "close_stdin": 143}[how], (how, session.err[-500:])
    answered(session, before)


def client_gone(linegate: str, mark: str, rng: random.Random) -> None:
    """The client closes one of its ends, or sends a signal, while much is under way."""
    session = Session(linegate, mark)
    sender = threading.Thread(target=session.send, args=(traffic(rng, 60, "stall"),), daemon=True)
    sender.start()
    time.sleep(rng.random() / 10)
    sent = rng.choice([signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    session.process.send_signal(sent)
    status = session.process.wait(SESSION_SECONDS)
    sender.join(SESSION_SECONDS)
    session.finish()
    # The negative one where the signal came before there was a server to pass it on to.
    assert status in (0, 1, 128 + sent, 137) or (status == -sent and not session.out), (status, session.err[-500:])
    session.messages()


def unread(linegate: str, mark: str, rng: random.Random) -> None:
    """The client reads nothing, neither answers nor stderr, and wants an end: the session ends all the same."""
    session = Session(linegate, mark, reads=False)
    sender = threading.Thread(target=session.send, args=(traffic(rng, 120),), daemon=True)
    sender.start()
    time.sleep(rng.random() / 5)
    session.process.send_signal(signal.SIGTERM)
    status = session.process.wait(SESSION_SECONDS)
    session.read()
    sender.join(SESSION_SECONDS)
    session.finish()
    assert status in (1, 137, 143) or (status == -signal.SIGTERM and not session.out), (status, session.err[-500:])


KINDS = (calm, calm, killed, broken, client_gone, unread)


class Long:
    """One session for the whole time, whose memory is watched."""

    def __init__(self, linegate: str, mark: str) -> None:
        self.session = Session(linegate, mark, "--on-reject", "continue", close=60)
        self.rng = random.Random(SEED)
        self.base: Optional[int] = None
        self.lines = 0

    def step(self) -> None:
        """Some traffic, all of it answered; what came is forgotten."""
        requests = traffic(self.rng, 50, "noise")
        begun = len(requests) + sum(one["params"]["count"] for one in requests if one["method"] == "notes")
        for burst in in_pieces(self.rng, requests):
            assert self.session.send(burst)
        self.session.wait_for(begun)
        answered(self.session, requests)
        self.lines += begun
        self.session.out.clear()
        self.session.err.clear()


def test_a_session_survives_whatever_happens(linegate: str) -> None:
    """See the head of this file."""
    mark = f"soak-{SEED}"
    started = time.monotonic()
    deadline = started + SECONDS
    counts: Counter[str] = Counter()
    failed: list[str] = []
    long = Long(linegate, mark)

    def work(worker: int) -> None:
        number = 0
        while time.monotonic() < deadline and not failed:
            seed = SEED + worker * 1_000_003 + number
            rng = random.Random(seed)
            kind = rng.choice(KINDS)
            try:
                kind(linegate, mark, rng)
            except Exception as error:
                failed.append(f"{kind.__name__}, seed {SEED} ({seed}): {error!r}")
            counts[kind.__name__] += 1
            number += 1

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        workers = [pool.submit(work, worker) for worker in range(SIDE_BY_SIDE)]
        while time.monotonic() < deadline and not failed:
            long.step()
            if long.base is None and time.monotonic() - started > SECONDS / 10:
                long.base = long.session.resident()
        for worker in workers:
            worker.result()
    grown = long.session.resident() - (long.base or 0)
    resident = long.session.resident()
    dead = zombies(long.session.process.pid)
    assert long.session.finish() == 0
    print(
        f"\n{sum(counts.values())} sessions in {SECONDS:.0f} s, {dict(counts)}; one of {long.lines} lines, "
        f"{resident >> 10} KiB at its end, {grown >> 10:+} KiB since its first tenth; seed {SEED}"
        + ("" if WATCHED else "; without /proc neither memory nor what is left behind was watched")
    )
    assert failed == []
    assert dead == []
    assert grown < GROWTH_BYTES
    assert left_behind(mark) == []


def entries() -> Iterator[Path]:
    """What stands under /proc, if it is there."""
    return PROC.iterdir() if WATCHED else iter(())


def zombies(parent: int) -> list[int]:
    """Dead children that this process has not reaped."""
    found = []
    for entry in entries():
        try:
            fields = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(") ")[2].split()
        except OSError:
            continue
        if entry.name.isdigit() and fields[0] == "Z" and int(fields[1]) == parent:
            found.append(int(entry.name))
    return found


def left_behind(mark: str) -> list[str]:
    """Processes of this soak that still run, once what was ended has had its moment to go."""
    wanted = f"{MARK}={mark}".encode()
    until = time.monotonic() + 5
    while True:
        found = []
        for entry in entries():
            try:
                if entry.name.isdigit() and wanted in (entry / "environ").read_bytes().split(b"\0"):
                    found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
            except OSError:
                continue
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.1)
