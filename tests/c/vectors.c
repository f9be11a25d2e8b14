/* Every vector through the C face: vectors HOW LONGEST FILE...

   HOW is `whole` or `bytes` (one byte a feed); streams longer than LONGEST bytes are left out. The files are those of
   tests/vectors, read with the library itself: see tests/vectors/README.md for their format. */
#include "json.h"

enum { FILE_MAX = 16 << 20, NAMES_MAX = 32 };

static unsigned run, differing;
static int by_bytes;
static const char *name_of_vector;

static void differs(const char *what) {
    fprintf(stderr, "%s (%s): %s\n", name_of_vector, by_bytes ? "byte by byte" : "whole", what);
    differing++;
}

/* A gate in storage of exactly the size that it asks for; the storage comes back in *storage. */
static linegate *gate_of(const linegate_options *options, void **storage, size_t *size) {
    linegate *gate = NULL;
    *size = linegate_storage_size(options);
    *storage = malloc(*size ? *size : 1);
    linegate_status status = linegate_init(*storage, *size, options, &gate);
    if (status != LINEGATE_OK) {
        fprintf(stderr, "%d %s\n", (int)status, linegate_status_name(status));
        broken("a gate that could not be made");
    }
    return gate;
}

/* A gate that reads rows and replies: everything that is JSON passes. */
static linegate *reader(void **storage, uint32_t max_frame) {
    size_t size;
    linegate_options options = { .size = sizeof options, .direction = LINEGATE_FROM_SERVER,
        .profile = LINEGATE_PROFILE_RFC8259, .revision = LINEGATE_REVISION_JSONRPC, .max_depth = 512,
        .max_frame = max_frame, .max_id = 4096, .policy = LINEGATE_POLICY_CONTINUE };
    return gate_of(&options, storage, &size);
}

struct names {
    char *list[NAMES_MAX];
    size_t len;
};

static void take_names(linegate_slice array, struct names *names) {
    linegate_iter iter;
    linegate_slice value;
    names->len = 0;
    linegate_iterate(array, &iter);
    while (linegate_next(&iter, NULL, &value) == LINEGATE_OK) {
        if (names->len == NAMES_MAX) broken("more names than there is room for");
        names->list[names->len++] = text(value, NULL);
    }
}

static void drop_names(struct names *names) {
    while (names->len > 0) free(names->list[--names->len]);
}

/* The place of a word among words; a word that isn't there breaks the test. */
static uint32_t place(linegate_slice word, const char *const *words, uint32_t otherwise) {
    if (!word.data) return otherwise;
    for (uint32_t at = 0; words[at]; at++) {
        if (says(word, words[at])) return at;
    }
    broken("an unknown word in the options");
    return 0;
}

static uint32_t switches(linegate_slice array) {
    static const char *const words[] = { "blank_lines", "surrounding_space", "separators", "lone_surrogates", "long_keys",
        "case_collisions", "escaped_nul", "escaped_nul_in_keys", "big_integers", "number_range", "inexact_decimals",
        "forbidden_keys", "unknown_members", "max_depth", NULL };
    uint32_t bits = 0;
    linegate_iter iter;
    linegate_slice value;
    linegate_iterate(array, &iter);
    while (linegate_next(&iter, NULL, &value) == LINEGATE_OK) bits |= 1u << place(value, words, 0);
    return bits;
}

struct setup {
    linegate_options options;
    struct names methods, result_types, versions;
};

static void take_options(linegate_slice row, struct setup *setup) {
    static const char *const from[] = { "client", "server", NULL };
    static const char *const profiles[] = { "", "strict", "data", "rfc8259", NULL };
    static const char *const revisions[] = { "auto", "jsonrpc", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25",
        "2026-07-28", NULL };
    static const char *const policies[] = { "close_malformed", "close_all", "continue", NULL };
    static const char *const batches[] = { "by_revision", "allow", "refuse", NULL };
    static const char *const error_ids[] = { "by_revision", "null", "absent", NULL };
    int64_t max_replies = number_or(row, "max_replies", -1);
    take_names(member(row, "allow_methods"), &setup->methods);
    take_names(member(row, "allow_result_types"), &setup->result_types);
    take_names(member(row, "revisions"), &setup->versions);
    setup->options = (linegate_options){ .size = sizeof setup->options,
        .direction = place(member(row, "from"), from, 0), .profile = place(member(row, "profile"), profiles, 0),
        .revision = place(member(row, "revision"), revisions, 0), .policy = place(member(row, "policy"), policies, 0),
        .batches = place(member(row, "batches"), batches, 0), .error_id = place(member(row, "error_id"), error_ids, 0),
        .allow = switches(member(row, "allow")), .refuse = switches(member(row, "refuse")),
        .max_frame = (uint32_t)number_or(row, "max_frame", 0), .max_depth = (uint32_t)number_or(row, "max_depth", 0),
        .max_keys = (uint32_t)number_or(row, "max_keys", 0), .max_id = (uint32_t)number_or(row, "max_id", 0),
        .max_replies = max_replies == 0 ? LINEGATE_NO_REPLIES : max_replies < 0 ? 0 : (uint32_t)max_replies,
        .methods = (const char *const *)setup->methods.list, .methods_len = setup->methods.len,
        .result_types = (const char *const *)setup->result_types.list, .result_types_len = setup->result_types.len,
        .versions = (const char *const *)setup->versions.list, .versions_len = setup->versions.len,
        .audit_key = "a key of vectors" };
}

/* The names are the caller's no more once there is a gate. */
static linegate *take_gate(struct setup *setup, void **storage, size_t *size) {
    linegate *gate = gate_of(&setup->options, storage, size);
    drop_names(&setup->methods);
    drop_names(&setup->result_types);
    drop_names(&setup->versions);
    return gate;
}

struct bytes {
    char *data;
    size_t len;
};

static void add(struct bytes *to, const char *data, size_t len, int64_t times) {
    to->data = realloc(to->data, to->len + len * (size_t)times + 1);
    for (; times > 0; times--, to->len += len) memcpy(to->data + to->len, data, len);
}

static struct bytes base64(const char *in) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct bytes out = { NULL, 0 };
    uint32_t bits = 0;
    int count = 0;
    add(&out, "", 0, 0);
    for (; *in && *in != '='; in++) {
        bits = bits << 6 | (uint32_t)(strchr(digits, *in) - digits);
        if ((count += 6) >= 8) {
            char byte = (char)(bits >> (count -= 8));
            add(&out, &byte, 1, 1);
        }
    }
    return out;
}

static struct bytes stream_of(linegate_slice row) {
    static const char *const parts[][2] = { { "prefix", NULL }, { "repeat", "count" }, { "middle", NULL },
        { "repeat2", "count2" }, { "suffix", NULL } };
    struct bytes out = { NULL, 0 };
    linegate_slice input = member(row, "input"), encoded = member(row, "input_b64"), gen = member(row, "gen");
    if (input.data) {
        out.data = text(input, &out.len);
        return out;
    }
    if (encoded.data) {
        char *in = text(encoded, NULL);
        out = base64(in);
        free(in);
        return out;
    }
    for (size_t at = 0; at < sizeof parts / sizeof *parts; at++) {
        size_t len = 0;
        char *part = text(member(gen, parts[at][0]), &len);
        int64_t times = parts[at][1] ? number_or(gen, parts[at][1], 0) : 1;
        add(&out, part ? part : "", len, times);
        free(part);
    }
    return out;
}

/* What a vector expects, as a walk through its lists. */
struct expected {
    linegate_iter events, reply_ids, reply_data;
    int has_ids, has_data;
    unsigned accepted, refused;
};

static int inside(linegate_slice slice, const void *storage, size_t size) {
    const char *first = storage;
    return !slice.data || (slice.data >= first && slice.data + slice.len <= first + size);
}

/* The slices of an event lie in the gate's storage. */
static void check_slices(const linegate_event *event, const void *storage, size_t size) {
    const linegate_slice slices[] = { event->line, event->method, event->id, event->params, event->result, event->error };
    for (size_t at = 0; at < sizeof slices / sizeof *slices; at++) {
        if (!inside(slices[at], storage, size)) differs("a slice lies outside of the storage");
    }
}

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
static void check_reply(const linegate *gate, const linegate_event *event, linegate *replies, struct expected *expected) {
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

static void check_audit(const linegate *gate, const linegate_event *event) {
    linegate_record record = { .size = sizeof record };
    if (linegate_audit(gate, &record) != LINEGATE_OK || record.code != event->status || record.offset != event->offset
        || record.length != event->length || record.sequence != event->sequence) {
        differs("audit record");
    }
}

static void check_counters(const linegate *gate, linegate_slice row, const struct expected *expected) {
    linegate_counters c = { .size = sizeof c };
    linegate_slice want = member(row, "counters");
    linegate_get_counters(gate, &c);
    if (c.accepted != expected->accepted || c.refused != expected->refused) differs("counters");
    if (c.refused != c.refused_frame + c.refused_json + c.refused_rpc + c.refused_mcp + c.refused_session) differs("stages");
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

static void check_vector(linegate_slice row, linegate *replies, size_t longest) {
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
            check_reply(gate, &event, replies, &expected);
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
static void check_step_reply(const linegate *gate, const linegate_event *event, linegate_slice want, linegate *replies) {
    struct expected none = { .has_ids = 0 };
    linegate_slice reply_id = member(want, "reply_id");
    check_reply(gate, event, replies, &none);
    if (event->reply_due && reply_id.data) {
        char reply[LINEGATE_REPLY_LEN];
        size_t len;
        linegate_reply(gate, reply, sizeof reply, &len);
        int has_null = len > 36 && !memcmp(reply, "{\"jsonrpc\":\"2.0\",\"id\":null,", 27);
        if (!says(reply_id, has_null ? "null" : "absent")) differs("reply_id");
    }
}

static void check_transcript(linegate_slice row, linegate *replies) {
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
            check_step_reply(gates[from], &event, want, replies);
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

int main(int argc, char **argv) {
    static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":";
    void *reader_storage, *replies_storage;
    if (argc < 4) broken("usage: vectors whole|bytes LONGEST FILE...");
    by_bytes = !strcmp(argv[1], "bytes");
    size_t longest = strtoul(argv[2], NULL, 10), cap = FILE_MAX + sizeof head + 2, max = sizeof head - 1;
    linegate *rows = reader(&reader_storage, FILE_MAX), *replies = reader(&replies_storage, 1 << 16);
    char *line = malloc(cap);
    memcpy(line, head, max);
    for (int at = 3; at < argc; at++) {
        FILE *file = fopen(argv[at], "rb");
        if (!file) broken(argv[at]);
        while (fgets(line + max, FILE_MAX, file)) {
            linegate_event event = { .size = sizeof event };
            size_t len = strlen(line);
            line[len - 1] = '}';
            if (linegate_check_line(rows, line, len, &event) != LINEGATE_OK) {
                fprintf(stderr, "%s: %s at %zu\n", argv[at], linegate_status_name(event.status), event.offset);
                broken("a row that isn't JSON");
            }
            char *name = text(member(event.result, "name"), NULL);
            name_of_vector = name;
            if (member(event.result, "steps").data) check_transcript(event.result, replies);
            else check_vector(event.result, replies, longest);
            free(name);
        }
        fclose(file);
    }
    free(line);
    free(reader_storage);
    free(replies_storage);
    printf("%u vectors, %u differ\n", run, differing);
    return run == 0 || differing > 0;
}
