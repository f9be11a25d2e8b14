package linegate

// #include "bridge.h"
import "C"

import (
	"runtime"
	"sync"
	"unsafe"
)

// A Gate judges one stream, line by line. It belongs to one goroutine at a time.
type Gate struct {
	// Of the gates of one session the same: what they share belongs to one goroutine at a time.
	lock    *sync.Mutex
	pump    *C.lg_pump
	cleanup runtime.Cleanup
	// Of a session; the library reads it through the gate.
	tracker *Tracker
	// Whether it is one of JSON-RPC without MCP, which has no tools.
	plain bool
}

// NewGate makes a gate. Close gives its memory back.
func NewGate(options Options) (*Gate, error) {
	pump, err := options.pump()
	if err != nil {
		return nil, err
	}
	gate := &Gate{lock: new(sync.Mutex), pump: pump, plain: options.Revision == "jsonrpc"}
	gate.cleanup = runtime.AddCleanup(gate, func(pump *C.lg_pump) { C.lg_free(pump) }, pump)
	return gate, nil
}

// Close gives the gate's memory back. What its events gave out stays.
func (g *Gate) Close() error {
	if g.none() {
		return Closed
	}
	g.lock.Lock()
	defer g.lock.Unlock()
	if g.pump != nil {
		g.cleanup.Stop()
		C.lg_free(g.pump)
		g.pump = nil
	}
	return nil
}

// none says whether it is no gate at all: nil, or made by hand.
func (g *Gate) none() bool { return g == nil || g.lock == nil }

func (g *Gate) closed() bool {
	if g.none() {
		return true
	}
	g.lock.Lock()
	defer g.lock.Unlock()
	return g.pump == nil
}

// A Kind says what a message is.
type Kind uint32

// The kinds.
const (
	Request      Kind = C.LINEGATE_KIND_REQUEST
	Notification Kind = C.LINEGATE_KIND_NOTIFICATION
	Result       Kind = C.LINEGATE_KIND_RESULT
	ErrorKind    Kind = C.LINEGATE_KIND_ERROR
	Batch        Kind = C.LINEGATE_KIND_BATCH
)

// String gives the kind in one word.
func (k Kind) String() string {
	names := [...]string{"none", "request", "notification", "result", "error", "batch"}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// An Event is a message that was accepted. Its bytes are a copy: they stay what they are. What is changed in its members changes
// nothing of the call: [ArgumentsOf] and Tool read what the gate passed.
type Event struct {
	Kind     Kind
	Sequence uint64
	// Exactly the bytes that were checked, without the line break. ID, Params, Result and Error are parts of it.
	Line   []byte
	Method string
	// The id as it was written, quotes included; nil where there is none.
	ID []byte
	// JSON as it was written; nil where there is none.
	Params, Result, Error []byte
	// The switches without which the line would have been refused, beyond the two that every profile allows.
	Loosened Switch

	gate   *Gate
	ticket uint64
	made   made
}

// made is what the gate passed, for what acts on it: the members above are anybody's to change.
type made struct {
	kind           Kind
	method, params string
}

// do runs a function of the library on the event's gate; gives [StaleEvent] where there is none any more, and the refusal where
// the library refused the call.
func (e *Event) do(call func(pump *C.lg_pump, ticket C.uint64_t) C.linegate_status) error {
	if e == nil || e.gate == nil {
		return StaleEvent
	}
	e.gate.lock.Lock()
	defer e.gate.lock.Unlock()
	defer runtime.KeepAlive(e.gate)
	if e.gate.pump == nil {
		return StaleEvent
	}
	switch status := call(e.gate.pump, C.uint64_t(e.ticket)); status {
	case C.LINEGATE_OK:
		return nil
	case C.LINEGATE_UNKNOWN_TOOL, C.LINEGATE_ARGUMENTS_SCHEMA, C.LINEGATE_NOT_AUTHORIZED, C.LINEGATE_SWITCH_NOT_GRANTED:
		return e.gate.refused(status)
	default:
		return Code(status)
	}
}

// Feed judges input up to the end of one line at most. Call it again with the rest until all is consumed.
//
// The event is nil where no line has ended. The error is a *[Refusal] where a line was refused: go on, unless it Closes. It
// is [Closed] where the session is over.
func (g *Gate) Feed(input []byte) (consumed int, event *Event, err error) {
	if g.none() {
		return 0, nil, Closed
	}
	g.lock.Lock()
	defer g.lock.Unlock()
	if g.pump == nil {
		return 0, nil, Closed
	}
	var used C.size_t
	said := C.lg_step(g.pump, unsafe.Pointer(unsafe.SliceData(input)), C.size_t(len(input)), &used)
	defer runtime.KeepAlive(g)
	switch {
	case said.status == C.LINEGATE_OK:
		return int(used), g.event(&said), nil
	case said.status == C.LINEGATE_NEED_MORE:
		return int(used), nil, nil
	case said.status >= C.LINEGATE_NULL_ARGUMENT:
		return int(used), nil, Code(said.status)
	}
	return int(used), nil, refusalOf(&said, bytesOf(g.pump.replies.data, g.pump.replies.len))
}

// Finish says that the input has ended. The error is a *[Refusal] (104) where it ended inside a line.
func (g *Gate) Finish() error {
	if g.none() {
		return Closed
	}
	g.lock.Lock()
	defer g.lock.Unlock()
	if g.pump == nil {
		return Closed
	}
	defer runtime.KeepAlive(g)
	said := C.lg_last(g.pump)
	switch {
	case said.status == C.LINEGATE_OK:
		return nil
	case said.status >= C.LINEGATE_NULL_ARGUMENT:
		return Code(said.status)
	}
	return refusalOf(&said, nil)
}

// Reset begins a new session with the same options.
func (g *Gate) Reset() error {
	if g.none() {
		return Closed
	}
	g.lock.Lock()
	defer g.lock.Unlock()
	if g.pump == nil {
		return Closed
	}
	defer runtime.KeepAlive(g)
	return errorOf(C.linegate_reset(g.pump.gate))
}

// refused gives the refusal that the library made of the last event's call, or the code where it made none.
func (g *Gate) refused(status C.linegate_status) error {
	said := C.lg_last_refusal(g.pump)
	if said.status != status {
		return Code(status)
	}
	return refusalOf(&said, bytesOf(g.pump.replies.data, g.pump.replies.len))
}

func errorOf(status C.linegate_status) error {
	if status == C.LINEGATE_OK {
		return nil
	}
	return Code(status)
}

// event copies what the library lends: the line, and once more what the call is read from, which is nobody's to change.
func (g *Gate) event(said *C.linegate_event) *Event {
	line := copied(said.line)
	part := func(slice C.linegate_slice) []byte {
		if slice.data == nil {
			return nil
		}
		from := uintptr(unsafe.Pointer(slice.data)) - uintptr(unsafe.Pointer(said.line.data))
		to := from + uintptr(slice.len)
		return line[from:to:to]
	}
	made := made{Kind(said.kind), text(said.method), text(said.params)}
	return &Event{
		Kind:     made.kind,
		Sequence: uint64(said.sequence),
		Line:     line,
		Method:   made.method,
		ID:       part(said.id),
		Params:   part(said.params),
		Result:   part(said.result),
		Error:    part(said.error),
		Loosened: Switch(said.loosened),
		gate:     g,
		ticket:   uint64(said.ticket),
		made:     made,
	}
}

// text copies a slice as a string. None is longer than max_frame, which is an int.
func text(slice C.linegate_slice) string { return C.GoStringN(slice.data, C.int(slice.len)) }

func copied(slice C.linegate_slice) []byte { return bytesOf(slice.data, slice.len) }

func bytesOf(data *C.char, length C.size_t) []byte {
	if data == nil || length == 0 {
		return nil
	}
	return append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(data)), int(length))...)
}
