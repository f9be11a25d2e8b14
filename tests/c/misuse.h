/* What the tests of misuse share: gates in room of their own, and conditions that are counted and told by their place. */
#ifndef TESTS_MISUSE_H
#define TESTS_MISUSE_H

#include "json.h"

static unsigned passed, failed;

static inline void check(int holds, const char *text, const char *file, int line) {
    if (holds) {
        passed++;
    } else {
        failed++;
        fprintf(stderr, "%s:%d: %s\n", file, line, text);
    }
}

#define HOLDS(condition) check(condition, #condition, __FILE__, __LINE__)
#define GIVES(status, call) check((call) == (status), #call " is not " #status, __FILE__, __LINE__)

#define PING "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n"

/* Room for the gate that each test makes. */
static _Alignas(16) unsigned char storage[65536];

static inline linegate_options small(void) {
    return (linegate_options){ .size = sizeof(linegate_options), .max_frame = 512, .max_keys = 64, .audit_key = "sixteen bytes ok" };
}

static inline linegate *in(unsigned char *memory, const linegate_options *options) {
    linegate *gate = NULL;
    if (linegate_init(memory, sizeof storage, options, &gate) != LINEGATE_OK) broken("a gate that could not be made");
    return gate;
}

static inline linegate *fresh(void) {
    linegate_options options = small();
    return in(storage, &options);
}

static inline linegate_status feed(linegate *gate, const char *line, linegate_event *event) {
    size_t used;
    *event = (linegate_event){ .size = sizeof *event };
    return linegate_feed(gate, line, strlen(line), &used, event);
}

static inline linegate_slice slice(const char *bytes) { return (linegate_slice){ bytes, strlen(bytes) }; }

/* How many hold, for the one who runs the test; gives its exit status. */
static inline int told(const char *name) {
    printf("%s: %u of %u hold\n", name, passed, passed + failed);
    return failed > 0;
}

#endif
