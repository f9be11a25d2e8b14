#!/usr/bin/env python3
"""The session stage as one small, slow, readable program: what a tracker of both directions adds to a line's verdict.

It stands on `linegate_oracle.py`, which judges one line by itself, and adds what needs the lines before it: 451 to 459,
the parts of 401 and 408 that depend on what was asked, the handshake, and the revision of each line under `auto`. It
was written from the text of the rules alone and shares nothing with the gate.

    Session(options).hear("client", b'{"jsonrpc":"2.0",...}')   -> the event, as in the vectors
    python3 linegate_session.py < transcript                    -> one event a line, then what was counted
    python3 linegate_session.py '{"revision":"2025-11-25","max_ids":4}' < transcript

A transcript holds one object a line: {"from":"client","line":"..."}. The tracker is on unless {"track":false} says no.
"""

from __future__ import annotations

import copy
import json
import sys
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any, Optional

import linegate_oracle as oracle
from linegate_oracle import METHODS, REVISIONS, VERSION_KEY, Fault, Node, Options, get

Json = dict[str, Any]
Key = tuple[str, str]  # an id or a token: the JSON type and the decoded value

MODERN = "2026-07-28"
TASKS = "2025-11-25"
LEGACY = tuple(revision for revision in REVISIONS if revision != MODERN)

CLIENT, SERVER = "client", "server"
OTHER = {CLIENT: SERVER, SERVER: CLIENT}

CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"

LISTEN = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
BEFORE_INITIALIZE = ("initialize", "ping", "server/discover")
# What a 2026-07-28 server may say only within a subscription.
TAGGED = (
    ACKNOWLEDGED,
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
)
# What a client must have declared before a result may ask it for such input.
CAPABILITY_OF = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}

CREATED_TASK = {"task": {"type": "object", "required": REVISIONS[TASKS]}}

# The codes of the two last stages in the order in which a line meets them.
ORDER = (*oracle.MCP_ORDER, 451, 452, 453, 456, 454, 458, 457, 459)
REPORTED = {408, 409, 454, 457, 458, 459}  # told to the supervisor, never answered
STAYS_OPEN = oracle.OPEN_CODES | REPORTED | {451, 452, 453, 456}


# One message


@dataclass(frozen=True)
class Message:
    """A message of the line: the line's value, or an element of a batch."""

    node: Node
    kind: str  # request, notification, result, error
    method: str  # decoded; empty for responses
    id: Optional[Node]  # None where it is absent, or null (an error that knows no id)
    params: Optional[Node]
    meta: Optional[Node]  # params._meta

    @staticmethod
    def of(node: Node) -> Message:
        method, ident = get(node, "method"), get(node, "id")
        params = an_object(get(node, "params"))
        if method is not None:
            kind = "notification" if ident is None else "request"
        else:
            kind = "error" if get(node, "error") is not None else "result"
        if ident is not None and ident.kind == "null":
            ident = None
        return Message(node, kind, "" if method is None else method.text, ident, params, member(params, "_meta"))

    @property
    def is_response(self) -> bool:
        return self.kind in ("result", "error")

    @property
    def result(self) -> Node:
        return must(get(self.node, "result"))

    def param(self, name: str) -> Optional[Node]:
        return None if self.params is None else get(self.params, name)

    def meta_of(self, name: str) -> Optional[Node]:
        return None if self.meta is None else get(self.meta, name)

    def fault_at_method(self, code: int) -> Fault:
        return Fault(code, must(get(self.node, "method")).start)

    def fault_at_id(self, code: int) -> Fault:
        return Fault(code, must(self.id).start)


def an_object(node: Optional[Node]) -> Optional[Node]:
    return node if node is not None and node.kind == "object" else None


def member(owner: Optional[Node], name: str) -> Optional[Node]:
    """The member of that name, where it is an object."""
    return None if owner is None else an_object(get(owner, name))


def must(node: Optional[Node]) -> Node:
    assert node is not None
    return node


def key_of(node: Optional[Node], max_id: int) -> Optional[Key]:
    """An id or a token to compare by; None where there is none, or one that can't be an id."""
    if node is None or oracle.id_fault(node, max_id) is not None:
        return None
    return node.kind, node.text


# What the tracker remembers


@dataclass
class Request:
    key: Key
    method: str
    revisions: tuple[str, ...]  # by which it was accepted; one, unless the era was unknown
    task: bool  # params.task stood there
    token: Optional[Key]
    declared: frozenset[str]  # capabilities of the client, 2026-07-28
    cancelled: bool = False  # in the ring: cancelled and not answered yet
    acknowledged: bool = False  # a subscription that may be spoken on


class Asked:
    """The requests of one sender: at most `bound` in flight, and the last `bound` that left."""

    def __init__(self, bound: int) -> None:
        self.bound = bound
        self.flying: dict[Key, Request] = {}
        self.ring: deque[Request] = deque()
        self.forgot_task = False  # a task request was pushed out of the ring

    def gone(self, key: Optional[Key]) -> Optional[Request]:
        """What the ring knows of an id; the last use of it counts."""
        return next((request for request in reversed(self.ring) if request.key == key), None)

    def is_cancelled(self, key: Optional[Key]) -> bool:
        gone = self.gone(key)
        return gone is not None and gone.cancelled

    def leave(self, key: Key, cancelled: bool) -> Request:
        request = self.flying.pop(key)
        request.cancelled = cancelled
        self.ring.append(request)
        if len(self.ring) > self.bound:
            self.forgot_task = self.ring.popleft().task or self.forgot_task
        return request

    def gave(self, token: Key) -> bool:
        """Whether progress for this token may still come."""
        if self.forgot_task or any(request.token == token for request in self.flying.values()):
            return True
        return any(gone.token == token and (gone.cancelled or gone.task) for gone in self.ring)


@dataclass
class Tracker:
    fixed: Optional[str]  # the revision, where it isn't `auto`
    options: Options
    asked: dict[str, Asked]
    handshake: str = "none"  # none, pending, done
    version: Optional[str] = None  # of the handshake
    modern: bool = False  # a result of 2026-07-28 was accepted
    late: int = 0  # 455

    # Which revision judges a message

    def revisions(self, sender: str, message: Message) -> tuple[str, ...]:
        if self.fixed is not None:
            return (self.fixed,)
        if sender == CLIENT and message.kind == "request":
            if message.meta_of(VERSION_KEY) is not None:
                return (MODERN,)
            if message.method == "initialize":
                return (self.named(message.param("protocolVersion"), LEGACY[-1]),)
        if message.is_response:
            request = self.answered(sender, message)
            if request is not None:
                return request.revisions
        if self.version is not None:
            return (self.version,)
        if self.modern and (sender == SERVER or message.kind == "notification"):
            return (MODERN,)
        return tuple(REVISIONS)

    @staticmethod
    def named(version: Optional[Node], otherwise: str) -> str:
        if version is not None and version.kind == "string" and version.text in LEGACY:
            return version.text
        return otherwise

    def known_revision(self) -> Optional[str]:
        """The revision of the session, for a reply to a line that has none of its own."""
        return self.fixed or self.version or (MODERN if self.modern else None)

    def key(self, node: Optional[Node]) -> Optional[Key]:
        return key_of(node, self.options.max_id)

    def answered(self, sender: str, message: Message) -> Optional[Request]:
        """The request in flight that a response answers."""
        key = self.key(message.id)
        return None if key is None else self.asked[OTHER[sender]].flying.get(key)

    # Stage mcp: the parts that need to know what was asked

    def shape_fault(self, sender: str, message: Message, revision: str) -> Optional[Fault]:
        if revision != MODERN or sender != SERVER or message.method != "notifications/cancelled":
            return None
        target = message.param("requestId")
        key = self.key(target)
        if target is None or key is None or self.subscription(key) is not None:
            return None
        return Fault(401, target.start)

    def subscription(self, key: Key) -> Optional[Request]:
        """The subscriptions/listen of that id, in flight or gone."""
        asked = self.asked[CLIENT]
        request = asked.flying.get(key) or asked.gone(key)
        return request if request is not None and request.method == LISTEN else None

    def result_fault(self, sender: str, message: Message, revision: str) -> Optional[Fault]:
        request = self.answered(sender, message)
        if request is None or message.kind != "result":
            return None
        result, rules, letter = message.result, METHODS.get(request.method, {}), REVISIONS[revision]
        if revision == TASKS and request.task and get(result, "task") is not None:
            return members_fault(result, CREATED_TASK, letter, self.options)
        kind = get(result, "resultType")
        if revision == MODERN and kind is not None and kind.text != "complete":
            if kind.text != "input_required":
                return None  # an extension's, whose members are its own
            if letter not in rules.get("input_required", ""):
                return Fault(408, kind.start)
            return undeclared(result, request)
        return members_fault(result, rules.get("result", {}), letter, self.options)

    # Stage session

    def fault(self, sender: str, message: Message, revision: str) -> Optional[Fault]:
        if message.is_response:
            return self.response_fault(sender, message)
        if sender == CLIENT and revision != MODERN:
            if self.handshake == "none" and message.method not in BEFORE_INITIALIZE:
                return message.fault_at_method(451)
            if self.handshake != "none" and message.kind == "request" and message.method == "initialize":
                return message.fault_at_method(452)
        if message.kind == "request":
            own = self.asked[sender]
            key = self.key(message.id)
            if key in own.flying or own.is_cancelled(key):
                return message.fault_at_id(453)
            if len(own.flying) >= own.bound:
                return message.fault_at_id(456)
            return None
        if message.method == "notifications/progress":
            token = must(message.param("progressToken"))
            if not self.asked[OTHER[sender]].gave((token.kind, token.text)):
                return Fault(457, token.start)
        if sender == SERVER and revision == MODERN:
            return self.subscription_fault(message)
        return None

    def is_in_use(self, sender: str, token: str) -> bool:
        own, key = self.asked[sender], self.key(oracle.read(token.encode("utf-8"), self.options))
        return key in own.flying or own.is_cancelled(key)

    def response_fault(self, sender: str, message: Message) -> Optional[Fault]:
        if message.id is None or self.answered(sender, message) is not None:
            return None
        gone = self.asked[OTHER[sender]].gone(self.key(message.id))
        if gone is None:
            return message.fault_at_id(454)
        return None if gone.cancelled else message.fault_at_id(458)

    def subscription_fault(self, message: Message) -> Optional[Fault]:
        tag = message.meta_of(SUBSCRIPTION_KEY)
        if tag is None:
            return message.fault_at_method(459) if message.method in TAGGED else None
        asked, key = self.asked[CLIENT], (tag.kind, tag.text)
        request = asked.flying.get(key)
        if request is None:
            gone = asked.gone(key)
            racing = gone is not None and gone.cancelled and gone.method == LISTEN
            return None if racing else Fault(459, tag.start)
        is_open = request.method == LISTEN and (request.acknowledged or message.method == ACKNOWLEDGED)
        return None if is_open else Fault(459, tag.start)

    # What an accepted message changes

    def take(self, sender: str, message: Message, revisions: tuple[str, ...]) -> None:
        """Remembers a message that `revisions` accept."""
        if message.is_response:
            self.settle(sender, message, message.kind == "result")
        elif message.kind == "request":
            self.start(sender, message, revisions)
        elif message.method == "notifications/cancelled":
            self.cancel(sender, message, revisions)
        elif message.method == ACKNOWLEDGED:
            tag = message.meta_of(SUBSCRIPTION_KEY)
            request = None if tag is None else self.asked[CLIENT].flying.get((tag.kind, tag.text))
            if request is not None:
                request.acknowledged = True

    def start(self, sender: str, message: Message, revisions: tuple[str, ...]) -> None:
        key = self.key(message.id)
        assert key is not None
        takes_task = TASKS in revisions and REVISIONS[TASKS] in METHODS.get(message.method, {}).get("task_result", "")
        capabilities = an_object(message.meta_of(CAPABILITIES_KEY))
        self.asked[sender].flying[key] = Request(
            key,
            message.method,
            revisions,
            task=takes_task and message.param("task") is not None,
            token=self.key(message.meta_of("progressToken")),
            declared=frozenset(name.text for name, _ in capabilities.members) if capabilities else frozenset(),
        )
        if sender == CLIENT and message.method == "initialize":
            self.handshake = "pending"
            self.version = self.named(message.param("protocolVersion"), LEGACY[-1])

    def free(self, sender: str, ident: Node) -> None:
        """A response was refused: its request waits no longer."""
        key, asked = self.key(ident), self.asked[OTHER[sender]]
        request = None if key is None else asked.flying.get(key)
        if request is None:
            return
        asked.leave(request.key, cancelled=False)
        if sender == SERVER and request.method == "initialize":
            self.handshake, self.version = "none", None

    def settle(self, sender: str, message: Message, is_result: bool) -> None:
        """A response takes its request out of flight."""
        request = self.answered(sender, message)
        if request is None:
            gone = self.asked[OTHER[sender]].gone(self.key(message.id))
            if gone is not None and gone.cancelled:
                gone.cancelled = False
                self.late += 1
            return
        self.asked[OTHER[sender]].leave(request.key, cancelled=False)
        if sender == CLIENT:
            return
        if request.method == "initialize":
            self.handshake = "done" if is_result else "none"
            version = get(message.result, "protocolVersion") if is_result else None
            self.version = self.named(version, self.version or LEGACY[-1]) if is_result else None
        elif is_result and request.revisions == (MODERN,) and self.handshake == "none":
            self.modern = True

    def cancel(self, sender: str, message: Message, revisions: tuple[str, ...]) -> None:
        key = self.key(message.param("requestId"))
        if key is None:
            return
        if sender == SERVER and MODERN in revisions:
            if key in self.asked[CLIENT].flying:
                self.asked[CLIENT].leave(key, cancelled=True)
            if revisions == (MODERN,):
                return
        request = self.asked[sender].flying.get(key)
        if request is not None and request.method != "initialize" and not request.task:
            self.asked[sender].leave(key, cancelled=True)


# Results


def members_fault(owner: Node, rules: Json, letter: str, options: Options) -> Optional[Fault]:
    """408 where a required member is missing (at the object that lacks it) or has a wrong type (at the value)."""
    required = {name: rule for name, rule in rules.items() if letter in rule.get("required", "")}
    if any(get(owner, name) is None for name in required):
        return Fault(408, owner.start)
    for name, value in owner.members:
        rule = required.get(name.text, {"type": "any"})
        types = rule["type"] if "type" in rule else next(t for some, t in rule["types"].items() if letter in some)
        if not oracle.fits(value, types, options):
            return Fault(408, value.start)
        fault = members_fault(value, rule["members"], letter, options) if "members" in rule else None
        if fault is not None:
            return fault
    return None


def undeclared(result: Node, request: Request) -> Optional[Fault]:
    """408 at the first input request of a kind that the client didn't declare."""
    wanted = member(result, "inputRequests")
    for _, value in wanted.members if wanted else ():
        method = get(value, "method")
        if method is not None and CAPABILITY_OF.get(method.text) not in request.declared:
            return Fault(408, method.start)
    return None


# The session: two gates that share a tracker


@dataclass
class Gate:
    """What one direction keeps of its own."""

    options: Options
    closed: bool = False
    streak: int = 0  # replies since a line was accepted


@dataclass
class Session:
    """Both directions of one session."""

    gates: dict[str, Gate]
    tracker: Optional[Tracker]
    counters: dict[str, int] = field(default_factory=lambda: {"stripped_crs": 0})

    @staticmethod
    def of(given: Json) -> Session:
        """A session from the `options` object of a vector."""
        rest = dict(given)
        tracks, bound = rest.pop("track", True), rest.pop("max_ids", 1024)
        gates = {sender: Gate(Options.of({**rest, "from": sender})) for sender in OTHER}
        options = gates[CLIENT].options
        if not tracks or not options.is_mcp:
            return Session(gates, None)
        fixed = None if options.revision == "auto" else options.revision
        return Session(gates, Tracker(fixed, options, {sender: Asked(bound) for sender in OTHER}))

    @property
    def late_responses(self) -> int:
        return 0 if self.tracker is None else self.tracker.late

    def hear(self, sender: str, line: bytes) -> Json:
        """Judges a line (without its LF) and says the event."""
        gate = self.gates[sender]
        if gate.closed:
            return {"closed": True}
        judgement = Judgement(sender, gate.options, self.tracker)
        try:
            content = oracle.frame(line, True, gate.options, self.counters)
            if content is None:
                return {"blank": True}
            root = oracle.read(content, gate.options)
            accepted = judgement.accept(root)
        except Fault as fault:
            return self.refuse(gate, judgement, fault, line)
        self.tracker = judgement.tracker
        gate.streak = 0
        return accepted.as_vector()

    def refuse(self, gate: Gate, judgement: Judgement, fault: Fault, line: bytes) -> Json:
        if self.tracker is not None:
            ident = oracle.refused_response(fault, line, gate.options)
            if ident is not None:
                self.tracker.free(judgement.sender, ident)
        policy = gate.options.policy
        gate.closed = policy == "close_all" or (policy == "close_malformed" and fault.code not in STAYS_OPEN)
        shown: Json = {"refuse": fault.code, "at": fault.at}
        rpc_code, token = reply_of(fault, line, gate.options)
        shown["rpc_code"] = rpc_code
        if self.tracker is not None and token is not None and self.tracker.is_in_use(judgement.sender, token):
            # An error with that id would end the request that has it.
            token = None
        if token is not None:
            shown["id"] = token
        if rpc_code is not None:
            if gate.streak >= gate.options.max_replies:
                shown["reply"] = False
            else:
                gate.streak += 1
                if token is None:
                    shown["reply_id"] = self.unknown_id(gate.options, judgement.revision)
        return shown

    def unknown_id(self, options: Options, revision: Optional[str]) -> str:
        if revision is None and self.tracker is not None:
            revision = self.tracker.known_revision()
        return options.unknown_id if revision is None else replace(options, revision=revision).unknown_id


@dataclass
class Judgement:
    """The judgement of one line by the stages that know messages. Changes are made to a copy of the tracker."""

    sender: str
    options: Options
    tracker: Optional[Tracker]
    revision: Optional[str] = None  # the one that judged the line, once known

    def accept(self, root: Node) -> oracle.Accepted:
        accepted = oracle.message(root, self.options)
        if not self.options.is_mcp:
            return accepted
        messages = [Message.of(node) for node in (root.elements if root.kind == "array" else [root])]
        if self.tracker is None:
            for message in messages:
                self.by_shape(message, self.fixed_or_every())
            return accepted
        surviving = []
        for message in messages:
            revisions = self.tracker.revisions(self.sender, message)
            if len(revisions) == 1:
                self.revision = revisions[0]
            surviving.append(self.by_shape(message, revisions))
        self.tracker = copy.deepcopy(self.tracker)
        cancels = []
        for message, revisions in zip(messages, surviving):
            faults = {revision: self.tracker.fault(self.sender, message, revision) for revision in revisions}
            if message.method == "notifications/cancelled":
                cancels.append((message, best(faults)))
            else:
                self.tracker.take(self.sender, message, best(faults))
        # What a batch cancels makes no room for the rest of it.
        for message, revisions in cancels:
            self.tracker.take(self.sender, message, revisions)
        return accepted

    def fixed_or_every(self) -> tuple[str, ...]:
        return tuple(REVISIONS) if self.options.revision == "auto" else (self.options.revision,)

    def by_shape(self, message: Message, revisions: tuple[str, ...]) -> tuple[str, ...]:
        """Stage mcp: those revisions that accept the message; a fault where none does."""
        return best({revision: self.shape_fault(message, revision) for revision in revisions})

    def shape_fault(self, message: Message, revision: str) -> Optional[Fault]:
        fault = lone_fault(message.node, revision, self.options)
        if self.tracker is None:
            return fault
        wrong_way = self.tracker.shape_fault(self.sender, message, revision)
        if wrong_way is not None and (fault is None or rank(fault) > rank(wrong_way)):
            return wrong_way
        by_request = self.tracker.result_fault(self.sender, message, revision)
        if fault is None or (fault.code == 408 and by_request is not None and by_request.at < fault.at):
            return by_request
        return fault


def lone_fault(node: Node, revision: str, options: Options) -> Optional[Fault]:
    """What stage mcp says of a message that stands alone, under one revision."""
    try:
        oracle.check_message(node, REVISIONS[revision], options)
    except Fault as fault:
        return fault
    return None


def rank(fault: Fault) -> int:
    return ORDER.index(fault.code)


def best(faults: dict[str, Optional[Fault]]) -> tuple[str, ...]:
    """The revisions (oldest first) without a fault; else raises the fault that came latest, of equals the newest's."""
    passing = tuple(revision for revision, fault in faults.items() if fault is None)
    if not passing:
        raise max((fault for fault in reversed(faults.values()) if fault is not None), key=rank)
    return passing


def reply_of(fault: Fault, line: bytes, options: Options) -> tuple[Optional[int], Optional[str]]:
    """The JSON-RPC code of the reply, None where none is due, and the id that it echoes."""
    if fault.code in REPORTED:
        return None, None
    rpc_code, token = oracle.reply_of(fault, line, options)
    return rpc_code, token


def main() -> None:
    session = Session.of(json.loads(sys.argv[1]) if len(sys.argv) > 1 else {})
    for row in sys.stdin.buffer.read().splitlines():
        step = json.loads(row)
        print(json.dumps(session.hear(step["from"], step["line"].encode("utf-8"))))
    print(json.dumps({"late_responses": session.late_responses}))


if __name__ == "__main__":
    main()
