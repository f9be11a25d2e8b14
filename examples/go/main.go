// A complete MCP server in Go behind a linegate: handshake, list, call, end of input. A starting point: put your tools in
// place of add and record, and your policy in allowed.
//
// Nothing reaches a handler but lines that the gate accepted; a tool runs only as an Authorized call, once; and nothing but
// what a second gate accepted reaches standard output, which was moved out of the reach of prints.
//
//	go build && ./example [FILE]
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"linegate"
)

const (
	revision       = "2025-11-25"
	methodNotFound = -32601
)

// What a tool takes. Members that it doesn't have are refused, and so are calls without those that aren't omitempty.
type (
	addition struct {
		A int64 `json:"a"`
		B int64 `json:"b"`
	}
	note struct {
		Text string `json:"text,omitempty"`
		N    int64  `json:"n,omitempty"`
	}
)

const tools = `{"tools":[{"name":"add","description":"Adds two integers.","inputSchema":{"type":"object","properties":` +
	`{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"],"additionalProperties":false}},` +
	`{"name":"record","description":"Appends a line to a file: its number and its text.","inputSchema":{"type":"object",` +
	`"properties":{"n":{"type":"integer"},"text":{"type":"string"}},"additionalProperties":false}}]}`

type server struct {
	gate *linegate.Gate
	out  *linegate.Writer
	file string
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

func run() error {
	// First of all: from here on a print goes to standard error, whoever makes it.
	wire, release, err := linegate.GuardStdout()
	if err != nil {
		return err
	}
	gate, err := linegate.NewGate(linegate.Options{Revision: revision})
	if err != nil {
		return err
	}
	out, err := linegate.NewWriter(wire, linegate.Options{Revision: revision})
	if err != nil {
		return err
	}
	// What may come when, and that no id is used twice, the gates see to together.
	if _, err := linegate.NewTracker(gate, out.Gate(), 64); err != nil {
		return err
	}
	s := &server{gate: gate, out: out}
	if len(os.Args) > 1 {
		s.file = os.Args[1]
	}
	return errors.Join(s.serve(os.Stdin), out.Close(), gate.Close(), release())
}

// serve reads to the end of input, or until the gate ends the session.
func (s *server) serve(in io.Reader) error {
	buffer := make([]byte, 64*1024)
	for {
		length, failed := in.Read(buffer)
		for rest := buffer[:length]; len(rest) > 0; {
			used, event, err := s.gate.Feed(rest)
			rest = rest[used:]
			if err != nil {
				if over, err := s.refused(err); over || err != nil {
					return err
				}
			} else if event != nil {
				if err := s.handle(event); err != nil {
					return err
				}
			}
		}
		if errors.Is(failed, io.EOF) {
			if err := s.gate.Finish(); err != nil {
				fmt.Fprintln(os.Stderr, "server:", err)
			}
			return nil
		}
		if failed != nil {
			return failed
		}
	}
}

// refused tells people and, where an answer is due, the client; over says that the session has ended.
func (s *server) refused(err error) (over bool, failed error) {
	fmt.Fprintln(os.Stderr, "server:", err)
	var refusal *linegate.Refusal
	if !errors.As(err, &refusal) {
		return true, nil
	}
	return refusal.Closes, s.out.Reply(refusal)
}

func (s *server) handle(event *linegate.Event) error {
	// Notifications ask for nothing here, and this server asks nothing that could be answered.
	if event.Kind != linegate.Request {
		return nil
	}
	switch {
	case event.Method == "initialize":
		return s.result(event, json.RawMessage(`{"protocolVersion":"`+revision+`","capabilities":{"tools":{}},`+
			`"serverInfo":{"name":"linegate-go-example","version":"1"}}`))
	case event.Method == "ping":
		return s.result(event, json.RawMessage(`{}`))
	case event.Method == "tools/list":
		return s.result(event, json.RawMessage(tools))
	case event.Method == "tools/call":
		return s.call(event)
	}
	return s.fault(event, methodNotFound, "The method is not one of this server's.")
}

// allowed is your policy: whether a call may run at all.
func allowed[T any](string, T) bool { return true }

func (s *server) call(event *linegate.Event) error {
	switch event.Tool() {
	case "add":
		return execute(s, event, func(_ string, arguments addition) (string, error) {
			return fmt.Sprint(arguments.A + arguments.B), nil
		})
	case "record":
		return execute(s, event, func(_ string, arguments note) (string, error) {
			file, err := os.OpenFile(s.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				return "", err
			}
			_, err = fmt.Fprintln(file, arguments.N, arguments.Text)
			return "recorded", errors.Join(err, file.Close())
		})
	}
	_, err := s.refused(event.Refuse(linegate.UnknownTool))
	return err
}

// execute takes a call through its stages: arguments of the tool's type, the policy, and the action, once.
func execute[T any](s *server, event *linegate.Event, action func(string, T) (string, error)) error {
	typed, err := linegate.ArgumentsOf[T](event)
	if err != nil {
		_, err = s.refused(err)
		return err
	}
	authorized, err := typed.Authorize(allowed)
	if err != nil {
		_, err = s.refused(err)
		return err
	}
	var text string
	err = authorized.Execute(func(tool string, arguments T) error {
		text, err = action(tool, arguments)
		return err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		return s.said(event, "The tool failed.", true)
	}
	return s.said(event, text, false)
}

func (s *server) said(event *linegate.Event, text string, failed bool) error {
	return s.result(event, map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}, "isError": failed})
}

func (s *server) result(event *linegate.Event, result any) error {
	return s.send(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(event.ID), "result": result})
}

func (s *server) fault(event *linegate.Event, code int, message string) error {
	return s.send(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(event.ID),
		"error": map[string]any{"code": code, "message": message}})
}

func (s *server) send(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = s.out.Write(append(line, '\n'))
	if _, refused := err.(linegate.Code); refused {
		// And nothing else: the writer has answered in its place, with an error, and the session goes on.
		fmt.Fprintln(os.Stderr, "server: an answer was refused:", err)
		return nil
	}
	return err
}
