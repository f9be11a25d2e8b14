// The gate in front of the official Go SDK: a real client talks to a real server through it, both of that SDK.
package linegatetests

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"linegate"
)

func built(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "gated")
	if out, err := exec.Command("go", "build", "-o", program, "./gated").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// The client's side of a child's pipes, with a gate on what the server says.
func connect(t *testing.T, ctx context.Context, command *exec.Cmd) *mcp.ClientSession {
	t.Helper()
	to, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	from, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	in, err := linegate.NewReader(from, linegate.Options{FromServer: true, OnRefusal: func(refusal *linegate.Refusal) { t.Error(refusal) }})
	if err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.IOTransport{Reader: in, Writer: to}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func TestAClientAndAServerThroughGates(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, built(t), filepath.Join(t.TempDir(), "record"))
	var stray bytes.Buffer
	command.Stderr = &stray
	session := connect(t, ctx, command)
	listed, err := session.ListTools(ctx, nil)
	if err != nil || len(listed.Tools) != 2 {
		t.Fatal(listed, err)
	}
	for _, said := range []string{"hello", "line\nbreak", "\u2028 \U0001F600", strings.Repeat("x", 200_000)} {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": said}})
		if err != nil || result.IsError || result.Content[0].(*mcp.TextContent).Text != said {
			t.Fatalf("%q: %+v %v", said[:min(len(said), 20)], result, err)
		}
	}
	if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "none"}); err == nil {
		t.Error("a tool that isn't there")
	}
	if err := session.Close(); err != nil {
		t.Log(err)
	}
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(stray.String(), "a print in a tool") {
		t.Errorf("%q", stray.String())
	}
}

// Every stream of the boundary vectors, with its tool turned into one that writes: the SDK's server runs the calls that the
// gate accepts, once each, and no other.
func TestSpoiltCallsHaveNoEffect(t *testing.T) {
	program := built(t)
	text, err := os.ReadFile("../vectors/boundary.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range bytes.Lines(text) {
		var vector struct {
			Name, Action string
			Input        *string
			Options      map[string]any
			Events       []struct{ Method string }
		}
		if err := json.Unmarshal(line, &vector); err != nil {
			t.Fatal(err)
		}
		if vector.Action == "" || vector.Input == nil || len(vector.Options) > 0 {
			continue
		}
		may := 0
		for _, event := range vector.Events {
			if event.Method == "tools/call" {
				may++
			}
		}
		count++
		record := filepath.Join(t.TempDir(), "record")
		command := exec.Command(program, record)
		hello := `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
			`"clientInfo":{"name":"t","version":"1"}}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
		command.Stdout = io.Discard
		to, err := command.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		io.WriteString(to, hello+strings.ReplaceAll(*vector.Input, vector.Action, "record"))
		effects := func() int {
			written, _ := os.ReadFile(record)
			return bytes.Count(written, []byte("\n"))
		}
		// The SDK drops calls that still run at the end of input, so the end waits: for the effects, or for none.
		for waited := 0; waited < 500 && (effects() < may || waited < 10); waited++ {
			time.Sleep(10 * time.Millisecond)
		}
		to.Close()
		if err := command.Wait(); err != nil {
			t.Errorf("%s: %v", vector.Name, err)
		}
		if got := effects(); got != may {
			t.Errorf("%s: %d effects, not %d", vector.Name, got, may)
		}
	}
	if count < 5 {
		t.Errorf("only %d spoilt calls", count)
	}
}
