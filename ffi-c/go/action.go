package linegate

// #include "bridge.h"
import "C"

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"
)

const toolsCall = "tools/call"

// Tool is the name of the tool that a tools/call request asks for; empty for other messages.
func (e *Event) Tool() string {
	if e == nil {
		return ""
	}
	name, _ := e.call()
	return name
}

// call gives tool and arguments of a tools/call, or of another method none and its params: as the gate passed them.
func (e *Event) call() (tool string, arguments json.RawMessage) {
	arguments = json.RawMessage(e.made.params)
	if e.asksForTool() {
		// A map has its names as they were written.
		var params map[string]json.RawMessage
		// The gate has seen to it that they are of these types.
		_ = json.Unmarshal(arguments, &params)
		_ = json.Unmarshal(params["name"], &tool)
		arguments = params["arguments"]
	}
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	return tool, arguments
}

func (e *Event) asksForTool() bool { return e.made.method == toolsCall && !e.plain() }

// plain says whether the gate knows of no tools.
func (e *Event) plain() bool { return e.gate != nil && e.gate.plain }

// Refuse refuses the call that the message is, for a host that doesn't take it: with [UnknownTool], [Arguments] or [NotAuthorized].
// What it gives is the *[Refusal], counted like any; or [AlreadyUsed] where it was decided before, [StaleEvent] where the gate was
// fed since or the message asks for nothing, [BadOptions] for another code.
func (e *Event) Refuse(code Code) error {
	return e.do(func(pump *C.lg_pump, ticket C.uint64_t) C.linegate_status {
		return C.linegate_refuse(pump.gate, ticket, C.linegate_status(code), 0, C.linegate_slice{})
	})
}

// heldTo makes what it is in a type of T's own. Without it nothing in a Typed has T in it, and one of T would convert to one of any
// other type; with a mere [0]*T it would convert to one of a struct with other tags.
type heldTo[T any] struct{}

// A Typed holds the arguments of a call as a T. It can't be executed: only what [Typed.Authorize] gives can.
type Typed[T any] struct {
	_     heldTo[T]
	event *Event
	tool  string
	// As they were written: each who asks for them gets a T that shares no memory with another's.
	arguments string
	// Whether the policy was asked; of all copies the same.
	asked *atomic.Bool
}

// Tool is the name of the tool that is called; empty where it is another method.
func (t Typed[T]) Tool() string { return t.tool }

// Arguments are the call's, read anew each time: what is changed in them changes neither what the policy nor what the action gets.
func (t Typed[T]) Arguments() T {
	arguments, _ := t.read()
	return arguments
}

// read gives [Arguments] where a type that reads itself doesn't take them: what that says may quote them.
func (t Typed[T]) read() (arguments T, err error) {
	if t.event != nil && json.Unmarshal([]byte(t.arguments), &arguments) != nil {
		err = Arguments
	}
	return arguments, err
}

// ArgumentsOf reads the arguments of a call as a T, a struct: of tools/call those of the tool, of another method its params.
// They are held to T exactly: names in T's own case, no member that T doesn't have, at any level, and none missing but pointers
// and those tagged omitempty or omitzero, which may be null too. Integers fit their width, and a json.Number is a number.
// The _meta of a method's params is passed over where T has no such member.
//
// A member whose type reads itself is held to no more than what it says: with UnmarshalJSON, as json.RawMessage and time.Time, to
// any value that it takes, and with UnmarshalText to a string. It is asked for each T anew, so it is to say the same each time.
//
// The error is a *[Refusal] with [Arguments] (502) where they don't fit, or [NotGranted] (505) where the line passed only by a switch
// that Options.Grant doesn't have: the call is refused, counted, and to be answered with the refusal's Reply. It is
// [Arguments] alone where the message is no call; [AlreadyUsed] where it was asked before, [StaleEvent] where the gate was fed since.
//
// Where T can't be held so, which is the program's fault, the call is refused all the same, with [UnknownTool] (501): the error says why,
// and wraps the *[Refusal] (errors.As), whose Reply is to be sent, or who asked waits for ever. That is so where T is no struct, or has
// in it an interface, a map, bytes, an array, an embedded struct, itself, more than 8 structs and slices within each other below T; two
// members of one name, or a name that encoding/json passes over; or where T reads itself. No error has anything of the arguments in it.
func ArgumentsOf[T any](event *Event) (Typed[T], error) {
	if event == nil || event.made.kind != Request && event.made.kind != Notification {
		return Typed[T]{}, Arguments
	}
	// Who asked is answered all the same: for him there is no such tool.
	unheld := func(why error) (Typed[T], error) {
		return Typed[T]{}, fmt.Errorf("%w; %w", why, event.Refuse(UnknownTool))
	}
	rows, err := shapeOf(reflect.TypeFor[T]())
	if err != nil {
		return unheld(err)
	}
	tool, arguments := event.call()
	name, target := event.made.method, C.uint32_t(C.LINEGATE_TARGET_METHOD)
	if event.asksForTool() {
		name, target = tool, C.LINEGATE_TARGET_TOOL
	}
	asked := C.CString(name)
	defer C.free(unsafe.Pointer(asked))
	err = event.do(func(pump *C.lg_pump, ticket C.uint64_t) C.linegate_status {
		return C.lg_call(pump, ticket, target, asked, rows.rows, rows.len)
	})
	switch {
	case errors.Is(err, absent):
		// A name that C can't spell.
		return Typed[T]{}, event.Refuse(Arguments)
	case errors.Is(err, BadOptions):
		// All else that rows can be was seen to when they were made.
		return unheld(fmt.Errorf("linegate: %s nests deeper than %d: %w", reflect.TypeFor[T](), C.LINEGATE_MAX_NESTING, err))
	case err != nil:
		return Typed[T]{}, err
	}
	// The event is anybody's to overwrite.
	own := &Event{gate: event.gate, ticket: event.ticket, made: event.made}
	typed := Typed[T]{event: own, tool: tool, arguments: string(arguments), asked: new(atomic.Bool)}
	if _, err := typed.read(); err != nil {
		// A type that reads itself doesn't take it.
		return Typed[T]{}, event.Refuse(Arguments)
	}
	return typed, nil
}

// Authorize asks the host's policy, once for each call, and records what it says. A policy that panics, or is nil, says no. The panic
// goes on, and no Refusal is left: who recovers from it answers the client by an error of its own.
//
// The error is a *[Refusal] with [NotAuthorized] (503) where the policy says no; [AlreadyUsed] (504) where it was asked before for this
// call, be it that it hasn't answered yet; [StaleEvent] (904) where the gate was fed since.
func (t Typed[T]) Authorize(policy func(tool string, arguments T) bool) (authorized Authorized[T], err error) {
	if t.event == nil {
		return Authorized[T]{}, StaleEvent
	}
	if !t.asked.CompareAndSwap(false, true) {
		return Authorized[T]{}, t.used()
	}
	says := false
	// Where the policy panics as well.
	defer func() {
		var allowed C.int32_t
		if says {
			allowed = 1
		}
		failed := t.event.do(func(pump *C.lg_pump, ticket C.uint64_t) C.linegate_status {
			return C.linegate_authorize(pump.gate, ticket, allowed)
		})
		switch {
		case err != nil:
			err = errors.Join(failed, err)
		case failed != nil:
			err = failed
		default:
			authorized = Authorized[T]{typed: t}
		}
	}()
	if policy == nil {
		return Authorized[T]{}, nil
	}
	arguments, err := t.read()
	if err != nil {
		return Authorized[T]{}, err
	}
	says = policy(t.tool, arguments)
	return Authorized[T]{}, nil
}

// used gives [AlreadyUsed], or [StaleEvent] where the event is over.
func (t Typed[T]) used() error {
	var none C.char
	err := t.event.do(func(pump *C.lg_pump, ticket C.uint64_t) C.linegate_status {
		// The call was made, so that it can't be again.
		return C.lg_call(pump, ticket, C.LINEGATE_TARGET_METHOD, &none, nil, 0)
	})
	if errors.Is(err, StaleEvent) {
		return StaleEvent
	}
	return AlreadyUsed
}

// An Authorized is a call that the policy allowed. Its members are nobody's to set: a value that was made by hand executes
// nothing. A copy is the same call: of all copies one executes, once.
type Authorized[T any] struct {
	_     heldTo[T]
	typed Typed[T]
}

// Execute runs the action with the call's tool and arguments, if this is the call's first time and no further input was fed.
//
// The error is the action's own, or [AlreadyUsed] (504), or [StaleEvent] (904), or [Arguments] (502) where a type that reads itself takes
// them no more; in the last three the action has not run. What the policy did to its arguments is not in those that the action gets.
func (a Authorized[T]) Execute(action func(tool string, arguments T) error) error {
	err := a.typed.event.do(func(pump *C.lg_pump, ticket C.uint64_t) C.linegate_status {
		return C.linegate_authorized(pump.gate, ticket)
	})
	if err != nil {
		return err
	}
	arguments, err := a.typed.read()
	if err != nil {
		// A type that reads itself took them before.
		return err
	}
	return action(a.typed.tool, arguments)
}
