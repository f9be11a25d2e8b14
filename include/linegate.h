// linegate: a gate for newline-delimited JSON-RPC and MCP on standard input and output.
//
// Bytes in, checked messages or a reason out. Every line that the gate accepts is split into the same frames by every
// newline framer, parsed to the same value by every mainstream JSON parser, and read as the same JSON-RPC message by every
// peer; every other line has no effect. The rules, by code, are in docs/rules.md, which is
// installed in share/doc/linegate.
//
// THE READ LOOP
//
// A read may be interrupted, may end inside a line, and may bring several lines. The gate keeps what it needs of a line
// that isn't whole; the rest of the input waits for the next call.
//
//     linegate_options options = { .size = sizeof options };    // the default limits; on a device set .max_frame and .max_keys
//     size_t len = linegate_storage_size(&options);             // with the defaults about 9 MiB; linegate_new takes what it needs
//     linegate *gate;
//     if (linegate_init(malloc(len), len, &options, &gate) != LINEGATE_OK) return 1;
//     for (;;) {
//         char buffer[65536];
//         ssize_t got = read(0, buffer, sizeof buffer);
//         if (got < 0 && errno == EINTR) continue;              // a signal: nothing was read
//         if (got <= 0) break;                                  // the end of input, or a fault of it
//         for (size_t at = 0; at < (size_t)got;) {
//             linegate_event event = { .size = sizeof event };
//             size_t used;
//             linegate_status status = linegate_feed(gate, buffer + at, (size_t)got - at, &used, &event);
//             at += used;                                       // 0 beside a refusal that came before its line's end
//             if (status == LINEGATE_OK) {
//                 size_t which;
//                 linegate_slice values[MEMBERS];
//                 status = linegate_call(gate, event.ticket, table, ACTIONS, &which, values, MEMBERS);
//                 if (status == LINEGATE_ABSENT) answer(&event);    // initialize, ping, a response: no tool of the table
//                 if (status == LINEGATE_OK) status = linegate_authorize(gate, event.ticket, policy(which, values));
//                 if (status == LINEGATE_OK) execute(gate, &event, which, values);    // asks linegate_authorized first
//             }
//             if (status > 900) return 1;                           // 905, the session is over; or a fault of this program
//             if (status > 100) {                                   // a line or a call was refused
//                 char reply[LINEGATE_REPLY_LEN];
//                 size_t reply_len;
//                 if (linegate_reply(gate, reply, sizeof reply, &reply_len) == LINEGATE_OK)
//                     write_all(1, reply, reply_len);               // 0 bytes where none is due
//                 linegate_event said = { .size = sizeof said };
//                 if (linegate_refusal(gate, &said) == LINEGATE_OK && said.closes) return 1;    // it ended the session
//             }
//             // LINEGATE_NEED_MORE: a line that isn't whole yet, or the rest of one that was refused.
//         }
//     }
//     linegate_event end = { .size = sizeof end };
//     if (linegate_finish(gate, &end) == LINEGATE_TRUNCATED) fprintf(stderr, "the last line was cut off\n");
//
// read and ssize_t are POSIX's: under -std=c11 define _POSIX_C_SOURCE as 200809L.
//
// A SESSION
//
// A tracker joins the gates of the two directions: what is asked before initialize, an id that is in flight, and a second answer
// are then refused as well.
//
//     linegate *in, *out;
//     linegate_tracker *tracker;
//     linegate_options options = { .size = sizeof options, .direction = LINEGATE_FROM_CLIENT };
//     if (linegate_new(&options, &in) != LINEGATE_OK) return 1;
//     options.direction = LINEGATE_FROM_SERVER;
//     options.policy = LINEGATE_POLICY_CONTINUE;                // a line of ours that is refused ends nothing
//     if (linegate_new(&options, &out) != LINEGATE_OK) return 1;
//     size_t room = linegate_tracker_size(64);                  // so many requests of each side may wait at once
//     if (linegate_tracker_init(malloc(room), room, 64, in, out, &tracker) != LINEGATE_OK) return 1;
//
// The read loop stays as it is, on `in`: the reply to a line or a call that was refused goes straight to the wire. The request of
// a refused call has ended with it, and that of a refused line never began. Each answer of the server's own goes through `out`:
//
//     linegate_status status = linegate_write_result(out, id, result, strlen(result), line, sizeof line, &line_len);
//     if (status != LINEGATE_OK)                                // refused, and its request has ended with it: the answer to that
//         status = linegate_settlement(out, line, sizeof line, &line_len);
//     if (status != LINEGATE_OK || line_len == 0)               // not so; it still waits
//         status = linegate_write_error(out, id, -32603, "No answer.", NULL, 0, line, sizeof line, &line_len);
//     if (status == LINEGATE_OK) write_all(1, line, line_len);
//
// The tool has run by then. What can be judged before it runs, such as whether the client asks for a task in place of a result,
// is better judged there.
//
// examples/c, installed in share/doc/linegate, is a whole server like this.
//
// WHAT HOLDS FOR EVERY FUNCTION
//
// - A function returns a linegate_status unless it says otherwise: 0 (LINEGATE_OK), a small number that is no fault, or a
//   code. It never sets errno, prints, allocates (but for linegate_new) or keeps a pointer to the caller's memory (but to
//   the storage that it was given to keep, and to a table for linegate_call while the event lives).
// - Structs that a caller fills or lets fill begin with their size, so that both sides may grow: set it to sizeof, in each
//   row of a table too. Of a size that no version of the header gave them they count as not set (903): one below that of the
//   first version, or above 4096.
// - Storage is the caller's. Slices of an event lie in the gate's storage and live as long as the event, which is over, with its
//   ticket and its refusal, at the gate's next one: linegate_feed, linegate_finish, linegate_reset, linegate_check_line or
//   linegate_write_... of the same gate. linegate_call, linegate_refuse and linegate_authorize leave it.
// - A gate, with its tracker, belongs to one thread at a time. Gates share nothing: there may be any number.
// - A pointer is to be good for what is read or written through it. NULL and misaligned pointers are told (901), and so
//   are calls that make no sense in their order (904); pointers to other things can't be. NULL is good beside a length of 0
//   alone, and of bytes no length beyond PTRDIFF_MAX is (901).
// - 999 says that the library failed. No caller can bring that about; end the session. A panic of the library never
//   passes a function: the bare build has no path to one, the hosted one catches it.
// - Functions of the hosted library (linegate_new, linegate_free, linegate_guard_stdout, linegate_release_stdout) are
//   missing in the bare one, which needs no operating system and no heap, and of a C library memcpy, memmove, memset,
//   memcmp, bcmp and strlen alone.


#ifndef LINEGATE_H
#define LINEGATE_H

// Generated by cbindgen from ffi-c/src: make header. Not to be edited by hand.

#include <stddef.h>
#include <stdint.h>

// The version of the library that this header belongs to: it changes when the binary interface breaks.
#define LINEGATE_VERSION_MAJOR 0

// With what is added.
#define LINEGATE_VERSION_MINOR 1

// With what is mended.
#define LINEGATE_VERSION_PATCH 0

// The lines of a client: a server's standard input.
#define LINEGATE_FROM_CLIENT 0

// The lines of a server, its standard output: data, never answered.
#define LINEGATE_FROM_SERVER 1

// Strict for a client's lines, data for a server's.
#define LINEGATE_PROFILE_OF_DIRECTION 0

// Every rule on: for lines that may cause an effect.
#define LINEGATE_PROFILE_STRICT 1

// I-JSON (RFC 7493) without its number range: for lines that are only data.
#define LINEGATE_PROFILE_DATA 2

// RFC 8259 grammar, UTF-8, unique keys and bounds, nothing else of the text rules.
#define LINEGATE_PROFILE_RFC8259 3

// MCP of any revision; where a session is tracked its own lines tell which it is.
#define LINEGATE_REVISION_AUTO 0

// Plain JSON-RPC 2.0, no MCP: params may be an array, a result anything.
#define LINEGATE_REVISION_JSONRPC 1

// MCP 2024-11-05.
#define LINEGATE_REVISION_2024_11_05 2

// MCP 2025-03-26.
#define LINEGATE_REVISION_2025_03_26 3

// MCP 2025-06-18.
#define LINEGATE_REVISION_2025_06_18 4

// MCP 2025-11-25.
#define LINEGATE_REVISION_2025_11_25 5

// MCP 2026-07-28.
#define LINEGATE_REVISION_2026_07_28 6

// Refusals whose code closes end the session: see the table of codes, docs/rules.md.
#define LINEGATE_POLICY_CLOSE_MALFORMED 0

// Any refusal ends the session: for a gateway with effects outside.
#define LINEGATE_POLICY_CLOSE_ALL 1

// Only the end of input ends the session.
#define LINEGATE_POLICY_CONTINUE 2

// Batches are taken under the fixed revision 2025-03-26 alone, the only one that has them.
#define LINEGATE_BATCHES_BY_REVISION 0

// Batches are taken: an option only under 2025-03-26 and plain JSON-RPC.
#define LINEGATE_BATCHES_ALLOW 1

// Batches are refused.
#define LINEGATE_BATCHES_REFUSE 2

// An error reply whose id could not be read says null or leaves it out, as its revision asks.
#define LINEGATE_ERROR_ID_BY_REVISION 0

// It says null.
#define LINEGATE_ERROR_ID_NULL 1

// It leaves the member out.
#define LINEGATE_ERROR_ID_ABSENT 2

// Empty lines are skipped and counted.
#define LINEGATE_SWITCH_BLANK_LINES 1

// Space and tab around the value pass.
#define LINEGATE_SWITCH_SURROUNDING_SPACE 2

// Raw U+0085, U+2028 and U+2029 in strings pass (in every profile).
#define LINEGATE_SWITCH_SEPARATORS 4

// Escaped halves of surrogate pairs pass.
#define LINEGATE_SWITCH_LONE_SURROGATES 8

// Keys above 8192 bytes pass.
#define LINEGATE_SWITCH_LONG_KEYS 16

// Keys of one object that are equal under case folding pass.
#define LINEGATE_SWITCH_CASE_COLLISIONS 32

// \u0000 in string values passes.
#define LINEGATE_SWITCH_ESCAPED_NUL 64

// \u0000 in keys passes.
#define LINEGATE_SWITCH_ESCAPED_NUL_IN_KEYS 128

// Integers beyond 2^53-1 either way pass.
#define LINEGATE_SWITCH_BIG_INTEGERS 256

// All numbers of RFC 8259 pass.
#define LINEGATE_SWITCH_NUMBER_RANGE 512

// Decimals of 16 and 17 significant digits pass (in every profile).
#define LINEGATE_SWITCH_INEXACT_DECIMALS 1024

// The keys __proto__ and $serde_json::private:: pass.
#define LINEGATE_SWITCH_FORBIDDEN_KEYS 2048

// Members of the message other than the six of JSON-RPC pass.
#define LINEGATE_SWITCH_UNKNOWN_MEMBERS 4096

// Values deeper than 32 pass, up to max_depth.
#define LINEGATE_SWITCH_DEPTH 8192

// For max_replies: no reply is ever due.
#define LINEGATE_NO_REPLIES 4294967295

// No message: the event of a refusal, or none.
#define LINEGATE_KIND_NONE 0

// `method` and `id`: asks for an effect and an answer.
#define LINEGATE_KIND_REQUEST 1

// `method` without `id`: is never answered.
#define LINEGATE_KIND_NOTIFICATION 2

// `result` and `id`: a request succeeded.
#define LINEGATE_KIND_RESULT 3

// `error`: a request failed.
#define LINEGATE_KIND_ERROR 4

// An array of messages, where batches are taken. Walk it with linegate_iterate over `line`.
#define LINEGATE_KIND_BATCH 5

// Bytes that suffice for linegate_reply and linegate_settlement with the default max_id; with a larger one, as many more.
#define LINEGATE_REPLY_LEN 1024

// No value: an absent slice.
#define LINEGATE_TYPE_NONE 0

// {...}
#define LINEGATE_TYPE_OBJECT 1

// [...]
#define LINEGATE_TYPE_ARRAY 2

// "..."
#define LINEGATE_TYPE_STRING 3

// A number of any form.
#define LINEGATE_TYPE_NUMBER 4

// true or false
#define LINEGATE_TYPE_BOOLEAN 5

// null
#define LINEGATE_TYPE_NULL 6

// In a linegate_member: a number without fraction and exponent. linegate_type calls it a number.
#define LINEGATE_TYPE_INTEGER 7

// A tool, by the name in tools/call of MCP.
#define LINEGATE_TARGET_TOOL 0

// Any other method, by its name; its params are the arguments. Their _meta is none of them: it is the protocol's, unless the row
// has a member of that name, to which it is held then. Under LINEGATE_REVISION_JSONRPC, which has no tools, _meta is a member
// like any, and tools/call a method like any.
#define LINEGATE_TARGET_METHOD 1

// Objects and arrays that the rows of a table may nest in each other.
#define LINEGATE_MAX_NESTING 8

// A gate: judges one stream, line by line.
typedef struct linegate linegate;

// Remembers one session for the two gates of its directions: ids in flight, cancellations, progress, the revision.
typedef struct linegate_tracker linegate_tracker;

// What a function came to: LINEGATE_OK, a small number that is no fault, or a code from 101 up. 1xx to 4xx are faults of the
// peer's line, 5xx of the action that it asks for, 9xx of the caller of this library. The numbers are for ever. None is
// negative. errno is never set.
typedef int32_t linegate_status;

// What a gate is told at its start. Set `size` to sizeof(linegate_options) and everything else to zero, then what shall
// differ: zero is the default of each member. The struct and all that it points to are read during the call alone; names
// are copied into the gate's storage. Members that the library doesn't know must be zero (903).
typedef struct linegate_options {
    // sizeof(linegate_options).
    size_t size;
    // LINEGATE_FROM_...: who sends the stream. Default: the client.
    uint32_t direction;
    // LINEGATE_PROFILE_...: a named set of switches and a max_depth.
    uint32_t profile;
    // LINEGATE_REVISION_...: the protocol. Default: MCP of any revision. A build that was made with fewer revisions refuses the
    // others, and LINEGATE_REVISION_AUTO (903).
    uint32_t revision;
    // LINEGATE_POLICY_...: when a refusal ends the session.
    uint32_t policy;
    // LINEGATE_BATCHES_...: whether a JSON array of messages on one line is taken.
    uint32_t batches;
    // LINEGATE_ERROR_ID_...: the id of an error reply where none could be read.
    uint32_t error_id;
    // LINEGATE_SWITCH_... of quirks that pass besides those of the profile.
    uint32_t allow;
    // LINEGATE_SWITCH_... of quirks that the profile lets pass and that shall not.
    uint32_t refuse;
    // Bytes of a line before its line feed (101): 4 to 2147483647. Default 8388608. As much storage, byte for byte.
    uint32_t max_frame;
    // Depth of the deepest value, scalars counted (208): 1 to 512. Default 32 under strict, else 64. 8 bytes of storage a level.
    uint32_t max_depth;
    // Object keys open at once (210): 1 to 16777216. Default 65536. 8 bytes of storage each.
    uint32_t max_keys;
    // Bytes of a string id (308): 1 to 4096. Default 255. No storage.
    uint32_t max_id;
    // Replies that are due in a row without an accepted line. Default 16; LINEGATE_NO_REPLIES for none.
    uint32_t max_replies;
    // LINEGATE_SWITCH_... by which a line may have passed and still ask for an action (505). Default: none.
    uint32_t grant;
    // Names of methods beside the protocol's, as requests and notifications of either side: 1 to 255 bytes of UTF-8 each,
    // NUL-terminated.
    const char *const *methods;
    // How many.
    size_t methods_len;
    // Values of resultType beside the protocol's, likewise.
    const char *const *result_types;
    // How many.
    size_t result_types_len;
    // The protocol versions that the host serves to requests of 2026-07-28, which say theirs (407): printable ASCII without quote
    // and backslash, 256 bytes in all with 3 more for each. Default: all that are published.
    const char *const *versions;
    // How many.
    size_t versions_len;
    // 16 bytes that no peer knows: the key of fingerprints and hashes. All zero: a hosted library draws a random key, a bare
    // one works with zeros; verdicts stay right then, but fingerprints can be guessed and a peer may craft keys that collide.
    uint8_t audit_key[16];
} linegate_options;

// Bytes that belong to somebody else; not NUL-terminated. Absent: `data` NULL, `len` 0; where one is given to the library, `data`
// NULL is enough. Those of an event lie in the gate's storage, never in the caller's input, and live as long as the event.
typedef struct linegate_slice {
    // The first of them.
    const char *data;
    // How many.
    size_t len;
} linegate_slice;

// Why options are refused: which one, and what would be right. Both live as long as the library.
typedef struct linegate_complaint {
    // Set by the caller: sizeof(linegate_complaint).
    size_t size;
    // The member of linegate_options that can't have its value. Absent where there is nothing to complain of.
    struct linegate_slice option;
    // What would be right, as a sentence without its full stop.
    struct linegate_slice text;
} linegate_complaint;

// What a line came to. Set `size` to sizeof(linegate_event) before each call that fills one; a library that knows more
// members than the caller leaves them out, one that knows fewer zeroes the rest.
typedef struct linegate_event {
    // Set by the caller: sizeof(linegate_event).
    size_t size;
    // The same as the function returned.
    linegate_status status;
    // LINEGATE_KIND_...: what the accepted message is.
    uint32_t kind;
    // What linegate_call, linegate_authorize and linegate_authorized want to see. 0 unless a line was accepted.
    uint64_t ticket;
    // The ordinal of the line in its session, from 1; 0 where there is no verdict.
    uint64_t sequence;
    // The whole line without its line break: exactly the bytes that were checked. Absent of a refused line.
    struct linegate_slice line;
    // The method, unescaped, in UTF-8.
    struct linegate_slice method;
    // The id as it was written, quotes included: 7 and "7" are different ids. Of a refused line the id that its reply echoes.
    struct linegate_slice id;
    // The params, a JSON value as it was written.
    struct linegate_slice params;
    // The result, likewise.
    struct linegate_slice result;
    // The error object, likewise.
    struct linegate_slice error;
    // Of a refused line: the byte that the verdict is about, counted from the line's start, wherever the input was cut.
    size_t offset;
    // Bytes of the line before its line feed, a carriage return counted; of a line that was refused before its end, those up
    // to the decision.
    size_t length;
    // Of a refused line: the JSON-RPC code of the reply, 0 where none is due, or where it is the result of a tool (502).
    int32_t rpc_code;
    // Of a refused line: 1 where a reply should go out (see linegate_reply), else 0.
    uint32_t reply_due;
    // Of a refused line: 1 where the session ended with it, else 0.
    uint32_t closes;
    // LINEGATE_SWITCH_...: those without which the accepted line would have been refused, beyond the two that every profile allows.
    uint32_t loosened;
} linegate_event;

// The audit record of a refusal: why and where, and a keyed fingerprint by which the same line is recognised again; never
// its bytes.
typedef struct linegate_record {
    // Set by the caller: sizeof(linegate_record).
    size_t size;
    // The ordinal of the line in its session, from 1.
    uint64_t sequence;
    // LINEGATE_FROM_...: who sent it.
    uint32_t direction;
    // Why: 101 to 505.
    linegate_status code;
    // The byte it is about, from the line's start.
    size_t offset;
    // Bytes of the line before its line feed; of a line that was refused before its end, those up to the decision.
    size_t length;
    // SipHash-2-4 of these bytes with 128 bits under the gate's audit key, most significant byte first.
    uint8_t fingerprint[16];
} linegate_record;

// What a gate has counted since its start or reset.
typedef struct linegate_counters {
    // Set by the caller: sizeof(linegate_counters).
    size_t size;
    // Lines accepted.
    uint64_t accepted;
    // Lines and calls refused, by every stage together.
    uint64_t refused;
    // Lines refused with 1xx.
    uint64_t refused_frame;
    // Lines refused with 2xx.
    uint64_t refused_json;
    // Lines refused with 3xx.
    uint64_t refused_rpc;
    // Lines refused with 40x.
    uint64_t refused_mcp;
    // Lines refused with 45x.
    uint64_t refused_session;
    // Empty lines skipped, where LINEGATE_SWITCH_BLANK_LINES allows them.
    uint64_t blank_lines;
    // Carriage returns stripped before a line feed.
    uint64_t stripped_crs;
    // Replies that were due.
    uint64_t replies;
    // Calls refused with 50x.
    uint64_t refused_action;
} linegate_counters;

// Where a walk through an object or an array stands. Made by linegate_iterate; its members are the library's.
typedef struct linegate_iter {
    // What is left of it.
    struct linegate_slice rest;
    // LINEGATE_TYPE_... of what is walked.
    uint32_t kind;
} linegate_iter;

// One member of arguments: a row of a table, which is read as long as the event lives in which it was used; a static one serves.
typedef struct linegate_member {
    // sizeof(linegate_member).
    size_t size;
    // Its name, NUL-terminated UTF-8; of the elements of an array NULL.
    const char *name;
    // LINEGATE_TYPE_... that its value must have: LINEGATE_TYPE_INTEGER for a number without fraction and exponent,
    // LINEGATE_TYPE_NONE for a value of any type. A null that one of LINEGATE_TYPE_NONE or LINEGATE_TYPE_NULL takes is there, but
    // among the values of linegate_call it is absent like any null.
    uint32_t type;
    // 1 where it may be missing or null, which are the same, else 0.
    uint32_t optional;
    // The least value of a LINEGATE_TYPE_INTEGER. min and max of 0: any of 64 bits. Of another type 0.
    int64_t min;
    // Its largest value, not below min. Of another type 0.
    int64_t max;
    // Of an object its members, each of another name; of an array one row, for each of its elements. NULL: any. Of another
    // type NULL.
    const struct linegate_member *members;
    // How many; 0 beside NULL. An object whose members pointer is NULL may have any members; one of 0 members beside a pointer
    // that isn't, none.
    size_t members_len;
} linegate_member;

// A tool or method that a host has: a row of its table, which is read as long as the event lives in which it was used.
typedef struct linegate_action {
    // sizeof(linegate_action).
    size_t size;
    // Its name, NUL-terminated UTF-8. No other row of its target has the same.
    const char *name;
    // LINEGATE_TARGET_...
    uint32_t target;
    // Nothing; must be 0.
    uint32_t reserved;
    // The members of its arguments. What isn't among them doesn't fit. Beside 0 members NULL is no members as well.
    const struct linegate_member *members;
    // How many.
    size_t members_len;
} linegate_action;

// Done. Of a feed: a line was accepted.
#define LINEGATE_OK 0

// No line has ended: feed what is left of the input, or read more.
#define LINEGATE_NEED_MORE 1

// The value has no such member, or nothing more in it.
#define LINEGATE_ABSENT 2

// The value is of another type.
#define LINEGATE_OTHER_TYPE 3

// The line is longer than the gate's max_frame; send a shorter message.
#define LINEGATE_FRAME_TOO_LONG 101

// The line is empty; send one JSON-RPC message on each line.
#define LINEGATE_FRAME_EMPTY 102

// A carriage return may stand only as the last byte before the line feed; some readers end a line at it.
#define LINEGATE_BARE_CR 103

// The input ended inside a line; a message counts only with its line feed.
#define LINEGATE_TRUNCATED 104

// The line begins with a byte order mark; send UTF-8 without one.
#define LINEGATE_BOM 105

// The line holds a raw NUL byte; send UTF-8 JSON text.
#define LINEGATE_NUL_BYTE 106

// Space or tab stands before or after the message; send the JSON value alone on its line.
#define LINEGATE_SURROUNDING_SPACE 107

// The line is not well-formed UTF-8.
#define LINEGATE_INVALID_UTF8 201

// A byte stands where JSON does not allow it; only JSON-RPC messages belong on this stream.
#define LINEGATE_UNEXPECTED_BYTE 202

// A string holds an escape that JSON does not have.
#define LINEGATE_BAD_ESCAPE 203

// A string escapes half of a surrogate pair; send the whole character, or U+FFFD in its place.
#define LINEGATE_LONE_SURROGATE 204

// A string holds a raw control character; escape it.
#define LINEGATE_CONTROL_IN_STRING 205

// A number is not spelt as JSON spells numbers.
#define LINEGATE_BAD_NUMBER 206

// Bytes follow the message on its line; send one message on each line and nothing else.
#define LINEGATE_TRAILING_BYTES 207

// Values nest deeper than the gate's max_depth; send a flatter message.
#define LINEGATE_TOO_DEEP 208

// An object has the same key twice; readers disagree on which of the two counts.
#define LINEGATE_DUPLICATE_KEY 209

// More object keys are open at once than the gate's max_keys; send a smaller object.
#define LINEGATE_TOO_MANY_KEYS 210

// An object key is longer than 8192 bytes; send a shorter key.
#define LINEGATE_KEY_TOO_LONG 211

// Two keys of one object differ only in case; send keys that no reader can confuse.
#define LINEGATE_CASE_COLLISION 212

// A string holds \u0000, at which some readers cut it; send text without it, or encode it as base64.
#define LINEGATE_ESCAPED_NUL 213

// A number is one that readers take for different values; send large or very precise numbers as strings.
#define LINEGATE_NUMBER_RANGE 214

// A key has a special meaning to some readers (__proto__, $serde_json::private::); choose another name.
#define LINEGATE_FORBIDDEN_KEY 215

// The line ends inside the JSON value; send the whole message on one line.
#define LINEGATE_UNEXPECTED_END 216

// A string holds a raw U+0085, U+2028 or U+2029, at which some readers end a line; escape it.
#define LINEGATE_LINE_SEPARATOR 217

// The message is not a JSON object.
#define LINEGATE_NOT_AN_OBJECT 301

// A batch (a JSON array) is not taken here in this form; send one message on each line.
#define LINEGATE_BATCH 302

// The member jsonrpc is missing; it must be the string 2.0.
#define LINEGATE_JSONRPC_MISSING 303

// The member jsonrpc must be the string 2.0.
#define LINEGATE_JSONRPC_WRONG 304

// The member method must be a string of 1 to 255 bytes.
#define LINEGATE_METHOD_TYPE 305

// The member id must be a string or an integer written without fraction, exponent or minus zero.
#define LINEGATE_ID_TYPE 306

// The member id must not be null.
#define LINEGATE_ID_NULL 307

// The id is too large: integers go to 2^53-1 either way, strings to the gate's max_id bytes.
#define LINEGATE_ID_RANGE 308

// The member params must be an object.
#define LINEGATE_PARAMS_TYPE 309

// A message has exactly one of method, result and error, and params only beside method.
#define LINEGATE_MIXED_SHAPE 310

// The message has none of method, result and error.
#define LINEGATE_NO_SHAPE 311

// The message has a member other than jsonrpc, id, method, params, result and error.
#define LINEGATE_UNKNOWN_MEMBER 312

// A member's name is a protocol name in other case or with escapes; readers disagree on whether it counts.
#define LINEGATE_MISSPELT_MEMBER 313

// The member error must be an object with an integer code and a string message.
#define LINEGATE_ERROR_OBJECT 314

// The member result must be an object.
#define LINEGATE_RESULT_TYPE 315

// A result must carry the id of its request.
#define LINEGATE_ID_MISSING 316

// Such a message may not travel in this direction under this revision.
#define LINEGATE_WRONG_DIRECTION 401

// The revision has no such method for this direction, and the host added none of that name.
#define LINEGATE_UNKNOWN_METHOD 402

// A member that the method requires is missing in params.
#define LINEGATE_PARAM_MISSING 403

// A member of params has a JSON type or a value that the method does not take.
#define LINEGATE_PARAM_TYPE 404

// A request of 2026-07-28 carries params._meta with protocolVersion and clientCapabilities (prefix io.modelcontextprotocol/).
#define LINEGATE_META_MISSING 405

// A key of _meta is not an optional prefix (labels parted by dots, and a slash) and a name.
#define LINEGATE_META_KEY 406

// The request's protocol version is not one that is served here; data.supported names those that are.
#define LINEGATE_UNSUPPORTED_REVISION 407

// The result is not one that the request it answers may have.
#define LINEGATE_RESULT_SHAPE 408

// The revision does not allow a server to send this error code.
#define LINEGATE_ERROR_CODE 409

// The method is a notification and carries an id, or is a request and carries none.
#define LINEGATE_ID_PRESENCE 410

// Send initialize first; before it only ping and server/discover are taken.
#define LINEGATE_NOT_INITIALIZED 451

// The session is initialized already, or an initialize waits for its answer.
#define LINEGATE_INITIALIZE_AGAIN 452

// A request with this id waits for its answer or was cancelled just now; take another id.
#define LINEGATE_ID_IN_USE 453

// The response answers no request that is in flight.
#define LINEGATE_UNKNOWN_RESPONSE 454

// The response answers a request that was cancelled: it is passed on and counted.
#define LINEGATE_ANSWERED_AFTER_CANCEL 455

// More requests wait for their answers than the gate remembers; wait for some of them.
#define LINEGATE_TOO_MANY_IN_FLIGHT 456

// Progress is told for a token that no request in flight gave.
#define LINEGATE_UNKNOWN_PROGRESS 457

// The request was answered already.
#define LINEGATE_ANSWERED_TWICE 458

// The notification belongs to no subscription that is open, or does not say to which.
#define LINEGATE_UNKNOWN_SUBSCRIPTION 459

// The call names a tool that is not offered here.
#define LINEGATE_UNKNOWN_TOOL 501

// The arguments are not those that the tool takes.
#define LINEGATE_ARGUMENTS_SCHEMA 502

// The host did not authorize the action.
#define LINEGATE_NOT_AUTHORIZED 503

// The authorization was used already; an action runs once.
#define LINEGATE_ALREADY_USED 504

// The message passed only because of a switch that this action does not allow.
#define LINEGATE_SWITCH_NOT_GRANTED 505

// A pointer argument is NULL, or not aligned as its type must be.
#define LINEGATE_NULL_ARGUMENT 901

// The buffer given is too small; nothing was written.
#define LINEGATE_BUFFER_TOO_SMALL 902

// An option has a value that it can't have.
#define LINEGATE_BAD_OPTIONS 903

// The call is about an event that is over, or comes in an order that makes no sense.
#define LINEGATE_STALE_EVENT 904

// The session has ended; nothing more is judged until a reset.
#define LINEGATE_CLOSED 905

// The library failed, which is a fault of its own; end the session and report it.
#define LINEGATE_INTERNAL 999

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The name of a status: lower case, stable ("duplicate_key"); "unknown" for a number that is none.
//
// Returns: a static string, NUL-terminated, never NULL. Thread: any.
const char *linegate_status_name(linegate_status status);

// The status as a sentence that a person can act on.
//
// Returns: a static string in UTF-8, NUL-terminated, never NULL. Thread: any.
const char *linegate_status_message(linegate_status status);

// The version of the library that is linked, as "MAJOR.MINOR.PATCH", to be compared with the header's.
//
// Returns: a static string, NUL-terminated, never NULL. Thread: any.
const char *linegate_version(void);

// Whether linegate_init and linegate_new take these options, and if not, which is wrong.
//
// Returns: 0, they do, and there is no complaint; 903, they don't; 901, options is NULL or misaligned, or a list or a name in
// them is, or complaint is misaligned. complaint says more of 903, and of 901 but for its own, and may be NULL; it lies apart
// from the options. Set complaint->size (903 too where it was not set). Owner: what the complaint names is static. Thread: any.
linegate_status linegate_options_check(const struct linegate_options *options,
                                       struct linegate_complaint *complaint);

// How many bytes of storage linegate_init needs for a gate with these options: about max_frame, 8 * (max_keys +
// max_depth), the names, and 1 KiB. With the defaults that is about 9 MiB: set the limits on a device.
//
// Returns: bytes; 0 where the options are NULL or linegate_init would refuse them. Not all that a name must be is judged here:
// linegate_init and linegate_options_check do. Thread: any.
size_t linegate_storage_size(const struct linegate_options *options);

// How the storage of a gate must be aligned, in bytes: at most 16. What malloc gives is aligned so.
//
// Returns: a power of two. Thread: any.
size_t linegate_storage_align(void);

// Makes a gate in storage of the caller's. There is nothing to free: the gate is gone when the storage is. It must not be
// moved; while the gate is used the storage is the gate's alone.
//
// Tickets begin at a number of the storage's place and options.audit_key. So a gate that is made where another lay, with the
// same key, gives the same tickets again, and takes one that the other gave for its own: forget them, or give another key (a
// hosted library draws one where it is all zero). linegate_reset needs neither: its tickets count on.
//
// Returns: 0, and the gate in *gate; 901 where an argument, or a name in the options, is NULL or the storage is misaligned;
// 902 where it is shorter than linegate_storage_size says; 903 where an option can't have its value; 999 where a hosted
// library finds no randomness. *gate is NULL then.
// Owner: the caller owns the storage and keeps it until the last call with the gate. Thread: any; the gate then belongs to
// one thread at a time.
linegate_status linegate_init(void *storage,
                              size_t len,
                              const struct linegate_options *options,
                              struct linegate **gate);

// Judges input up to the end of one line at most; call it again with the rest until all is consumed.
//
// data may be NULL where len is 0. *consumed is how many bytes are dealt with; beside a refusal that came before its line's
// end it may be 0, and the next call goes on. So it may be less than event->offset, which counts from the line's start, and
// bytes of the line may have come in calls before. Every call but one that gives 901 or 903 ends what the event before it
// lent, its ticket included.
//
// Returns: 0, a line was accepted; 1, no line has ended; 101 to 459, a line was refused, and has had no effect; 905, the
// session is over and the input was consumed unread; 901 where gate, consumed, event, or data of some length is NULL or
// misaligned; 903 where event->size was not set (nothing is consumed then, and the event before lives on).
// Owner: the input stays the caller's and isn't kept; the event lends from the gate's storage until the gate's next event.
// Thread: one at a time for each gate.
linegate_status linegate_feed(struct linegate *gate,
                              const void *data,
                              size_t len,
                              size_t *consumed,
                              struct linegate_event *event);

// The end of input. A line without its line feed is refused (104), never accepted; the session is over either way.
//
// Returns: 0, the input ended between two lines; 104, inside one (the event says where); 905, the session was over before;
// 901, 903 as of linegate_feed. Owner: as of linegate_feed. Thread: one at a time for each gate.
linegate_status linegate_finish(struct linegate *gate,
                                struct linegate_event *event);

// Begins a new session with the same options: counters, sequence and what is held of a line are gone. A tracker is reset by
// linegate_tracker_reset. Tickets of the session before stay stale.
//
// Returns: 0; 901. Thread: one at a time for each gate.
linegate_status linegate_reset(struct linegate *gate);

// Judges one line by itself: begins a new session, as linegate_reset does, and feeds the line with a line feed behind it.
// line is given without its line feed; line may be NULL where len is 0. A tracker isn't asked. For a stream's own gate this
// is the wrong call: take a gate for it alone.
//
// Returns: 0, accepted; 1, the line is empty and LINEGATE_SWITCH_BLANK_LINES skips it; 101 to 410, refused; 207 too where a
// line feed stands inside, at event->offset; 901 and 903 as of linegate_feed.
// Owner: as of linegate_feed. Thread: one at a time for each gate.
linegate_status linegate_check_line(struct linegate *gate,
                                    const void *line,
                                    size_t len,
                                    struct linegate_event *event);

// Writes the JSON-RPC error line, line feed at its end, that answers the refusal which was the gate's last event. Only who
// owns the one writer of the wire may send it. It is made of the code's text and the id's own bytes.
//
// It goes straight to the wire: no gate has to judge it. In a session linegate_write_line takes the reply to a call that was
// refused as well, once; that to a refused line, whose request was never in flight, it refuses (454).
//
// out may be NULL where cap is 0. *len is the line's length; 0 where no reply is due (event.reply_due); where out is too small,
// the length that suffices. LINEGATE_REPLY_LEN bytes always suffice with the default max_id.
//
// Returns: 0; 902, nothing of use was written; 904, the last event was no refusal; 901.
// Owner: the line is the caller's. Thread: one at a time for each gate.
linegate_status linegate_reply(const struct linegate *gate,
                               char *out,
                               size_t cap,
                               size_t *len);

// Writes the JSON-RPC error line (-32603) for the request that the refused response would have answered, to be sent to the
// one who waits for it. Only a gate with a tracker knows of such a request.
//
// *len is 0 where there is none. Everything else is as of linegate_reply.
linegate_status linegate_settlement(const struct linegate *gate,
                                    char *out,
                                    size_t cap,
                                    size_t *len);

// The refusal that is the gate's last: of the line that linegate_feed refused, or of a call that linegate_call, linegate_refuse or
// linegate_authorize did. Set event->size.
//
// Where a reply is due that is the result of a tool (502 from 2025-11-25 on), event->rpc_code is 0 beside it.
//
// Returns: 0, and event->status has the code; 904, the last event was no refusal; 903, the size was not set; 901.
// Owner: the event lends from the gate's storage until the gate's next event. Thread: one at a time for each gate.
linegate_status linegate_refusal(const struct linegate *gate,
                                 struct linegate_event *event);

// The audit record of the refusal that was the gate's last event. Set record->size.
//
// Returns: 0; 904, the last event was no refusal; 903, the size was not set; 901.
// Owner: the record is the caller's. Thread: one at a time for each gate.
linegate_status linegate_audit(const struct linegate *gate, struct linegate_record *record);

// What the gate has counted since its start or reset. Set counters->size.
//
// Returns: 0; 903, the size was not set; 901. Owner: the counters are the caller's. Thread: one at a time for each gate.
linegate_status linegate_get_counters(const struct linegate *gate,
                                      struct linegate_counters *counters);

// The type of a value of the last event.
//
// Returns: LINEGATE_TYPE_...; LINEGATE_TYPE_NONE of an absent slice, and of one longer than PTRDIFF_MAX. Thread: that of its gate.
uint32_t linegate_type(struct linegate_slice value);

// The member of an object by its name, which is compared unescaped; name is NUL-terminated.
//
// Returns: 0, and the member in *member; 2, there is none; 3, the value is no object; 901. *member is absent then.
// Owner: *member lives as long as value. Thread: that of its gate.
linegate_status linegate_get(struct linegate_slice object, const char *name, struct linegate_slice *member);

// Begins a walk through the members of an object or the elements of an array.
//
// Returns: 0; 3, the value is neither (the walk has nothing in it then); 901. Owner: *iter is the caller's and lives as long
// as value. Thread: that of its gate.
linegate_status linegate_iterate(struct linegate_slice value,
                                 struct linegate_iter *iter);

// The next member or element of a walk, in the order of the text. *key is the member's name, a JSON string to be read with
// linegate_string, and absent in an array. key may be NULL where the names don't matter.
//
// Returns: 0; 2, the walk is over, and key and value are absent; 901. Owner: both live as long as the value that is walked.
// Thread: that of its gate.
linegate_status linegate_next(struct linegate_iter *iter,
                              struct linegate_slice *key,
                              struct linegate_slice *value);

// A string, unescaped, into a buffer, with a NUL behind it. *len is its length in bytes without that NUL. A string may hold
// U+0000 where LINEGATE_SWITCH_ESCAPED_NUL lets it pass: *len then counts further than strlen does.
//
// Returns: 0; 3, the value is no string; 204, it holds half of a surrogate pair that a switch let pass; 902, the buffer is
// too small: *len + 1 bytes suffice; 901. Nothing of use is in the buffer but at 0. out may be NULL where cap is 0.
// Owner: the buffer is the caller's. Thread: that of its gate.
linegate_status linegate_string(struct linegate_slice value,
                                char *out,
                                size_t cap,
                                size_t *len);

// The value of an integer, written without fraction and exponent.
//
// Returns: 0, and the integer in *integer; 3, the value is no number; 214, it is not such an integer, or beyond 64 bits; 901.
// *integer is 0 then. Thread: that of its gate.
linegate_status linegate_integer(struct linegate_slice value,
                                 int64_t *integer);

// The value of a boolean: 1 for true, 0 for false.
//
// Returns: 0; 3, the value is no boolean; 901. *boolean is 0 then. Thread: that of its gate.
linegate_status linegate_boolean(struct linegate_slice value, int32_t *boolean);

// Looks for the row of a host's table that the message of the last event asks for, and reads its arguments: values[0] is the value
// of the row's first member, and so on, absent where it is missing or null. They are of the types that the row says, and nothing
// else is among them. A call that is refused is refused like a line: counted, in the audit, ending the session where the
// policy wants it, and answered by linegate_reply; linegate_refusal tells the rest. In a session its request waits no longer
// from then on, whatever becomes of the reply: to send it is the host's.
//
// Of tools/call of MCP the table has the tools, never the method itself. values may be NULL where values_len is 0: nothing is
// written then, and no length is too small (902).
//
// A table that is not in order is a fault of the program, never the client's. Each call looks at the rows of the table, and,
// before it looks at any argument, at all that the row asked for holds (which takes longer with the square of the members of
// an object: have tens of them, not thousands). 901, 902 and 903 refuse nothing: linegate_call may be asked again, or
// linegate_refuse; but a yes of linegate_authorize allows nothing then (503).
//
// Returns: 0, and the row's place in *which; 2, the message asks for nothing in the table (a response, a batch, a method that
// is no row): it is the host's; 505, the line passed only by a switch that options.grant doesn't have; 501, there is no such
// tool; 502, the arguments don't fit; 504, it was asked before, or decided; 904, the ticket is 0, or its event is over; 901
// where gate, which, a table, values or members of some length, or a name is NULL or misaligned; 902 where values_len isn't 0
// and less than the row's members; 903 where a row has a value that it can't have, two rows are of one name, or the rows nest
// deeper than LINEGATE_MAX_NESTING (one that holds itself does). But at 0 *which is actions_len, and each value is absent.
// Owner: the values lie in the gate's storage, and live as long as the event. Thread: one at a time for each gate.
linegate_status linegate_call(struct linegate *gate,
                              uint64_t ticket,
                              const struct linegate_action *actions,
                              size_t actions_len,
                              size_t *which,
                              struct linegate_slice *values,
                              size_t values_len);

// Refuses the call that the message of the last event is, for a host that looks for tools and reads arguments by itself:
// with 501, there is no such tool; 502, the arguments don't fit, of which value is the one that is wrong, or absent; 503, it
// isn't allowed. It is a refusal as that of linegate_call.
//
// rpc_code is the JSON-RPC code of the reply to 503; 0 for -32602, and for the others always. Not each code will do: -32002, -32042
// and those from -32099 to -32023 are 2026-07-28's own, so that a reply with one would be refused (409).
//
// Returns: the code, and the call is refused; 505, it is refused with that one, which comes first, because the line passed only by a
// switch that options.grant doesn't have; 504, it was decided before; 904, the ticket is 0, or its event is over, or
// its message asks for nothing (a response, a batch); 903, another code, rpc_code beside another than 503, or one that the
// call's revision doesn't take; 901, gate is NULL or misaligned, or value is too long. 901 and 903 refuse nothing.
// Thread: one at a time for each gate.
linegate_status linegate_refuse(struct linegate *gate,
                                uint64_t ticket,
                                linegate_status code,
                                int32_t rpc_code,
                                struct linegate_slice value);

// Records the host's decision on the message of the last event: allowed is 0 for no, anything else for yes. To be called by
// the one place that holds the host's policy; there is one decision for each message. With linegate_call before it, the policy
// sees arguments that fit.
//
// A no, and a yes to a line that passed only by a switch that options.grant doesn't have, is a refusal as that of
// linegate_call: linegate_reply answers it. So is a yes where linegate_call was asked about the message and came to 901, 902,
// 903 or 999: nobody has seen arguments that fit. A response asks for nothing, and what a batch asks for is not executed:
// whatever the host says, both are denied, and no reply is due. Where actions are asked for, leave batches refused.
//
// Returns: 0, it is allowed; 503, it is denied, by the host or as above; 505, it is denied for the switch; 504, it was decided
// before; 904, the ticket is 0 or not that of the last event; 901. Thread: one at a time for each gate.
linegate_status linegate_authorize(struct linegate *gate,
                                   uint64_t ticket,
                                   int32_t allowed);

// Whether the message of the last event was authorized: to be asked by whatever executes it, just before it does. It says yes
// once.
//
// Returns: 0, execute it now; 503, it was refused or nobody decided; 504, it was executed; 904, the ticket is 0, or its event
// is over; 901. Thread: one at a time for each gate.
linegate_status linegate_authorized(struct linegate *gate,
                                    uint64_t ticket);

// How many bytes of storage a tracker needs that remembers so many requests in flight of each side, and as many that
// ended: about 160 each on a 64-bit machine. Aligned as linegate_storage_align says.
//
// Returns: bytes; 0 where in_flight is 0 or too large. Thread: any.
size_t linegate_tracker_size(size_t in_flight);

// Makes a tracker in storage of the caller's, and hands it to the two gates: client judges the client's lines, server the
// server's, both of the same revision of MCP or both of LINEGATE_REVISION_AUTO. From then on linegate_feed and the writer judge
// each line in its session as well (451 to 459). Where one gate has closed, the host stops both.
//
// A gate is in one session as long as it is there: linegate_tracker_reset begins a new one with the same gates, and
// linegate_init makes a gate that is in none.
//
// Returns: 0, and the tracker in *tracker; 901 where an argument is NULL or misaligned; 902 where the storage is shorter than
// linegate_tracker_size says; 903 where in_flight is 0 or too large, or the two gates don't make a session; 904 where one of
// the two is in a session. *tracker is NULL then, and gates, session and storage stay as they are.
// Owner: the caller owns the storage, and keeps it until the last call with either gate; that another session's tracker lives
// in it can't be told. Thread: the tracker and its two gates belong to one thread at a time.
linegate_status linegate_tracker_init(void *storage,
                                      size_t len,
                                      size_t in_flight,
                                      struct linegate *client,
                                      struct linegate *server,
                                      struct linegate_tracker **tracker);

// Forgets the session: to be called with linegate_reset of both gates.
//
// Returns: 0; 901. Thread: that of its gates.
linegate_status linegate_tracker_reset(struct linegate_tracker *tracker);

// How many requests of each side wait for their answers, and how many answers came to requests that had been cancelled (455,
// which is no refusal).
//
// Returns: 0; 901 where an argument is NULL or misaligned. Thread: that of its gates.
linegate_status linegate_tracker_count(const struct linegate_tracker *tracker,
                                       size_t *client_in_flight,
                                       size_t *server_in_flight,
                                       uint64_t *late_responses);

// Writes a line as it is given, with a line feed behind it, into out, if the gate accepts it: a request, notification or
// response that was composed elsewhere. gate judges what goes out: of a server one of LINEGATE_FROM_SERVER, for this use alone,
// with LINEGATE_POLICY_CONTINUE if a refused line shall not end it. With a tracker the line is judged in its session.
//
// There a response that is refused settles its request, if its id could be read: another would be the second (458). So that the
// client doesn't wait for ever, send what linegate_settlement of this gate writes: the one answer left. Where it writes
// nothing (0 bytes, or 904), the request still waits, and linegate_write_error answers it.
//
// *len is the length of the line, its line feed counted; where out is too small, the length that suffices; 0 where the line is
// refused: send *len bytes, and never a byte of a line that was refused. The line itself must not lie in out. line may be NULL
// where line_len is 0, and out where cap is 0.
//
// Returns: 0; 101 to 459, the line is refused (207 too where it holds a line feed or more than one value); 902; 904, the gate stands
// inside a line that was fed to it; 905, it is closed; 901.
// Owner: out is the caller's; what the gate's last event lent is over. Thread: one at a time for each gate.
linegate_status linegate_write_line(struct linegate *gate,
                                    const void *line,
                                    size_t line_len,
                                    char *out,
                                    size_t cap,
                                    size_t *len);

// Writes the response to a request: id as its event gave it, and result as JSON text. The id may lie in the storage of the gate
// that read it.
//
// Everything else is as of linegate_write_line.
linegate_status linegate_write_result(struct linegate *gate,
                                      struct linegate_slice id,
                                      const void *result,
                                      size_t result_len,
                                      char *out,
                                      size_t cap,
                                      size_t *len);

// Writes the error that answers a request: code as JSON-RPC has it, message as NUL-terminated UTF-8, which is escaped, and data as
// JSON text; data may be NULL where data_len is 0. An absent id leaves the member out; a slice that holds null says null.
//
// Everything else is as of linegate_write_line; 201 also where the message is no UTF-8.
linegate_status linegate_write_error(struct linegate *gate,
                                     struct linegate_slice id,
                                     int32_t code,
                                     const char *message,
                                     const void *data,
                                     size_t data_len,
                                     char *out,
                                     size_t cap,
                                     size_t *len);

// Hosted library only. Makes a gate on the heap, whose memory grows with the longest line and the widest object seen, up to
// the limits, and never shrinks.
//
// Returns: 0, and the gate in *gate; 901, 903 as of linegate_init; 999, there is no memory or no randomness. *gate is NULL then.
// Owner: the caller, who gives it back with linegate_free. Thread: any; the gate then belongs to one thread at a time.
linegate_status linegate_new(const struct linegate_options *options,
                             struct linegate **gate);

// Hosted library only. Gives back a gate that linegate_new made; NULL is nothing to give back.
//
// Returns: 0; 901, misaligned; 904, the gate lies in storage of the caller's, and stays. Owner: the gate, and all that its
// events lent, is gone. Thread: any, while nobody else uses the gate.
linegate_status linegate_free(struct linegate *gate);

// Hosted library only. Moves standard output away: *wire is a new descriptor of it (closed on exec), to which the
// program writes its protocol lines; descriptor 1 leads to standard error from now on, for prints, for what C's stdout
// holds already, for libraries and for child processes. Call it first of all in main.
//
// Returns: 0; 901; 904, the guard stands already; 999, the operating system refused (nothing has changed). *wire is -1
// then. Owner: the descriptor is the guard's; don't close it. Thread: any.
linegate_status linegate_guard_stdout(int32_t *wire);

// Hosted library only. Ends the guard: what C's streams still hold goes to standard error, then descriptor 1 is standard
// output again and the wire's descriptor is closed. A program that exits under the guard needs no call: what is
// left in C's stdout goes to standard error too.
//
// Returns: 0; 904, no guard stands, or wire is not its descriptor; 999, the operating system refused (the guard stands).
// Thread: any, while nobody else writes.
linegate_status linegate_release_stdout(int32_t wire);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LINEGATE_H */
