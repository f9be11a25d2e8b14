package linegate

// #include "bridge.h"
import "C"

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
)

// A Typed holds the arguments of a tool call as a T. It can't be executed: only what [Typed.Authorize] gives can.
type Typed[T any] struct {
	event     *Event
	tool      string
	arguments T
}

// Tool is the name of the tool that is called.
func (t Typed[T]) Tool() string { return t.tool }

// Arguments are the call's.
func (t Typed[T]) Arguments() T { return t.arguments }

// ArgumentsOf reads the arguments of a tools/call request as a T, a struct; members that T doesn't have are refused.
//
// The error is [Arguments] (502) where they don't fit, or where the event is no such call.
func ArgumentsOf[T any](event *Event) (Typed[T], error) {
	typed := Typed[T]{event: event}
	if event == nil || event.Kind != Request || event.Method != "tools/call" {
		return Typed[T]{}, fmt.Errorf("%w: not a tools/call", Arguments)
	}
	var params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(event.Params, &params); err != nil {
		return Typed[T]{}, fmt.Errorf("%w: %w", Arguments, err)
	}
	typed.tool = params.Name
	if len(params.Arguments) == 0 {
		params.Arguments = json.RawMessage("{}")
	}
	decoder := json.NewDecoder(bytes.NewReader(params.Arguments))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&typed.arguments); err != nil {
		return Typed[T]{}, fmt.Errorf("%w: %w", Arguments, err)
	}
	return typed, nil
}

// Authorize asks the host's policy, once for each call, and records what it says.
//
// The error is [NotAuthorized] (503) where the policy says no, [AlreadyUsed] (504) where it was asked before for this call,
// [StaleEvent] (904) where the gate was fed since.
func (t Typed[T]) Authorize(policy func(tool string, arguments T) bool) (Authorized[T], error) {
	if t.event == nil || t.event.gate == nil || t.event.gate.pump == nil {
		return Authorized[T]{}, StaleEvent
	}
	var allowed C.int32_t
	if policy(t.tool, t.arguments) {
		allowed = 1
	}
	status := C.linegate_authorize(t.event.gate.pump.gate, C.uint64_t(t.event.ticket), allowed)
	runtime.KeepAlive(t.event.gate)
	if status != C.LINEGATE_OK {
		return Authorized[T]{}, Code(status)
	}
	if allowed == 0 {
		return Authorized[T]{}, NotAuthorized
	}
	return Authorized[T]{typed: t}, nil
}

// An Authorized is a call that the policy allowed. Its members are nobody's to set: a value that was made by hand executes
// nothing. A copy is the same call: of all copies one executes, once.
type Authorized[T any] struct {
	typed Typed[T]
}

// Execute runs the action with the call's tool and arguments, if this is the call's first time and no further input was fed.
//
// The error is the action's own, or [AlreadyUsed] (504), or [StaleEvent] (904); in the last two the action has not run.
func (a Authorized[T]) Execute(action func(tool string, arguments T) error) error {
	event := a.typed.event
	if event == nil || event.gate == nil || event.gate.pump == nil {
		return StaleEvent
	}
	status := C.linegate_authorized(event.gate.pump.gate, C.uint64_t(event.ticket))
	runtime.KeepAlive(event.gate)
	if status != C.LINEGATE_OK {
		return Code(status)
	}
	return action(a.typed.tool, a.typed.arguments)
}
