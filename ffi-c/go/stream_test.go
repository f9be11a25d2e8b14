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
