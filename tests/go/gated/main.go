// A server on the official Go SDK with gates on both sides of it, in one session: a Reader in front of its input, a Writer in front
// of standard output, which is guarded. Its tool `echo` prints to standard output as well, as careless tools do; `record` appends a
// line to the file that is the first argument.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"linegate"
)

type text struct {
	Text string `json:"text"`
}

func answer(said string) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: said}}}, nil, nil
}

func main() {
	wire, _, err := linegate.GuardStdout()
	if err != nil {
		log.Fatal(err)
	}
	in, out, err := linegate.NewSession(os.Stdin, wire, linegate.Options{
		OnRefusal: func(refusal *linegate.Refusal) { fmt.Fprintln(os.Stderr, refusal) },
	})
	if err != nil {
		log.Fatal(err)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "gated", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "echo", Description: "Says its text back."},
		func(_ context.Context, _ *mcp.CallToolRequest, in text) (*mcp.CallToolResult, any, error) {
			fmt.Println("a print in a tool")
			return answer(in.Text)
		})
	// Without a schema of its own, so that only the gate stands before the effect.
	server.AddTool(&mcp.Tool{Name: "record", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			file, err := os.OpenFile(os.Args[1], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				return nil, err
			}
			defer file.Close()
			_, err = fmt.Fprintln(file, "called")
			return &mcp.CallToolResult{Content: []mcp.Content{}}, err
		})
	if err := server.Run(context.Background(), &mcp.IOTransport{Reader: in, Writer: out}); err != nil {
		log.Print(err)
	}
}
