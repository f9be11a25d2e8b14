package linegate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
)

// A wire that does something before it looks at the line.
type wireThat struct {
	does func()
	got  strings.Builder
}

func (w *wireThat) Write(line []byte) (int, error) {
	w.does()
	return w.got.Write(line)
}

// refusedAnswer is what a server may not write, and somebody waits for.
const refusedAnswer = `{"jsonrpc":"2.0","id":0,"result":[]}` + "\n"

// A gate that is closed while a line of it goes out takes none of its bytes back: they are the line, or what answers in its place.
func TestAGateIsClosedWhileItsLineGoesOut(t *testing.T) {
	for _, line := range []string{answer, refusedAnswer} {
		for range 100 {
			client, err := NewGate(Options{})
			if err != nil {
				t.Fatal(err)
			}
			wire := &wireThat{}
			writer, err := NewWriter(wire, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if line == refusedAnswer {
				if _, err := NewTracker(client, writer.Gate(), 1); err != nil {
					t.Fatal(err)
				}
				accepted(t, client, hello)
			}
			wire.does = func() {
				if err := writer.Gate().Close(); err != nil {
					t.Error(err)
				}
			}
			n, err := io.WriteString(writer, line)
			got := wire.got.String()
			if line == answer && (got != answer || err != nil) || n != len(line) {
				t.Fatalf("%q %d %v", got, n, err)
			}
			if line != answer && (!strings.HasPrefix(got, `{"jsonrpc":"2.0","id":0,"error":{"code":-32603`) || !errors.Is(err, Code(315))) {
				t.Fatalf("%q %v", got, err)
			}
			if n, err := io.WriteString(writer, line); n != 0 || !errors.Is(err, os.ErrClosed) {
				t.Fatal(n, err)
			}
			client.Close()
		}
	}
}

// Whatever closes when, what went out is whole lines, and what was read is too.
func TestClosingAtAnyTime(t *testing.T) {
	for range 200 {
		wire := &wireThat{does: func() {}}
		var all sync.WaitGroup
		from, to := io.Pipe()
		reader, writer, err := NewSession(from, wire, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var read []byte
		all.Add(3)
		go func() {
			defer all.Done()
			for id := range 20 {
				fmt.Fprintf(to, strings.Replace(hello, `"id":0`, `"id":%d`, 1), id)
			}
			to.Close()
		}()
		go func() {
			defer all.Done()
			read, _ = io.ReadAll(reader)
			io.Copy(io.Discard, from)
		}()
		go func() {
			defer all.Done()
			for range 20 {
				if _, err := io.WriteString(writer, note); err != nil {
					break
				}
			}
		}()
		writer.Gate().Close()
		reader.Close()
		all.Wait()
		writer.Close()
		for line := range strings.Lines(wire.got.String()) {
			// The replies to each hello but the first are there too.
			if line != note && !(strings.HasSuffix(line, "}\n") && json.Valid([]byte(line))) {
				t.Fatalf("%q", line)
			}
		}
		if text := string(read); text != "" && text != hello && !strings.HasPrefix(hello, text) {
			t.Fatalf("%q", text)
		}
	}
}

const note = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}` + "\n"

// Each method of an event finds its gate, or that it is closed.
func TestAnEventsGateIsClosedMeanwhile(t *testing.T) {
	for range 200 {
		gate, err := NewGate(Options{})
		if err != nil {
			t.Fatal(err)
		}
		event := accepted(t, gate, call)
		var all sync.WaitGroup
		all.Add(2)
		go func() {
			defer all.Done()
			gate.Close()
		}()
		go func() {
			defer all.Done()
			typed, err := ArgumentsOf[sum](event)
			if err == nil {
				_, err = typed.Authorize(yes)
			}
			if err != nil && !errors.Is(err, StaleEvent) {
				t.Error(err)
			}
		}()
		all.Wait()
		if string(event.Line)+"\n" != call || event.Tool() != "add" {
			t.Fatalf("%q", event.Line)
		}
	}
}
