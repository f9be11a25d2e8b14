package linegate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
)

const (
	hello   = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n"
	welcome = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}` + "\n"
	list    = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n"
)

func tracked(t *testing.T, requests int) (client, server *Gate, tracker *Tracker) {
	t.Helper()
	client, server = gateOf(t, Options{Policy: PolicyContinue}), gateOf(t, Options{FromServer: true, Policy: PolicyContinue})
	tracker, err := NewTracker(client, server, requests)
	if err != nil {
		t.Fatal(err)
	}
	return client, server, tracker
}

func TestASessionIsTracked(t *testing.T) {
	client, server, tracker := tracked(t, 2)
	feed := func(gate *Gate, line string) error {
		_, _, err := gate.Feed([]byte(line))
		return err
	}
	steps := []struct {
		gate *Gate
		line string
		code Code
	}{
		{client, list, 451}, {client, hello, 0}, {server, welcome, 0}, {client, list, 0}, {client, list, 453},
		{server, `{"jsonrpc":"2.0","id":9,"result":{}}` + "\n", 454},
		{client, `{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n", 0}, {client, `{"jsonrpc":"2.0","id":3,"method":"ping"}` + "\n", 456},
		{server, `{"jsonrpc":"2.0","id":2,"result":{}}` + "\n", 0}, {server, `{"jsonrpc":"2.0","id":2,"result":{}}` + "\n", 458},
	}
	for at, step := range steps {
		if err := feed(step.gate, step.line); step.code == 0 && err != nil || step.code != 0 && !errors.Is(err, step.code) {
			t.Errorf("%d: %q: %v", at, step.line, err)
		}
	}
	if fromClient, fromServer, late := tracker.Count(); fromClient != 1 || fromServer != 0 || late != 0 {
		t.Error(fromClient, fromServer, late)
	}
	if err := errors.Join(tracker.Reset(), client.Reset(), server.Reset()); err != nil {
		t.Error(err)
	}
	if err := feed(client, list); !errors.Is(err, Code(451)) {
		t.Error(err)
	}
}

func TestGatesThatMakeNoSession(t *testing.T) {
	client, server, _ := tracked(t, 1)
	other := gateOf(t, Options{FromServer: true})
	for name, make := range map[string]func() (*Tracker, error){
		"tracked already": func() (*Tracker, error) { return NewTracker(client, other, 1) },
		"server already":  func() (*Tracker, error) { return NewTracker(gateOf(t, Options{}), server, 1) },
		"one gate":        func() (*Tracker, error) { return NewTracker(other, other, 1) },
		"two servers":     func() (*Tracker, error) { return NewTracker(gateOf(t, Options{FromServer: true}), other, 1) },
		"no requests":     func() (*Tracker, error) { return NewTracker(gateOf(t, Options{}), other, 0) },
		"below":           func() (*Tracker, error) { return NewTracker(gateOf(t, Options{}), other, -1) },
		"revisions":       func() (*Tracker, error) { return NewTracker(gateOf(t, Options{Revision: "2025-11-25"}), other, 1) },
		"no MCP": func() (*Tracker, error) {
			return NewTracker(gateOf(t, Options{Revision: "jsonrpc"}), gateOf(t, Options{Revision: "jsonrpc", FromServer: true}), 1)
		},
	} {
		var wrong *OptionError
		if _, err := make(); !errors.Is(err, BadOptions) || !errors.As(err, &wrong) || wrong.Text == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	closed := gateOf(t, Options{})
	closed.Close()
	if _, err := NewTracker(closed, other, 1); !errors.Is(err, Closed) {
		t.Error(err)
	}
}

// The tracker's memory lives as long as either of its gates.
func TestATrackerOutlivesItsName(t *testing.T) {
	client, server, _ := tracked(t, 4)
	for range 5 {
		runtime.GC()
	}
	client.Close()
	if _, _, err := server.Feed([]byte(`{"jsonrpc":"2.0","id":9,"result":{}}` + "\n")); !errors.Is(err, Code(454)) {
		t.Error(err)
	}
}

// A server on a session: what it may not read is answered on its wire, and so is whoever waits for what it may not write.
func TestASessionOfAServer(t *testing.T) {
	var wire bytes.Buffer
	reader, writer, err := NewSession(strings.NewReader(list+hello+list+list), &wire, Options{Policy: PolicyContinue})
	if err != nil {
		t.Fatal(err)
	}
	read, err := io.ReadAll(reader)
	if string(read) != hello+list || err != nil {
		t.Errorf("%q %v", read, err)
	}
	if _, err := io.WriteString(writer, welcome); err != nil {
		t.Error(err)
	}
	if _, err := io.WriteString(writer, `{"jsonrpc":"2.0","id":1,"result":[]}`+"\n"); !errors.Is(err, Code(315)) {
		t.Error(err)
	}
	if _, err := io.WriteString(writer, `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`+"\n"); !errors.Is(err, Code(458)) {
		t.Error(err)
	}
	lines := strings.Split(strings.TrimSuffix(wire.String(), "\n"), "\n")
	if len(lines) != 4 || !strings.Contains(lines[0], "Send initialize first") || lines[2]+"\n" != welcome || !strings.Contains(lines[3], `"id":1,"error":{"code":-32603`) {
		t.Errorf("%q", lines)
	}
	if err := errors.Join(reader.Close(), writer.Close()); err != nil {
		t.Error(err)
	}
	if _, _, err := NewSession(nil, nil, Options{FromServer: true}); !errors.Is(err, BadOptions) {
		t.Error(err)
	}
	for option, options := range map[string]Options{"in_flight": {InFlight: -1}, "revision": {Revision: "jsonrpc"}} {
		var wrong *OptionError
		if _, _, err := NewSession(strings.NewReader(""), io.Discard, options); !errors.Is(err, BadOptions) || !errors.As(err, &wrong) || wrong.Option != option {
			t.Error(option, err)
		}
	}
}

// Both ways at once, from many goroutines.
func TestASessionUnderRace(t *testing.T) {
	from, to := io.Pipe()
	out, back := io.Pipe()
	reader, writer, err := NewSession(from, back, Options{InFlight: 4096})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Add(3)
	go func() {
		defer all.Done()
		io.WriteString(to, hello)
		for id := range 500 {
			fmt.Fprintf(to, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", id+1)
		}
	}()
	go func() {
		defer all.Done()
		buffer := make([]byte, 1<<16)
		var text []byte
		id := 0
		for bytes.Count(text, []byte("\n")) < 501 {
			length, err := reader.Read(buffer)
			if err != nil {
				t.Error(err)
				return
			}
			text = append(text, buffer[:length]...)
			for ; id < bytes.Count(text, []byte("\n")); id++ {
				line := welcome
				if id > 0 {
					line = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`+"\n", id)
				}
				if _, err := io.WriteString(writer, line); err != nil {
					t.Error(err)
				}
			}
		}
		back.Close()
	}()
	go func() {
		defer all.Done()
		if text, err := io.ReadAll(out); bytes.Count(text, []byte("\n")) != 501 || err != nil {
			t.Error(bytes.Count(text, []byte("\n")), err)
		}
	}()
	all.Wait()
	if err := errors.Join(reader.Close(), writer.Close()); err != nil {
		t.Error(err)
	}
}
