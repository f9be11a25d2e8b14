/* What the runners of vectors share: options and streams as tests/vectors/README.md writes them, and gates in storage of
   exactly the size that they ask for. */
#ifndef TESTS_VECTOR_H
#define TESTS_VECTOR_H

#include "json.h"

enum { FILE_MAX = 16 << 20, NAMES_MAX = 32 };

static unsigned run, differing;
static const char *name_of_vector, *how_fed;

static void differs(const char *what) {
    fprintf(stderr, "%s (%s): %s\n", name_of_vector, how_fed, what);
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

static void check_audit(const linegate *gate, const linegate_event *event) {
    linegate_record record = { .size = sizeof record };
    if (linegate_audit(gate, &record) != LINEGATE_OK || record.code != event->status || record.offset != event->offset
        || record.length != event->length || record.sequence != event->sequence) {
        differs("audit record");
    }
}

/* Calls `each` with every row of a file of JSON lines, read with the library itself. */
static inline void for_rows(const char *path, void each(linegate_slice row)) {
    static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":";
    void *storage;
    size_t max = sizeof head - 1;
    linegate *rows = reader(&storage, FILE_MAX);
    char *line = malloc(FILE_MAX + sizeof head + 2);
    FILE *file = fopen(path, "rb");
    if (!file) broken(path);
    memcpy(line, head, max);
    while (fgets(line + max, FILE_MAX, file)) {
        linegate_event event = { .size = sizeof event };
        size_t len = strlen(line);
        line[len - 1] = '}';
        if (linegate_check_line(rows, line, len, &event) != LINEGATE_OK) {
            fprintf(stderr, "%s: %s at %zu\n", path, linegate_status_name(event.status), event.offset);
            broken("a row that isn't JSON");
        }
        char *name = text(member(event.result, "name"), NULL);
        name_of_vector = name;
        each(event.result);
        free(name);
    }
    fclose(file);
    free(line);
    free(storage);
}

#endif
