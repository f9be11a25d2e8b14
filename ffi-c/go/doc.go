// Package linegate is a gate for newline-delimited JSON-RPC and MCP on standard input and output: bytes in, checked
// messages or a reason out.
//
// The quickest way in front of a server is [NewReader] around its input and [NewWriter] around its output, with
// [GuardStdout] called first of all in main:
//
//	wire, release, err := linegate.GuardStdout()
//	...
//	in, err := linegate.NewReader(os.Stdin, linegate.Options{Replies: wire})
//	out, err := linegate.NewWriter(wire, linegate.Options{})
//	transport := &mcp.IOTransport{Reader: in, Writer: out}
//
// A server that acts on messages itself takes a [Gate], and lets a call run only as an [Authorized] value, which nobody
// can make but the gate.
//
// The package is a thin layer over the C library, which it finds by pkg-config: run make install first. The library keeps no
// pointer to Go memory: what it lends lies in its own memory, and is copied before it is handed on.
package linegate
