// A minimal server on the official Go SDK, as its README has it, without a gate; its one tool writes a file.
package main

import (
	"context"
	"log"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type file struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

func write(_ context.Context, _ *mcp.CallToolRequest, in file) (*mcp.CallToolResult, any, error) {
	if err := os.WriteFile(in.Path, []byte(in.Text), 0o600); err != nil {
		return nil, nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "comparison", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "write", Description: "Writes the text into the file."}, write)
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}
