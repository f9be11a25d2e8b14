package linegate

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A vector, as tests/vectors/README.md tells of it.
type vector struct {
	Name     string
	Input    *string
	InputB64 *string `json:"input_b64"`
	Gen      struct {
		Prefix, Repeat, Middle, Repeat2, Suffix string
		Count, Count2                           int
	}
	Options struct {
		From, Profile, Revision, Policy, Batches string
		ErrorID                                  string `json:"error_id"`
		Allow, Refuse, Revisions                 []string
		AllowMethods                             []string `json:"allow_methods"`
		AllowResultTypes                         []string `json:"allow_result_types"`
		MaxFrame                                 int      `json:"max_frame"`
		MaxDepth                                 int      `json:"max_depth"`
		MaxKeys                                  int      `json:"max_keys"`
		MaxID                                    int      `json:"max_id"`
		MaxReplies                               *int     `json:"max_replies"`
	}
	Events []struct {
		Accept, Method, ID *string
		Refuse, At, Length int
		RPCCode            *int `json:"rpc_code"`
		Reply              *bool
		Closed             bool
	}
}

func (v *vector) stream() []byte {
	switch {
	case v.Input != nil:
		return []byte(*v.Input)
	case v.InputB64 != nil:
		out, err := base64.StdEncoding.DecodeString(*v.InputB64)
		if err != nil {
			panic(err)
		}
		return out
	}
	g := &v.Gen
	return []byte(g.Prefix + strings.Repeat(g.Repeat, g.Count) + g.Middle + strings.Repeat(g.Repeat2, g.Count2) + g.Suffix)
}

// switchSet is a set of switches by their names in the vectors.
func switchSet(t *testing.T, names []string) (bits Switch) {
	t.Helper()
	switches := map[string]Switch{
		"blank_lines": SwitchBlankLines, "surrounding_space": SwitchSurroundingSpace, "separators": SwitchSeparators,
		"lone_surrogates": SwitchLoneSurrogates, "long_keys": SwitchLongKeys, "case_collisions": SwitchCaseCollisions,
		"escaped_nul": SwitchEscapedNul, "escaped_nul_in_keys": SwitchEscapedNulInKeys, "big_integers": SwitchBigIntegers,
		"number_range": SwitchNumberRange, "inexact_decimals": SwitchInexactDecimals, "forbidden_keys": SwitchForbiddenKeys,
		"unknown_members": SwitchUnknownMembers, "max_depth": SwitchDepth,
	}
	for _, name := range names {
		bit, known := switches[name]
		if !known {
			t.Fatalf("no switch %s", name)
		}
		bits |= bit
	}
	return bits
}

func (v *vector) options(t *testing.T) Options {
	t.Helper()
	o := &v.Options
	set := func(names []string) Switch { return switchSet(t, names) }
	options := Options{
		FromServer: o.From == "server", Revision: o.Revision, Allow: set(o.Allow), Refuse: set(o.Refuse),
		Profile:      map[string]Profile{"strict": ProfileStrict, "data": ProfileData, "rfc8259": ProfileRFC8259}[o.Profile],
		Policy:       map[string]Policy{"close_all": PolicyCloseAll, "continue": PolicyContinue}[o.Policy],
		AllowBatches: o.Batches == "allow", RefuseBatches: o.Batches == "refuse",
		NullErrorID: o.ErrorID == "null", AbsentErrorID: o.ErrorID == "absent",
		MaxFrame: o.MaxFrame, MaxDepth: o.MaxDepth, MaxKeys: o.MaxKeys, MaxID: o.MaxID,
		Methods: o.AllowMethods, ResultTypes: o.AllowResultTypes, Versions: o.Revisions,
	}
	if o.MaxReplies != nil {
		options.MaxReplies = *o.MaxReplies
		if *o.MaxReplies == 0 {
			options.MaxReplies = -1
		}
	}
	return options
}

func vectors(t *testing.T) []*vector {
	t.Helper()
	files, err := filepath.Glob("../../tests/vectors/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no vectors", err)
	}
	var all []*vector
	for _, file := range files {
		// Transcripts are not for one stream, and what stands behind the gate has a test of its own.
		if base := filepath.Base(file); base == "session.jsonl" || base == "action.jsonl" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			one := new(vector)
			if err := json.Unmarshal(line, one); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			all = append(all, one)
		}
	}
	return all
}

// say gives an expected event in one line; a refusal's length stands only where it is known before the line's end.
func (v *vector) say(at int) string {
	e := &v.Events[at]
	text := func(s *string) string {
		if s == nil {
			return "-"
		}
		return *s
	}
	switch {
	case e.Closed:
		return "closed"
	case e.Accept != nil:
		id := e.ID
		if *e.Accept == "error" && id != nil && *id == "null" {
			id = nil
		}
		return fmt.Sprintf("accept %s %s %s", *e.Accept, text(e.Method), text(id))
	}
	code, id := 0, "-"
	if e.RPCCode != nil {
		code, id = *e.RPCCode, text(e.ID)
	}
	return fmt.Sprintf("refuse %d at %d rpc %d id %s reply %t", e.Refuse, e.At, code, id, code != 0 && (e.Reply == nil || *e.Reply))
}

func optional(bytes []byte) string {
	if bytes == nil {
		return "-"
	}
	return string(bytes)
}

func said(event *Event, err error) string {
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		id := "-"
		if refusal.RPCCode != 0 {
			id = optional(refusal.ID)
		}
		return fmt.Sprintf("refuse %d at %d rpc %d id %s reply %t", refusal.Code, refusal.Offset, refusal.RPCCode, id, refusal.Reply != nil)
	case errors.Is(err, Closed):
		return "closed"
	case err != nil:
		return err.Error()
	}
	method := "-"
	if event.Kind == Request || event.Kind == Notification {
		method = event.Method
	}
	return fmt.Sprintf("accept %s %s %s", event.Kind, method, optional(event.ID))
}

// drive feeds a stream in pieces and gives all that was said. A closed session says so once, if bytes follow the line that closed it.
func drive(t *testing.T, gate *Gate, stream []byte, piece int) []string {
	t.Helper()
	var all []string
	closing := -1
	for fed := 0; fed < len(stream); {
		end := min(fed+piece, len(stream))
		used, event, err := gate.Feed(stream[fed:end])
		before := fed
		fed += used
		var refusal *Refusal
		switch {
		case errors.As(err, &refusal) && refusal.Closes:
			closing = len(stream)
			// The line may have been refused before its end, or at it.
			from := fed
			if used > 0 && stream[fed-1] == '\n' {
				from = fed - 1
			}
			if at := bytes.IndexByte(stream[from:], '\n'); at >= 0 {
				closing = from + at + 1
			}
		case errors.Is(err, Closed):
			if closing < len(stream) && (len(all) == 0 || all[len(all)-1] != "closed") {
				all = append(all, "closed")
			}
			continue
		case err == nil && event == nil:
			if used == 0 && before == fed {
				t.Fatal("nothing was consumed")
			}
			continue
		}
		all = append(all, said(event, err))
	}
	if err := gate.Finish(); err != nil && !errors.Is(err, Closed) {
		all = append(all, said(nil, err))
	}
	return all
}

func TestEveryVector(t *testing.T) {
	all := vectors(t)
	if len(all) < 3000 {
		t.Fatalf("only %d vectors", len(all))
	}
	for _, one := range all {
		var want []string
		for at := range one.Events {
			want = append(want, one.say(at))
		}
		stream := one.stream()
		pieces := []int{len(stream) + 1}
		if len(stream) <= 512 {
			pieces = append(pieces, 1, 7)
		}
		for _, piece := range pieces {
			gate, err := NewGate(one.options(t))
			if err != nil {
				t.Fatalf("%s: %v", one.Name, err)
			}
			if got := drive(t, gate, stream, piece); strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s in pieces of %d:\nwant %q\ngot  %q", one.Name, piece, want, got)
			}
			if err := gate.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Through a Reader comes what a Gate accepts, and nothing else; each refusal is told, and each reply sent.
func TestReaderOnEveryVector(t *testing.T) {
	for _, one := range vectors(t) {
		options := one.options(t)
		if options.Allow&SwitchSurroundingSpace != 0 {
			continue
		}
		var refused, accepted, replies int
		for at := range one.Events {
			switch e := &one.Events[at]; {
			case e.Accept != nil:
				accepted++
			case e.Refuse != 0:
				refused++
				if e.RPCCode != nil && (e.Reply == nil || *e.Reply) {
					replies++
				}
			}
		}
		var wire bytes.Buffer
		told := 0
		options.Replies = &wire
		options.OnRefusal = func(*Refusal) { told++ }
		reader, err := NewReader(&dribble{from: bytes.NewReader(one.stream())}, options)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(reader)
		count := 0
		for {
			line, err := lines.ReadBytes('\n')
			if err == io.EOF && len(line) == 0 {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v after %q", one.Name, err, line)
			}
			if !json.Valid(line) {
				t.Errorf("%s: %q", one.Name, line)
			}
			count++
		}
		if sent := bytes.Count(wire.Bytes(), []byte("\n")); count != accepted || told != refused || sent != replies {
			t.Errorf("%s: %d of %d accepted, %d of %d refused, %d of %d replies", one.Name, count, accepted, told, refused, sent, replies)
		}
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	}
}

// dribble gives a stream in pieces of many sizes.
type dribble struct {
	from io.Reader
	size int
}

func (d *dribble) Read(p []byte) (int, error) {
	d.size = d.size*3%101 + 1
	return d.from.Read(p[:min(len(p), d.size*d.size)])
}
