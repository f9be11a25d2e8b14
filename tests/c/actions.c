/* The vectors of actions through the C face: actions TABLE whole|bytes|cuts FILE...

   TABLE is tests/vectors/action-table.json, of which the host's table is made here; tests/vectors/README.md has the format.
   `cuts` feeds each stream in two pieces, cut at every place. */
#include "vector.h"

enum { ROWS_MAX = 16 };

static linegate_action rows[ROWS_MAX];
static size_t rows_len;
static const char *how;

static linegate_member *members_of(linegate_slice object, size_t *len);

static linegate_member member_of(linegate_slice key, linegate_slice value) {
    linegate_member made = { .size = sizeof made };
    size_t len = 0;
    char *name = text(key, &len);
    if (len > 0 && name[len - 1] == '?') name[len - 1] = 0, made.optional = 1;
    made.name = name;
    if (linegate_type(value) == LINEGATE_TYPE_OBJECT) {
        made.type = LINEGATE_TYPE_OBJECT;
        made.members = members_of(value, &made.members_len);
    } else if (says(value, "integer")) {
        made.type = LINEGATE_TYPE_INTEGER;
    } else if (says(value, "byte")) {
        made.type = LINEGATE_TYPE_INTEGER, made.max = 255;
    } else if (says(value, "string")) {
        made.type = LINEGATE_TYPE_STRING;
    } else if (says(value, "boolean")) {
        made.type = LINEGATE_TYPE_BOOLEAN;
    } else {
        broken("a type of the table that isn't known here");
    }
    return made;
}

static linegate_member *members_of(linegate_slice object, size_t *len) {
    linegate_member *members = calloc(ROWS_MAX, sizeof *members);
    linegate_iter iter;
    linegate_slice key, value;
    *len = 0;
    linegate_iterate(object, &iter);
    while (linegate_next(&iter, &key, &value) == LINEGATE_OK) {
        if (*len == ROWS_MAX) broken("more members than there is room for");
        members[(*len)++] = member_of(key, value);
    }
    return members;
}

static void drop_members(const linegate_member *members, size_t len) {
    for (size_t at = 0; at < len; at++) {
        free((char *)members[at].name);
        drop_members(members[at].members, members[at].members_len);
    }
    free((linegate_member *)members);
}

static void take_targets(linegate_slice object, uint32_t target) {
    linegate_iter iter;
    linegate_slice key, value;
    linegate_iterate(object, &iter);
    while (linegate_next(&iter, &key, &value) == LINEGATE_OK) {
        if (rows_len == ROWS_MAX) broken("more actions than there is room for");
        linegate_action *row = &rows[rows_len++];
        *row = (linegate_action){ .size = sizeof *row, .name = text(key, NULL), .target = target };
        row->members = members_of(value, &row->members_len);
    }
}

/* The table is written over several lines. */
static void take_table(const char *path) {
    char line[4096] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":";
    size_t len = strlen(line), got;
    void *storage;
    linegate_event event = { .size = sizeof event };
    linegate *gate = reader(&storage, sizeof line);
    FILE *file = fopen(path, "rb");
    if (!file) broken(path);
    got = fread(line + len, 1, sizeof line - len - 2, file);
    fclose(file);
    for (size_t at = len; at < len + got; at++) line[at] = line[at] == '\n' ? ' ' : line[at];
    len += got;
    line[len++] = '}';
    if (linegate_check_line(gate, line, len, &event) != LINEGATE_OK) broken("the table isn't JSON");
    take_targets(member(event.result, "tools"), LINEGATE_TARGET_TOOL);
    take_targets(member(event.result, "methods"), LINEGATE_TARGET_METHOD);
    free(storage);
}

static int names(linegate_slice array, const char *name) {
    linegate_iter iter;
    linegate_slice value;
    linegate_iterate(array, &iter);
    while (linegate_next(&iter, NULL, &value) == LINEGATE_OK) {
        if (says(value, name)) return 1;
    }
    return 0;
}

static size_t count(linegate_slice object) {
    linegate_iter iter;
    linegate_slice value;
    size_t members = 0;
    linegate_iterate(object, &iter);
    while (linegate_next(&iter, NULL, &value) == LINEGATE_OK) members++;
    return members;
}

static void check_execution(linegate *gate, uint64_t ticket, const linegate_action *row, const linegate_slice *values,
    linegate_slice want) {
    linegate_slice arguments = member(want, "arguments");
    size_t given = 0;
    if (!says(member(want, "executed"), row->name)) differs("another action");
    if ((row->target == LINEGATE_TARGET_METHOD) != (member(want, "method").data != NULL)) differs("tool or method");
    for (size_t at = 0; at < row->members_len; at++) {
        linegate_slice wanted = member(arguments, row->members[at].name);
        given += values[at].data != NULL;
        if ((wanted.data == NULL) != (values[at].data == NULL)) differs("a member of the arguments");
        else if (wanted.data && !equal(values[at], wanted)) differs("a value of the arguments");
    }
    if (given != count(arguments)) differs("members of the arguments");
    /* Once. */
    if (linegate_authorized(gate, ticket) != LINEGATE_OK) differs("not authorized");
    if (linegate_authorized(gate, ticket) != LINEGATE_ALREADY_USED) differs("authorized twice");
}

static void check_refused(linegate *gate, linegate *way_back, linegate_status status, linegate_slice want) {
    linegate_event refusal = { .size = sizeof refusal };
    linegate_slice reply = member(want, "reply");
    char line[LINEGATE_REPLY_LEN];
    size_t len = 0;
    if (linegate_refusal(gate, &refusal) != LINEGATE_OK || refusal.status != status) differs("the refusal's own code");
    if (number_or(want, "refuse", 0) != status) differs("code of an action");
    if (number_or(want, "at", -1) != (int64_t)refusal.offset) differs("place of an action");
    check_audit(gate, &refusal);
    if (linegate_reply(gate, line, sizeof line, &len) != LINEGATE_OK) differs("a reply");
    if ((len > 0) != (refusal.reply_due != 0)) differs("a reply that is due");
    if (linegate_type(reply) == LINEGATE_TYPE_NULL) {
        if (len != 0) differs("a reply to nobody");
        return;
    }
    linegate_event seen = { .size = sizeof seen };
    if (len == 0 || !is_bytes(reply, (linegate_slice){ line, len - 1 })) differs("the reply of an action");
    else if (linegate_check_line(way_back, line, len - 1, &seen) != LINEGATE_OK) differs("the reply is no message");
}

/* What a message comes to for which no table has anything: the host may allow what asks for something, and nothing else. */
static void check_passed(linegate *gate, const linegate_event *event) {
    int asks = event->kind == LINEGATE_KIND_REQUEST || event->kind == LINEGATE_KIND_NOTIFICATION;
    linegate_status yes = asks ? LINEGATE_OK : LINEGATE_NOT_AUTHORIZED;
    linegate_event refusal = { .size = sizeof refusal };
    if (event->loosened) return;
    if (linegate_authorized(gate, event->ticket) != LINEGATE_NOT_AUTHORIZED) differs("authorized by nobody");
    if (linegate_authorize(gate, event->ticket, 1) != yes) differs("what the host may allow");
    if (linegate_authorized(gate, event->ticket) != yes) differs("what was allowed");
    if (linegate_refusal(gate, &refusal) != LINEGATE_STALE_EVENT) differs("a refusal of what asks for nothing");
}

/* What the host does with an accepted message; gives whether the call was refused. */
static int check_message(linegate *gate, linegate *way_back, const linegate_event *event, linegate_slice deny,
    linegate_slice want) {
    linegate_slice values[ROWS_MAX];
    size_t which = 77, again;
    uint64_t ticket = event->ticket;
    linegate_status status = linegate_call(gate, ticket, rows, rows_len, &which, values, ROWS_MAX);
    if (status == LINEGATE_ABSENT) {
        if (!member(want, "passed").data || which != rows_len) differs("passed");
        check_passed(gate, event);
        return 0;
    }
    if (linegate_call(gate, ticket, rows, rows_len, &again, NULL, 0) != LINEGATE_ALREADY_USED) differs("asked twice");
    if (status == LINEGATE_OK) status = linegate_authorize(gate, ticket, !names(deny, rows[which].name));
    if (status == LINEGATE_OK) {
        check_execution(gate, ticket, &rows[which], values, want);
        return 0;
    }
    if (linegate_authorized(gate, ticket) != LINEGATE_NOT_AUTHORIZED) differs("a refused call is authorized");
    check_refused(gate, way_back, status, want);
    return 1;
}

static void walk(linegate_slice row, const struct bytes *stream, size_t first) {
    struct setup setup;
    linegate_iter events, actions;
    linegate_slice want;
    void *storage, *back;
    size_t size, back_size, fed = 0;
    uint64_t refused = 0;
    int told_closed = 0;
    take_options(member(row, "options"), &setup);
    /* Bounds that no vector of actions meets: a gate of the default size takes longer to make than all that it judges here. */
    if (!setup.options.max_frame) setup.options.max_frame = 1 << 14;
    if (!setup.options.max_keys) setup.options.max_keys = 1 << 10;
    setup.options.grant = switches(member(row, "granted"));
    linegate *gate = take_gate(&setup, &storage, &size);
    linegate_options way = { .size = sizeof way, .direction = LINEGATE_FROM_SERVER, .revision = setup.options.revision,
        .max_frame = 1 << 14, .max_keys = 1 << 10 };
    linegate *way_back = gate_of(&way, &back, &back_size);
    linegate_iterate(member(row, "events"), &events);
    linegate_iterate(member(row, "actions"), &actions);
    while (fed < stream->len) {
        linegate_event event = { .size = sizeof event };
        size_t used = 0, piece = first == 0 ? 1 : fed < first ? first - fed : stream->len - fed;
        linegate_status status = linegate_feed(gate, stream->data + fed, piece, &used, &event);
        fed += used;
        check_slices(&event, storage, size);
        if (status == LINEGATE_NEED_MORE || (status == LINEGATE_CLOSED && told_closed)) continue;
        if (linegate_next(&events, NULL, &want) != LINEGATE_OK) {
            differs("an event too many");
            break;
        }
        if (status == LINEGATE_CLOSED) {
            told_closed = 1;
            if (!member(want, "closed").data) differs("closed too early");
        } else if (status != LINEGATE_OK) {
            if (number_or(want, "refuse", 0) != status || number_or(want, "at", -1) != (int64_t)event.offset) differs("a line");
        } else {
            if (!is_bytes(member(want, "method"), event.method) || !is_bytes(member(want, "id"), event.id)) differs("a message");
            if (linegate_next(&actions, NULL, &want) != LINEGATE_OK) differs("an outcome too many");
            refused += (uint64_t)check_message(gate, way_back, &event, member(row, "deny"), want);
        }
    }
    linegate_counters counted = { .size = sizeof counted };
    linegate_get_counters(gate, &counted);
    if (counted.refused_action != refused) differs("counted refusals of actions");
    if (linegate_next(&events, NULL, &want) != LINEGATE_ABSENT) differs("an event is missing");
    if (linegate_next(&actions, NULL, &want) != LINEGATE_ABSENT) differs("an outcome is missing");
    free(storage);
    free(back);
}

static void check_row(linegate_slice row) {
    struct bytes stream = stream_of(row);
    run++;
    if (!strcmp(how, "bytes")) walk(row, &stream, 0);
    else if (!strcmp(how, "whole")) walk(row, &stream, stream.len);
    else for (size_t cut = 1; cut < stream.len; cut++) walk(row, &stream, cut);
    free(stream.data);
}

int main(int argc, char **argv) {
    if (argc < 4) broken("usage: actions TABLE whole|bytes|cuts FILE...");
    take_table(argv[1]);
    how = how_fed = argv[2];
    for (int at = 3; at < argc; at++) for_rows(argv[at], check_row);
    for (size_t at = 0; at < rows_len; at++) {
        free((char *)rows[at].name);
        drop_members(rows[at].members, rows[at].members_len);
    }
    printf("%u vectors, %u differ\n", run, differing);
    return run == 0 || differing > 0;
}
