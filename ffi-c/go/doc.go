// Package linegate is a gate for newline-delimited JSON-RPC and MCP on standard input and output: bytes in, checked
// messages or a reason out.
//
// The quickest way in front of a server is [NewSession], a [Reader] around its input and a [Writer] around its output in one session,
// with [GuardStdout] called first of all in main:
//
//	wire, release, err := linegate.GuardStdout()
//	...
//	in, out, err := linegate.NewSession(os.Stdin, wire, linegate.Options{})
//	transport := &mcp.IOTransport{Reader: in, Writer: out}
//
// That way yields lines, no [Event], and so no [Authorized]: the gate is no judge of a tool's own arguments. What reads the lines with
// encoding/json fills a member count from {"Count":1}, takes "text":null and a missing text for "", and drops members that it doesn't know.
// A schema of the SDK's, or the tool, has to see to that.
//
// A server that acts on messages itself takes a [Gate] for what comes in, a [Writer] for what goes out, and a [Tracker] for the session
// of the two. It lets a call run only as an [Authorized] value, which nobody can make but the gate, with arguments that are exactly those
// of a Go type ([ArgumentsOf]). What was refused, a line or a call, it answers by [Writer.Reply].
//
// # Getting it
//
// The module belongs to the C library of the same version and is installed with it: make install PREFIX=DIR puts it into
// DIR/share/linegate/go. Its path has no host, so no proxy has it; a program says where it lies:
//
//	go mod edit -require=linegate@v0.0.0 -replace=linegate=DIR/share/linegate/go
//
// Who keeps a copy under a path of his own changes its go.mod, and nothing else: the package imports nothing of itself.
//
// The package is a thin layer over the C library, which it finds by pkg-config: run make install first. Where DIR isn't one that the
// system searches, set PKG_CONFIG_PATH=DIR/lib/pkgconfig to build, and LD_LIBRARY_PATH=DIR/lib to run, or build the place in:
//
//	CGO_LDFLAGS=-Wl,-rpath,DIR/lib go build
//
// The library keeps no pointer to Go memory: what it lends lies in its own memory, and is copied before it is handed on.
package linegate
