package linegate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The table that tests/vectors/action-table.json says, as Go types.
type (
	tableAdd  sum
	tableNote struct {
		Text string  `json:"text"`
		Tag  *string `json:"tag,omitempty"`
	}
	tableNothing struct{}
	tableDim     struct {
		Percent uint8 `json:"percent"`
	}
	tablePoint struct {
		X int64 `json:"x"`
		Y int64 `json:"y"`
	}
	tableSwitch struct {
		On bool       `json:"on"`
		At tablePoint `json:"at"`
	}
	tableRead struct {
		A int64 `json:"a"`
	}
	tableOrder struct {
		Count uint8 `json:"count"`
	}
	tableResource struct {
		URI string `json:"uri"`
	}
)

type done func(event *Event, name string, allowed bool) (arguments string, err error)

// acted takes a call through all its stages.
func acted[T any](event *Event, name string, allowed bool) (arguments string, err error) {
	typed, err := ArgumentsOf[T](event)
	if err != nil {
		return "", err
	}
	authorized, err := typed.Authorize(func(string, T) bool { return allowed })
	if err != nil {
		return "", err
	}
	err = authorized.Execute(func(_ string, given T) error {
		text, err := json.Marshal(given)
		arguments = string(text)
		return err
	})
	if again := authorized.Execute(func(string, T) error { return nil }); !errors.Is(again, AlreadyUsed) {
		return "", fmt.Errorf("executed twice: %w", again)
	}
	return arguments, err
}

var (
	tableTools = map[string]done{
		"add": acted[tableAdd], "note": acted[tableNote], "nothing": acted[tableNothing], "dim": acted[tableDim],
		"switch": acted[tableSwitch], "resources/read": acted[tableRead],
	}
	tableMethods = map[string]done{"plant/order": acted[tableOrder], "resources/read": acted[tableResource]}
)

type actionVector struct {
	vector
	Deny, Granted []string
	Actions       []struct {
		Executed  string
		Method    bool
		Arguments json.RawMessage
		Refuse    Code
		At        int
		Reply     *string
		Passed    bool
	}
}

// outcome gives what became of a message, in the words of the vector.
func (v *actionVector) outcome(event *Event) string {
	table, name, kind := tableMethods, event.Method, "method "
	if event.Method == toolsCall && !event.plain() {
		table, name, kind = tableTools, event.Tool(), ""
	}
	act, known := table[name]
	var arguments string
	var err error
	switch {
	case event.Kind != Request && event.Kind != Notification, !known && kind != "":
		return "passed"
	case known:
		arguments, err = act(event, name, !slices.Contains(v.Deny, name))
	default:
		err = event.Refuse(UnknownTool)
	}
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		return fmt.Sprintf("refused %d at %d %q", refusal.Code, refusal.Offset, refusal.Reply)
	case err != nil:
		return err.Error()
	}
	return fmt.Sprintf("executed %s%s %s", kind, name, canonical(arguments))
}

// canonical is JSON text with sorted members.
func canonical(text string) string {
	var value any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return err.Error()
	}
	out, _ := json.Marshal(value)
	return string(out)
}

func (v *actionVector) wanted() (all []string) {
	for _, one := range v.Actions {
		switch {
		case one.Passed:
			all = append(all, "passed")
		case one.Executed != "":
			kind := ""
			if one.Method {
				kind = "method "
			}
			all = append(all, fmt.Sprintf("executed %s%s %s", kind, one.Executed, canonical(string(one.Arguments))))
		default:
			reply := ""
			if one.Reply != nil {
				reply = *one.Reply + "\n"
			}
			all = append(all, fmt.Sprintf("refused %d at %d %q", one.Refuse, one.At, reply))
		}
	}
	return all
}

func TestEveryVectorOfActions(t *testing.T) {
	text, err := os.ReadFile("../../tests/vectors/action.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range bytes.Lines(text) {
		one := new(actionVector)
		if err := json.Unmarshal(line, one); err != nil {
			t.Fatal(err)
		}
		count++
		options := one.options(t)
		options.Grant = switchSet(t, one.Granted)
		stream := one.stream()
		for _, piece := range []int{len(stream), 1, 7} {
			gate := gateOf(t, options)
			var got []string
			for fed := 0; fed < len(stream); {
				used, event, err := gate.Feed(stream[fed:min(fed+piece, len(stream))])
				fed += used
				if errors.Is(err, Closed) {
					break
				}
				if event != nil {
					got = append(got, one.outcome(event))
				}
			}
			if want := one.wanted(); !slices.Equal(got, want) {
				t.Errorf("%s in pieces of %d:\nwant %q\ngot  %q", one.Name, piece, want, got)
			}
			gate.Close()
		}
	}
	if count < 100 {
		t.Error(count)
	}
}

// The types here are those that are written down.
func TestTheTableIsTheOneThatIsWrittenDown(t *testing.T) {
	text, err := os.ReadFile("../../tests/vectors/action-table.json")
	if err != nil {
		t.Fatal(err)
	}
	var written struct{ Tools, Methods map[string]any }
	if err := json.Unmarshal(text, &written); err != nil {
		t.Fatal(err)
	}
	names := func(table map[string]done) (all []string) {
		for name := range table {
			all = append(all, name)
		}
		slices.Sort(all)
		return all
	}
	for _, pair := range []struct {
		table   map[string]done
		written map[string]any
	}{{tableTools, written.Tools}, {tableMethods, written.Methods}} {
		var want []string
		for _, key := range reflect.ValueOf(pair.written).MapKeys() {
			want = append(want, key.String())
		}
		slices.Sort(want)
		if !slices.Equal(names(pair.table), want) {
			t.Error(names(pair.table), want)
		}
	}
}
