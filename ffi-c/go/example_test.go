package linegate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"linegate"
)

// A server of typed calls: a gate for what comes in, a writer for what goes out, and the session of the two.
func ExampleNewTracker() {
	in := strings.NewReader(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"c","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"Name":"you"}}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet","arguments":{"name":"you"}}}` + "\n")
	gate, _ := linegate.NewGate(linegate.Options{})
	out, _ := linegate.NewWriter(os.Stdout, linegate.Options{})
	tracker, _ := linegate.NewTracker(gate, out.Gate(), 64)
	defer gate.Close()
	defer out.Close()

	type greeting struct {
		Name string `json:"name"`
	}
	handle := func(event *linegate.Event) error {
		if event.Method == "initialize" {
			_, err := fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},`+
				`"serverInfo":{"name":"s","version":"1"}}}`+"\n", event.ID)
			return err
		}
		typed, err := linegate.ArgumentsOf[greeting](event)
		if err != nil {
			return err
		}
		authorized, err := typed.Authorize(func(tool string, _ greeting) bool { return tool == "greet" })
		if err != nil {
			return err
		}
		return authorized.Execute(func(_ string, arguments greeting) error {
			text, err := json.Marshal(arguments.Name)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]}}`+"\n", event.ID, text)
			return err
		})
	}
	input, _ := io.ReadAll(in)
	for len(input) > 0 {
		used, event, err := gate.Feed(input)
		input = input[used:]
		if event != nil {
			err = handle(event)
		}
		// A line, or a call.
		var refusal *linegate.Refusal
		if errors.As(err, &refusal) {
			err = out.Reply(refusal)
		}
		if err != nil {
			fmt.Println(err)
		}
	}
	waiting, _, _ := tracker.Count()
	fmt.Println(waiting, "requests wait")
	// Output:
	// {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"The arguments don't fit the tool's schema. There is a member that the tool does not know."}],"isError":true}}
	// {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"you"}]}}
	// 0 requests wait
}
