/* The firmware: every vector that fits a frame buffer of 2 KiB, read from the host in small pieces, and the stack that the
   library took at most. The file `vectors.bin` is made by vectors.py, which says its format. */
#include "board.h"
#include "linegate.h"

enum { FRAME = 2048, KEYS = 256, DEPTH_MAX = 512, STACK_MAX = 4096 };

struct row {
    uint32_t max_frame, max_keys, max_replies;
    uint16_t max_depth, max_id, allow, refuse, stream_len, events;
    uint8_t direction, profile, revision, policy, batches, error_id, piece, end;
};

struct expected {
    uint32_t at;
    uint16_t status;
    uint16_t kind;
};

static _Alignas(16) unsigned char storage[FRAME + 8 * (KEYS + DEPTH_MAX) + 1536];
static struct row row;
static linegate_options options;
static linegate_event event;
static unsigned run, differing;

/* Whether what was said is what comes next in the file. */
static int is_next(int file, unsigned *told) {
    struct expected expected;
    if (*told == row.events || !host_read(file, &expected, sizeof expected)) return 0;
    (*told)++;
    return expected.status == event.status && expected.kind == event.kind
        && (event.status == LINEGATE_OK || event.status == LINEGATE_CLOSED || expected.at == event.offset);
}

static int judge(int file, int events) {
    linegate *gate;
    size_t used;
    unsigned told = 0;
    int same = 1, closed = 0;
    unsigned char piece[64];
    options = (linegate_options){ .size = sizeof options, .direction = row.direction, .profile = row.profile,
        .revision = row.revision, .policy = row.policy, .batches = row.batches, .error_id = row.error_id,
        .allow = row.allow, .refuse = row.refuse, .max_frame = row.max_frame, .max_depth = row.max_depth,
        .max_keys = row.max_keys, .max_id = row.max_id, .max_replies = row.max_replies };
    event.size = sizeof event;
    if (linegate_init(storage, sizeof storage, &options, &gate) != LINEGATE_OK) return 0;
    for (unsigned fed = 0; fed < row.stream_len;) {
        unsigned len = row.stream_len - fed < row.piece ? row.stream_len - fed : row.piece;
        if (!host_read(file, piece, len)) return 0;
        fed += len;
        for (unsigned at = 0; at < len; at += used) {
            linegate_status status = linegate_feed(gate, piece + at, len - at, &used, &event);
            if (status == LINEGATE_NEED_MORE || (status == LINEGATE_CLOSED && closed)) continue;
            closed = status == LINEGATE_CLOSED;
            /* Said for the rest of the line that ended the session, too: the vectors know of it behind that line alone. */
            if (closed && told == row.events) continue;
            same &= is_next(events, &told);
        }
    }
    if (linegate_finish(gate, &event) == LINEGATE_TRUNCATED) same &= is_next(events, &told);
    for (; told < row.events; told++) {
        struct expected left;
        same = 0;
        if (!host_read(events, &left, sizeof left)) return 0;
    }
    return same;
}

int main(void) {
    static const char streams[] = "vectors.bin", answers[] = "events.bin";
    int file = host_open(streams, sizeof streams - 1), events = host_open(answers, sizeof answers - 1);
    if (file < 0 || events < 0) return 2;
    paint();
    while (host_read(file, &row, sizeof row) && !row.end) {
        run++;
        if (!judge(file, events)) {
            differing++;
            say("vector ");
            say_number(run);
            say(" differs\n");
            if (differing > 5) break;
        }
    }
    uint32_t stack = stack_used();
    say_number(run);
    say(" vectors, ");
    say_number(differing);
    say(" differ\nstack ");
    say_number(stack);
    say("\n");
    return run == 0 || differing > 0 || stack > STACK_MAX;
}
