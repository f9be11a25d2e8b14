package linegate

// #include "bridge.h"
import "C"

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unsafe"
)

// A Profile is a named set of text rules.
type Profile uint32

// A Policy says when a refusal ends the session.
type Policy uint32

// The zero value of each is the default.
const (
	ProfileOfDirection Profile = C.LINEGATE_PROFILE_OF_DIRECTION // strict for a client's lines, data for a server's
	ProfileStrict      Profile = C.LINEGATE_PROFILE_STRICT
	ProfileData        Profile = C.LINEGATE_PROFILE_DATA
	ProfileRFC8259     Profile = C.LINEGATE_PROFILE_RFC8259

	PolicyCloseMalformed Policy = C.LINEGATE_POLICY_CLOSE_MALFORMED
	PolicyCloseAll       Policy = C.LINEGATE_POLICY_CLOSE_ALL
	PolicyContinue       Policy = C.LINEGATE_POLICY_CONTINUE
)

// A Switch is a quirk that may pass or not; several are joined with |.
type Switch uint32

// The switches, as the rules tell of them.
const (
	SwitchBlankLines       Switch = C.LINEGATE_SWITCH_BLANK_LINES
	SwitchSurroundingSpace Switch = C.LINEGATE_SWITCH_SURROUNDING_SPACE
	SwitchSeparators       Switch = C.LINEGATE_SWITCH_SEPARATORS
	SwitchLoneSurrogates   Switch = C.LINEGATE_SWITCH_LONE_SURROGATES
	SwitchLongKeys         Switch = C.LINEGATE_SWITCH_LONG_KEYS
	SwitchCaseCollisions   Switch = C.LINEGATE_SWITCH_CASE_COLLISIONS
	SwitchEscapedNul       Switch = C.LINEGATE_SWITCH_ESCAPED_NUL
	SwitchEscapedNulInKeys Switch = C.LINEGATE_SWITCH_ESCAPED_NUL_IN_KEYS
	SwitchBigIntegers      Switch = C.LINEGATE_SWITCH_BIG_INTEGERS
	SwitchNumberRange      Switch = C.LINEGATE_SWITCH_NUMBER_RANGE
	SwitchInexactDecimals  Switch = C.LINEGATE_SWITCH_INEXACT_DECIMALS
	SwitchForbiddenKeys    Switch = C.LINEGATE_SWITCH_FORBIDDEN_KEYS
	SwitchUnknownMembers   Switch = C.LINEGATE_SWITCH_UNKNOWN_MEMBERS
	SwitchDepth            Switch = C.LINEGATE_SWITCH_DEPTH
)

// revisions are the names that Options.Revision takes, in the order of their numbers.
var revisions = []string{"auto", "jsonrpc", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

// Options are what a gate is told at its start. The zero value of each member is its default; linegate.h says the
// ranges.
type Options struct {
	// Whether the lines are a server's. Default: a client's; of a Writer, a server's.
	FromServer, FromClient bool
	Profile                Profile
	// "auto" (the default), "jsonrpc", or a revision of MCP: "2025-11-25".
	Revision      string
	Policy        Policy
	Allow, Refuse Switch
	// Switches by which a line may have passed and still ask for an action. Default: none ([NotGranted]).
	Grant Switch
	// Whether batches are taken or refused, against what the revision says.
	AllowBatches, RefuseBatches bool
	// Whether an error reply whose id could not be read says null or leaves it out, against what the revision says.
	NullErrorID, AbsentErrorID bool

	MaxFrame, MaxDepth, MaxKeys, MaxID int
	// Replies in a row without an accepted line; -1 for none.
	MaxReplies int

	// Names beside the protocol's, and the versions that the host serves to requests of 2026-07-28.
	Methods, ResultTypes, Versions []string
	// 16 bytes that no peer knows; zero for random ones.
	AuditKey [16]byte

	// Of a Reader: where replies to refused lines go, each in one write. Only who owns the one writer of the wire may set it, and it must
	// be safe to write there whole lines at any time; for NewSession the stream that it writes to itself is, in the same variable.
	// Default: nowhere.
	Replies io.Writer
	// Of a session: requests of each side that may wait for their answers at once. Default 1024.
	InFlight int
	// Of a Reader: told of each refused line, before anything behind it is read.
	OnRefusal func(*Refusal)
}

// raw makes the C struct in C memory: it points to other C memory, which Go's must not. free gives all of it back.
func (o *Options) raw() (options *C.linegate_options, free func(), err error) {
	var blocks []unsafe.Pointer
	free = func() {
		for _, block := range blocks {
			C.free(block)
		}
	}
	take := func(block unsafe.Pointer) unsafe.Pointer {
		blocks = append(blocks, block)
		return block
	}
	names := func(option string, list []string) (**C.char, C.size_t) {
		if len(list) == 0 {
			return nil, 0
		}
		first := (**C.char)(take(C.calloc(C.size_t(len(list)), C.size_t(unsafe.Sizeof((*C.char)(nil))))))
		entries := unsafe.Slice(first, len(list))
		for at, name := range list {
			if strings.ContainsRune(name, 0) {
				err = &OptionError{option, "a name has no NUL in it"}
			}
			entries[at] = (*C.char)(take(unsafe.Pointer(C.CString(name))))
		}
		return first, C.size_t(len(list))
	}
	// No option has the largest number for a value, so the library says of it, and of what is no number of its, what would be right.
	number := func(value int) C.uint32_t {
		if value < 0 || int64(value) > math.MaxUint32 {
			return math.MaxUint32
		}
		return C.uint32_t(value)
	}
	options = (*C.linegate_options)(take(C.calloc(1, C.size_t(unsafe.Sizeof(C.linegate_options{})))))
	options.size = C.size_t(unsafe.Sizeof(C.linegate_options{}))
	if o.FromServer {
		options.direction = C.LINEGATE_FROM_SERVER
	}
	options.profile, options.policy = C.uint32_t(o.Profile), C.uint32_t(o.Policy)
	options.allow, options.refuse, options.grant = C.uint32_t(o.Allow), C.uint32_t(o.Refuse), C.uint32_t(o.Grant)
	options.revision = C.uint32_t(len(revisions))
	for at, name := range revisions {
		if name == o.Revision || o.Revision == "" && at == 0 {
			options.revision = C.uint32_t(at)
		}
	}
	switch {
	case o.AllowBatches && o.RefuseBatches:
		err = &OptionError{"batches", "it is AllowBatches or RefuseBatches"}
	case o.AllowBatches:
		options.batches = C.LINEGATE_BATCHES_ALLOW
	case o.RefuseBatches:
		options.batches = C.LINEGATE_BATCHES_REFUSE
	}
	switch {
	case o.NullErrorID && o.AbsentErrorID:
		err = &OptionError{"error_id", "it is NullErrorID or AbsentErrorID"}
	case o.NullErrorID:
		options.error_id = C.LINEGATE_ERROR_ID_NULL
	case o.AbsentErrorID:
		options.error_id = C.LINEGATE_ERROR_ID_ABSENT
	}
	options.max_frame, options.max_depth = number(o.MaxFrame), number(o.MaxDepth)
	options.max_keys, options.max_id = number(o.MaxKeys), number(o.MaxID)
	options.max_replies = number(o.MaxReplies)
	if options.max_replies == C.LINEGATE_NO_REPLIES && o.MaxReplies != -1 {
		err = &OptionError{"max_replies", fmt.Sprintf("it goes from 1 to %d, or is -1 for none", uint32(C.LINEGATE_NO_REPLIES-1))}
	}
	options.methods, options.methods_len = names("methods", o.Methods)
	options.result_types, options.result_types_len = names("result_types", o.ResultTypes)
	options.versions, options.versions_len = names("versions", o.Versions)
	for at, value := range o.AuditKey {
		options.audit_key[at] = C.uint8_t(value)
	}
	return options, free, err
}

// pump makes a gate with its buffers, all in C memory.
func (o *Options) pump() (*C.lg_pump, error) {
	if o.FromServer && o.FromClient {
		return nil, &OptionError{"direction", "it is FromServer or FromClient"}
	}
	options, free, err := o.raw()
	defer free()
	if err != nil {
		return nil, err
	}
	pump := (*C.lg_pump)(C.calloc(1, C.size_t(unsafe.Sizeof(C.lg_pump{}))))
	if status := C.linegate_new(options, &pump.gate); status != C.LINEGATE_OK {
		C.free(unsafe.Pointer(pump))
		complaint := C.linegate_complaint{size: C.size_t(unsafe.Sizeof(C.linegate_complaint{}))}
		if C.linegate_options_check(options, &complaint) != C.LINEGATE_OK {
			return nil, &OptionError{text(complaint.option), text(complaint.text)}
		}
		return nil, Code(status)
	}
	return pump, nil
}
