package linegate

// #include "bridge.h"
import "C"

import (
	"io"
	"runtime"
	"unsafe"
)

// A Tracker remembers one session for the two gates of its directions: ids in flight, cancellations, progress, the revision. It
// lives as long as either gate.
type Tracker struct {
	tracker *C.linegate_tracker
	client  *Gate
}

// inFlight is how many requests of each side a session remembers where its options don't say.
const inFlight = 1024

// NewTracker makes the two gates judge each line in its session as well (451 to 459): client judges the client's lines, server the
// server's; they are of one revision. From then on a feed of one waits for one of the other.
//
// The error is an *[OptionError] where a gate is nil, the gates don't make a session, or have one, or requests is below 1; [Closed] where
// one is closed.
func NewTracker(client, server *Gate, requests int) (*Tracker, error) {
	if client == nil || server == nil {
		return nil, &OptionError{"gate", "client and server are gates, not nil"}
	}
	if client.none() || server.none() {
		return nil, Closed
	}
	if client == server || client.tracker != nil || server.tracker != nil {
		return nil, &OptionError{"gate", "client and server are two, and neither is in a session"}
	}
	if client.plain || server.plain {
		return nil, &OptionError{"revision", "a session is one of MCP; for plain JSON-RPC take NewReader and NewWriter alone"}
	}
	client.lock.Lock()
	defer client.lock.Unlock()
	server.lock.Lock()
	defer server.lock.Unlock()
	if client.pump == nil || server.pump == nil {
		return nil, Closed
	}
	size := C.linegate_tracker_size(C.size_t(max(requests, 0)))
	if size == 0 {
		return nil, &OptionError{"in_flight", "it is 1 or more, and memory can hold as many"}
	}
	storage := C.malloc(size)
	tracker := &Tracker{client: client}
	status := C.linegate_tracker_init(storage, size, C.size_t(requests), client.pump.gate, server.pump.gate, &tracker.tracker)
	if status != C.LINEGATE_OK {
		C.free(storage)
		if status == C.LINEGATE_BAD_OPTIONS {
			return nil, &OptionError{"direction", "client judges a client's lines, server a server's, both of one revision"}
		}
		return nil, Code(status)
	}
	// The gates hold it, so it is collected with the later of them.
	runtime.AddCleanup(tracker, func(storage unsafe.Pointer) { C.free(storage) }, storage)
	client.tracker, server.tracker, server.lock = tracker, tracker, client.lock
	return tracker, nil
}

// none says whether it is no tracker at all: nil, or made by hand.
func (t *Tracker) none() bool { return t == nil || t.tracker == nil }

// Count gives how many requests of each side wait for their answers, and how many answers came to requests that had been cancelled.
func (t *Tracker) Count() (client, server int, late uint64) {
	if t.none() {
		return 0, 0, 0
	}
	var fromClient, fromServer C.size_t
	var lateOnes C.uint64_t
	t.client.lock.Lock()
	defer t.client.lock.Unlock()
	C.linegate_tracker_count(t.tracker, &fromClient, &fromServer, &lateOnes)
	runtime.KeepAlive(t)
	return int(fromClient), int(fromServer), uint64(lateOnes)
}

// Reset forgets the session. Reset both gates with it.
func (t *Tracker) Reset() error {
	if t.none() {
		return Closed
	}
	t.client.lock.Lock()
	defer t.client.lock.Unlock()
	defer runtime.KeepAlive(t)
	return errorOf(C.linegate_tracker_reset(t.tracker))
}

// NewSession gates both ways of a server, in one session of MCP: a Reader of what its client says, and a Writer of what goes back.
// Refused requests are answered through the Writer's wire, unless options say where else, and so is a request whose answer is refused.
// Where a line didn't go out whole, neither an answer nor a line of the Writer's follows it.
//
// The Reader gives lines and no [Event], so nothing here holds the arguments of a tool to a type. For [ArgumentsOf] and [Authorized] take
// [NewGate], [NewWriter] and [NewTracker].
func NewSession(from io.Reader, to io.Writer, options Options) (*Reader, *Writer, error) {
	if options.FromServer {
		return nil, nil, &OptionError{"direction", "a session is a server's: its input comes from the client"}
	}
	out := options
	out.FromClient, out.Profile, out.Allow, out.Refuse = false, ProfileOfDirection, 0, 0
	writer, err := NewWriter(to, out)
	if err != nil {
		return nil, nil, err
	}
	reader, err := NewReader(from, options)
	if err != nil {
		writer.Close()
		return nil, nil, err
	}
	if reader.replies == nil || isSame(options.Replies, to) {
		// Between two lines of the writer's own.
		reader.replies = writer.out
	}
	if options.InFlight == 0 {
		options.InFlight = inFlight
	}
	if _, err := NewTracker(reader.gate, writer.gate, options.InFlight); err != nil {
		reader.gate.Close()
		writer.Close()
		return nil, nil, err
	}
	return reader, writer, nil
}
