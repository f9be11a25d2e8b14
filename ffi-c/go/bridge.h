/* What the package asks of C in one call: a chunk through a gate, with all that comes of it gathered in C memory. */
#ifndef LINEGATE_GO_BRIDGE_H
#define LINEGATE_GO_BRIDGE_H

#include <linegate.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that grow. */
typedef struct {
    char *data;
    size_t len, cap;
} lg_bytes;

/* A refusal, with the lengths of its reply and its id, which follow each other among all replies. */
typedef struct {
    linegate_event event;
    size_t reply_len, id_len;
} lg_refusal;

/* A gate with what its last chunk came to. */
typedef struct {
    linegate *gate;
    lg_bytes lines, replies, refusals;
    int closed, no_memory;
} lg_pump;

static inline char *lg_room(lg_pump *pump, lg_bytes *bytes, size_t more) {
    if (!bytes->data || bytes->cap - bytes->len < more) {
        size_t cap = bytes->cap * 2 > bytes->len + more ? bytes->cap * 2 : bytes->len + more + 64;
        char *data = (char *)realloc(bytes->data, cap);
        if (!data) {
            pump->no_memory = 1;
            return NULL;
        }
        bytes->data = data;
        bytes->cap = cap;
    }
    return bytes->data + bytes->len;
}

static inline void lg_refused(lg_pump *pump, const linegate_event *event) {
    lg_refusal *refusal = (lg_refusal *)lg_room(pump, &pump->refusals, sizeof *refusal);
    size_t len = 0;
    if (!refusal) return;
    linegate_reply(pump->gate, NULL, 0, &len);
    char *reply = lg_room(pump, &pump->replies, len + event->id.len);
    if (!reply || (len > 0 && linegate_reply(pump->gate, reply, len, &len) != LINEGATE_OK)) return;
    if (event->id.len > 0) memcpy(reply + len, event->id.data, event->id.len);
    pump->replies.len += len + event->id.len;
    refusal->event = *event;
    refusal->reply_len = len;
    refusal->id_len = event->id.len;
    pump->refusals.len += sizeof *refusal;
}

/* A whole chunk: accepted lines, each with one line feed, and the refusals, in their order. */
static inline void lg_chunk(lg_pump *pump, const void *data, size_t len) {
    pump->lines.len = pump->replies.len = pump->refusals.len = 0;
    for (size_t at = 0, used = 0; at < len && !pump->closed && !pump->no_memory; at += used) {
        linegate_event event = { .size = sizeof event };
        linegate_status status = linegate_feed(pump->gate, (const char *)data + at, len - at, &used, &event);
        if (status == LINEGATE_OK) {
            char *line = lg_room(pump, &pump->lines, event.line.len + 1);
            if (!line) return;
            memcpy(line, event.line.data, event.line.len);
            line[event.line.len] = '\n';
            pump->lines.len += event.line.len + 1;
        } else if (status >= LINEGATE_NULL_ARGUMENT) {
            pump->closed = 1;
        } else if (status != LINEGATE_NEED_MORE) {
            lg_refused(pump, &event);
            pump->closed = (int)event.closes;
        }
    }
}

/* The end of input. */
static inline void lg_end(lg_pump *pump) {
    linegate_event event = { .size = sizeof event };
    pump->lines.len = pump->replies.len = pump->refusals.len = 0;
    if (linegate_finish(pump->gate, &event) == LINEGATE_TRUNCATED) lg_refused(pump, &event);
    pump->closed = 1;
}

static inline lg_refusal *lg_refusal_at(const lg_pump *pump, size_t at) { return (lg_refusal *)pump->refusals.data + at; }

static inline void lg_free(lg_pump *pump) {
    linegate_free(pump->gate);
    free(pump->lines.data);
    free(pump->replies.data);
    free(pump->refusals.data);
    free(pump);
}

/* One event of a chunk, and the reply to a refusal in pump->replies, the id behind it. */
static inline linegate_event lg_step(lg_pump *pump, const void *data, size_t len, size_t *used) {
    linegate_event event = { .size = sizeof event };
    pump->replies.len = pump->refusals.len = 0;
    event.status = linegate_feed(pump->gate, data, len, used, &event);
    if (event.reply_due) lg_refused(pump, &event);
    if (event.reply_due) pump->replies.len -= event.id.len;
    return event;
}

/* The refusal that is the gate's last, as of lg_step. */
static inline linegate_event lg_last_refusal(lg_pump *pump) {
    linegate_event event = { .size = sizeof event };
    pump->replies.len = pump->refusals.len = 0;
    if (linegate_refusal(pump->gate, &event) != LINEGATE_OK) return event;
    lg_refused(pump, &event);
    if (event.reply_due) pump->replies.len -= event.id.len;
    else pump->replies.len = 0;
    return event;
}

/* The call of the last event, held to one row of a table. */
static inline linegate_status lg_call(lg_pump *pump, uint64_t ticket, uint32_t target, const char *name,
    const linegate_member *members, size_t members_len) {
    linegate_action row = { .size = sizeof row, .name = name, .target = target, .members = members, .members_len = members_len };
    size_t which;
    return linegate_call(pump->gate, ticket, &row, 1, &which, NULL, 0);
}

static inline linegate_event lg_last(lg_pump *pump) {
    linegate_event event = { .size = sizeof event };
    event.status = linegate_finish(pump->gate, &event);
    pump->replies.len = 0;
    return event;
}

/* A line to be written: judged, and gathered with its line feed in pump->lines; of a refused one what answers in its place, if
   anything does. */
static inline linegate_status lg_line(lg_pump *pump, const void *line, size_t len) {
    size_t wrote = 0;
    pump->lines.len = 0;
    char *out = lg_room(pump, &pump->lines, len + 1);
    if (!out) return LINEGATE_INTERNAL;
    linegate_status status = linegate_write_line(pump->gate, line, len, out, len + 1, &wrote);
    pump->lines.len = wrote;
    /* In a session somebody may wait for what is refused: that one is answered in its place. */
    if (status != LINEGATE_OK && linegate_settlement(pump->gate, NULL, 0, &wrote) == LINEGATE_BUFFER_TOO_SMALL) {
        char *settlement = lg_room(pump, &pump->lines, wrote);
        if (!settlement) return LINEGATE_INTERNAL;
        if (linegate_settlement(pump->gate, settlement, wrote, &wrote) == LINEGATE_OK) pump->lines.len = wrote;
    }
    return status;
}

#endif
