/* A program that was compiled against other structs than the library's: an older header's, shorter, and a newer one's,
   longer. The older structs stand here as they were; they never change again. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "linegate.h"

/* linegate_options as a first version might have had it: up to max_replies. */
struct older_options {
    size_t size;
    uint32_t direction, profile, revision, policy, batches, error_id, allow, refuse;
    uint32_t max_frame, max_depth, max_keys, max_id, max_replies, reserved;
};

/* linegate_event up to the id. */
struct older_event {
    size_t size;
    int32_t status;
    uint32_t kind;
    uint64_t ticket, sequence;
    linegate_slice line, method, id;
};

struct older_counters {
    size_t size;
    uint64_t accepted, refused;
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

int main(void) {
    linegate *gate;
    size_t used;
    struct {
        struct older_options options;
        unsigned char behind[256];
    } older = { .options = { .size = sizeof older.options, .max_frame = 512, .max_keys = 64 } };
    struct {
        struct older_event event;
        unsigned char behind[256];
    } seen = { .event = { .size = sizeof seen.event } };
    struct {
        struct older_counters counters;
        unsigned char behind[256];
    } counted = { .counters = { .size = sizeof counted.counters } };

    /* Older: what lies behind is neither read nor written. */
    memset(older.behind, 0xA5, sizeof older.behind);
    memset(seen.behind, 0xA5, sizeof seen.behind);
    memset(counted.behind, 0xA5, sizeof counted.behind);
    HOLDS(linegate_init(storage, sizeof storage, (linegate_options *)&older, &gate) == LINEGATE_OK);
    HOLDS(linegate_feed(gate, input, sizeof input - 1, &used, (linegate_event *)&seen) == LINEGATE_OK);
    HOLDS(linegate_get_counters(gate, (linegate_counters *)&counted) == LINEGATE_OK);
    HOLDS(seen.event.size == sizeof seen.event && seen.event.status == 0 && seen.event.kind == LINEGATE_KIND_REQUEST);
    HOLDS(seen.event.id.len == 1 && *seen.event.id.data == '7' && seen.event.ticket != 0);
    HOLDS(counted.counters.accepted == 1 && counted.counters.refused == 0);
    for (size_t at = 0; at < 256; at++) HOLDS(seen.behind[at] == 0xA5 && counted.behind[at] == 0xA5);

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
    HOLDS(offsetof(linegate_options, max_replies) == offsetof(struct older_options, max_replies));
    HOLDS(offsetof(linegate_options, methods) == sizeof(struct older_options));
    HOLDS(offsetof(linegate_event, params) == sizeof(struct older_event));
    HOLDS(offsetof(linegate_event, method) == offsetof(struct older_event, method));
    return failed > 0;
}
