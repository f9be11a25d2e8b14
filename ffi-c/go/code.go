package linegate

// #cgo pkg-config: linegate
// #include "bridge.h"
import "C"

import "fmt"

// A Code says why a line was refused, or what a caller did wrong. Its numbers are those of the rules: 101 to 459 for lines,
// 5xx for actions, 9xx for callers. It is an error, to be compared with errors.Is. The numbers below 100 are states of the C library,
// no faults: no function of this package gives one.
type Code int32

// absent is such a state: a table has nothing for the message.
const absent Code = C.LINEGATE_ABSENT

// The codes that this package gives for what its callers do; those of lines are in the rules.
const (
	UnknownTool   Code = C.LINEGATE_UNKNOWN_TOOL
	Arguments     Code = C.LINEGATE_ARGUMENTS_SCHEMA
	NotAuthorized Code = C.LINEGATE_NOT_AUTHORIZED
	AlreadyUsed   Code = C.LINEGATE_ALREADY_USED
	NotGranted    Code = C.LINEGATE_SWITCH_NOT_GRANTED
	BadOptions    Code = C.LINEGATE_BAD_OPTIONS
	StaleEvent    Code = C.LINEGATE_STALE_EVENT
	Closed        Code = C.LINEGATE_CLOSED
	Internal      Code = C.LINEGATE_INTERNAL
)

// Name is the code's name: lower case, stable.
func (c Code) Name() string { return C.GoString(C.linegate_status_name(C.linegate_status(c))) }

// Text is the code as a sentence that a person can act on.
func (c Code) Text() string { return C.GoString(C.linegate_status_message(C.linegate_status(c))) }

// Error gives number, name and text.
func (c Code) Error() string { return fmt.Sprintf("linegate: %d %s: %s", int32(c), c.Name(), c.Text()) }

// Version is that of the C library that is linked.
func Version() string { return C.GoString(C.linegate_version()) }

// An OptionError says which option can't have its value. It is [BadOptions] to errors.Is.
type OptionError struct {
	// The option, as linegate.h names it: "max_depth" for MaxDepth.
	Option string
	// What would be right.
	Text string
}

// Error gives the code, the option and what would be right.
func (e *OptionError) Error() string {
	return fmt.Sprintf("linegate: %d %s: %s: %s", int32(BadOptions), BadOptions.Name(), e.Option, e.Text)
}

// Unwrap gives [BadOptions].
func (e *OptionError) Unwrap() error { return BadOptions }

// A Refusal is a line, or a call, that was refused. It has had no effect, and none of its bytes is in here but the id.
type Refusal struct {
	// Why.
	Code Code
	// The byte it is about, from the line's start.
	Offset int
	// Bytes of the line before its line feed; of a line that was refused before its end, those up to the decision.
	Length int
	// The ordinal of the line in its session, from 1.
	Sequence uint64
	// The id of the request as it was written, quotes included; nil where it has none that can be read beyond doubt.
	ID []byte
	// The JSON-RPC code of the reply; 0 where none is due, or where it is the result of a tool.
	RPCCode int
	// Whether the session ended with it.
	Closes bool
	// The JSON-RPC line that answers it, with its line feed; nil where none is to be sent. A [Reader] sends it by itself to
	// Options.Replies. What a [Gate] refused is the host's to answer: by [Writer.Reply] where a Writer owns the wire, or straight on the
	// wire, in one write. It needs no judge: the gate made it, and in a session the request that it answers waits no longer.
	Reply []byte

	// The same, which is nobody's to change.
	reply string
}

// Error says why and where, never what the line held.
func (r *Refusal) Error() string {
	return fmt.Sprintf("linegate: line %d refused: %d %s, byte %d: %s", r.Sequence, int32(r.Code), r.Code.Name(), r.Offset, r.Code.Text())
}

// Unwrap gives the code, for errors.Is.
func (r *Refusal) Unwrap() error { return r.Code }

func refusalOf(event *C.linegate_event, reply []byte) *Refusal {
	return &Refusal{
		Code:     Code(event.status),
		Offset:   int(event.offset),
		Length:   int(event.length),
		Sequence: uint64(event.sequence),
		ID:       copied(event.id),
		RPCCode:  int(event.rpc_code),
		Closes:   event.closes != 0,
		Reply:    reply,
		reply:    string(reply),
	}
}
