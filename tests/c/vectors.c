/* Every vector through the C face: vectors HOW LONGEST FILE...

   HOW is `whole` or `bytes` (one byte a feed); streams longer than LONGEST bytes are left out. The files are those of
   tests/vectors, read with the library itself: see tests/vectors/README.md for their format. */
#include "vector.h"

static int by_bytes;
static size_t longest;
static linegate *replies;

/* What a vector expects, as a walk through its lists. */
struct expected {
    linegate_iter events, reply_ids, reply_data;
    int has_ids, has_data;
    unsigned accepted, refused;
};

static void check_accept(const linegate_event *event, linegate_slice want) {
    static const char *const kinds[] = { "", "request", "notification", "result", "error", "batch" };
    linegate_slice id = event->id;
    if (event->kind == LINEGATE_KIND_ERROR && !id.data) id = member(event->line, "id");
    if (event->kind < 1 || event->kind > 5 || !says(member(want, "accept"), kinds[event->kind])) differs("kind");
    if (!is_bytes(member(want, "method"), event->method)) differs("method");
    if (!is_bytes(member(want, "id"), id)) differs("id");
    if (event->ticket == 0) differs("an accepted line has no ticket");
}

/* The reply of a refusal: a line that a client takes, with the id and the data that are asked for. */
static void check_reply(const linegate *gate, const linegate_event *event, struct expected *expected) {
    size_t cap = LINEGATE_REPLY_LEN + event->id.len, len = 0, needed = 0;
    linegate_slice want;
    linegate_event seen = { .size = sizeof seen };
    char *reply = malloc(cap);
    if (linegate_reply(gate, reply, cap, &len) != LINEGATE_OK) differs("no reply");
    if (!event->reply_due) {
        if (len != 0) differs("a reply that isn't due");
        free(reply);
        return;
    }
    if (linegate_reply(gate, NULL, 0, &needed) != LINEGATE_BUFFER_TOO_SMALL || needed != len) differs("needed length");
    char *tight = malloc(len - 1);
    if (linegate_reply(gate, tight, len - 1, &needed) != LINEGATE_BUFFER_TOO_SMALL) differs("a short buffer");
    free(tight);
    if (len == 0 || reply[len - 1] != '\n' || linegate_check_line(replies, reply, len - 1, &seen) != LINEGATE_OK) {
        differs("the reply is no message");
        free(reply);
        return;
    }
    linegate_slice id = member(seen.line, "id");
    if (event->id.data && (id.len != event->id.len || memcmp(id.data, event->id.data, id.len))) differs("echoed id");
    if (number(member(seen.error, "code")) != event->rpc_code) differs("code of the reply");
    if (!says(member(seen.error, "message"), linegate_status_message(event->status))) differs("message of the reply");
    if (expected->has_ids) {
        if (linegate_next(&expected->reply_ids, NULL, &want) != LINEGATE_OK) differs("more replies than expected");
        if (id.data ? !is_bytes(want, id) : !says(want, "absent")) differs("id of the reply");
    }
    if (expected->has_data) {
        linegate_slice data = member(seen.error, "data");
        linegate_next(&expected->reply_data, NULL, &want);
        if (linegate_type(want) == LINEGATE_TYPE_NULL ? data.data != NULL : !equal(want, data)) differs("data of the reply");
    }
    free(reply);
}

static int is_early(const linegate_event *event) {
    switch (event->status) {
    case LINEGATE_FRAME_TOO_LONG:
    case LINEGATE_BOM: return 1;
    case LINEGATE_NUL_BYTE:
    case LINEGATE_BARE_CR:
    case LINEGATE_UNEXPECTED_BYTE: return event->offset == 0;
    default: return 0;
    }
}

static void check_refusal(const linegate_event *event, linegate_slice want, size_t length) {
    linegate_slice rpc_code = member(want, "rpc_code"), reply = member(want, "reply");
    int due = linegate_type(rpc_code) == LINEGATE_TYPE_NUMBER, said = 1;
    if (linegate_boolean(reply, &said) != LINEGATE_OK) said = 1;
    if (number_or(want, "refuse", 0) != event->status) differs("code");
    if (number(member(want, "at")) != (int64_t)event->offset) differs("offset");
    if (number_or(want, "length", (int64_t)length) != (int64_t)length) differs("length");
    if (event->length > length || (!is_early(event) && event->length != length)) differs("the event's length");
    if (event->rpc_code != (due ? number(rpc_code) : 0)) differs("rpc_code");
    if (event->reply_due != (uint32_t)(due && said)) differs("reply");
    if (due && !is_bytes(member(want, "id"), event->id)) differs("id of a refusal");
    if (event->ticket != 0) differs("a refused line has a ticket");
}

static void check_counters(const linegate *gate, linegate_slice row, const struct expected *expected) {
    linegate_counters c = { .size = sizeof c };
    linegate_slice want = member(row, "counters");
    linegate_get_counters(gate, &c);
    if (c.accepted != expected->accepted || c.refused != expected->refused) differs("counters");
    if (c.refused != c.refused_frame + c.refused_json + c.refused_rpc + c.refused_mcp + c.refused_session + c.refused_action) differs("stages");
    if (number_or(want, "accepted", (int64_t)c.accepted) != (int64_t)c.accepted
        || number_or(want, "refused", (int64_t)c.refused) != (int64_t)c.refused
        || number_or(want, "blank_lines", (int64_t)c.blank_lines) != (int64_t)c.blank_lines
        || number_or(want, "stripped_crs", (int64_t)c.stripped_crs) != (int64_t)c.stripped_crs
        || number_or(want, "replies", (int64_t)c.replies) != (int64_t)c.replies) {
        differs("counters of the vector");
    }
}

/* Where the line begins that holds the byte before `at`. */
static size_t start_of(const struct bytes *stream, size_t at) {
    while (at > 0 && stream->data[at - 1] != '\n') at--;
    return at;
}

static size_t length_from(const struct bytes *stream, size_t start) {
    const char *end = memchr(stream->data + start, '\n', stream->len - start);
    return end ? (size_t)(end - stream->data) - start : stream->len - start;
}

static void check_vector(linegate_slice row) {
    struct setup setup;
    struct expected expected = { .has_ids = member(row, "reply_ids").data != NULL,
        .has_data = member(row, "reply_data").data != NULL };
    struct bytes stream = stream_of(row);
    void *storage;
    size_t size, fed = 0, closed_at = 0;
    int over = 0, told_closed = 0;
    linegate_slice want;
    if (stream.len > longest) {
        free(stream.data);
        return;
    }
    run++;
    take_options(member(row, "options"), &setup);
    linegate *gate = take_gate(&setup, &storage, &size);
    linegate_iterate(member(row, "events"), &expected.events);
    linegate_iterate(member(row, "reply_ids"), &expected.reply_ids);
    linegate_iterate(member(row, "reply_data"), &expected.reply_data);
    while (fed < stream.len) {
        linegate_event event = { .size = sizeof event };
        size_t used = 0, piece = by_bytes ? 1 : stream.len - fed;
        /* A copy of exactly these bytes: nothing beyond them may be read, and no slice may lead into them. */
        char *input = malloc(piece);
        memcpy(input, stream.data + fed, piece);
        linegate_status status = linegate_feed(gate, input, piece, &used, &event);
        free(input);
        if (status != event.status) differs("the event has another status");
        fed += used;
        check_slices(&event, storage, size);
        if (status == LINEGATE_NEED_MORE) continue;
        if (status == LINEGATE_CLOSED) {
            over = 1;
            if (closed_at >= stream.len || told_closed) continue;
            told_closed = 1;
        }
        if (linegate_next(&expected.events, NULL, &want) != LINEGATE_OK) {
            differs("an event too many");
            break;
        }
        if (status == LINEGATE_CLOSED) {
            if (!member(want, "closed").data) differs("closed too early");
        } else if (status == LINEGATE_OK) {
            expected.accepted++;
            check_accept(&event, want);
        } else {
            size_t start = start_of(&stream, is_early(&event) ? fed : fed - 1), length = length_from(&stream, start);
            expected.refused++;
            if (event.closes) over = 1, closed_at = start + length + 1;
            check_refusal(&event, want, length);
            check_audit(gate, &event);
            check_reply(gate, &event, &expected);
        }
    }
    linegate_event event = { .size = sizeof event };
    linegate_status status = linegate_finish(gate, &event);
    if (over != (status == LINEGATE_CLOSED)) differs("closed at the end");
    if (status >= 100 && status != LINEGATE_CLOSED) {
        size_t start = start_of(&stream, stream.len);
        expected.refused++;
        if (linegate_next(&expected.events, NULL, &want) != LINEGATE_OK) differs("cut off at the end");
        else check_refusal(&event, want, stream.len - start);
        check_slices(&event, storage, size);
        check_audit(gate, &event);
    }
    if (linegate_next(&expected.events, NULL, &want) != LINEGATE_ABSENT) differs("an event is missing");
    if (expected.has_ids && linegate_next(&expected.reply_ids, NULL, &want) != LINEGATE_ABSENT) differs("a reply is missing");
    check_counters(gate, row, &expected);
    free(storage);
    free(stream.data);
}

/* What a tracked reply says of its id. */
static void check_step_reply(const linegate *gate, const linegate_event *event, linegate_slice want) {
    struct expected none = { .has_ids = 0 };
    linegate_slice reply_id = member(want, "reply_id");
    check_reply(gate, event, &none);
    if (event->reply_due && reply_id.data) {
        char reply[LINEGATE_REPLY_LEN];
        size_t len;
        linegate_reply(gate, reply, sizeof reply, &len);
        int has_null = len > 36 && !memcmp(reply, "{\"jsonrpc\":\"2.0\",\"id\":null,", 27);
        if (!says(reply_id, has_null ? "null" : "absent")) differs("reply_id");
    }
}

static void check_transcript(linegate_slice row) {
    struct setup setup;
    linegate_slice options = member(row, "options"), step;
    linegate_iter steps;
    linegate *gates[2];
    void *storages[2], *memory = NULL;
    size_t sizes[2], in_flight = (size_t)number_or(options, "max_ids", 1024);
    linegate_tracker *tracker = NULL;
    int32_t tracked = 0;
    run++;
    for (uint32_t from = 0; from < 2; from++) {
        take_options(options, &setup);
        setup.options.direction = from;
        gates[from] = take_gate(&setup, &storages[from], &sizes[from]);
    }
    linegate_boolean(member(options, "track"), &tracked);
    /* Plain JSON-RPC has nothing to track. */
    tracked = tracked && !says(member(options, "revision"), "jsonrpc");
    if (tracked) {
        size_t size = linegate_tracker_size(in_flight);
        memory = malloc(size);
        if (linegate_tracker_init(memory, size, in_flight, gates[0], gates[1], &tracker) != LINEGATE_OK) broken("a tracker");
    }
    linegate_iterate(member(row, "steps"), &steps);
    while (linegate_next(&steps, NULL, &step) == LINEGATE_OK) {
        int from = says(member(step, "from"), "server");
        linegate_slice want = member(step, "event");
        linegate_event event = { .size = sizeof event };
        linegate_status status = LINEGATE_NEED_MORE;
        struct bytes line = { NULL, 0 };
        line.data = text(member(step, "line"), &line.len);
        add(&line, "\n", 1, 1);
        size_t at = 0, used = 0;
        for (; at < line.len && status == LINEGATE_NEED_MORE; at += used) {
            status = linegate_feed(gates[from], line.data + at, by_bytes ? 1 : line.len - at, &used, &event);
        }
        check_slices(&event, storages[from], sizes[from]);
        if (status == LINEGATE_CLOSED) {
            if (!member(want, "closed").data) differs("closed too early");
        } else if (status == LINEGATE_OK) {
            check_accept(&event, want);
        } else {
            if (number_or(want, "refuse", 0) != status) differs("code");
            if (number_or(want, "at", -1) != (int64_t)event.offset) differs("offset");
            if (event.reply_due && !member(want, "reply_id").data && !is_bytes(member(want, "id"), event.id)) differs("id");
            check_audit(gates[from], &event);
            check_step_reply(gates[from], &event, want);
        }
        /* What is left of a line that was refused before its end. */
        for (; at < line.len; at += used) {
            linegate_event rest = { .size = sizeof rest };
            status = linegate_feed(gates[from], line.data + at, line.len - at, &used, &rest);
            if (status != LINEGATE_NEED_MORE && status != LINEGATE_CLOSED) differs("a line's rest");
        }
        free(line.data);
    }
    if (tracked) {
        size_t client, server;
        uint64_t late;
        linegate_tracker_count(tracker, &client, &server, &late);
        if ((int64_t)late != number_or(row, "late_responses", 0)) differs("late responses");
        if (client > in_flight || server > in_flight) differs("more in flight than there is room for");
    }
    free(storages[0]);
    free(storages[1]);
    free(memory);
}

static void check_row(linegate_slice row) {
    if (member(row, "steps").data) check_transcript(row);
    else check_vector(row);
}

int main(int argc, char **argv) {
    void *storage;
    if (argc < 4) broken("usage: vectors whole|bytes LONGEST FILE...");
    by_bytes = !strcmp(argv[1], "bytes");
    how_fed = argv[1];
    longest = strtoul(argv[2], NULL, 10);
    replies = reader(&storage, 1 << 16);
    for (int at = 3; at < argc; at++) for_rows(argv[at], check_row);
    free(storage);
    printf("%u vectors, %u differ\n", run, differing);
    return run == 0 || differing > 0;
}
