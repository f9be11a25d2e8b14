package linegate

import (
	"testing"
)

// An event's members are anybody's; the call is the gate's.
func TestChangedEventsChangeNoCall(t *testing.T) {
	gate := gateOf(t, Options{})
	for name, change := range map[string]func(*Event){
		"params":           func(e *Event) { e.Params = []byte(`{"name":"rm","arguments":{"a":8,"b":9}}`) },
		"bytes of params":  func(e *Event) { copy(e.Params, `{"name":"rmr","arguments":{"a":8,"b":9}}`) },
		"no params":        func(e *Event) { e.Params = nil },
		"method":           func(e *Event) { e.Method = "ping" },
		"kind":             func(e *Event) { e.Kind = Result },
		"line":             func(e *Event) { clear(e.Line) },
		"everything there": func(e *Event) { *e = Event{gate: e.gate, ticket: e.ticket, made: e.made} },
	} {
		event := accepted(t, gate, call)
		change(event)
		if event.Tool() != "add" {
			t.Errorf("%s: %q", name, event.Tool())
		}
		typed, err := ArgumentsOf[sum](event)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		authorized, err := typed.Authorize(yes)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		err = authorized.Execute(func(tool string, given sum) error {
			if tool != "add" || given != (sum{1, 2}) {
				t.Errorf("%s: %s %v", name, tool, given)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What asks for nothing isn't made a call.
	event := accepted(t, gate, `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n")
	event.Kind, event.Method, event.Params = Request, toolsCall, []byte(`{"name":"add","arguments":{"a":1,"b":2}}`)
	if _, err := ArgumentsOf[sum](event); err != Arguments {
		t.Error(err)
	}
}
