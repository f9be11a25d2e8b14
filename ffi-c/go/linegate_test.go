package linegate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	ping  = `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"
	twice = `{"jsonrpc":"2.0","id":1,"method":"ping","id":2}` + "\n"
	call  = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}` + "\n"
)

func gateOf(t *testing.T, options Options) *Gate {
	t.Helper()
	gate, err := NewGate(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { gate.Close() })
	return gate
}

func accepted(t *testing.T, gate *Gate, line string) *Event {
	t.Helper()
	used, event, err := gate.Feed([]byte(line))
	if used != len(line) || event == nil || err != nil {
		t.Fatalf("%q: %d, %v, %v", line, used, event, err)
	}
	return event
}

func TestOptionsAreChecked(t *testing.T) {
	for name, options := range map[string]Options{
		"revision": {Revision: "2031-01-01"}, "policy": {Policy: 9}, "frame": {MaxFrame: -1}, "depth": {MaxDepth: 513},
		"replies": {MaxReplies: -2}, "method": {Methods: []string{""}}, "batches": {AllowBatches: true},
		"direction": {FromServer: true, FromClient: true}, "keys": {MaxKeys: 1 << 40},
	} {
		_, err := NewGate(options)
		var wrong *OptionError
		if !errors.Is(err, BadOptions) || !errors.As(err, &wrong) || !strings.Contains(wrong.Option, name) || wrong.Text == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Each of two opposites is one too many, and each text has the range that the option goes through.
	for name, options := range map[string]Options{
		"error_id": {NullErrorID: true, AbsentErrorID: true}, "batches": {Revision: "jsonrpc", AllowBatches: true, RefuseBatches: true},
		"4 to 2147483647": {MaxFrame: 1 << 31}, "from 4 to": {MaxFrame: -1}, "1 to 512": {MaxDepth: -1}, "1 to 4096": {MaxID: 1 << 33},
		"1 to 16777216": {MaxKeys: 1 << 24 << 1}, "1 to 4294967294": {MaxReplies: 1<<32 - 1}, "-1 for none": {MaxReplies: 1 << 40},
	} {
		if _, err := NewGate(options); !errors.Is(err, BadOptions) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, options := range []Options{
		{MaxReplies: 1<<32 - 2}, {MaxReplies: -1}, {NullErrorID: true}, {AbsentErrorID: true}, {RefuseBatches: true}, {MaxKeys: 1 << 24},
	} {
		gateOf(t, options)
	}
	manifest, err := os.ReadFile("../../Cargo.toml")
	if err != nil || !strings.Contains(string(manifest), "\nversion = \""+Version()+"\"\n") {
		t.Error(Version(), err)
	}
}

func TestEventsAreCopies(t *testing.T) {
	gate := gateOf(t, Options{Methods: []string{"vendor/own"}})
	input := []byte(`{"jsonrpc":"2.0","id":"x","method":"vendor/own","params":{"a":[1]}}` + "\n")
	_, event, err := gate.Feed(input)
	if err != nil {
		t.Fatal(err)
	}
	clear(input)
	accepted(t, gate, ping)
	gate.Close()
	if string(event.ID) != `"x"` || event.Method != "vendor/own" || string(event.Params) != `{"a":[1]}` || event.Kind != Request {
		t.Errorf("%+v", event)
	}
}

func TestRefusalsAreErrors(t *testing.T) {
	gate := gateOf(t, Options{Policy: PolicyContinue})
	_, event, err := gate.Feed([]byte(twice))
	var refusal *Refusal
	if event != nil || !errors.As(err, &refusal) || !errors.Is(err, Code(209)) || refusal.Closes || refusal.RPCCode != -32600 {
		t.Fatalf("%v %v", event, err)
	}
	if !bytes.HasPrefix(refusal.Reply, []byte(`{"jsonrpc":"2.0",`)) || !bytes.HasSuffix(refusal.Reply, []byte("}\n")) {
		t.Errorf("%q", refusal.Reply)
	}
	if strings.Contains(err.Error(), "ping") || !strings.Contains(err.Error(), "209 duplicate_key") {
		t.Error(err)
	}
	gate.Feed([]byte(`{"json`))
	if err := gate.Finish(); !errors.Is(err, Code(104)) {
		t.Error(err)
	}
	if err := gate.Finish(); !errors.Is(err, Closed) {
		t.Error(err)
	}
	if _, _, err := gate.Feed([]byte(ping)); !errors.Is(err, Closed) {
		t.Error(err)
	}
	if err := gate.Reset(); err != nil {
		t.Error(err)
	}
	accepted(t, gate, ping)
	gate.Close()
	if _, _, err := gate.Feed([]byte(ping)); !errors.Is(err, Closed) {
		t.Error(err)
	}
}

type sum struct {
	A int `json:"a"`
	B int `json:"b"`
}

func yes(string, sum) bool { return true }

func TestACallRunsOnceAndOnlyWhenAllowed(t *testing.T) {
	gate := gateOf(t, Options{})
	ran := 0
	run := func(tool string, arguments sum) error {
		ran++
		if tool != "add" || arguments != (sum{1, 2}) {
			return fmt.Errorf("%s %v", tool, arguments)
		}
		return nil
	}
	typed, err := ArgumentsOf[sum](accepted(t, gate, call))
	if err != nil || typed.Tool() != "add" || typed.Arguments().B != 2 {
		t.Fatal(typed, err)
	}
	authorized, err := typed.Authorize(yes)
	if err != nil {
		t.Fatal(err)
	}
	copied := authorized
	if err := authorized.Execute(run); err != nil || ran != 1 {
		t.Fatal(err, ran)
	}
	for _, again := range []Authorized[sum]{authorized, copied} {
		if err := again.Execute(run); !errors.Is(err, AlreadyUsed) || ran != 1 {
			t.Fatal(err, ran)
		}
	}
	if _, err := typed.Authorize(yes); !errors.Is(err, AlreadyUsed) {
		t.Error(err)
	}
	// By hand.
	if err := (Authorized[sum]{}).Execute(run); !errors.Is(err, StaleEvent) || ran != 1 {
		t.Error(err)
	}
	if _, err := (Typed[sum]{}).Authorize(yes); !errors.Is(err, StaleEvent) {
		t.Error(err)
	}
	// Denied: a refusal, with its reply.
	typed, _ = ArgumentsOf[sum](accepted(t, gate, call))
	var refusal *Refusal
	if denied, err := typed.Authorize(func(string, sum) bool { return false }); !errors.Is(err, NotAuthorized) || !errors.As(err, &refusal) {
		t.Error(err)
	} else if err := denied.Execute(run); !errors.Is(err, StaleEvent) || ran != 1 {
		t.Error(err)
	}
	// Too late.
	typed, _ = ArgumentsOf[sum](accepted(t, gate, call))
	authorized, _ = typed.Authorize(yes)
	gate.Feed(nil)
	if err := authorized.Execute(run); !errors.Is(err, StaleEvent) || ran != 1 {
		t.Error(err)
	}
	if _, err := typed.Authorize(yes); !errors.Is(err, StaleEvent) {
		t.Error(err)
	}
	if !strings.Contains(string(refusal.Reply), "-32602") || string(refusal.ID) != "1" {
		t.Errorf("%+v", refusal)
	}
	// What asks for nothing.
	if _, err := ArgumentsOf[sum](accepted(t, gate, `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n")); !errors.Is(err, Arguments) {
		t.Error(err)
	}
	if _, err := ArgumentsOf[sum](nil); !errors.Is(err, Arguments) {
		t.Error(err)
	}
}

func fits[T any](t *testing.T, gate *Gate, arguments string) (T, error) {
	t.Helper()
	event := accepted(t, gate, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":`+arguments+"}}\n")
	typed, err := ArgumentsOf[T](event)
	return typed.Arguments(), err
}

// Go's own reader of JSON takes the member of another case for the field, and doesn't miss one.
func TestArgumentsAreHeldToTheirType(t *testing.T) {
	type point struct {
		X int8 `json:"x"`
	}
	type all struct {
		N     uint16          `json:"n"`
		Text  *string         `json:"text"`
		At    []point         `json:"at,omitempty"`
		On    bool            `json:"on,omitzero"`
		F     float64         `json:"f,omitempty"`
		Raw   json.RawMessage `json:"raw,omitempty"`
		When  *time.Time      `json:"when"`
		Plain string          `json:",omitempty"`
		Not   chan int        `json:"-"`
	}
	gate := gateOf(t, Options{})
	for _, arguments := range []string{
		`{"n":0}`, `{"n":65535,"text":null,"at":null}`, `{"at":[{"x":-128},{"x":127}],"n":1,"on":true,"f":-1.5e3}`,
		`{"n":1,"raw":[{"any":1}],"when":"2026-01-02T03:04:05Z","Plain":"p"}`,
	} {
		if _, err := fits[all](t, gate, arguments); err != nil {
			t.Errorf("%s: %v", arguments, err)
		}
	}
	for _, arguments := range []string{
		`{}`, `{"N":1}`, `{"n":65536}`, `{"n":-1}`, `{"n":1.0}`, `{"n":"1"}`, `{"n":1,"text":2}`, `{"n":1,"at":[{"x":128}]}`,
		`{"n":1,"at":[{"X":1}]}`, `{"n":1,"at":[{}]}`, `{"n":1,"at":[null]}`, `{"n":1,"at":{}}`, `{"n":1,"on":0}`, `{"n":1,"plain":"p"}`,
		`{"n":1,"Not":1}`, `{"n":1,"when":"yesterday"}`, `{"n":1,"when":5}`, `{"n":1,"x":1}`,
	} {
		_, err := fits[all](t, gate, arguments)
		var refusal *Refusal
		if !errors.Is(err, Arguments) || !errors.As(err, &refusal) || refusal.Reply == nil {
			t.Errorf("%s: %v", arguments, err)
		}
	}
	// Types that can't be held to their members.
	type itself struct{ Next *itself }
	for _, err := range []error{
		fitsNot[int](t, gate), fitsNot[struct{ A any }](t, gate), fitsNot[struct{ A map[string]int }](t, gate),
		fitsNot[struct{ A []byte }](t, gate), fitsNot[struct{ sum }](t, gate), fitsNot[itself](t, gate),
		fitsNot[struct {
			A int `json:"a,string"`
		}](t, gate),
	} {
		if err == nil || errors.Is(err, Arguments) {
			t.Error(err)
		}
	}
}

func fitsNot[T any](t *testing.T, gate *Gate) error {
	_, err := fits[T](t, gate, `{}`)
	return err
}

func TestAHostRefusesByItself(t *testing.T) {
	gate := gateOf(t, Options{})
	for _, code := range []Code{UnknownTool, Arguments, NotAuthorized} {
		event := accepted(t, gate, call)
		if event.Tool() != "add" {
			t.Error(event.Tool())
		}
		err := event.Refuse(code)
		var refusal *Refusal
		if !errors.Is(err, code) || !errors.As(err, &refusal) || !bytes.Contains(refusal.Reply, []byte("-32602")) {
			t.Errorf("%v: %v", code, err)
		}
		if err := event.Refuse(code); !errors.Is(err, AlreadyUsed) {
			t.Error(err)
		}
		if _, err := ArgumentsOf[sum](event); !errors.Is(err, AlreadyUsed) {
			t.Error(err)
		}
	}
	event := accepted(t, gate, ping)
	if err := event.Refuse(Code(209)); !errors.Is(err, BadOptions) || event.Tool() != "" {
		t.Error(err)
	}
	accepted(t, gate, ping)
	if err := event.Refuse(UnknownTool); !errors.Is(err, StaleEvent) {
		t.Error(err)
	}
	gate.Close()
	if err := event.Refuse(UnknownTool); !errors.Is(err, StaleEvent) {
		t.Error(err)
	}
}

// Nobody outside of the package can make an Authorized that holds something: the compiler says so.
func TestAnAuthorizedCantBeMadeByHand(t *testing.T) {
	folder := t.TempDir()
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	source := "package main\n\nimport \"linegate\"\n\nfunc main() { _ = linegate.Authorized[int]{%s} }\n"
	build := func(members string) string {
		for name, text := range map[string]string{
			"go.mod":  "module forged\n\ngo 1.24\n\nrequire linegate v0.0.0\n\nreplace linegate => " + here + "\n",
			"main.go": fmt.Sprintf(source, members),
		} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		command := exec.Command("go", "vet", ".")
		command.Dir = folder
		out, _ := command.CombinedOutput()
		return string(out)
	}
	if out := build(""); out != "" {
		t.Fatal(out)
	}
	if out := build("typed: linegate.Typed[int]{}"); !strings.Contains(out, "unexported field typed") {
		t.Error(out)
	}
	if out := build("linegate.Typed[int]{}"); !strings.Contains(out, "unexported field") {
		t.Error(out)
	}
}

func TestReaderGoesOnAndEnds(t *testing.T) {
	var refused []string
	options := Options{Policy: PolicyContinue, OnRefusal: func(r *Refusal) {
		refused = append(refused, fmt.Sprintf("%d %s", r.Code, r.ID))
	}}
	unknown := `{"jsonrpc":"2.0","id":"u","method":"no/such"}` + "\n"
	reader, err := NewReader(strings.NewReader(ping+twice+unknown+ping+"{"), options)
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(reader)
	if string(out) != ping+ping || err != nil || strings.Join(refused, ",") != `209 ,402 "u",104 ` {
		t.Errorf("%q %v %q", out, err, refused)
	}
	if n, err := reader.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Error(n, err)
	}
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
	if _, err := reader.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}

	// A refusal that closes is the end of the stream.
	reader, err = NewReader(strings.NewReader(ping+"a print\n"+ping), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if out, err := io.ReadAll(reader); string(out) != ping || err != nil {
		t.Errorf("%q %v", out, err)
	}
}

// Close while Read waits, as SDKs do.
func TestReaderIsClosedByAnother(t *testing.T) {
	for range 50 {
		from, to := io.Pipe()
		reader, err := NewReader(from, Options{})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				if _, err := io.WriteString(to, ping); err != nil {
					return
				}
			}
		}()
		go func() {
			runtime.Gosched()
			reader.Close()
		}()
		if _, err := io.Copy(io.Discard, reader); err == nil {
			t.Error("the end of a stream that was closed")
		}
	}
}

func TestReaderPassesFaultsOfItsSourceOn(t *testing.T) {
	broken := errors.New("broken")
	reader, err := NewReader(io.MultiReader(strings.NewReader(ping), &failing{broken}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if out, err := io.ReadAll(reader); string(out) != ping || !errors.Is(err, broken) {
		t.Errorf("%q %v", out, err)
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// A line far longer than a chunk comes through whole.
func TestReaderTakesLongLines(t *testing.T) {
	line := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("y", 5*chunk) + `"}}` + "\n"
	reader, err := NewReader(strings.NewReader(line+line), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if out, err := io.ReadAll(reader); string(out) != line+line || err != nil {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

func TestWriterLetsNoDirtOut(t *testing.T) {
	var wire bytes.Buffer
	writer, err := NewWriter(&wire, Options{})
	if err != nil {
		t.Fatal(err)
	}
	result := `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"
	for _, piece := range []string{result, result[:10], result[10:], result + result[:3], result[3:]} {
		if n, err := writer.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatalf("%q: %d %v", piece, n, err)
		}
	}
	clean := wire.String()
	if clean != strings.Repeat(result, 4) {
		t.Errorf("%q", clean)
	}
	for dirt, code := range map[string]Code{"a print\n": 202, "\n": 102, result[:20] + "\n": 216, twice: 209, `{"jsonrpc":"2.0","id":1,"result":[]}` + "\n": 315} {
		if n, err := writer.Write([]byte(dirt)); n != len(dirt) || !errors.Is(err, code) || wire.String() != clean {
			t.Errorf("%q: %d %v", dirt, n, err)
		}
	}
	if n, err := writer.Write([]byte("dirt\n" + result)); n != 5 || !errors.Is(err, Code(202)) || wire.String() != clean {
		t.Error(n, err)
	}
	if n, err := writer.Write([]byte(result)); n != len(result) || err != nil {
		t.Error(n, err)
	}
	if _, err := writer.Write([]byte("{")); err != nil {
		t.Error(err)
	}
	if err := writer.Close(); err == nil {
		t.Error("a line that was begun went unnoticed")
	}
	if _, err := writer.Write([]byte(result)); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}

func TestWriterServesManyGoroutines(t *testing.T) {
	var wire bytes.Buffer
	writer, err := NewWriter(&wire, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	var all sync.WaitGroup
	for worker := range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for at := range 100 {
				fmt.Fprintf(writer, `{"jsonrpc":"2.0","id":%d,"result":{}}`+"\n", worker*100+at)
			}
		}()
	}
	all.Wait()
	gate := gateOf(t, Options{FromServer: true})
	count := 0
	for rest := wire.Bytes(); len(rest) > 0; count++ {
		used, event, err := gate.Feed(rest)
		if event == nil || err != nil {
			t.Fatal(err)
		}
		rest = rest[used:]
	}
	if count != 800 {
		t.Error(count)
	}
}

// Gates that nobody closed are given back when they are collected.
func TestForgottenGates(t *testing.T) {
	for range 200 {
		gate, err := NewGate(Options{})
		if err != nil {
			t.Fatal(err)
		}
		accepted(t, gate, ping)
		if _, err := NewGate(Options{}); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
	}
}

// The guard works on descriptor 1, so it is tested in a process of its own.
func TestGuardStdout(t *testing.T) {
	if os.Getenv("LINEGATE_GUARDED") == "1" {
		guarded()
		return
	}
	command := exec.Command(os.Args[0], "-test.run=^TestGuardStdout$")
	command.Env = append(os.Environ(), "LINEGATE_GUARDED=1")
	var out, stray bytes.Buffer
	command.Stdout, command.Stderr = &out, &stray
	if err := command.Run(); err != nil {
		t.Fatal(err, stray.String())
	}
	if out.String() != "wire\nafter\n" || stray.String() != "print\nchild\n" {
		t.Errorf("%q %q", out.String(), stray.String())
	}
}

func guarded() {
	wire, release, err := GuardStdout()
	if err != nil {
		panic(err)
	}
	if _, _, err := GuardStdout(); !errors.Is(err, StaleEvent) {
		panic(err)
	}
	fmt.Println("print")
	fmt.Fprintln(wire, "wire")
	child := exec.Command("echo", "child")
	child.Stdout = os.Stdout
	if err := errors.Join(child.Run(), release()); err != nil {
		panic(err)
	}
	fmt.Println("after")
	os.Exit(0)
}
