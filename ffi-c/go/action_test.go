package linegate

import (
	"errors"
	"reflect"
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

// Whoever keeps or changes the arguments that he got changes nobody else's.
func TestArgumentsShareNoMemory(t *testing.T) {
	type point struct{ X int }
	type shared struct {
		List []int
		At   *point
		All  []*point
	}
	spoil := func(s shared) { s.List[0], s.At.X, s.All[0].X = 9, 9, 9 }
	gate := gateOf(t, Options{})
	event := accepted(t, gate, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":`+
		`{"List":[1],"At":{"X":2},"All":[{"X":3}]}}}`+"\n")
	want := shared{[]int{1}, &point{2}, []*point{{3}}}
	typed, err := ArgumentsOf[shared](event)
	if err != nil {
		t.Fatal(err)
	}
	spoil(typed.Arguments())
	var kept shared
	authorized, err := typed.Authorize(func(_ string, given shared) bool {
		if !reflect.DeepEqual(given, want) {
			t.Error("the policy gets", given)
		}
		spoil(given)
		kept = given
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	*event = Event{}
	err = authorized.Execute(func(_ string, given shared) error {
		spoil(kept)
		if !reflect.DeepEqual(given, want) {
			t.Error("the action gets", given)
		}
		return nil
	})
	if err != nil || !reflect.DeepEqual(typed.Arguments(), want) || (Typed[shared]{}).Arguments().At != nil {
		t.Error(err, typed.Arguments())
	}
}

func TestAPolicyIsAskedOnce(t *testing.T) {
	gate := gateOf(t, Options{})
	typed, err := ArgumentsOf[sum](accepted(t, gate, call))
	if err != nil {
		t.Fatal(err)
	}
	authorized, err := typed.Authorize(func(string, sum) bool {
		if inner, err := typed.Authorize(yes); !errors.Is(err, AlreadyUsed) || inner.typed.event != nil {
			t.Error("asked while it was asked:", err)
		}
		return false
	})
	if !errors.Is(err, NotAuthorized) || authorized.typed.event != nil {
		t.Error(err)
	}
	// What comes too late has no effect either.
	typed, _ = ArgumentsOf[sum](accepted(t, gate, call))
	if _, err = typed.Authorize(func(string, sum) bool { gate.Feed(nil); return true }); !errors.Is(err, StaleEvent) {
		t.Error(err)
	}
	if _, err = typed.Authorize(yes); !errors.Is(err, StaleEvent) {
		t.Error(err)
	}
}

func TestAPolicyThatPanicsOrIsNoneSaysNo(t *testing.T) {
	gate := gateOf(t, Options{})
	event := accepted(t, gate, call)
	typed, _ := ArgumentsOf[sum](event)
	func() {
		defer func() {
			if said := recover(); said != "policy" {
				t.Error(said)
			}
		}()
		typed.Authorize(func(string, sum) bool { panic("policy") })
	}()
	if _, err := typed.Authorize(yes); !errors.Is(err, AlreadyUsed) {
		t.Error(err)
	}
	if err := event.Refuse(NotAuthorized); !errors.Is(err, AlreadyUsed) {
		t.Error("nobody decided:", err)
	}
	typed, _ = ArgumentsOf[sum](accepted(t, gate, call))
	var refusal *Refusal
	if _, err := typed.Authorize(nil); !errors.Is(err, NotAuthorized) || !errors.As(err, &refusal) || refusal.Reply == nil {
		t.Error(err)
	}
}
