package linegate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
)

// A serving is a server that acts on messages itself: a gate, a writer, and their session, which has room for few requests.
type serving struct {
	gate    *Gate
	out     *Writer
	tracker *Tracker
	wire    bytes.Buffer
	asked   int
}

func serves(t *testing.T, requests int) *serving {
	t.Helper()
	// The grant is that nothing is granted.
	s := &serving{gate: gateOf(t, Options{Allow: SwitchEscapedNul, Policy: PolicyContinue, Methods: []string{"x"}})}
	var err error
	if s.out, err = NewWriter(&s.wire, Options{}); err != nil {
		t.Fatal(err)
	}
	if s.tracker, err = NewTracker(s.gate, s.out.Gate(), requests); err != nil {
		t.Fatal(err)
	}
	accepted(t, s.gate, hello)
	if _, err := io.WriteString(s.out, welcome); err != nil {
		t.Fatal(err)
	}
	s.wire.Reset()
	return s
}

// ask feeds a call with an id of its own.
func (s *serving) ask(t *testing.T, arguments string) *Event {
	t.Helper()
	s.asked++
	return accepted(t, s.gate, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"add","arguments":%s}}`+"\n", s.asked, arguments))
}

func refusedBy[T any](event *Event, policy func(string, T) bool) (err error) {
	defer func() {
		if said := recover(); said != nil {
			// Its own decision is made.
			err = NotAuthorized
		}
	}()
	typed, err := ArgumentsOf[T](event)
	if err == nil {
		_, err = typed.Authorize(policy)
	}
	return err
}

// Whoever is refused a call is answered, and waits no longer: with room for two, a thousand calls are refused, each for its own reason.
func TestRefusedCallsWaitNoLonger(t *testing.T) {
	type unheld struct{ M map[string]int }
	type deeper struct {
		A *[]struct{ A [][]struct{ A [][][][]int } }
	}
	const right = `{"a":1,"b":2}`
	for _, step := range []struct {
		name, arguments string
		code            Code
		refuse          func(*Event) error
	}{
		{"the host knows no such tool", right, UnknownTool, func(e *Event) error { return e.Refuse(UnknownTool) }},
		{"the host reads arguments itself", right, Arguments, func(e *Event) error { return e.Refuse(Arguments) }},
		{"the host asks for leave itself", right, NotAuthorized, func(e *Event) error { return e.Refuse(NotAuthorized) }},
		{"arguments", `{"a":1}`, Arguments, func(e *Event) error { return refusedBy(e, yes) }},
		{"a switch", `{"a":1,"b":2,"c":"\u0000"}`, NotGranted, func(e *Event) error { return refusedBy(e, yes) }},
		{"the policy", right, NotAuthorized, func(e *Event) error { return refusedBy(e, func(string, sum) bool { return false }) }},
		{"no policy", right, NotAuthorized, func(e *Event) error { return refusedBy[sum](e, nil) }},
		{"a type without a shape", right, UnknownTool, func(e *Event) error {
			return refusedBy(e, func(string, unheld) bool { return true })
		}},
		{"a type too deep", right, UnknownTool, func(e *Event) error {
			return refusedBy(e, func(string, deeper) bool { return true })
		}},
		{"no struct", right, UnknownTool, func(e *Event) error { return refusedBy(e, func(string, int) bool { return true }) }},
	} {
		s := serves(t, 2)
		for range 100 {
			event := s.ask(t, step.arguments)
			err := step.refuse(event)
			var refusal *Refusal
			if !errors.Is(err, step.code) || !errors.As(err, &refusal) || !bytes.Equal(refusal.ID, event.ID) {
				t.Fatalf("%s: %v", step.name, err)
			}
			if err := s.out.Reply(refusal); err != nil {
				t.Fatalf("%s: %v", step.name, err)
			}
			if got := s.wire.String(); got != string(refusal.Reply) || !json.Valid([]byte(got)) || !strings.Contains(got, fmt.Sprintf(`"id":%d,`, s.asked)) {
				t.Fatalf("%s: %q", step.name, got)
			}
			s.wire.Reset()
			if client, _, _ := s.tracker.Count(); client != 0 {
				t.Fatalf("%s: %d in flight", step.name, client)
			}
		}
		// What comes next is served, and its id free.
		event := s.ask(t, right)
		if _, err := ArgumentsOf[sum](event); err != nil {
			t.Error(err)
		}
		if _, err := fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`+"\n", event.ID); err != nil {
			t.Error(step.name, err)
		}
	}
	// Of a policy that panics as well: its refusal is nobody's, and the host answers by itself.
	s := serves(t, 2)
	for range 100 {
		if err := refusedBy(s.ask(t, right), func(string, sum) bool { panic("policy") }); err != NotAuthorized {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%d,"error":{"code":-32603,"message":"m"}}`+"\n", s.asked); err != nil {
			t.Fatal(err)
		}
	}
	if client, _, _ := s.tracker.Count(); client != 0 {
		t.Error(client)
	}
}

// The _meta of a method's params is the protocol's where T has none, and held to T as any member where it has one; among the
// arguments of a tool it is a name like others.
func TestMetaIsHeldToItsMember(t *testing.T) {
	type meta struct {
		Meta struct{ X int } `json:"_meta"`
	}
	type none struct{}
	for text, fits := range map[string]bool{
		`{"_meta":{"X":5}}`: true, `{"_meta":{"x":5}}`: false, `{"_meta":{"X":5,"more":1}}`: false, `{"_meta":{}}`: false, `{}`: false,
	} {
		method := func() *Event {
			return accepted(t, serves(t, 1).gate, `{"jsonrpc":"2.0","id":"m","method":"x","params":`+text+"}\n")
		}
		for name, event := range map[string]*Event{"tool": serves(t, 1).ask(t, text), "method": method()} {
			typed, err := ArgumentsOf[meta](event)
			if (err == nil) != fits || !fits && !errors.Is(err, Arguments) || fits && typed.Arguments().Meta.X != 5 {
				t.Errorf("%s: %s: %v", name, text, err)
			}
		}
		if _, err := ArgumentsOf[none](method()); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := ArgumentsOf[none](serves(t, 1).ask(t, text)); (err == nil) != (text == "{}") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Replies go out whole between the lines of whoever else writes, as the gate made them, and nothing else does by that way.
func TestReplies(t *testing.T) {
	s := serves(t, 64)
	_, _, err := s.gate.Feed([]byte(twice))
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		t.Fatal(err)
	}
	want := string(refusal.Reply)
	clear(refusal.Reply)
	var all sync.WaitGroup
	for range 4 {
		all.Add(2)
		go func() {
			defer all.Done()
			for range 50 {
				if err := s.out.Reply(refusal); err != nil {
					t.Error(err)
				}
			}
		}()
		go func() {
			defer all.Done()
			for range 50 {
				if _, err := io.WriteString(s.out, note); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	all.Wait()
	got := s.wire.String()
	if strings.Count(got, want) != 200 || strings.Count(got, note) != 200 || len(got) != 200*(len(want)+len(note)) {
		t.Errorf("%q", got)
	}
	s.wire.Reset()
	for _, none := range []*Refusal{nil, {}, {Reply: []byte("by hand\n")}} {
		if err := s.out.Reply(none); err != nil || s.wire.Len() != 0 {
			t.Error(err, s.wire.String())
		}
	}
	s.out.Close()
	var no *Writer
	for _, writer := range []*Writer{s.out, no, {}} {
		if err := writer.Reply(refusal); !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	}
	if s.wire.Len() != 0 {
		t.Error(s.wire.String())
	}
	broken := &part{length: 5}
	writer, err := NewWriter(broken, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := writer.Reply(refusal); !errors.Is(err, io.ErrShortWrite) {
			t.Error(err)
		}
	}
	if _, err := io.WriteString(writer, note); !errors.Is(err, io.ErrShortWrite) || broken.got.String() != want[:5] {
		t.Errorf("%v %q", err, broken.got.String())
	}
}
