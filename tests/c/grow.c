/* A program that was compiled against other structs than the library's: the first header's, and a newer one's, longer. The
   first structs stand here as they were published; they never change again, and none is ever shorter. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "linegate.h"

struct first_options {
    size_t size;
    uint32_t direction, profile, revision, policy, batches, error_id, allow, refuse;
    uint32_t max_frame, max_depth, max_keys, max_id, max_replies, grant;
    const char *const *methods;
    size_t methods_len;
    const char *const *result_types;
    size_t result_types_len;
    const char *const *versions;
    size_t versions_len;
    uint8_t audit_key[16];
};

struct first_complaint {
    size_t size;
    linegate_slice option, text;
};

struct first_event {
    size_t size;
    int32_t status;
    uint32_t kind;
    uint64_t ticket, sequence;
    linegate_slice line, method, id, params, result, error;
    size_t offset, length;
    int32_t rpc_code;
    uint32_t reply_due, closes, loosened;
};

struct first_record {
    size_t size;
    uint64_t sequence;
    uint32_t direction;
    int32_t code;
    size_t offset, length;
    uint8_t fingerprint[16];
};

struct first_counters {
    size_t size;
    uint64_t accepted, refused, refused_frame, refused_json, refused_rpc, refused_mcp, refused_session, blank_lines, stripped_crs,
        replies, refused_action;
};

struct first_member {
    size_t size;
    const char *name;
    uint32_t type, optional;
    int64_t min, max;
    const struct first_member *members;
    size_t members_len;
};

struct first_action {
    size_t size;
    const char *name;
    uint32_t target, reserved;
    const struct first_member *members;
    size_t members_len;
};

struct newer_options {
    linegate_options known;
    uint64_t added[2];
};

struct newer_event {
    linegate_event known;
    uint64_t added[2];
};

/* Rows of a table, whose places follow from the size that they say. */
struct newer_member {
    linegate_member known;
    uint64_t added;
};

static _Alignas(16) unsigned char storage[16384];
static int failed;

#define HOLDS(condition) \
    do { \
        if (!(condition)) failed++, fprintf(stderr, "grow.c:%d: %s\n", __LINE__, #condition); \
    } while (0)

static const char input[] = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{}}\n";

/* What lies behind a struct that the library fills, which it may not touch. */
static unsigned char behind[256];

/* A struct with `behind` behind it, of the size that is given; gives whether nothing behind it was written, and nothing of it
   at all where the call was refused for its size. */
#define FILLED(type, size_, status, call) \
    do { \
        struct { type known; unsigned char behind[256]; } place; \
        memset(&place, 0xA5, sizeof place); \
        place.known.size = size_; \
        void *at = &place; \
        HOLDS((call) == (status)); \
        HOLDS(place.known.size == size_ && !memcmp(place.behind, behind, sizeof behind)); \
        for (size_t byte = sizeof(size_t); (status) == LINEGATE_BAD_OPTIONS && byte < sizeof(type); byte++) \
            HOLDS(((unsigned char *)&place)[byte] == 0xA5); \
    } while (0)
/* The size that was published first is enough, and nothing below it is one. */
#define FILLED_FROM_FIRST(type, status, call) \
    do { \
        FILLED(type, sizeof(type), status, call); \
        FILLED(type, sizeof(type) - 1, LINEGATE_BAD_OPTIONS, call); \
        FILLED(type, sizeof(size_t), LINEGATE_BAD_OPTIONS, call); \
        FILLED(type, 0, LINEGATE_BAD_OPTIONS, call); \
    } while (0)

static linegate_status made(const struct first_options *options, linegate **gate) {
    return linegate_init(storage, sizeof storage, (const linegate_options *)options, gate);
}

static linegate_status called(linegate *gate, const struct first_action *row) {
    static const char call[] = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":{\"a\":1}}}\n";
    linegate_event event = { .size = sizeof event };
    size_t used, which;
    if (linegate_feed(gate, call, sizeof call - 1, &used, &event) != LINEGATE_OK) return LINEGATE_INTERNAL;
    return linegate_call(gate, event.ticket, (const linegate_action *)row, 1, &which, NULL, 0);
}

/* The first header's structs: what lies behind is neither read nor written. */
static void from_first(void) {
    linegate *gate;
    size_t used;
    struct {
        struct first_options options;
        unsigned char behind[256];
    } first = { .options = { .size = sizeof first.options, .max_frame = 512, .max_keys = 64 } };
    memset(behind, 0xA5, sizeof behind);
    memset(first.behind, 0xA5, sizeof first.behind);
    for (size_t size = 0; size < sizeof first.options; size++) {
        first.options.size = size;
        HOLDS(made(&first.options, &gate) == LINEGATE_BAD_OPTIONS && gate == NULL);
    }
    first.options.size = sizeof first.options;
    HOLDS(made(&first.options, &gate) == LINEGATE_OK);
    FILLED_FROM_FIRST(struct first_complaint, LINEGATE_OK, linegate_options_check((linegate_options *)&first, at));
    FILLED_FROM_FIRST(struct first_event, LINEGATE_OK, linegate_feed(gate, input, sizeof input - 1, &used, at));
    FILLED_FROM_FIRST(struct first_event, LINEGATE_OK, linegate_check_line(gate, input, sizeof input - 2, at));
    FILLED_FROM_FIRST(struct first_counters, LINEGATE_OK, linegate_get_counters(gate, at));
    linegate_event event = { .size = sizeof event };
    HOLDS(linegate_feed(gate, "{]\n", 3, &used, &event) == LINEGATE_UNEXPECTED_BYTE);
    FILLED_FROM_FIRST(struct first_event, LINEGATE_OK, linegate_refusal(gate, at));
    FILLED_FROM_FIRST(struct first_record, LINEGATE_OK, linegate_audit(gate, at));
    HOLDS(linegate_reset(gate) == LINEGATE_OK);
    FILLED(struct first_event, sizeof(struct first_event) - 1, LINEGATE_BAD_OPTIONS, linegate_finish(gate, at));
    FILLED(struct first_event, sizeof(struct first_event), LINEGATE_OK, linegate_finish(gate, at));
    HOLDS(linegate_reset(gate) == LINEGATE_OK);

    struct first_member members[] = { { .size = sizeof *members, .name = "a", .type = LINEGATE_TYPE_INTEGER } };
    struct first_action row = { .size = sizeof row, .name = "t", .members = members, .members_len = 1 };
    HOLDS(called(gate, &row) == LINEGATE_OK);
    members[0].size--;
    HOLDS(called(gate, &row) == LINEGATE_BAD_OPTIONS);
    members[0].size++, row.size--;
    HOLDS(called(gate, &row) == LINEGATE_BAD_OPTIONS);
}

int main(void) {
    linegate *gate;
    size_t used;
    from_first();
    /* Newer: members that the library doesn't know must be zero, and come back as zero. */
    struct newer_options options = { .known = { .size = sizeof options, .max_frame = 512, .max_keys = 64 } };
    struct newer_event event = { .known = { .size = sizeof event }, .added = { 1, 2 } };
    HOLDS(linegate_init(storage, sizeof storage, &options.known, &gate) == LINEGATE_OK);
    HOLDS(linegate_feed(gate, input, sizeof input - 1, &used, &event.known) == LINEGATE_OK);
    HOLDS(event.known.params.len == 2 && event.added[0] == 0 && event.added[1] == 0);
    /* So it is with the rows of a table, one behind the other. */
    static const char call[] = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":{\"b\":2,\"a\":1}}}\n";
    struct newer_member members[] = {
        { .known = { .size = sizeof *members, .name = "a", .type = LINEGATE_TYPE_INTEGER } },
        { .known = { .size = sizeof *members, .name = "b", .type = LINEGATE_TYPE_INTEGER } },
    };
    linegate_action row = { .size = sizeof row, .name = "t", .members = &members->known, .members_len = 2 };
    linegate_slice values[2];
    size_t which;
    HOLDS(linegate_feed(gate, call, sizeof call - 1, &used, &event.known) == LINEGATE_OK);
    members[1].added = 1;
    HOLDS(linegate_call(gate, event.known.ticket, &row, 1, &which, values, 2) == LINEGATE_BAD_OPTIONS && which == 1);
    members[1].added = 0;
    HOLDS(linegate_call(gate, event.known.ticket, &row, 1, &which, values, 2) == LINEGATE_OK && which == 0);
    HOLDS(values[0].len == 1 && *values[0].data == '1' && values[1].len == 1 && *values[1].data == '2');

    options.added[1] = 1;
    HOLDS(linegate_storage_size(&options.known) == 0);
    HOLDS(linegate_init(storage, sizeof storage, &options.known, &gate) == LINEGATE_BAD_OPTIONS && gate == NULL);

    /* The layout that programs were compiled against. */
    HOLDS(offsetof(linegate_options, audit_key) == offsetof(struct first_options, audit_key));
    HOLDS(offsetof(linegate_complaint, text) == offsetof(struct first_complaint, text));
    HOLDS(offsetof(linegate_event, ticket) == offsetof(struct first_event, ticket));
    HOLDS(offsetof(linegate_event, loosened) == offsetof(struct first_event, loosened));
    HOLDS(offsetof(linegate_record, fingerprint) == offsetof(struct first_record, fingerprint));
    HOLDS(offsetof(linegate_counters, refused_action) == offsetof(struct first_counters, refused_action));
    HOLDS(offsetof(linegate_member, members_len) == offsetof(struct first_member, members_len));
    HOLDS(offsetof(linegate_action, members_len) == offsetof(struct first_action, members_len));
    return failed > 0;
}
