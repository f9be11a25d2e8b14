package linegate

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// part takes a part of the line whose number is at, from 0, and says err.
type part struct {
	at, length int
	err        error
	got        strings.Builder
}

func (p *part) Write(line []byte) (int, error) {
	p.at--
	if p.at == -1 {
		p.got.Write(line[:p.length])
		return p.length, p.err
	}
	return p.got.Write(line)
}

const answer = `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"

func TestNothingFollowsAPartOfALine(t *testing.T) {
	broken := errors.New("broken")
	for _, wire := range []*part{{length: 5}, {}, {length: 5, err: broken}, {err: broken}, {length: len(answer), err: broken}} {
		for at := range 2 {
			one := &part{at: at, length: wire.length, err: wire.err}
			want := wire.err
			if want == nil {
				want = io.ErrShortWrite
			}
			writer, err := NewWriter(one, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if n, err := writer.Write([]byte(answer + answer + answer + answer[:3])); n != at*len(answer) || !errors.Is(err, want) {
				t.Errorf("%d %v", n, err)
			}
			for _, more := range []string{answer, "{", ""} {
				if n, err := writer.Write([]byte(more)); n != 0 || !errors.Is(err, want) {
					t.Errorf("%q: %d %v", more, n, err)
				}
			}
			if got := one.got.String(); got != strings.Repeat(answer, at)+answer[:wire.length] {
				t.Errorf("%q", got)
			}
			if err := writer.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestNoReplyFollowsAPartOfALine(t *testing.T) {
	wire := &part{length: 5}
	told := 0
	reader, err := NewReader(strings.NewReader(twice+twice+ping), Options{
		Policy: PolicyContinue, Replies: wire, OnRefusal: func(*Refusal) { told++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if read, err := io.ReadAll(reader); !errors.Is(err, io.ErrShortWrite) || len(read) != 0 || told != 2 {
		t.Errorf("%q %v %d", read, err, told)
	}
	if read, err := io.ReadAll(reader); string(read) != ping || err != nil {
		t.Errorf("%q %v", read, err)
	}
	if got := wire.got.String(); len(got) != 5 {
		t.Errorf("%q", got)
	}
}

// The reply path of a session and its writer are one wire.
func TestASessionEndsWithAPartOfALine(t *testing.T) {
	for _, first := range []string{"reply", "line"} {
		wire := &part{length: 5}
		reader, writer, err := NewSession(strings.NewReader(twice+hello), wire, Options{Policy: PolicyContinue})
		if err != nil {
			t.Fatal(err)
		}
		write := func() {
			if n, err := io.WriteString(writer, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`+"\n"); n != 0 || !errors.Is(err, io.ErrShortWrite) {
				t.Errorf("%s: %d %v", first, n, err)
			}
		}
		if first == "line" {
			write()
		}
		if _, err := io.ReadAll(reader); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s: %v", first, err)
		}
		write()
		if got := wire.got.String(); len(got) != 5 {
			t.Errorf("%s: %q", first, got)
		}
		reader.Close()
		writer.Close()
	}
}

func TestAClosedWriterTakesNothing(t *testing.T) {
	var wire strings.Builder
	writer, err := NewWriter(&wire, Options{})
	if err != nil {
		t.Fatal(err)
	}
	writer.Close()
	for _, more := range []string{answer, "{", "", answer + answer} {
		if n, err := writer.Write([]byte(more)); n != 0 || !errors.Is(err, os.ErrClosed) {
			t.Errorf("%q: %d %v", more, n, err)
		}
	}
	if wire.Len() > 0 {
		t.Error(wire.String())
	}
}

// writes is a stream that is a function: it can't be compared.
type writes func([]byte) (int, error)

func (w writes) Write(line []byte) (int, error) { return w(line) }

// cutting takes a part of each line, and fails with the first.
type cutting struct{ got strings.Builder }

func (c *cutting) Write(line []byte) (int, error) { return c.got.Write(line[:5]) }

// Replies on the stream to which a session writes are between its lines, and end with it: nothing follows a part of a line.
func TestRepliesOnTheStreamOfASessionShareIt(t *testing.T) {
	wire := new(cutting)
	reader, writer, err := NewSession(strings.NewReader(twice+ping), wire, Options{Policy: PolicyContinue, Replies: wire})
	if err != nil {
		t.Fatal(err)
	}
	if reader.replies != writer.out {
		t.Error("two outlets on one stream")
	}
	if _, err := io.ReadAll(reader); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
	if n, err := io.WriteString(writer, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`+"\n"); n != 0 || !errors.Is(err, io.ErrShortWrite) {
		t.Error(n, err)
	}
	if wire.got.Len() != 5 {
		t.Error(wire.got.String())
	}
	reader.Close()
	writer.Close()
	// Another stream is one of its own, and so is one that can't be compared.
	toFunc := writes(func(line []byte) (int, error) { return len(line), nil })
	for _, streams := range [][2]io.Writer{{wire, new(cutting)}, {toFunc, toFunc}, {wire, toFunc}} {
		reader, writer, err := NewSession(strings.NewReader(""), streams[0], Options{Replies: streams[1]})
		if err != nil || reader.replies == writer.out {
			t.Error(err)
		}
		reader.Close()
		writer.Close()
	}
}

// What Write counts of a line that is refused.
func TestWriteCountsTheRefusedLine(t *testing.T) {
	var wire strings.Builder
	writer, err := NewWriter(&wire, Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := answer + "a print\n" + answer + answer[:5]
	n, err := io.WriteString(writer, lines)
	if n != len(answer)+len("a print\n") || !errors.Is(err, Code(202)) {
		t.Error(n, err)
	}
	if rest, err := io.WriteString(writer, lines[n:]); rest != len(lines)-n || err != nil {
		t.Error(rest, err)
	}
	if n, err = io.WriteString(writer, answer[5:]); n != len(answer)-5 || err != nil || wire.String() != answer+answer+answer {
		t.Error(n, err, wire.String())
	}
	writer.Close()
}

func TestNothingIsAnError(t *testing.T) {
	from, to := strings.NewReader(""), io.Discard
	for option, make := range map[string]func() error{
		"from":    func() error { _, err := NewReader(nil, Options{}); return err },
		"to":      func() error { _, err := NewWriter(nil, Options{}); return err },
		"from, 2": func() error { _, _, err := NewSession(nil, to, Options{}); return err },
		"to, 2":   func() error { _, _, err := NewSession(from, nil, Options{}); return err },
	} {
		var wrong *OptionError
		if err := make(); !errors.As(err, &wrong) || !strings.HasPrefix(option, wrong.Option) {
			t.Errorf("%s: %v", option, err)
		}
	}
	// A nil that has a type is one as well; what is no pointer has none.
	var noFile *os.File
	var noWriter *Writer
	for option, make := range map[string]func() error{
		"from":       func() error { _, err := NewReader(noFile, Options{}); return err },
		"to":         func() error { _, err := NewWriter(noWriter, Options{}); return err },
		"to, 2":      func() error { _, _, err := NewSession(from, noFile, Options{}); return err },
		"to, a func": func() error { _, err := NewWriter(writes(nil), Options{}); return err },
		"replies":    func() error { _, err := NewReader(from, Options{Replies: noFile}); return err },
		"replies, 2": func() error { _, _, err := NewSession(from, to, Options{Replies: noWriter}); return err },
	} {
		var wrong *OptionError
		if err := make(); !errors.As(err, &wrong) || !strings.HasPrefix(option, wrong.Option) {
			t.Errorf("%s: %v", option, err)
		}
	}
	writer, err := NewWriter(writes(func(line []byte) (int, error) { return len(line), nil }), Options{})
	if err != nil {
		t.Error(err)
	}
	writer.Close()
	gate := gateOf(t, Options{})
	for _, pair := range [][2]*Gate{{nil, nil}, {gate, nil}, {nil, gate}} {
		var wrong *OptionError
		if _, err := NewTracker(pair[0], pair[1], 1); !errors.Is(err, BadOptions) || !errors.As(err, &wrong) {
			t.Error(err)
		}
	}
	if _, err := NewTracker(gate, new(Gate), 1); !errors.Is(err, Closed) {
		t.Error(err)
	}
	for _, one := range []*Reader{nil, {}} {
		if n, err := one.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrClosed) || !errors.Is(one.Close(), os.ErrClosed) {
			t.Error(n, err)
		}
	}
	for _, one := range []*Writer{nil, {}} {
		if n, err := one.Write([]byte(answer)); n != 0 || !errors.Is(err, os.ErrClosed) || !errors.Is(one.Close(), os.ErrClosed) || one.Gate() != nil {
			t.Error(n, err)
		}
	}
	for _, one := range []*Gate{nil, {}} {
		n, event, err := one.Feed([]byte(ping))
		if n != 0 || event != nil || err != Closed || one.Finish() != Closed || one.Reset() != Closed || one.Close() != Closed {
			t.Error(n, event, err)
		}
	}
	for _, one := range []*Tracker{nil, {}} {
		if client, server, late := one.Count(); client != 0 || server != 0 || late != 0 || one.Reset() != Closed {
			t.Error(client, server, late)
		}
	}
	var event *Event
	if event.Tool() != "" || event.Refuse(UnknownTool) != StaleEvent {
		t.Error("an event that is none")
	}
}

// idle gives nothing so many times, then a line, for ever; or says that it read what it can't have.
type idle struct{ times, length, asked int }

func (i *idle) Read(p []byte) (int, error) {
	i.asked++
	if i.length != 0 {
		return i.length, nil
	}
	if i.times < 0 || i.asked%(i.times+1) != 0 {
		return 0, nil
	}
	return copy(p, ping), nil
}

func TestASourceThatGivesNothing(t *testing.T) {
	for _, length := range []int{0, -1, chunk + 1} {
		source := &idle{times: -1, length: length}
		reader, err := NewReader(source, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want, asked := io.ErrNoProgress, 100
		if length != 0 {
			want, asked = errCount, 1
		}
		for range 2 {
			if n, err := reader.Read(make([]byte, 9)); n != 0 || !errors.Is(err, want) || source.asked != asked {
				t.Error(n, err, source.asked)
			}
		}
		reader.Close()
	}
	// Patience, as long as something comes.
	reader, err := NewReader(&idle{times: 99}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if _, err := io.ReadFull(reader, make([]byte, 10*len(ping))); err != nil {
		t.Error(err)
	}
}

func TestNamesHaveNoNUL(t *testing.T) {
	for option, options := range map[string]Options{
		"methods":      {Methods: []string{"vendor/own", "vendor/other\x00more"}},
		"result_types": {ResultTypes: []string{"own\x00"}},
		"versions":     {Versions: []string{"2026-07-28\x00"}},
	} {
		_, err := NewGate(options)
		var wrong *OptionError
		if !errors.As(err, &wrong) || wrong.Option != option || !strings.Contains(wrong.Text, "NUL") {
			t.Errorf("%s: %v", option, err)
		}
	}
}
