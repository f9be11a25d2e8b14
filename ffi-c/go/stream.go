package linegate

// #include "bridge.h"
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"unsafe"
)

// chunk is how much a Reader reads at once: one call of the C library for as much.
const chunk = 64 * 1024

// A Reader hands on the lines that its gate accepts, each with one line feed, and nothing else.
type Reader struct {
	from    io.Reader
	options Options
	gate    *Gate
	buffer  []byte
	// What was accepted and not yet read: in the gate's C memory, good until the next chunk.
	pending []byte
	// What the source said last.
	failed error
}

// NewReader puts a gate in front of a stream of lines.
//
// Read never gives an error for a refused line: it is told to OnRefusal, answered on Replies where an answer is due, and left
// out. After a refusal that ends the session the stream gives io.EOF, as at its own end.
func NewReader(from io.Reader, options Options) (*Reader, error) {
	gate, err := NewGate(options)
	if err != nil {
		return nil, err
	}
	return &Reader{from: from, options: options, gate: gate, buffer: make([]byte, chunk)}, nil
}

// Read reads accepted lines. It belongs to one goroutine at a time.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(r.pending) == 0 {
		if r.gate.pump == nil {
			return 0, os.ErrClosed
		}
		if r.gate.pump.no_memory != 0 {
			return 0, Internal
		}
		if r.gate.pump.closed != 0 {
			return 0, io.EOF
		}
		if r.failed != nil {
			err := r.failed
			if errors.Is(err, io.EOF) {
				C.lg_end(r.gate.pump)
				if told := r.tell(); told != nil {
					return 0, told
				}
				continue
			}
			return 0, err
		}
		var length int
		length, r.failed = r.from.Read(r.buffer)
		C.lg_chunk(r.gate.pump, unsafe.Pointer(unsafe.SliceData(r.buffer)), C.size_t(length))
		if err := r.tell(); err != nil {
			return 0, err
		}
		if lines := &r.gate.pump.lines; lines.len > 0 {
			r.pending = unsafe.Slice((*byte)(unsafe.Pointer(lines.data)), int(lines.len))
		}
	}
	length := copy(p, r.pending)
	r.pending = r.pending[length:]
	runtime.KeepAlive(r.gate)
	return length, nil
}

// tell tells of the refusals of the last chunk, and sends their replies.
func (r *Reader) tell() error {
	pump := r.gate.pump
	replies := bytesOf(pump.replies.data, pump.replies.len)
	count := int(pump.refusals.len) / int(unsafe.Sizeof(C.lg_refusal{}))
	for at := range count {
		refusal := C.lg_refusal_at(pump, C.size_t(at))
		length, id := int(refusal.reply_len), int(refusal.id_len)
		reply := replies[:length:length]
		if r.options.OnRefusal != nil {
			// What the event lent is gone with the line behind it.
			refusal.event.id = C.linegate_slice{}
			told := refusalOf(&refusal.event, reply)
			if id > 0 {
				told.ID = replies[length : length+id : length+id]
			}
			r.options.OnRefusal(told)
		}
		replies = replies[length+id:]
		if r.options.Replies != nil && length > 0 {
			if _, err := r.options.Replies.Write(reply); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close gives the gate's memory back, and closes the source if it can be closed.
func (r *Reader) Close() error {
	r.pending = nil
	err := r.gate.Close()
	if closer, ok := r.from.(io.Closer); ok {
		return closer.Close()
	}
	return err
}

// A Writer lets out whole lines that its gate accepts. It is safe for several goroutines: each line goes out in one write.
type Writer struct {
	mutex sync.Mutex
	to    io.Writer
	gate  *Gate
	// A line that isn't whole yet.
	begun []byte
}

// NewWriter puts a gate in front of what writes to the wire: of a server unless options say FromClient. A line that is refused ends
// nothing, whatever the policy.
func NewWriter(to io.Writer, options Options) (*Writer, error) {
	options.FromServer = !options.FromClient
	options.Policy = PolicyContinue
	gate, err := NewGate(options)
	if err != nil {
		return nil, err
	}
	return &Writer{to: to, gate: gate}, nil
}

// Write takes bytes up to their last line feed as lines, and keeps the rest for the next call. At the first line that is
// refused it stops with its [Code]; lines before that went out, that line is gone, and nothing behind it was taken.
func (w *Writer) Write(p []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	written := 0
	for {
		end := bytes.IndexByte(p[written:], '\n')
		if end < 0 {
			w.begun = append(w.begun, p[written:]...)
			return len(p), nil
		}
		line := p[written : written+end]
		if len(w.begun) > 0 {
			line = append(w.begun, line...)
			w.begun = w.begun[:0]
		}
		written += end + 1
		if err := w.line(line); err != nil {
			return written, err
		}
	}
}

// line judges one line and writes it.
func (w *Writer) line(line []byte) error {
	if w.gate.pump == nil {
		return os.ErrClosed
	}
	defer runtime.KeepAlive(w.gate)
	if status := C.lg_line(w.gate.pump, unsafe.Pointer(unsafe.SliceData(line)), C.size_t(len(line))); status != C.LINEGATE_OK {
		return Code(status)
	}
	lines := &w.gate.pump.lines
	_, err := w.to.Write(unsafe.Slice((*byte)(unsafe.Pointer(lines.data)), int(lines.len)))
	return err
}

// Close gives the gate's memory back. A line that was begun never goes out: the error says so.
func (w *Writer) Close() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	begun := len(w.begun)
	w.begun = nil
	err := w.gate.Close()
	if begun > 0 {
		return fmt.Errorf("linegate: a line of %d bytes was begun and not ended", begun)
	}
	return err
}

// GuardStdout moves standard output away: the file is the wire, descriptor 1 leads to standard error from now on, for os.Stdout,
// for C code and for child processes. Call it first of all in main. release ends the guard and closes the wire.
//
// The error is [StaleEvent] (904) where the guard stands already.
func GuardStdout() (wire *os.File, release func() error, err error) {
	var descriptor C.int32_t
	if status := C.linegate_guard_stdout(&descriptor); status != C.LINEGATE_OK {
		return nil, nil, Code(status)
	}
	// The descriptor is the guard's; the file gets its own, so that each closes what it has.
	own, err := dup(int(descriptor))
	if err != nil {
		return nil, nil, errors.Join(err, errorOf(C.linegate_release_stdout(descriptor)))
	}
	wire = os.NewFile(uintptr(own), "wire")
	release = func() error { return errors.Join(wire.Close(), errorOf(C.linegate_release_stdout(descriptor))) }
	return wire, release, nil
}
