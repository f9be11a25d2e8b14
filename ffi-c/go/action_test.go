package linegate

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
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

// fickle reads itself, and tells what it read.
type fickle struct{ text string }

var refusesFickle bool

func (f *fickle) UnmarshalJSON(text []byte) error {
	f.text = string(text)
	if refusesFickle {
		return errors.New("can't read " + f.text)
	}
	return nil
}

// What a type says of what it doesn't take may quote it, and no error of the package does.
func TestErrorsQuoteNoArguments(t *testing.T) {
	type secret struct {
		When *time.Time `json:"when"`
		It   *fickle    `json:"it"`
	}
	gate := gateOf(t, Options{})
	quotesNone := func(name string, err error) {
		t.Helper()
		if !errors.Is(err, Arguments) || strings.Contains(fmt.Sprintf("%v %+v", err, err), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
		for one := err; one != nil; one = errors.Unwrap(one) {
			if strings.Contains(one.Error(), "hunter2") {
				t.Errorf("%s, within: %v", name, one)
			}
		}
	}
	defer func() { refusesFickle = false }()
	_, err := fits[secret](t, gate, `{"when":"hunter2"}`)
	quotesNone("a time", err)
	refusesFickle = true
	_, err = fits[secret](t, gate, `{"it":"hunter2"}`)
	quotesNone("a type of the host's", err)
	// One that takes them at first.
	ask := func() Typed[secret] {
		refusesFickle = false
		defer func() { refusesFickle = true }()
		typed, err := ArgumentsOf[secret](accepted(t, gate, strings.Replace(call, `{"a":1,"b":2}`, `{"it":"hunter2"}`, 1)))
		if err != nil {
			t.Fatal(err)
		}
		return typed
	}
	_, err = ask().Authorize(func(string, secret) bool { return true })
	quotesNone("authorizing", err)
	typed := ask()
	refusesFickle = false
	authorized, err := typed.Authorize(func(string, secret) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	refusesFickle = true
	quotesNone("executing", authorized.Execute(func(string, secret) error { t.Error("it has run"); return nil }))
}

// Of the states of the C library none is given, and of tables that it doesn't take each says why.
func TestNoBareStates(t *testing.T) {
	type deep struct {
		A *[]struct{ A [][]struct{ A [][][]int } }
	}
	type deeper struct {
		A *[]struct{ A [][]struct{ A [][][][]int } }
	}
	gate := gateOf(t, Options{Methods: []string{"x"}, Allow: SwitchEscapedNul, Grant: SwitchEscapedNul})
	event := accepted(t, gate, `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\u0000"}}`+"\n")
	if _, err := ArgumentsOf[struct {
		A string `json:"a"`
	}](event); err != nil {
		t.Error(err)
	}
	plain := gateOf(t, Options{Revision: "jsonrpc", Allow: SwitchEscapedNul, Grant: SwitchEscapedNul})
	event = accepted(t, plain, `{"jsonrpc":"2.0","id":1,"method":"x\u0000y"}`+"\n")
	var refusal *Refusal
	if _, err := ArgumentsOf[struct{}](event); !errors.Is(err, Arguments) || !errors.As(err, &refusal) || refusal.Reply == nil {
		t.Error(err)
	}
	if err := event.Refuse(UnknownTool); !errors.Is(err, AlreadyUsed) {
		t.Error(err)
	}
	if _, err := fits[deep](t, gate, `{}`); err != nil {
		t.Error(err)
	}
	_, err := fits[deeper](t, gate, `{}`)
	if !errors.Is(err, BadOptions) || !strings.Contains(err.Error(), "deeper") {
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

type readsItself struct{ A int }

func (r *readsItself) UnmarshalJSON([]byte) error { return nil }

type readsText struct{ A int }

func (r *readsText) UnmarshalText([]byte) error { return nil }

// What encoding/json would read otherwise than the type looks.
func TestTypesThatAreReadOtherwise(t *testing.T) {
	type named struct {
		A int `json:"B,omitempty"`
		B int `json:",omitempty"`
	}
	gate := gateOf(t, Options{})
	for name, err := range map[string]error{
		"named":  fitsNot[named](t, gate),
		"nested": fitsNot[struct{ In []*named }](t, gate),
		"quote": fitsNot[struct {
			A int `json:"a'b,omitempty"`
		}](t, gate),
		"backslash": fitsNot[struct {
			A int `json:"a\\b,omitempty"`
		}](t, gate),
		"_META": fitsNot[struct {
			A *int `json:"_META"`
		}](t, gate),
		"array": fitsNot[struct {
			A [2]int `json:"a,omitempty"`
		}](t, gate),
		"array within": fitsNot[struct {
			A [][1]string `json:"a,omitempty"`
		}](t, gate),
		"reads itself": fitsNot[readsItself](t, gate),
		"reads text":   fitsNot[readsText](t, gate),
		"time":         fitsNot[time.Time](t, gate),
	} {
		if err == nil || errors.Is(err, Arguments) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// As go vet complains of them, they can't be written here.
	for _, tag := range []reflect.StructTag{`json:a`, `json: "a"`, `yaml:"a",json:"b"`, `json`} {
		of := reflect.StructOf([]reflect.StructField{{Name: "A", Type: reflect.TypeFor[int](), Tag: tag}})
		if _, err := shapeOf(of); err == nil {
			t.Errorf("%s", tag)
		}
	}
	for _, fields := range [][]reflect.StructField{
		{{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"a"`}, {Name: "B", Type: reflect.TypeFor[int](), Tag: `json:"a"`}},
		{{Name: "a", PkgPath: "linegate", Type: reflect.TypeFor[int](), Tag: `json:"a"`}},
	} {
		if _, err := shapeOf(reflect.StructOf(fields)); err == nil {
			t.Error(fields)
		}
	}
	// A member "-" is one.
	type dash struct {
		A int `json:"-,"`
		B int `json:"-"`
		C int `jsonschema:"the third" json:"c"`
		D int `jsonschema:"the \"json\""`
		e int
	}
	if got, err := fits[dash](t, gate, `{"-":1,"c":2,"D":3}`); err != nil || got != (dash{1, 0, 2, 3, 0}) {
		t.Error(got, err)
	}
	if _, err := fits[dash](t, gate, `{"c":2,"D":3}`); !errors.Is(err, Arguments) {
		t.Error(err)
	}
	type numbers struct {
		N json.Number   `json:"n"`
		M []json.Number `json:"m,omitempty"`
	}
	if got, err := fits[numbers](t, gate, `{"n":1.50,"m":[-2]}`); err != nil || got.N != "1.50" || got.M[0] != "-2" {
		t.Error(got, err)
	}
	for _, text := range []string{`{"n":"1"}`, `{"n":1,"m":["2"]}`, `{"n":null}`, `{"n":""}`} {
		if _, err := fits[numbers](t, gate, text); !errors.Is(err, Arguments) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
