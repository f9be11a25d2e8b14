package linegate

// #include "bridge.h"
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"sync"
	"unsafe"
)

// chunk is how much a Reader reads at once: one call of the C library for as much.
const chunk = 64 * 1024

// tries is how often in a row a source may give nothing.
const tries = 100

var errCount = errors.New("linegate: the source says that it read fewer bytes than none, or more than it was given room for")

// isNil says whether a stream is nil, or a nil of a type.
func isNil(stream any) bool {
	switch value := reflect.ValueOf(stream); value.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Chan:
		return value.IsNil()
	}
	return false
}

// isSame says whether two streams are one. Those that can't be compared are two.
func isSame(one, other io.Writer) bool {
	return one != nil && reflect.ValueOf(one).Comparable() && reflect.ValueOf(other).Comparable() && one == other
}

// A Reader hands on the lines that its gate accepts, each with one line feed, and nothing else.
type Reader struct {
	from    io.Reader
	options Options
	// Where replies go; nil where they go nowhere.
	replies *outlet
	buffer  []byte
	// What the source said last.
	failed error

	// Guards what follows: Close may come while Read waits for the source.
	mutex sync.Mutex
	gate  *Gate
	// What was accepted and not yet read: in the gate's C memory, good until the next chunk.
	pending []byte
}

// NewReader puts a gate in front of a stream of lines.
//
// Read never gives an error for a refused line: it is told to OnRefusal, answered on Replies where an answer is due, and left
// out. After a refusal that ends the session the stream gives io.EOF, as at its own end. A reply that didn't go out whole is Read's
// error, and so it is of each reply that is due later: none of them goes out behind a part of another.
func NewReader(from io.Reader, options Options) (*Reader, error) {
	if isNil(from) {
		return nil, &OptionError{"from", "it is a stream to read, not nil"}
	}
	if options.Replies != nil && isNil(options.Replies) {
		return nil, &OptionError{"replies", "it is a stream to write to, not a nil of its type"}
	}
	gate, err := NewGate(options)
	if err != nil {
		return nil, err
	}
	reader := &Reader{from: from, options: options, gate: gate, buffer: make([]byte, chunk)}
	if options.Replies != nil {
		reader.replies = &outlet{to: options.Replies}
	}
	return reader, nil
}

// Read reads accepted lines. It belongs to one goroutine at a time; Close may come from another. A source that gives neither
// bytes nor an error a hundred times in a row ends it with io.ErrNoProgress.
func (r *Reader) Read(p []byte) (int, error) {
	if r == nil || r.from == nil {
		return 0, os.ErrClosed
	}
	if len(p) == 0 {
		return 0, nil
	}
	for empty := 0; ; {
		if length, err := r.take(p); length > 0 || err != nil {
			return length, err
		}
		// What was read beside a fault counts first.
		ended, length := r.failed != nil, 0
		if ended && !errors.Is(r.failed, io.EOF) {
			return 0, r.failed
		}
		if !ended {
			length, r.failed = r.from.Read(r.buffer)
			if length < 0 || length > len(r.buffer) {
				length, r.failed = 0, errCount
			}
			empty++
			if length > 0 {
				empty = 0
			}
			if empty == tries && r.failed == nil {
				r.failed = io.ErrNoProgress
			}
		}
		refusals, err := r.judge(r.buffer[:length], ended)
		if err != nil {
			return 0, err
		}
		for _, refusal := range refusals {
			if failed := r.tell(refusal); err == nil {
				err = failed
			}
		}
		if err != nil {
			return 0, err
		}
	}
}

// take copies what is pending. An error says that there is nothing, and that nothing will come.
func (r *Reader) take(p []byte) (int, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	length := copy(p, r.pending)
	r.pending = r.pending[length:]
	switch {
	case length > 0:
		return length, nil
	case r.gate.pump == nil:
		return 0, os.ErrClosed
	case r.gate.pump.no_memory != 0:
		return 0, Internal
	case r.gate.pump.closed != 0:
		return 0, io.EOF
	}
	return 0, nil
}

// judge takes a chunk, or the end of input, through the gate.
func (r *Reader) judge(input []byte, ended bool) ([]*Refusal, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.gate.lock.Lock()
	defer r.gate.lock.Unlock()
	pump := r.gate.pump
	if pump == nil {
		return nil, os.ErrClosed
	}
	if ended {
		C.lg_end(pump)
	} else {
		C.lg_chunk(pump, unsafe.Pointer(unsafe.SliceData(input)), C.size_t(len(input)))
	}
	r.pending = nil
	if lines := &pump.lines; lines.len > 0 {
		r.pending = unsafe.Slice((*byte)(unsafe.Pointer(lines.data)), int(lines.len))
	}
	refusals := make([]*Refusal, int(pump.refusals.len)/int(unsafe.Sizeof(C.lg_refusal{})))
	// Each reply with the id behind it.
	replies := bytesOf(pump.replies.data, pump.replies.len)
	part := func(length C.size_t) []byte {
		if length == 0 {
			return nil
		}
		bytes := replies[:length:length]
		replies = replies[length:]
		return bytes
	}
	for at := range refusals {
		refusal := C.lg_refusal_at(pump, C.size_t(at))
		// What the event lent is gone with the line behind it.
		refusal.event.id = C.linegate_slice{}
		refusals[at] = refusalOf(&refusal.event, part(refusal.reply_len))
		refusals[at].ID = part(refusal.id_len)
	}
	return refusals, nil
}

func (r *Reader) tell(refusal *Refusal) error {
	if r.options.OnRefusal != nil {
		r.options.OnRefusal(refusal)
	}
	if r.replies == nil || refusal.reply == "" {
		return nil
	}
	// Whatever OnRefusal did to its bytes.
	return r.replies.line([]byte(refusal.reply))
}

// Close closes the source if it can be closed, and gives the gate's memory back. A Read that waits for a source which can't be
// closed ends with the source's next bytes.
func (r *Reader) Close() error {
	if r == nil || r.from == nil {
		return os.ErrClosed
	}
	var err error
	if closer, ok := r.from.(io.Closer); ok {
		err = closer.Close()
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.pending = nil
	return errors.Join(err, r.gate.Close())
}

// An outlet is a stream that takes whole lines. It ends with the first that didn't go out whole, for the next would be glued to it.
type outlet struct {
	mutex sync.Mutex
	to    io.Writer
	// Why nothing goes out any more.
	failed error
}

func (o *outlet) line(line []byte) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.failed != nil {
		return o.failed
	}
	// Where Write panics it stays so.
	o.failed = io.ErrShortWrite
	length, err := o.to.Write(line)
	if err == nil && length != len(line) {
		err = io.ErrShortWrite
	}
	o.failed = err
	return err
}

// fault is what the outlet ended with.
func (o *outlet) fault() error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.failed
}

// A Writer lets out whole lines that its gate accepts. It is safe for several goroutines: each line goes out in one write.
type Writer struct {
	mutex sync.Mutex
	out   *outlet
	gate  *Gate
	// A line that isn't whole yet.
	begun []byte
	// The line that goes out.
	said []byte
}

// NewWriter puts a gate in front of what writes to the wire: of a server unless options say FromClient. A line that is refused ends
// nothing, whatever the policy.
func NewWriter(to io.Writer, options Options) (*Writer, error) {
	if isNil(to) {
		return nil, &OptionError{"to", "it is a stream to write to, not nil"}
	}
	options.FromServer = !options.FromClient
	options.Policy = PolicyContinue
	gate, err := NewGate(options)
	if err != nil {
		return nil, err
	}
	return &Writer{out: &outlet{to: to}, gate: gate}, nil
}

// Write takes bytes up to their last line feed as lines, and keeps the rest for the next call. At the first line that is
// refused it stops with its [Code]; lines before that went out, that line is gone, and nothing behind it was taken. So n counts what was
// taken of p, the refused line with its line feed too: go on with p[n:]. It is len(p) where no line was refused, whether or not the
// last one has ended.
//
// Where the stream fails, or takes a part of a line (io.ErrShortWrite), the Writer ends: what is counted are the bytes before that
// line, no further byte goes out, and each later Write gives 0 and the same error. After Close it gives 0 and os.ErrClosed.
func (w *Writer) Write(p []byte) (int, error) {
	if w == nil || w.out == nil {
		return 0, os.ErrClosed
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.gate.closed() {
		return 0, os.ErrClosed
	}
	written := 0
	for {
		if err := w.out.fault(); err != nil {
			w.begun = nil
			return written, err
		}
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
		said, err := w.judge(line)
		if said != nil {
			if failed := w.out.line(said); failed != nil {
				w.begun = nil
				return written, errors.Join(err, failed)
			}
		}
		written += end + 1
		if err != nil {
			return written, err
		}
	}
}

// judge gives what goes out: the line, or beside an error what answers in its place. It is a copy, for the gate is somebody else's
// to close, as soon as its lock is free, and that isn't held while the wire takes its time.
func (w *Writer) judge(line []byte) ([]byte, error) {
	w.gate.lock.Lock()
	defer w.gate.lock.Unlock()
	pump := w.gate.pump
	if pump == nil {
		return nil, os.ErrClosed
	}
	status := C.lg_line(pump, unsafe.Pointer(unsafe.SliceData(line)), C.size_t(len(line)))
	if pump.lines.len == 0 {
		return nil, errorOf(status)
	}
	w.said = append(w.said[:0], unsafe.Slice((*byte)(unsafe.Pointer(pump.lines.data)), int(pump.lines.len))...)
	return w.said, errorOf(status)
}

// Reply sends the reply to what a [Gate] refused, a line or a call, as the gate made it, between two lines of the Writer's. Where none
// is due, and of a Refusal that no gate made, it sends nothing. Errors are as of [Writer.Write], but that no reply is refused.
func (w *Writer) Reply(refusal *Refusal) error {
	if w == nil || w.out == nil {
		return os.ErrClosed
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	switch {
	case w.gate.closed():
		return os.ErrClosed
	case refusal == nil || refusal.reply == "":
		return w.out.fault()
	}
	return w.out.line([]byte(refusal.reply))
}

// Gate is the writer's own, for a [Tracker]; it isn't to be fed. Where it is closed, a line that is on its way goes out whole, and
// none behind it.
func (w *Writer) Gate() *Gate {
	if w == nil {
		return nil
	}
	return w.gate
}

// Close gives the gate's memory back. A line that was begun never goes out: the error says so.
func (w *Writer) Close() error {
	if w == nil || w.out == nil {
		return os.ErrClosed
	}
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
