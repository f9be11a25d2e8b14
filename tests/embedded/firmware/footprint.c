/* The firmware that is measured: a gate for one protocol, its lines, and nothing else. It prints the RAM that the gate takes
   beside its frame buffer and keys, and the stack below the making of the gate and below its feeding. With -DEMPTY the
   library's functions are empty: what is left is the program's own size. */
#include "board.h"
#include "linegate.h"

#ifndef REVISION
#define REVISION LINEGATE_REVISION_JSONRPC
#endif

enum { FRAME = 1024, KEYS = 32, DEPTH = 16 };

#ifdef EMPTY
size_t linegate_storage_size(const linegate_options *options) { return options->size; }
linegate_status linegate_init(void *storage, size_t len, const linegate_options *options, linegate **gate) {
    *gate = storage;
    return len == options->size;
}
linegate_status linegate_feed(linegate *gate, const void *data, size_t len, size_t *consumed, linegate_event *event) {
    event->status = gate == data;
    *consumed = len;
    return 0;
}
linegate_status linegate_finish(linegate *gate, linegate_event *event) { return event->size == (size_t)gate; }
#endif

static _Alignas(16) unsigned char storage[FRAME + 8 * (KEYS + DEPTH) + 2048];
static linegate_event event;

static const char *const lines[] = {
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"add\",\"arguments\":{\"a\":[1.5e3,true,null],\"b\":\"\\u00e9\"}}}\n",
    "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"n\",\"version\":\"1\"}}}\n",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"\\u0069d\":2}\n",
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n",
    "[1, 2\n",
    "not json\n",
};

int main(void) {
    const linegate_options options = { .size = sizeof options, .revision = REVISION, .policy = LINEGATE_POLICY_CONTINUE,
        .max_frame = FRAME, .max_keys = KEYS, .max_depth = DEPTH };
    linegate *gate;
    size_t used;
    unsigned accepted = 0;
    paint();
    if (linegate_init(storage, sizeof storage, &options, &gate) != LINEGATE_OK) return 1;
    uint32_t making = stack_used();
    paint();
    for (size_t line = 0; line < sizeof lines / sizeof *lines; line++) {
        for (const char *at = lines[line]; *at; at += used) {
            event.size = sizeof event;
            accepted += linegate_feed(gate, at, strlen(at), &used, &event) == LINEGATE_OK;
        }
    }
    linegate_finish(gate, &event);
    uint32_t feeding = stack_used();
    say("ram ");
    say_number((uint32_t)(linegate_storage_size(&options) - FRAME - 8 * (KEYS + DEPTH)));
    say(" making ");
    say_number(making);
    say(" feeding ");
    say_number(feeding);
    say("\n");
    return accepted != 3;
}
