/* What a caller can do wrong, one status each; what the header promises beside the verdicts; tickets and sessions. With
   -DHOSTED also what only the hosted library has. */
#include <limits.h>

#include "misuse.h"

static const char ping[] = PING;
static const char twice[] = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"id\":8}\n";
static const char nothing[] = "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"nothing/such\"}\n";
static _Alignas(16) unsigned char second[65536], third[65536], lonely[65536];

/* Whether options are refused, by the size and by the making. */
static int refused(const linegate_options *options) {
    linegate *gate = (linegate *)storage;
    return linegate_storage_size(options) == 0
        && linegate_init(storage, sizeof storage, options, &gate) == LINEGATE_BAD_OPTIONS && gate == NULL;
}

static void options_and_storage(void) {
    linegate_options options = small();
    linegate *gate = (linegate *)storage;
    size_t size = linegate_storage_size(&options), align = linegate_storage_align();
    HOLDS(size > 512 + 8 * 64 && size < 512 + 8 * (64 + 32) + 2048);
    HOLDS(align >= sizeof(void *) && align <= 16 && (align & (align - 1)) == 0);
    HOLDS(linegate_storage_size(NULL) == 0);
    GIVES(LINEGATE_OK, linegate_init(storage, size, &options, &gate));
    HOLDS((void *)gate == (void *)storage);
    GIVES(LINEGATE_BUFFER_TOO_SMALL, linegate_init(storage, size - 1, &options, &gate));
    HOLDS(gate == NULL);
    GIVES(LINEGATE_BUFFER_TOO_SMALL, linegate_init(storage, 0, &options, &gate));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_init(NULL, size, &options, &gate));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_init(storage + 1, size, &options, &gate));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_init(storage, size, NULL, &gate));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_init(storage, size, &options, NULL));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_init(storage, size, (void *)((char *)&options + 1), &gate));

    /* With the defaults a gate takes lines of 8 MiB. */
    linegate_options defaults = { .size = sizeof defaults };
    HOLDS(linegate_storage_size(&defaults) > 8u << 20);
    GIVES(LINEGATE_BUFFER_TOO_SMALL, linegate_init(storage, sizeof storage, &defaults, &gate));

#define BAD(member, value) do { options = small(); options.member = value; HOLDS(refused(&options)); } while (0)
    BAD(size, 0);
    BAD(size, sizeof(size_t));
    BAD(size, sizeof(linegate_options) - 1);
    BAD(size, 4097);
    BAD(size, SIZE_MAX);
    BAD(direction, 2);
    BAD(profile, 4);
    BAD(revision, 7);
    BAD(policy, 3);
    BAD(batches, 3);
    BAD(batches, LINEGATE_BATCHES_ALLOW);
    BAD(error_id, 3);
    BAD(allow, 0x4000);
    BAD(refuse, 0x80000000u);
    BAD(max_frame, 3);
    BAD(max_frame, 0x80000000u);
    BAD(max_depth, 513);
    BAD(max_depth, 65536 + 32);
    BAD(max_keys, (1u << 24) + 1);
    BAD(max_id, 4097);
    BAD(max_id, 65536 + 255);
    BAD(grant, 0x4000);
    options = small();
    options.allow = options.refuse = LINEGATE_SWITCH_DEPTH;
    HOLDS(refused(&options));

    char longest[258];
    memset(longest, 'm', 255);
    longest[255] = 0;
    const char *one[] = { longest }, *empty[] = { "" }, *hole[] = { NULL }, *latin[] = { "\xe9" };
    options = small();
    options.methods = one, options.methods_len = 1;
    GIVES(LINEGATE_OK, linegate_init(storage, sizeof storage, &options, &gate));
    HOLDS(linegate_storage_size(&options) >= size + 255);
    memcpy(longest + 255, "mm", 3);
    HOLDS(linegate_storage_size(&options) == 0);
    GIVES(LINEGATE_BAD_OPTIONS, linegate_init(storage, sizeof storage, &options, &gate));
    options.methods = empty;
    GIVES(LINEGATE_BAD_OPTIONS, linegate_init(storage, sizeof storage, &options, &gate));
    options.methods = latin;
    GIVES(LINEGATE_BAD_OPTIONS, linegate_init(storage, sizeof storage, &options, &gate));
    options.methods = hole;
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_init(storage, sizeof storage, &options, &gate));
    options.methods = NULL;
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_init(storage, sizeof storage, &options, &gate));
    options = small();
    options.result_types = empty, options.result_types_len = 1;
    GIVES(LINEGATE_BAD_OPTIONS, linegate_init(storage, sizeof storage, &options, &gate));
    const char *quote[] = { "20\"26" };
    options = small();
    options.versions = quote, options.versions_len = 1;
    GIVES(LINEGATE_BAD_OPTIONS, linegate_init(storage, sizeof storage, &options, &gate));
    HOLDS(gate == NULL);
}

static void names_are_copied(void) {
    char method[] = "vendor/own";
    const char *list[] = { method };
    linegate_options options = small();
    linegate_event event;
    options.methods = list, options.methods_len = 1;
    linegate *gate = in(storage, &options);
    memset(method, 'x', sizeof method - 1);
    list[0] = NULL;
    GIVES(LINEGATE_OK, feed(gate, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"vendor/own\"}\n", &event));
    GIVES(LINEGATE_UNKNOWN_METHOD, feed(gate, nothing, &event));
}

static void feeding(void) {
    linegate *gate = fresh();
    linegate_event event = { .size = sizeof event };
    size_t used = 77;
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_feed(NULL, ping, 1, &used, &event));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_feed((linegate *)(storage + 1), ping, 1, &used, &event));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_feed(gate, NULL, 1, &used, &event));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_feed(gate, ping, 1, NULL, &event));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_feed(gate, ping, 1, &used, NULL));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_feed(gate, ping, SIZE_MAX, &used, &event));
    HOLDS(used == 0);
    event.size = 0;
    GIVES(LINEGATE_BAD_OPTIONS, linegate_feed(gate, ping, sizeof ping - 1, &used, &event));
    event.size = sizeof event - 1;
    GIVES(LINEGATE_BAD_OPTIONS, linegate_feed(gate, ping, sizeof ping - 1, &used, &event));
    event.size = SIZE_MAX;
    GIVES(LINEGATE_BAD_OPTIONS, linegate_feed(gate, ping, sizeof ping - 1, &used, &event));
    HOLDS(used == 0);
    event.size = sizeof event;
    GIVES(LINEGATE_NEED_MORE, linegate_feed(gate, NULL, 0, &used, &event));
    GIVES(LINEGATE_NEED_MORE, linegate_feed(gate, ping, 0, &used, &event));
    HOLDS(used == 0 && event.ticket == 0 && event.kind == LINEGATE_KIND_NONE && event.line.data == NULL);
    GIVES(LINEGATE_OK, linegate_feed(gate, ping, sizeof ping - 1, &used, &event));
    HOLDS(used == sizeof ping - 1 && event.size == sizeof event);
    /* A call that is a fault of the program's ends nothing. */
    linegate_event none = { .size = 0 };
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_feed(gate, NULL, 1, &used, &event));
    GIVES(LINEGATE_BAD_OPTIONS, linegate_feed(gate, ping, 1, &used, &none));
    GIVES(LINEGATE_OK, linegate_authorize(gate, event.ticket, 1));
    GIVES(LINEGATE_OK, linegate_authorized(gate, event.ticket));
    /* Of a line that came in pieces fewer bytes are consumed than the offset of its fault counts. */
    linegate_options lax = small();
    lax.policy = LINEGATE_POLICY_CONTINUE;
    linegate *other = in(second, &lax);
    GIVES(LINEGATE_NEED_MORE, linegate_feed(other, "{\"a\":", 5, &used, &event));
    GIVES(LINEGATE_UNEXPECTED_BYTE, linegate_feed(other, "x}\n", 3, &used, &event));
    HOLDS(used == 3 && event.offset == 5);

    GIVES(LINEGATE_NULL_ARGUMENT, linegate_finish(NULL, &event));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_finish(gate, NULL));
    event.size = 3;
    GIVES(LINEGATE_BAD_OPTIONS, linegate_finish(gate, &event));
    event.size = sizeof event;
    GIVES(LINEGATE_OK, linegate_finish(gate, &event));
    GIVES(LINEGATE_CLOSED, linegate_finish(gate, &event));
    GIVES(LINEGATE_CLOSED, linegate_feed(gate, ping, sizeof ping - 1, &used, &event));
    HOLDS(used == sizeof ping - 1 && event.status == LINEGATE_CLOSED);
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_reset(NULL));
    GIVES(LINEGATE_OK, linegate_reset(gate));
    GIVES(LINEGATE_NEED_MORE, linegate_feed(gate, "{", 1, &used, &event));
    GIVES(LINEGATE_TRUNCATED, linegate_finish(gate, &event));
    HOLDS(event.offset == 1 && event.length == 1 && event.closes == 1);
    GIVES(LINEGATE_CLOSED, linegate_finish(gate, &event));
    /* What was held of a line is gone after a reset. */
    GIVES(LINEGATE_OK, linegate_reset(gate));
    GIVES(LINEGATE_NEED_MORE, linegate_feed(gate, "{", 1, &used, &event));
    GIVES(LINEGATE_OK, linegate_reset(gate));
    GIVES(LINEGATE_OK, feed(gate, ping, &event));
    HOLDS(event.sequence == 1);
}

/* Blank lines that are skipped, and lines behind them in the same input: nothing is lent from the input. */
static void lines_behind_blank_ones(void) {
    linegate_options options = small();
    options.allow = LINEGATE_SWITCH_BLANK_LINES;
    linegate *gate = in(storage, &options);
    char input[256];
    linegate_event event = { .size = sizeof event };
    size_t used;
    snprintf(input, sizeof input, "\n\r\n\n%s%s", ping, ping);
    GIVES(LINEGATE_OK, linegate_feed(gate, input, strlen(input), &used, &event));
    HOLDS(used == 4 + sizeof ping - 1);
    HOLDS((unsigned char *)event.line.data >= storage && (unsigned char *)event.line.data < storage + sizeof storage);
    memset(input, 'x', sizeof input);
    HOLDS(event.line.len == sizeof ping - 2 && !memcmp(event.line.data, ping, event.line.len));
    HOLDS(event.method.len == 4 && !memcmp(event.method.data, "ping", 4));
    linegate_counters counters = { .size = sizeof counters };
    GIVES(LINEGATE_OK, linegate_get_counters(gate, &counters));
    HOLDS(counters.blank_lines == 3 && counters.accepted == 1 && counters.stripped_crs == 1);
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_get_counters(NULL, &counters));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_get_counters(gate, NULL));
    counters.size = sizeof counters - 1;
    GIVES(LINEGATE_BAD_OPTIONS, linegate_get_counters(gate, &counters));
}

static void refusals(void) {
    linegate_options options = small();
    options.policy = LINEGATE_POLICY_CONTINUE;
    linegate *gate = in(storage, &options);
    linegate_event event;
    linegate_record record = { .size = sizeof record }, again = { .size = sizeof again };
    char reply[LINEGATE_REPLY_LEN];
    size_t len = 5;
    GIVES(LINEGATE_STALE_EVENT, linegate_reply(gate, reply, sizeof reply, &len));
    HOLDS(len == 0);
    GIVES(LINEGATE_STALE_EVENT, linegate_audit(gate, &record));
    GIVES(LINEGATE_DUPLICATE_KEY, feed(gate, twice, &event));
    HOLDS(event.ticket == 0 && event.reply_due == 1 && event.rpc_code == -32600 && event.closes == 0 && event.line.data == NULL);
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_reply(NULL, reply, sizeof reply, &len));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_reply(gate, reply, sizeof reply, NULL));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_reply(gate, NULL, 4000, &len));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_reply(gate, reply, SIZE_MAX, &len));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_settlement(gate, NULL, 1, &len));
    HOLDS(len == 0);
    GIVES(LINEGATE_BUFFER_TOO_SMALL, linegate_reply(gate, NULL, 0, &len));
    HOLDS(len > 0);
    GIVES(LINEGATE_BUFFER_TOO_SMALL, linegate_reply(gate, reply, len - 1, &len));
    GIVES(LINEGATE_OK, linegate_reply(gate, reply, len, &len));
    GIVES(LINEGATE_OK, linegate_settlement(gate, NULL, 0, &len));
    HOLDS(len == 0);
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_settlement(NULL, NULL, 0, &len));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_settlement(gate, NULL, 0, NULL));
    GIVES(LINEGATE_OK, linegate_audit(gate, &record));
    HOLDS(record.code == LINEGATE_DUPLICATE_KEY && record.direction == LINEGATE_FROM_CLIENT && record.sequence == 1);
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_audit(NULL, &record));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_audit(gate, NULL));
    /* The same line has the same fingerprint, another line another. */
    GIVES(LINEGATE_DUPLICATE_KEY, feed(gate, twice, &event));
    GIVES(LINEGATE_OK, linegate_audit(gate, &again));
    HOLDS(again.sequence == 2 && !memcmp(record.fingerprint, again.fingerprint, 16));
    GIVES(LINEGATE_UNKNOWN_METHOD, feed(gate, nothing, &event));
    GIVES(LINEGATE_OK, linegate_audit(gate, &again));
    HOLDS(memcmp(record.fingerprint, again.fingerprint, 16) != 0);
    again.size = sizeof again - 1;
    GIVES(LINEGATE_BAD_OPTIONS, linegate_audit(gate, &again));
    GIVES(LINEGATE_OK, feed(gate, ping, &event));
    GIVES(LINEGATE_STALE_EVENT, linegate_audit(gate, &record));
    GIVES(LINEGATE_STALE_EVENT, linegate_reply(gate, reply, sizeof reply, &len));
    GIVES(LINEGATE_STALE_EVENT, linegate_settlement(gate, reply, sizeof reply, &len));
}

static void tickets(void) {
    linegate *gate = fresh();
    linegate_options options = small();
    linegate *other = in(second, &options);
    linegate_event event, theirs;
    GIVES(LINEGATE_STALE_EVENT, linegate_authorize(gate, 0, 1));
    GIVES(LINEGATE_STALE_EVENT, linegate_authorized(gate, 0));
    GIVES(LINEGATE_OK, feed(gate, ping, &event));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_authorize(NULL, event.ticket, 1));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_authorized(NULL, event.ticket));
    /* Nobody has decided. */
    GIVES(LINEGATE_NOT_AUTHORIZED, linegate_authorized(gate, event.ticket));
    GIVES(LINEGATE_STALE_EVENT, linegate_authorize(gate, event.ticket + 1, 1));
    GIVES(LINEGATE_OK, linegate_authorize(gate, event.ticket, 1));
    GIVES(LINEGATE_ALREADY_USED, linegate_authorize(gate, event.ticket, 1));
    GIVES(LINEGATE_STALE_EVENT, linegate_authorized(gate, 0));
    GIVES(LINEGATE_OK, linegate_authorized(gate, event.ticket));
    GIVES(LINEGATE_ALREADY_USED, linegate_authorized(gate, event.ticket));
    GIVES(LINEGATE_ALREADY_USED, linegate_authorize(gate, event.ticket, 1));
    GIVES(LINEGATE_ALREADY_USED, linegate_authorized(gate, event.ticket));
    /* Another gate's. */
    GIVES(LINEGATE_OK, feed(other, ping, &theirs));
    HOLDS(theirs.ticket != event.ticket);
    GIVES(LINEGATE_STALE_EVENT, linegate_authorize(gate, theirs.ticket, 1));
    /* One of a gate that lay here before: it comes again with the same key, as linegate_init says, and with another it doesn't. */
    uint64_t earlier = theirs.ticket;
    other = in(second, &options);
    GIVES(LINEGATE_STALE_EVENT, linegate_authorize(other, earlier, 1));
    GIVES(LINEGATE_OK, feed(other, ping, &theirs));
    HOLDS(theirs.ticket == earlier);
    options.audit_key[0] ^= 1;
    other = in(second, &options);
    GIVES(LINEGATE_OK, feed(other, ping, &theirs));
    HOLDS(theirs.ticket != earlier);
    GIVES(LINEGATE_STALE_EVENT, linegate_authorize(other, earlier, 1));
    /* A reset gives none again, whatever the key. */
    earlier = theirs.ticket;
    GIVES(LINEGATE_OK, linegate_reset(other));
    GIVES(LINEGATE_OK, feed(other, ping, &theirs));
    HOLDS(theirs.ticket != earlier);
    GIVES(LINEGATE_STALE_EVENT, linegate_authorize(other, earlier, 1));
    /* After the next feed, even one that brings nothing. */
    uint64_t old = event.ticket;
    GIVES(LINEGATE_OK, feed(gate, ping, &event));
    HOLDS(event.ticket != old && event.ticket != 0);
    GIVES(LINEGATE_STALE_EVENT, linegate_authorized(gate, old));
    GIVES(LINEGATE_OK, linegate_authorize(gate, event.ticket, 1));
    old = event.ticket;
    GIVES(LINEGATE_NEED_MORE, feed(gate, "", &event));
    GIVES(LINEGATE_STALE_EVENT, linegate_authorized(gate, old));
    /* Denied stays denied. */
    GIVES(LINEGATE_OK, feed(gate, ping, &event));
    GIVES(LINEGATE_NOT_AUTHORIZED, linegate_authorize(gate, event.ticket, 0));
    GIVES(LINEGATE_NOT_AUTHORIZED, linegate_authorized(gate, event.ticket));
    GIVES(LINEGATE_ALREADY_USED, linegate_authorize(gate, event.ticket, 1));
    GIVES(LINEGATE_NOT_AUTHORIZED, linegate_authorized(gate, event.ticket));
    /* A reset and the end of input void it, and no ticket comes again. */
    old = event.ticket;
    GIVES(LINEGATE_OK, linegate_reset(gate));
    GIVES(LINEGATE_STALE_EVENT, linegate_authorized(gate, old));
    GIVES(LINEGATE_OK, feed(gate, ping, &event));
    HOLDS(event.ticket != old);
    GIVES(LINEGATE_OK, linegate_authorize(gate, event.ticket, 1));
    old = event.ticket;
    GIVES(LINEGATE_OK, linegate_finish(gate, &event));
    GIVES(LINEGATE_STALE_EVENT, linegate_authorized(gate, old));
    /* A refused line has none. */
    GIVES(LINEGATE_OK, linegate_reset(gate));
    GIVES(LINEGATE_DUPLICATE_KEY, feed(gate, twice, &event));
    GIVES(LINEGATE_STALE_EVENT, linegate_authorize(gate, event.ticket, 1));
}

static void values(void) {
    linegate *gate = fresh();
    linegate_event event;
    linegate_iter iter;
    linegate_slice key, value;
    int64_t integer = 5;
    int32_t boolean = 5;
    size_t len;
    char buffer[16];
    GIVES(LINEGATE_OK, feed(gate, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\",\"params\":{\"name\":\"add\",\"arguments\":"
        "{\"n\":-12,\"f\":1.5,\"big\":\"\\u00e9\\n\",\"yes\":true,\"no\":false,\"null\":null,\"list\":[1,[2],\"3\"],\"e\\u0062\":{}}}}\n", &event));
    HOLDS(event.kind == LINEGATE_KIND_REQUEST && says(event.id, "a"));
    HOLDS(linegate_type(ABSENT) == LINEGATE_TYPE_NONE && linegate_type(event.params) == LINEGATE_TYPE_OBJECT);
    linegate_slice arguments = member(event.params, "arguments");
    GIVES(LINEGATE_OK, linegate_integer(member(arguments, "n"), &integer));
    HOLDS(integer == -12);
    GIVES(LINEGATE_NUMBER_RANGE, linegate_integer(member(arguments, "f"), &integer));
    HOLDS(integer == 0);
    GIVES(LINEGATE_OTHER_TYPE, linegate_integer(member(arguments, "yes"), &integer));
    GIVES(LINEGATE_OTHER_TYPE, linegate_integer(ABSENT, &integer));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_integer(member(arguments, "n"), NULL));
    GIVES(LINEGATE_OK, linegate_boolean(member(arguments, "yes"), &boolean));
    HOLDS(boolean == 1);
    GIVES(LINEGATE_OK, linegate_boolean(member(arguments, "no"), &boolean));
    HOLDS(boolean == 0);
    GIVES(LINEGATE_OTHER_TYPE, linegate_boolean(member(arguments, "n"), &boolean));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_boolean(member(arguments, "no"), NULL));
    linegate_slice big = member(arguments, "big");
    GIVES(LINEGATE_OK, linegate_string(big, buffer, 4, &len));
    HOLDS(len == 3 && !memcmp(buffer, "\xc3\xa9\n", 4));
    GIVES(LINEGATE_BUFFER_TOO_SMALL, linegate_string(big, buffer, 3, &len));
    HOLDS(len == 3);
    GIVES(LINEGATE_BUFFER_TOO_SMALL, linegate_string(big, NULL, 0, &len));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_string(big, NULL, 1, &len));
    GIVES(LINEGATE_OTHER_TYPE, linegate_string((linegate_slice){ NULL, 5 }, buffer, sizeof buffer, &len));
    GIVES(LINEGATE_OTHER_TYPE, linegate_string(member(arguments, "n"), buffer, sizeof buffer, &len));
    GIVES(LINEGATE_OTHER_TYPE, linegate_string(ABSENT, buffer, sizeof buffer, &len));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_string(big, buffer, sizeof buffer, NULL));
    GIVES(LINEGATE_ABSENT, linegate_get(arguments, "such", &value));
    HOLDS(value.data == NULL);
    GIVES(LINEGATE_ABSENT, linegate_get(arguments, "\xff", &value));
    GIVES(LINEGATE_OK, linegate_get(arguments, "eb", &value));
    GIVES(LINEGATE_OTHER_TYPE, linegate_get(member(arguments, "n"), "n", &value));
    GIVES(LINEGATE_OTHER_TYPE, linegate_get(ABSENT, "n", &value));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_get(arguments, NULL, &value));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_get(arguments, "n", NULL));
    HOLDS(linegate_type(member(arguments, "f")) == LINEGATE_TYPE_NUMBER);
    HOLDS(linegate_type(member(arguments, "big")) == LINEGATE_TYPE_STRING);
    HOLDS(linegate_type(member(arguments, "yes")) == LINEGATE_TYPE_BOOLEAN);
    HOLDS(linegate_type(member(arguments, "null")) == LINEGATE_TYPE_NULL);
    HOLDS(linegate_type(member(arguments, "list")) == LINEGATE_TYPE_ARRAY);

    GIVES(LINEGATE_OK, linegate_iterate(arguments, &iter));
    unsigned members = 0;
    while (linegate_next(&iter, &key, &value) == LINEGATE_OK) members += linegate_type(key) == LINEGATE_TYPE_STRING;
    HOLDS(members == 8 && key.data == NULL && value.data == NULL);
    GIVES(LINEGATE_ABSENT, linegate_next(&iter, &key, &value));
    GIVES(LINEGATE_OK, linegate_iterate(member(arguments, "list"), &iter));
    GIVES(LINEGATE_OK, linegate_next(&iter, &key, &value));
    HOLDS(key.data == NULL && value.len == 1 && *value.data == '1');
    GIVES(LINEGATE_OK, linegate_next(&iter, NULL, &value));
    HOLDS(linegate_type(value) == LINEGATE_TYPE_ARRAY);
    GIVES(LINEGATE_OK, linegate_next(&iter, NULL, &value));
    GIVES(LINEGATE_ABSENT, linegate_next(&iter, NULL, &value));
    GIVES(LINEGATE_OTHER_TYPE, linegate_iterate(big, &iter));
    GIVES(LINEGATE_ABSENT, linegate_next(&iter, NULL, &value));
    GIVES(LINEGATE_OTHER_TYPE, linegate_iterate(ABSENT, &iter));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_iterate(arguments, NULL));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_next(NULL, NULL, &value));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_next(&iter, NULL, NULL));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_next(&iter, (void *)((char *)&key + 1), &value));
    /* A walk that was never begun is one that is over. */
    memset(&iter, 0, sizeof iter);
    GIVES(LINEGATE_ABSENT, linegate_next(&iter, NULL, &value));
    /* Half of a surrogate pair that a switch let pass is no text. */
    linegate_options options = small();
    options.allow = LINEGATE_SWITCH_LONE_SURROGATES;
    gate = in(storage, &options);
    GIVES(LINEGATE_OK, feed(gate, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\"\\ud800\"}}\n", &event));
    HOLDS(event.loosened == LINEGATE_SWITCH_LONE_SURROGATES);
    GIVES(LINEGATE_LONE_SURROGATE, linegate_string(member(event.params, "x"), buffer, sizeof buffer, &len));
}

static void one_line(void) {
    linegate *gate = fresh();
    linegate_event event = { .size = sizeof event };
    const char half[] = "{\"jsonrpc\"";
    size_t used;
    GIVES(LINEGATE_OK, linegate_check_line(gate, ping, sizeof ping - 2, &event));
    HOLDS(event.sequence == 1 && event.length == sizeof ping - 2);
    GIVES(LINEGATE_DUPLICATE_KEY, linegate_check_line(gate, twice, sizeof twice - 2, &event));
    /* Each by itself: what was refused before has closed nothing. */
    GIVES(LINEGATE_OK, linegate_check_line(gate, ping, sizeof ping - 2, &event));
    HOLDS(event.sequence == 1);
    GIVES(LINEGATE_UNEXPECTED_BYTE, linegate_check_line(gate, "x and more", 10, &event));
    GIVES(LINEGATE_OK, linegate_check_line(gate, ping, sizeof ping - 2, &event));
    GIVES(LINEGATE_TRAILING_BYTES, linegate_check_line(gate, ping, sizeof ping - 1, &event));
    HOLDS(event.offset == sizeof ping - 2);
    GIVES(LINEGATE_FRAME_EMPTY, linegate_check_line(gate, NULL, 0, &event));
    GIVES(LINEGATE_UNEXPECTED_END, linegate_check_line(gate, half, sizeof half - 1, &event));
    /* A line that was begun by a feed is forgotten. */
    GIVES(LINEGATE_OK, linegate_reset(gate));
    GIVES(LINEGATE_NEED_MORE, linegate_feed(gate, half, sizeof half - 1, &used, &event));
    GIVES(LINEGATE_OK, linegate_check_line(gate, ping, sizeof ping - 2, &event));
    char longer[600];
    memset(longer, ' ', sizeof longer);
    longer[0] = '{';
    GIVES(LINEGATE_FRAME_TOO_LONG, linegate_check_line(gate, longer, sizeof longer, &event));
    GIVES(LINEGATE_OK, linegate_check_line(gate, ping, sizeof ping - 2, &event));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_check_line(NULL, ping, 1, &event));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_check_line(gate, NULL, 1, &event));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_check_line(gate, ping, 1, NULL));
    event.size = 0;
    GIVES(LINEGATE_BAD_OPTIONS, linegate_check_line(gate, ping, sizeof ping - 2, &event));
    linegate_options options = small();
    options.allow = LINEGATE_SWITCH_BLANK_LINES;
    gate = in(storage, &options);
    event.size = sizeof event;
    GIVES(LINEGATE_NEED_MORE, linegate_check_line(gate, NULL, 0, &event));
}

static int wrote(const char *out, size_t len, const char *expected) {
    return len == strlen(expected) && !memcmp(out, expected, len);
}

static void writing(void) {
    linegate_options options = small();
    options.direction = LINEGATE_FROM_SERVER, options.policy = LINEGATE_POLICY_CONTINUE;
    options.max_frame = 256;
    linegate *gate = in(storage, &options);
    linegate_event event = { .size = sizeof event };
    char out[512];
    size_t len = 5, used;
#define RESULT(id, result) linegate_write_result(gate, slice(id), result, strlen(result), out, sizeof out, &len)
#define ERROR(id, message, data) \
    linegate_write_error(gate, slice(id), -32603, message, data, strlen(data), out, sizeof out, &len)
#define LINE(line) linegate_write_line(gate, line, strlen(line), out, sizeof out, &len)
    GIVES(LINEGATE_OK, RESULT("7", "{\"a\":[1]}"));
    HOLDS(wrote(out, len, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"a\":[1]}}\n"));
    GIVES(LINEGATE_OK, RESULT("\"x\"", " {} "));
    GIVES(LINEGATE_OK, ERROR("7", "It\t\"broke\"\\\x01", ""));
    HOLDS(wrote(out, len, "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32603,\"message\":\"It\\t\\\"broke\\\"\\\\\\u0001\"}}\n"));
    GIVES(LINEGATE_OK, ERROR("null", "Bad", "{\"x\":1}"));
    HOLDS(wrote(out, len, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32603,\"message\":\"Bad\",\"data\":{\"x\":1}}}\n"));
    GIVES(LINEGATE_OK, linegate_write_error(gate, ABSENT, 0, "Bad", NULL, 0, out, sizeof out, &len));
    HOLDS(wrote(out, len, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":0,\"message\":\"Bad\"}}\n"));
    GIVES(LINEGATE_OK, linegate_write_error(gate, ABSENT, INT32_MIN, "", NULL, 0, out, sizeof out, &len));
    HOLDS(wrote(out, len, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-2147483648,\"message\":\"\"}}\n"));
    GIVES(LINEGATE_OK, LINE("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}"));
    HOLDS(out[len - 1] == '\n');

    /* What isn't one value of its place never goes out. */
    GIVES(LINEGATE_DUPLICATE_KEY, RESULT("7", "{},\"id\":8"));
    HOLDS(len == 0);
    GIVES(LINEGATE_UNKNOWN_MEMBER, RESULT("7", "{},\"more\":8"));
    GIVES(LINEGATE_TRAILING_BYTES, RESULT("7", "{}}\n{\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{}"));
    GIVES(LINEGATE_TRAILING_BYTES, RESULT("7", "{}}{"));
    GIVES(LINEGATE_UNEXPECTED_BYTE, RESULT("7", ""));
    GIVES(LINEGATE_UNEXPECTED_BYTE, RESULT("7", "hello"));
    GIVES(LINEGATE_RESULT_TYPE, RESULT("7", "[]"));
    GIVES(LINEGATE_ID_TYPE, RESULT("1.5", "{}"));
    GIVES(LINEGATE_ID_MISSING, RESULT("", "{}"));
    GIVES(LINEGATE_UNEXPECTED_BYTE, RESULT("7,", "{}"));
    GIVES(LINEGATE_DUPLICATE_KEY, RESULT("7,\"result\":{}", "{}"));
    GIVES(LINEGATE_INVALID_UTF8, ERROR("7", "\xff", ""));
    GIVES(LINEGATE_MIXED_SHAPE, ERROR("7,\"result\":{}", "Bad", ""));
    GIVES(LINEGATE_UNEXPECTED_BYTE, LINE("a print"));
    HOLDS(len == 0);
    GIVES(LINEGATE_FRAME_EMPTY, LINE(""));
    GIVES(LINEGATE_TRAILING_BYTES, LINE("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"));
    char longer[400];
    memset(longer, ' ', sizeof longer);
    longer[0] = '{', longer[399] = '}';
    GIVES(LINEGATE_FRAME_TOO_LONG, linegate_write_result(gate, slice("7"), longer, sizeof longer, out, sizeof out, &len));
    HOLDS(len == 0);
    GIVES(LINEGATE_OK, RESULT("7", "{}"));
    /* Members that a switch lets pass are still none of the result's. */
    options.allow = LINEGATE_SWITCH_UNKNOWN_MEMBERS;
    gate = in(storage, &options);
    GIVES(LINEGATE_TRAILING_BYTES, RESULT("7", "{},\"more\":8"));
    GIVES(LINEGATE_TRAILING_BYTES, RESULT("7,\"more\":8", "{}"));
    GIVES(LINEGATE_TRAILING_BYTES, ERROR("7", "Bad", "1,\"more\":2"));
    HOLDS(len == 0);
    GIVES(LINEGATE_OK, RESULT("7", "{}"));

    GIVES(LINEGATE_BUFFER_TOO_SMALL, linegate_write_result(gate, slice("7"), "{}", 2, NULL, 0, &len));
    HOLDS(len == strlen("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n"));
    GIVES(LINEGATE_BUFFER_TOO_SMALL, linegate_write_result(gate, slice("7"), "{}", 2, out, len - 1, &len));
    GIVES(LINEGATE_OK, linegate_write_result(gate, slice("7"), "{}", 2, out, len, &len));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_write_result(NULL, slice("7"), "{}", 2, out, sizeof out, &len));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_write_result(gate, slice("7"), NULL, 2, out, sizeof out, &len));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_write_result(gate, slice("7"), "{}", 2, out, sizeof out, NULL));
    GIVES(LINEGATE_BUFFER_TOO_SMALL, linegate_write_error(gate, slice("7"), 1, "", NULL, 0, out, 8, &len));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_write_error(NULL, slice("7"), 1, "", NULL, 0, out, sizeof out, &len));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_write_error(gate, slice("7"), 1, NULL, NULL, 0, out, sizeof out, &len));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_write_error(gate, slice("7"), 1, "", NULL, 1, out, sizeof out, &len));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_write_error(gate, slice("7"), 1, "", NULL, 0, out, sizeof out, NULL));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_write_line(NULL, "{}", 2, out, sizeof out, &len));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_write_line(gate, NULL, 2, out, sizeof out, &len));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_write_line(gate, "{}", 2, out, sizeof out, NULL));
    GIVES(LINEGATE_BUFFER_TOO_SMALL, linegate_write_line(gate, "{}", 2, NULL, 0, &len));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_write_line(gate, "{}", 2, NULL, sizeof out, &len));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_write_result(gate, slice("7"), "{}", 2, NULL, 1, &len));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_write_error(gate, slice("7"), 1, "", NULL, 0, NULL, 1, &len));
    HOLDS(len == 0);
    GIVES(LINEGATE_FRAME_EMPTY, linegate_write_line(gate, NULL, 0, out, sizeof out, &len));

    /* In an order that makes no sense. */
    GIVES(LINEGATE_NEED_MORE, linegate_feed(gate, "{", 1, &used, &event));
    GIVES(LINEGATE_STALE_EVENT, RESULT("7", "{}"));
    HOLDS(len == 0);
    GIVES(LINEGATE_TRUNCATED, linegate_finish(gate, &event));
    GIVES(LINEGATE_CLOSED, RESULT("7", "{}"));
    GIVES(LINEGATE_OK, linegate_reset(gate));
    GIVES(LINEGATE_OK, RESULT("7", "{}"));
    /* Under a policy that closes, a line that could not go out is the last. */
    options.policy = LINEGATE_POLICY_CLOSE_ALL;
    gate = in(storage, &options);
    GIVES(LINEGATE_UNEXPECTED_BYTE, LINE("a print"));
    GIVES(LINEGATE_CLOSED, RESULT("7", "{}"));
}

/* Whatever a writer comes to, but 901, the event before it is over, and its ticket with it. */
static void written_over(void) {
    static const struct { const char *message; size_t cap; linegate_status status; int over; } tried[] = {
        { "Bad", 512, LINEGATE_OK, 1 },
        { "Bad", 8, LINEGATE_BUFFER_TOO_SMALL, 1 },
        { "\xff", 512, LINEGATE_INVALID_UTF8, 1 },
        { NULL, 512, LINEGATE_NULL_ARGUMENT, 0 },
    };
    char out[512];
    size_t len;
    for (size_t at = 0; at < sizeof tried / sizeof *tried; at++) {
        linegate *gate = fresh();
        linegate_event event = { .size = sizeof event };
        GIVES(LINEGATE_OK, feed(gate, ping, &event));
        linegate_status status =
            linegate_write_error(gate, slice("7"), 1, tried[at].message, NULL, 0, out, tried[at].cap, &len);
        HOLDS((status == tried[at].status) || tried[at].status == LINEGATE_OK);
        GIVES(tried[at].over ? LINEGATE_STALE_EVENT : LINEGATE_OK, linegate_authorize(gate, event.ticket, 1));
    }
}

/* A writer's gate that is closed says so, whatever it was fed before or since. */
static void closed_writer(void) {
    static const char *const fed[] = { "", "x", "x\n", "{\"jsonrpc\"" };
    linegate_event event;
    char out[64];
    size_t len;
    for (size_t at = 0; at < sizeof fed / sizeof *fed; at++) {
        linegate *gate = fresh();
        event = (linegate_event){ .size = sizeof event };
        GIVES(LINEGATE_OK, linegate_finish(gate, &event));
        GIVES(fed[at][0] ? LINEGATE_CLOSED : LINEGATE_NEED_MORE, feed(gate, fed[at], &event));
        GIVES(LINEGATE_CLOSED, linegate_write_line(gate, ping, sizeof ping - 2, out, sizeof out, &len));
    }
    linegate *gate = fresh();
    GIVES(LINEGATE_NEED_MORE, feed(gate, "{\"jsonrpc\"", &event));
    GIVES(LINEGATE_STALE_EVENT, linegate_write_line(gate, ping, sizeof ping - 2, out, sizeof out, &len));
    /* Closed by a line that was refused before its end. */
    GIVES(LINEGATE_UNEXPECTED_BYTE, feed(fresh(), "x", &event));
    HOLDS(event.closes == 1);
    GIVES(LINEGATE_CLOSED, linegate_write_line(gate = (linegate *)storage, ping, sizeof ping - 2, out, sizeof out, &len));
}

static void sessions(void) {
    linegate_options options = small();
    options.revision = LINEGATE_REVISION_2025_11_25;
    options.policy = LINEGATE_POLICY_CONTINUE;
    linegate *client = in(storage, &options);
    options.direction = LINEGATE_FROM_SERVER;
    linegate *server = in(second, &options);
    linegate_tracker *tracker = (linegate_tracker *)third;
    linegate_event event;
    size_t size = linegate_tracker_size(2), waiting, asked, len;
    uint64_t late;
    char out[LINEGATE_REPLY_LEN];
    HOLDS(linegate_tracker_size(0) == 0 && linegate_tracker_size(SIZE_MAX) == 0 && linegate_tracker_size(SIZE_MAX / 64) == 0);
    HOLDS(size > 0 && size < 1024);
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_tracker_init(NULL, size, 2, client, server, &tracker));
    HOLDS(tracker == NULL);
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_tracker_init(third + 1, size, 2, client, server, &tracker));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_tracker_init(third, size, 2, NULL, server, &tracker));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_tracker_init(third, size, 2, client, NULL, &tracker));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_tracker_init(third, size, 2, client, server, NULL));
    GIVES(LINEGATE_BUFFER_TOO_SMALL, linegate_tracker_init(third, size - 1, 2, client, server, &tracker));
    GIVES(LINEGATE_BUFFER_TOO_SMALL, linegate_tracker_init(third, 0, 2, client, server, &tracker));
    GIVES(LINEGATE_BAD_OPTIONS, linegate_tracker_init(third, sizeof third, 0, client, server, &tracker));
    GIVES(LINEGATE_BAD_OPTIONS, linegate_tracker_init(third, size, 2, server, client, &tracker));
    GIVES(LINEGATE_BAD_OPTIONS, linegate_tracker_init(third, size, 2, client, client, &tracker));
    /* Until there is one, nothing is tracked. */
    GIVES(LINEGATE_OK, feed(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n", &event));
    GIVES(LINEGATE_OK, linegate_tracker_init(third, size, 2, client, server, &tracker));
    HOLDS(tracker != NULL);
    GIVES(LINEGATE_NOT_INITIALIZED, feed(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n", &event));
    GIVES(LINEGATE_OK, feed(client, ping, &event));
    GIVES(LINEGATE_ID_IN_USE, feed(client, ping, &event));
    GIVES(LINEGATE_OK, linegate_tracker_count(tracker, &waiting, &asked, &late));
    HOLDS(waiting == 1 && asked == 0 && late == 0);
    /* The session that there is isn't wiped, not even from its own place. */
    linegate_tracker *again = tracker;
    static _Alignas(16) unsigned char fourth[1024];
    GIVES(LINEGATE_STALE_EVENT, linegate_tracker_init(third, size, 2, client, server, &again));
    HOLDS(again == NULL);
    GIVES(LINEGATE_STALE_EVENT, linegate_tracker_init(fourth, size, 2, client, server, &again));
    options.direction = LINEGATE_FROM_CLIENT;
    linegate *alone = in(lonely, &options);
    GIVES(LINEGATE_STALE_EVENT, linegate_tracker_init(fourth, size, 2, alone, server, &again));
    options.direction = LINEGATE_FROM_SERVER;
    alone = in(lonely, &options);
    GIVES(LINEGATE_STALE_EVENT, linegate_tracker_init(fourth, size, 2, client, alone, &again));
    GIVES(LINEGATE_ID_IN_USE, feed(client, ping, &event));
    GIVES(LINEGATE_OK, linegate_tracker_count(tracker, &waiting, &asked, &late));
    HOLDS(waiting == 1);
    /* The writer is in the session too. */
    GIVES(LINEGATE_UNKNOWN_RESPONSE, linegate_write_result(server, slice("8"), "{}", 2, out, sizeof out, &len));
    GIVES(LINEGATE_OK, linegate_write_result(server, slice("7"), "{}", 2, out, sizeof out, &len));
    GIVES(LINEGATE_ANSWERED_TWICE, linegate_write_result(server, slice("7"), "{}", 2, out, sizeof out, &len));
    /* A refused response leaves its request to be settled. */
    GIVES(LINEGATE_OK, feed(client, "{\"jsonrpc\":\"2.0\",\"id\":10,\"method\":\"ping\"}\n", &event));
    GIVES(LINEGATE_RESULT_TYPE, feed(server, "{\"jsonrpc\":\"2.0\",\"id\":10,\"result\":[]}\n", &event));
    GIVES(LINEGATE_BUFFER_TOO_SMALL, linegate_settlement(server, NULL, 0, &len));
    GIVES(LINEGATE_OK, linegate_settlement(server, out, sizeof out, &len));
    HOLDS(len > 0 && !memcmp(out, "{\"jsonrpc\":\"2.0\",\"id\":10,\"error\":{\"code\":-32603,", 48));
    GIVES(LINEGATE_OK, linegate_tracker_count(tracker, &waiting, &asked, &late));
    HOLDS(waiting == 0);
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_tracker_count(NULL, &waiting, &asked, &late));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_tracker_count(tracker, NULL, &asked, &late));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_tracker_count(tracker, &waiting, NULL, &late));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_tracker_count(tracker, &waiting, &asked, NULL));
    GIVES(LINEGATE_OK, feed(client, ping, &event));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_tracker_reset(NULL));
    GIVES(LINEGATE_OK, linegate_tracker_reset(tracker));
    GIVES(LINEGATE_OK, linegate_reset(client));
    GIVES(LINEGATE_OK, linegate_reset(server));
    GIVES(LINEGATE_OK, feed(client, ping, &event));
    /* A line alone isn't asked for its session. */
    GIVES(LINEGATE_OK, linegate_check_line(client, ping, sizeof ping - 2, &event));
    /* Gates that are made anew are in none, and a tracker may lie where one lay. */
    server = in(second, &options);
    options.direction = LINEGATE_FROM_CLIENT;
    client = in(storage, &options);
    GIVES(LINEGATE_OK, linegate_tracker_init(third, size, 2, client, server, &tracker));
    GIVES(LINEGATE_OK, linegate_tracker_count(tracker, &waiting, &asked, &late));
    HOLDS(waiting == 0);
    options.direction = LINEGATE_FROM_SERVER;
    /* Plain JSON-RPC has no session. */
    options.revision = LINEGATE_REVISION_JSONRPC;
    server = in(second, &options);
    options.direction = LINEGATE_FROM_CLIENT;
    client = in(storage, &options);
    GIVES(LINEGATE_BAD_OPTIONS, linegate_tracker_init(third, size, 2, client, server, &tracker));
    HOLDS(tracker == NULL);
}

/* Slices of more bytes than there can be, by their own length and on their way through a walk. */
static void endless(void) {
    static const size_t lens[] = { (size_t)PTRDIFF_MAX + 1, SIZE_MAX };
    static const char text[] = "{\"a\":1}";
    char out[64];
    for (size_t at = 0; at < 2; at++) {
        linegate_slice endless = { text, lens[at] }, absent = { NULL, lens[at] }, found = endless;
        linegate_iter iter = { endless, LINEGATE_TYPE_OBJECT };
        linegate_event event;
        size_t len = 9;
        int64_t integer = 9;
        int32_t boolean = 9;
        HOLDS(linegate_type(endless) == LINEGATE_TYPE_NONE && linegate_type(absent) == LINEGATE_TYPE_NONE);
        GIVES(LINEGATE_NULL_ARGUMENT, linegate_get(endless, "a", &found));
        HOLDS(found.data == NULL);
        GIVES(LINEGATE_OTHER_TYPE, linegate_get(absent, "a", &found));
        GIVES(LINEGATE_NULL_ARGUMENT, linegate_next(&iter, NULL, &found));
        GIVES(LINEGATE_NULL_ARGUMENT, linegate_iterate(endless, &iter));
        HOLDS(iter.rest.data == NULL);
        GIVES(LINEGATE_ABSENT, linegate_next(&iter, NULL, &found));
        GIVES(LINEGATE_NULL_ARGUMENT, linegate_string(endless, out, sizeof out, &len));
        HOLDS(len == 0);
        GIVES(LINEGATE_NULL_ARGUMENT, linegate_integer(endless, &integer));
        HOLDS(integer == 0);
        GIVES(LINEGATE_NULL_ARGUMENT, linegate_boolean(endless, &boolean));
        HOLDS(boolean == 0);
        linegate *gate = fresh();
        GIVES(LINEGATE_NULL_ARGUMENT, linegate_write_result(gate, endless, "{}", 2, out, sizeof out, &len));
        GIVES(LINEGATE_NULL_ARGUMENT, linegate_write_error(gate, endless, 1, "m", NULL, 0, out, sizeof out, &len));
        GIVES(LINEGATE_OK, feed(gate, ping, &event));
        GIVES(LINEGATE_NULL_ARGUMENT, linegate_refuse(gate, event.ticket, LINEGATE_ARGUMENTS_SCHEMA, 0, endless));
        GIVES(LINEGATE_ARGUMENTS_SCHEMA, linegate_refuse(gate, event.ticket, LINEGATE_ARGUMENTS_SCHEMA, 0, absent));
    }
}

static void statuses(void) {
    HOLDS(!strcmp(linegate_status_name(0), "ok") && !strcmp(linegate_status_name(209), "duplicate_key"));
    HOLDS(!strcmp(linegate_status_name(INT_MIN), "unknown") && !strcmp(linegate_status_name(100), "unknown"));
    for (linegate_status status = -3; status < 1100; status++) {
        if (!linegate_status_name(status)[0] || !linegate_status_message(status)[0]) HOLDS(!"an empty name or message");
    }
    char version[64];
    snprintf(version, sizeof version, "%d.%d.%d", LINEGATE_VERSION_MAJOR, LINEGATE_VERSION_MINOR, LINEGATE_VERSION_PATCH);
    HOLDS(!strcmp(version, linegate_version()));
}

#ifdef HOSTED
static void heap(void) {
    linegate_options options = { .size = sizeof options }, bad = { .size = sizeof bad, .direction = 9 };
    linegate *gate = (linegate *)storage;
    linegate_event event;
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_new(NULL, &gate));
    HOLDS(gate == NULL);
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_new(&options, NULL));
    GIVES(LINEGATE_BAD_OPTIONS, linegate_new(&bad, &gate));
    const char *quote[] = { "\"" };
    bad = options;
    bad.versions = quote, bad.versions_len = 1;
    GIVES(LINEGATE_BAD_OPTIONS, linegate_new(&bad, &gate));
    HOLDS(gate == NULL);
    GIVES(LINEGATE_OK, linegate_free(NULL));
    GIVES(LINEGATE_STALE_EVENT, linegate_free(fresh()));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_free((linegate *)(storage + 1)));

    /* A long line in small pieces, whose storage grows under it. */
    const char *list[] = { "vendor/own" };
    options.methods = list, options.methods_len = 1;
    GIVES(LINEGATE_OK, linegate_new(&options, &gate));
    const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"vendor/own\",\"params\":{\"x\":\"";
    feed(gate, head, &event);
    int needed = 0;
    for (int piece = 0; piece < 100000; piece++) needed += feed(gate, "0123456789", &event) == LINEGATE_NEED_MORE;
    HOLDS(needed == 100000);
    GIVES(LINEGATE_OK, feed(gate, "\"}}\n", &event));
    HOLDS(event.line.len == sizeof head - 1 + 1000000 + 3 && member(event.params, "x").len == 1000002);
    GIVES(LINEGATE_OK, linegate_free(gate));

    /* A key of zeros is none: two gates of one process then have different ones. */
    linegate_record one = { .size = sizeof one }, two = { .size = sizeof two };
    GIVES(LINEGATE_OK, linegate_new(&options, &gate));
    feed(gate, twice, &event);
    GIVES(LINEGATE_OK, linegate_audit(gate, &one));
    GIVES(LINEGATE_OK, linegate_free(gate));
    GIVES(LINEGATE_OK, linegate_new(&options, &gate));
    feed(gate, twice, &event);
    GIVES(LINEGATE_OK, linegate_audit(gate, &two));
    GIVES(LINEGATE_OK, linegate_free(gate));
    HOLDS(memcmp(one.fingerprint, two.fingerprint, 16) != 0);
}
#endif

int main(void) {
    options_and_storage();
    names_are_copied();
    feeding();
    lines_behind_blank_ones();
    refusals();
    tickets();
    values();
    one_line();
    writing();
    written_over();
    closed_writer();
    sessions();
    endless();
    statuses();
#ifdef HOSTED
    heap();
#endif
    return told("misuse");
}
