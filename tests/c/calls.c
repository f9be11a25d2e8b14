/* Calls and what can be done wrong with them: tables that are out of order, calls out of their order, refusals and their
   answers; and what linegate_options_check says. */
#include "misuse.h"

#define CALL(arguments) "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"set\",\"arguments\":" arguments "}}\n"
#define MEMBER(name_, type_, ...) { .size = sizeof(linegate_member), .name = name_, .type = type_, __VA_ARGS__ }

static const linegate_member point[] = { MEMBER("x", LINEGATE_TYPE_INTEGER, .min = -5, .max = 5) };
static const linegate_member word[] = { MEMBER(NULL, LINEGATE_TYPE_STRING, .optional = 1) };
static const linegate_member nobody[] = { MEMBER("nobody", LINEGATE_TYPE_NULL, .optional = 0) };
static const linegate_member members[] = {
    MEMBER("n", LINEGATE_TYPE_INTEGER, .optional = 0),
    MEMBER("at", LINEGATE_TYPE_OBJECT, .optional = 1, .members = point, .members_len = 1),
    MEMBER("words", LINEGATE_TYPE_ARRAY, .optional = 1, .members = word, .members_len = 1),
    MEMBER("any", LINEGATE_TYPE_NONE, .optional = 1),
    MEMBER("f", LINEGATE_TYPE_NUMBER, .optional = 1),
    MEMBER("free", LINEGATE_TYPE_OBJECT, .optional = 1),
    MEMBER("empty", LINEGATE_TYPE_OBJECT, .optional = 1, .members = nobody, .members_len = 0),
    MEMBER("b", LINEGATE_TYPE_BOOLEAN, .optional = 1),
};
enum { MEMBERS = sizeof members / sizeof *members };
static const linegate_action table[] = {
    { .size = sizeof(linegate_action), .name = "other", .target = LINEGATE_TARGET_TOOL },
    { .size = sizeof(linegate_action), .name = "set", .target = LINEGATE_TARGET_TOOL, .members = members, .members_len = MEMBERS },
    { .size = sizeof(linegate_action), .name = "logging/setLevel", .target = LINEGATE_TARGET_METHOD,
        .members = (const linegate_member[]){ MEMBER("level", LINEGATE_TYPE_STRING, .optional = 0) }, .members_len = 1 },
};
enum { ACTIONS = sizeof table / sizeof *table };

static linegate_event event;
static linegate_slice values[MEMBERS + 1];
static size_t which;

static linegate_status call(linegate *gate, const char *line) {
    linegate_status status = feed(gate, line, &event);
    if (status != LINEGATE_OK) return status;
    return linegate_call(gate, event.ticket, table, ACTIONS, &which, values, MEMBERS + 1);
}

/* The reply to what the gate refused last. */
static int replies(linegate *gate, const char *expected) {
    static char line[LINEGATE_REPLY_LEN];
    size_t len = 0;
    if (linegate_reply(gate, line, sizeof line, &len) != LINEGATE_OK) return 0;
    int same = len == strlen(expected) + 1 && !memcmp(line, expected, len - 1);
    if (!same) fprintf(stderr, "%.*s", (int)len, line);
    return same;
}

static int refused_at(linegate *gate, linegate_status status, size_t offset) {
    linegate_event said = { .size = sizeof said };
    return linegate_refusal(gate, &said) == LINEGATE_OK && said.status == status && said.offset == offset && said.reply_due == 1
        && said.ticket == 0 && said.line.data == NULL && said.id.len == 1 && *said.id.data == '7';
}

static void arguments(void) {
    linegate *gate = fresh();
    GIVES(LINEGATE_OK, call(gate, CALL("{\"words\":[\"a\",null,\"b\"],\"n\":3,\"at\":{\"x\":-5},\"any\":[{}],\"f\":1.5,\"free\":{\"q\":1},\"empty\":{}}")));
    HOLDS(which == 1 && values[0].len == 1 && *values[0].data == '3' && linegate_type(values[1]) == LINEGATE_TYPE_OBJECT);
    HOLDS(linegate_type(values[2]) == LINEGATE_TYPE_ARRAY && linegate_type(values[3]) == LINEGATE_TYPE_ARRAY);
    HOLDS(values[7].data == NULL && values[MEMBERS].data == NULL && values[0].data > (char *)storage);
    GIVES(LINEGATE_OK, linegate_authorize(gate, event.ticket, 1));
    GIVES(LINEGATE_OK, linegate_authorized(gate, event.ticket));
    GIVES(LINEGATE_ALREADY_USED, linegate_authorized(gate, event.ticket));
    GIVES(LINEGATE_OK, call(gate, CALL("{\"n\":9007199254740991,\"at\":null,\"b\":false}")));
    HOLDS(values[1].data == NULL && values[7].len == 5);
    /* Both sides of each bound, and each kind of misfit. */
    GIVES(LINEGATE_OK, call(gate, CALL("{\"n\":0,\"at\":{\"x\":5}}")));
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, call(gate, CALL("{\"n\":0,\"at\":{\"x\":6}}")));
    HOLDS(which == ACTIONS && values[0].data == NULL);
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, call(gate, CALL("{\"n\":0,\"at\":{\"x\":-6}}")));
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, call(gate, CALL("{\"n\":0,\"at\":{\"x\":null}}")));
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, call(gate, CALL("{\"n\":0,\"at\":{}}")));
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, call(gate, CALL("{\"n\":0,\"at\":{\"x\":1,\"y\":1}}")));
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, call(gate, CALL("{\"n\":0,\"at\":[1]}")));
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, call(gate, CALL("{\"n\":0,\"words\":[\"a\",1]}")));
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, call(gate, CALL("{\"n\":0,\"words\":{}}")));
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, call(gate, CALL("{\"n\":0,\"f\":\"1\"}")));
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, call(gate, CALL("{\"n\":0,\"empty\":{\"q\":1}}")));
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, call(gate, CALL("{\"n\":0,\"b\":0}")));
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, call(gate, CALL("{\"n\":null}")));
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, call(gate, CALL("{\"n\":1.0}")));
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, call(gate, CALL("{\"N\":1}")));
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, call(gate, CALL("{\"n\":0,\"none\":1}")));
    HOLDS(refused_at(gate, LINEGATE_ARGUMENTS_SCHEMA, strlen(CALL("")) - 3 + strlen("{\"n\":0,")));
    HOLDS(replies(gate, "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32602,\"message\":"
        "\"The arguments don't fit the tool's schema. There is a member that the tool does not know.\"}}"));
    GIVES(LINEGATE_UNKNOWN_TOOL, call(gate, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"sets\"}}\n"));
    /* A method that is a row, and messages that ask for nothing in the table. */
    GIVES(LINEGATE_OK, call(gate, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"logging/setLevel\",\"params\":{\"_meta\":{},\"level\":\"info\"}}\n"));
    HOLDS(which == 2 && says(values[0], "info"));
    GIVES(LINEGATE_ABSENT, call(gate, PING));
    HOLDS(which == ACTIONS);
    GIVES(LINEGATE_ABSENT, call(gate, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n"));
    /* Not its own call any more: the host decides on it. */
    GIVES(LINEGATE_NOT_AUTHORIZED, linegate_authorize(gate, event.ticket, 0));
    GIVES(LINEGATE_STALE_EVENT, linegate_reply(gate, NULL, 0, &which));
    /* A half of a surrogate pair is no text. */
    linegate_options options = small();
    options.allow = options.grant = LINEGATE_SWITCH_LONE_SURROGATES;
    gate = in(storage, &options);
    GIVES(LINEGATE_OK, call(gate, CALL("{\"n\":0,\"words\":[\"\\ud83d\\ude00\"]}")));
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, call(gate, CALL("{\"n\":0,\"words\":[\"\\ud83d\"]}")));
}

static void order(void) {
    linegate *gate = fresh();
    linegate_counters counters = { .size = sizeof counters };
    GIVES(LINEGATE_STALE_EVENT, linegate_call(gate, 0, table, ACTIONS, &which, NULL, 0));
    GIVES(LINEGATE_STALE_EVENT, linegate_refuse(gate, 0, LINEGATE_UNKNOWN_TOOL, 0, ABSENT));
    GIVES(LINEGATE_OK, call(gate, CALL("{\"n\":0}")));
    GIVES(LINEGATE_ALREADY_USED, linegate_call(gate, event.ticket, table, ACTIONS, &which, NULL, 0));
    GIVES(LINEGATE_STALE_EVENT, linegate_call(gate, event.ticket + 1, table, ACTIONS, &which, NULL, 0));
    GIVES(LINEGATE_NOT_AUTHORIZED, linegate_authorized(gate, event.ticket));
    GIVES(LINEGATE_OK, linegate_authorize(gate, event.ticket, 1));
    GIVES(LINEGATE_ALREADY_USED, linegate_call(gate, event.ticket, table, ACTIONS, &which, NULL, 0));
    GIVES(LINEGATE_ALREADY_USED, linegate_refuse(gate, event.ticket, LINEGATE_NOT_AUTHORIZED, 0, ABSENT));
    GIVES(LINEGATE_OK, linegate_authorized(gate, event.ticket));
    GIVES(LINEGATE_ALREADY_USED, linegate_refuse(gate, event.ticket, LINEGATE_NOT_AUTHORIZED, 0, ABSENT));
    GIVES(LINEGATE_OK, linegate_get_counters(gate, &counters));
    HOLDS(counters.refused == 0);
    /* A refused call is over for everybody. */
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, call(gate, CALL("{}")));
    GIVES(LINEGATE_ALREADY_USED, linegate_authorize(gate, event.ticket, 1));
    GIVES(LINEGATE_ALREADY_USED, linegate_refuse(gate, event.ticket, LINEGATE_UNKNOWN_TOOL, 0, ABSENT));
    GIVES(LINEGATE_NOT_AUTHORIZED, linegate_authorized(gate, event.ticket));
    /* Denied: counted, in the audit, answered. The event's slices are still there. */
    linegate_record record = { .size = sizeof record };
    GIVES(LINEGATE_OK, call(gate, CALL("{\"n\":12}")));
    GIVES(LINEGATE_NOT_AUTHORIZED, linegate_authorize(gate, event.ticket, 0));
    HOLDS(refused_at(gate, LINEGATE_NOT_AUTHORIZED, 0) && values[0].len == 2 && !memcmp(values[0].data, "12", 2));
    HOLDS(replies(gate, "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32602,\"message\":\"The call is not allowed here; nothing was done.\"}}"));
    GIVES(LINEGATE_OK, linegate_audit(gate, &record));
    HOLDS(record.code == LINEGATE_NOT_AUTHORIZED && record.sequence == event.sequence);
    GIVES(LINEGATE_OK, linegate_get_counters(gate, &counters));
    HOLDS(counters.refused_action == 2 && counters.refused == 2 && counters.replies == 2);
    uint64_t old = event.ticket;
    GIVES(LINEGATE_OK, feed(gate, PING, &event));
    GIVES(LINEGATE_STALE_EVENT, linegate_call(gate, old, table, ACTIONS, &which, NULL, 0));
    GIVES(LINEGATE_STALE_EVENT, linegate_refuse(gate, old, LINEGATE_NOT_AUTHORIZED, 0, ABSENT));
    linegate_event said = { .size = sizeof said };
    GIVES(LINEGATE_STALE_EVENT, linegate_refusal(gate, &said));
    /* A refusal under close_all is the last of the session. */
    linegate_options options = small();
    options.policy = LINEGATE_POLICY_CLOSE_ALL;
    gate = in(storage, &options);
    GIVES(LINEGATE_OK, call(gate, CALL("{\"n\":0}")));
    GIVES(LINEGATE_NOT_AUTHORIZED, linegate_authorize(gate, event.ticket, 0));
    GIVES(LINEGATE_OK, linegate_refusal(gate, &said));
    HOLDS(said.closes == 1);
    GIVES(LINEGATE_CLOSED, feed(gate, PING, &event));
}

static void by_hand(void) {
    linegate *gate = fresh();
    GIVES(LINEGATE_OK, feed(gate, CALL("{\"n\":12}"), &event));
    GIVES(LINEGATE_BAD_OPTIONS, linegate_refuse(gate, event.ticket, LINEGATE_ALREADY_USED, 0, ABSENT));
    GIVES(LINEGATE_BAD_OPTIONS, linegate_refuse(gate, event.ticket, LINEGATE_UNKNOWN_TOOL, -32000, ABSENT));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_refuse(NULL, event.ticket, LINEGATE_UNKNOWN_TOOL, 0, ABSENT));
    linegate_slice n = member(member(event.params, "arguments"), "n");
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, linegate_refuse(gate, event.ticket, LINEGATE_ARGUMENTS_SCHEMA, 0, n));
    HOLDS(refused_at(gate, LINEGATE_ARGUMENTS_SCHEMA, (size_t)(n.data - event.line.data)));
    GIVES(LINEGATE_OK, feed(gate, CALL("{\"n\":12}"), &event));
    GIVES(LINEGATE_UNKNOWN_TOOL, linegate_refuse(gate, event.ticket, LINEGATE_UNKNOWN_TOOL, 0, ABSENT));
    /* Bytes of elsewhere have no place in the line: that of the params is told. */
    GIVES(LINEGATE_OK, feed(gate, CALL("{\"n\":12}"), &event));
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, linegate_refuse(gate, event.ticket, LINEGATE_ARGUMENTS_SCHEMA, 0, slice("12")));
    HOLDS(refused_at(gate, LINEGATE_ARGUMENTS_SCHEMA, (size_t)(event.params.data - event.line.data)));
    GIVES(LINEGATE_OK, feed(gate, CALL("{\"n\":12}"), &event));
    GIVES(LINEGATE_NOT_AUTHORIZED, linegate_refuse(gate, event.ticket, LINEGATE_NOT_AUTHORIZED, -32001, ABSENT));
    HOLDS(replies(gate, "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32001,\"message\":\"The call is not allowed here; nothing was done.\"}}"));
    /* What asks for nothing can't be refused. */
    GIVES(LINEGATE_OK, feed(gate, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n", &event));
    GIVES(LINEGATE_STALE_EVENT, linegate_refuse(gate, event.ticket, LINEGATE_NOT_AUTHORIZED, 0, ABSENT));
}

/* The protocol's _meta is free where the row says nothing of it, and held to the row where it does. */
static void meta(void) {
    static const linegate_member key[] = { MEMBER("k", LINEGATE_TYPE_STRING, .optional = 0) };
    static const linegate_member object[] = { MEMBER("_meta", LINEGATE_TYPE_OBJECT, .members = key, .members_len = 1) };
    static const linegate_member number[] = { MEMBER("_meta", LINEGATE_TYPE_INTEGER, .min = 1, .max = 3) };
    static const linegate_member optional[] = { MEMBER("_meta", LINEGATE_TYPE_ARRAY, .optional = 1) };
    static const linegate_member any[] = { MEMBER("_meta", LINEGATE_TYPE_NONE, .optional = 1) };
    static const struct {
        const linegate_member *members;
        size_t members_len;
        const char *params;
        linegate_status status;
    } rows[] = {
        { NULL, 0, "{\"_meta\":{\"k\":1}}", LINEGATE_OK },
        { NULL, 0, "{}", LINEGATE_OK },
        { object, 1, "{\"_meta\":{\"k\":\"v\"}}", LINEGATE_OK },
        { object, 1, "{\"_meta\":{\"k\":1}}", LINEGATE_ARGUMENTS_SCHEMA },
        { object, 1, "{\"_meta\":{\"k\":\"v\",\"other\":[1]}}", LINEGATE_ARGUMENTS_SCHEMA },
        { object, 1, "{\"_meta\":{}}", LINEGATE_ARGUMENTS_SCHEMA },
        { object, 1, "{}", LINEGATE_ARGUMENTS_SCHEMA },
        { number, 1, "{\"_meta\":{\"k\":1}}", LINEGATE_ARGUMENTS_SCHEMA },
        { number, 1, "{}", LINEGATE_ARGUMENTS_SCHEMA },
        { optional, 1, "{\"_meta\":{}}", LINEGATE_ARGUMENTS_SCHEMA },
        { optional, 1, "{}", LINEGATE_OK },
        { any, 1, "{\"_meta\":{}}", LINEGATE_OK },
    };
    const char *names[] = { "do" };
    linegate_options options = small();
    options.methods = names, options.methods_len = 1;
    linegate *gate = in(storage, &options);
    for (size_t at = 0; at < sizeof rows / sizeof *rows; at++) {
        linegate_action row = { .size = sizeof row, .name = "do", .target = LINEGATE_TARGET_METHOD,
            .members = rows[at].members, .members_len = rows[at].members_len };
        char line[128];
        snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"do\",\"params\":%s}\n", rows[at].params);
        GIVES(LINEGATE_OK, feed(gate, line, &event));
        linegate_slice value[1] = { ABSENT };
        linegate_status status = linegate_call(gate, event.ticket, &row, 1, &which, value, rows[at].members_len);
        if (status != rows[at].status) fprintf(stderr, "row %zu, %s: %d\n", at, rows[at].params, (int)status);
        HOLDS(status == rows[at].status);
    }
}

/* A reply that a server's gate of the same revision would refuse isn't made: the codes at each end of those that one revision has
   for itself. */
static void reserved_codes(void) {
    static const char old[] = CALL("{}");
    static const char modern[] = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"set\",\"_meta\":"
        "{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}}}\n";
    static const int32_t codes[] = { -32100, -32099, -32042, -32023, -32022, -32003, -32002, -32001, -32000, -32602, 1 };
    static const uint32_t revisions[] = { LINEGATE_REVISION_2025_11_25, LINEGATE_REVISION_2026_07_28 };
    static unsigned char outside[65536];
    for (size_t revision = 0; revision < 2; revision++) {
        linegate_options options = small();
        options.revision = revisions[revision];
        linegate *gate = in(storage, &options);
        options.direction = LINEGATE_FROM_SERVER, options.policy = LINEGATE_POLICY_CONTINUE;
        linegate *server = in(outside, &options);
        for (size_t at = 0; at < sizeof codes / sizeof *codes; at++) {
            int32_t code = codes[at];
            int reserved = revision == 1 && ((code >= -32099 && code <= -32023) || code == -32002);
            char line[LINEGATE_REPLY_LEN], sent[LINEGATE_REPLY_LEN];
            size_t len, sent_len;
            GIVES(LINEGATE_OK, feed(gate, revision == 1 ? modern : old, &event));
            linegate_status status = linegate_refuse(gate, event.ticket, LINEGATE_NOT_AUTHORIZED, code, ABSENT);
            HOLDS(status == (reserved ? LINEGATE_BAD_OPTIONS : LINEGATE_NOT_AUTHORIZED));
            /* By such a code nothing was refused: another one does. */
            if (reserved) GIVES(LINEGATE_NOT_AUTHORIZED, linegate_refuse(gate, event.ticket, LINEGATE_NOT_AUTHORIZED, 0, ABSENT));
            GIVES(LINEGATE_OK, linegate_reply(gate, line, sizeof line, &len));
            GIVES(LINEGATE_OK, linegate_write_line(server, line, len - 1, sent, sizeof sent, &sent_len));
            snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":%d,\"message\":\"\"}}", (int)code);
            status = linegate_write_line(server, line, strlen(line), sent, sizeof sent, &sent_len);
            HOLDS(status == (reserved ? LINEGATE_ERROR_CODE : LINEGATE_OK));
        }
    }
}

/* A line that passed only by a switch asks for nothing unless that is granted. */
static void loosened(void) {
    static const char big[] = CALL("{\"n\":9007199254740992}");
    linegate_options options = small();
    options.allow = LINEGATE_SWITCH_BIG_INTEGERS;
    linegate *gate = in(storage, &options);
    GIVES(LINEGATE_SWITCH_NOT_GRANTED, call(gate, big));
    HOLDS(refused_at(gate, LINEGATE_SWITCH_NOT_GRANTED, 0));
    GIVES(LINEGATE_OK, feed(gate, big, &event));
    GIVES(LINEGATE_SWITCH_NOT_GRANTED, linegate_authorize(gate, event.ticket, 1));
    GIVES(LINEGATE_NOT_AUTHORIZED, linegate_authorized(gate, event.ticket));
    GIVES(LINEGATE_OK, feed(gate, big, &event));
    GIVES(LINEGATE_SWITCH_NOT_GRANTED, linegate_refuse(gate, event.ticket, LINEGATE_UNKNOWN_TOOL, 0, ABSENT));
    GIVES(LINEGATE_OK, call(gate, CALL("{\"n\":9007199254740991}")));
    options.grant = LINEGATE_SWITCH_BIG_INTEGERS;
    gate = in(storage, &options);
    GIVES(LINEGATE_OK, call(gate, big));
    GIVES(LINEGATE_OK, linegate_authorize(gate, event.ticket, 1));
    GIVES(LINEGATE_OK, linegate_authorized(gate, event.ticket));
}

/* A response asks for nothing, and nobody looks for tools in a batch: a yes to either allows nothing. */
static void asks_for_nothing(void) {
    static const char *const lines[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":1,\"message\":\"m\"}}\n",
        "[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"set\",\"arguments\":{\"n\":0}}}]\n",
        "[{\"jsonrpc\":\"2.0\",\"id\":7,\"x\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"set\",\"arguments\":{\"n\":0}}}]\n",
    };
    linegate_options options = small();
    options.revision = LINEGATE_REVISION_2025_03_26;
    options.allow = LINEGATE_SWITCH_UNKNOWN_MEMBERS;
    linegate *gate = in(storage, &options);
    for (size_t n = 0; n < sizeof lines / sizeof *lines; n++)
        for (int allowed = 0; allowed < 2; allowed++) {
            GIVES(LINEGATE_ABSENT, call(gate, lines[n]));
            GIVES(LINEGATE_NOT_AUTHORIZED, linegate_authorize(gate, event.ticket, allowed));
            GIVES(LINEGATE_ALREADY_USED, linegate_authorize(gate, event.ticket, 1));
            GIVES(LINEGATE_NOT_AUTHORIZED, linegate_authorized(gate, event.ticket));
        }
    /* The same call on a line of its own. */
    GIVES(LINEGATE_OK, call(gate, CALL("{\"n\":0}")));
    GIVES(LINEGATE_OK, linegate_authorize(gate, event.ticket, 1));
    GIVES(LINEGATE_OK, linegate_authorized(gate, event.ticket));
}

static linegate_status with_row(linegate *gate, linegate_action row) {
    if (feed(gate, CALL("{\"n\":{\"n\":[1]}}"), &event) != LINEGATE_OK) broken("a line");
    return linegate_call(gate, event.ticket, &row, 1, &which, values, MEMBERS);
}

static linegate_status with_member(linegate *gate, linegate_member row) {
    return with_row(gate, (linegate_action){ .size = sizeof(linegate_action), .name = "set", .members = &row, .members_len = 1 });
}

/* A yes to the last event allows nothing, and its refusal is answered. */
static int is_never_allowed(linegate *gate) {
    return linegate_authorized(gate, event.ticket) == LINEGATE_NOT_AUTHORIZED
        && linegate_authorize(gate, event.ticket, 1) == LINEGATE_NOT_AUTHORIZED
        && linegate_authorized(gate, event.ticket) == LINEGATE_NOT_AUTHORIZED && refused_at(gate, LINEGATE_NOT_AUTHORIZED, 0)
        && linegate_authorize(gate, event.ticket, 1) == LINEGATE_ALREADY_USED;
}

/* Where linegate_call failed by a fault of this program's, the call can be made again or refused, and never allowed. */
static void in_vain(void) {
    linegate *gate = fresh();
    linegate_action bad = table[1];
    bad.reserved = 1;
#define IN_VAIN(status, ...) \
    do { \
        GIVES(LINEGATE_OK, feed(gate, CALL("{\"n\":0}"), &event)); \
        GIVES(status, linegate_call(gate, event.ticket, __VA_ARGS__)); \
        HOLDS(is_never_allowed(gate)); \
        GIVES(LINEGATE_OK, feed(gate, CALL("{\"n\":0}"), &event)); \
        GIVES(status, linegate_call(gate, event.ticket, __VA_ARGS__)); \
        GIVES(LINEGATE_OK, linegate_call(gate, event.ticket, table, ACTIONS, &which, values, MEMBERS)); \
        GIVES(LINEGATE_OK, linegate_authorize(gate, event.ticket, 1)); \
        GIVES(LINEGATE_OK, linegate_authorized(gate, event.ticket)); \
        GIVES(LINEGATE_OK, feed(gate, CALL("{\"n\":0}"), &event)); \
        GIVES(status, linegate_call(gate, event.ticket, __VA_ARGS__)); \
        GIVES(LINEGATE_UNKNOWN_TOOL, linegate_refuse(gate, event.ticket, LINEGATE_UNKNOWN_TOOL, 0, ABSENT)); \
    } while (0)
    IN_VAIN(LINEGATE_NULL_ARGUMENT, table, ACTIONS, NULL, values, MEMBERS);
    IN_VAIN(LINEGATE_NULL_ARGUMENT, table, ACTIONS, &which, NULL, MEMBERS);
    IN_VAIN(LINEGATE_NULL_ARGUMENT, NULL, ACTIONS, &which, values, MEMBERS);
    IN_VAIN(LINEGATE_BUFFER_TOO_SMALL, table, ACTIONS, &which, values, MEMBERS - 1);
    IN_VAIN(LINEGATE_BAD_OPTIONS, &bad, 1, &which, values, MEMBERS);
    /* A fault after the call was made changes nothing of it. */
    GIVES(LINEGATE_OK, call(gate, CALL("{\"n\":0}")));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_call(gate, event.ticket, NULL, ACTIONS, &which, values, MEMBERS));
    GIVES(LINEGATE_OK, linegate_authorize(gate, event.ticket, 1));
    GIVES(LINEGATE_OK, linegate_authorized(gate, event.ticket));
    /* Nor does one with another ticket. */
    GIVES(LINEGATE_OK, feed(gate, CALL("{\"n\":0}"), &event));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_call(gate, event.ticket + 1, NULL, ACTIONS, &which, values, MEMBERS));
    GIVES(LINEGATE_OK, linegate_authorize(gate, event.ticket, 1));
    /* What no table has is the host's, as if it had not been asked. */
    GIVES(LINEGATE_OK, feed(gate, PING, &event));
    GIVES(LINEGATE_BAD_OPTIONS, linegate_call(gate, event.ticket, &bad, 1, &which, values, MEMBERS));
    GIVES(LINEGATE_ABSENT, linegate_call(gate, event.ticket, table, ACTIONS, &which, values, MEMBERS));
    GIVES(LINEGATE_OK, linegate_authorize(gate, event.ticket, 1));
    GIVES(LINEGATE_OK, linegate_authorized(gate, event.ticket));
}

/* Rows that can't be. None of them decides anything. */
static void tables(void) {
    linegate *gate = fresh();
    linegate_action row = table[1];
    GIVES(LINEGATE_OK, feed(gate, CALL("{\"n\":0}"), &event));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_call(NULL, event.ticket, table, ACTIONS, &which, values, MEMBERS));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_call(gate, event.ticket, NULL, ACTIONS, &which, values, MEMBERS));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_call(gate, event.ticket, (void *)((char *)table + 1), ACTIONS, &which, values, MEMBERS));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_call(gate, event.ticket, table, ACTIONS, NULL, values, MEMBERS));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_call(gate, event.ticket, table, ACTIONS, &which, NULL, MEMBERS));
    GIVES(LINEGATE_BUFFER_TOO_SMALL, linegate_call(gate, event.ticket, table, ACTIONS, &which, values, MEMBERS - 1));
    GIVES(LINEGATE_OK, linegate_call(gate, event.ticket, table, ACTIONS, &which, NULL, 0));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_refusal(NULL, &event));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_refusal(gate, NULL));
    row.size = 0;
    GIVES(LINEGATE_BAD_OPTIONS, with_row(gate, row));
    row.size = sizeof row, row.reserved = 1;
    GIVES(LINEGATE_BAD_OPTIONS, with_row(gate, row));
    row.reserved = 0, row.target = 2;
    GIVES(LINEGATE_BAD_OPTIONS, with_row(gate, row));
    row.target = 0, row.name = NULL;
    GIVES(LINEGATE_NULL_ARGUMENT, with_row(gate, row));
    row.name = "\xff";
    GIVES(LINEGATE_BAD_OPTIONS, with_row(gate, row));
    row.name = "set", row.members = NULL;
    GIVES(LINEGATE_NULL_ARGUMENT, with_row(gate, row));
    row.members_len = 0;
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, with_row(gate, row));
    /* No row at all: no tool at all. */
    GIVES(LINEGATE_OK, feed(gate, CALL("{\"n\":0}"), &event));
    GIVES(LINEGATE_UNKNOWN_TOOL, linegate_call(gate, event.ticket, NULL, 0, &which, NULL, 0));

    linegate_member one = MEMBER("n", LINEGATE_TYPE_OBJECT, .optional = 0);
    GIVES(LINEGATE_OK, with_member(gate, one));
    one.optional = 2;
    GIVES(LINEGATE_BAD_OPTIONS, with_member(gate, one));
    one.optional = 0, one.type = 8;
    GIVES(LINEGATE_BAD_OPTIONS, with_member(gate, one));
    /* Bounds and members of a type that has none, whatever the argument is: it is never the client's fault. */
    for (uint32_t type = LINEGATE_TYPE_NONE; type <= LINEGATE_TYPE_INTEGER; type++) {
        linegate_status plain = type == LINEGATE_TYPE_NONE || type == LINEGATE_TYPE_OBJECT ? LINEGATE_OK : LINEGATE_ARGUMENTS_SCHEMA;
        int holds = type == LINEGATE_TYPE_OBJECT, counts = type == LINEGATE_TYPE_INTEGER;
        one = (linegate_member)MEMBER("n", type, .optional = 0);
        GIVES(plain, with_member(gate, one));
        one.max = 5;
        GIVES(counts ? plain : LINEGATE_BAD_OPTIONS, with_member(gate, one));
        one.max = 0, one.min = -1;
        GIVES(counts ? plain : LINEGATE_BAD_OPTIONS, with_member(gate, one));
        one.min = 1;
        GIVES(LINEGATE_BAD_OPTIONS, with_member(gate, one));
        one.min = 0, one.members = nobody;
        GIVES(holds ? LINEGATE_ARGUMENTS_SCHEMA : LINEGATE_BAD_OPTIONS, with_member(gate, one));
        one.members = NULL, one.members_len = 1;
        GIVES(holds || type == LINEGATE_TYPE_ARRAY ? LINEGATE_NULL_ARGUMENT : LINEGATE_BAD_OPTIONS, with_member(gate, one));
    }
    one = (linegate_member)MEMBER("n", LINEGATE_TYPE_INTEGER, .min = 5, .max = 5);
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, with_member(gate, one));
    one.max = 4;
    GIVES(LINEGATE_BAD_OPTIONS, with_member(gate, one));
    one = (linegate_member)MEMBER(NULL, LINEGATE_TYPE_OBJECT, .optional = 0);
    GIVES(LINEGATE_NULL_ARGUMENT, with_member(gate, one));
    /* The elements of an array have one row. */
    linegate_member elements = MEMBER(NULL, LINEGATE_TYPE_INTEGER, .optional = 0), list = MEMBER("n", LINEGATE_TYPE_ARRAY, .members = &elements);
    one.name = "n", one.members = &list, one.members_len = 1;
    GIVES(LINEGATE_BAD_OPTIONS, with_member(gate, one));
    list.members_len = 1;
    GIVES(LINEGATE_OK, with_member(gate, one));
    elements.name = "n";
    GIVES(LINEGATE_BAD_OPTIONS, with_member(gate, one));
    elements.name = NULL;
    /* Two rows of one name, beside each other or not, whether the client uses them or not. */
    linegate_member twins[] = { MEMBER("n", LINEGATE_TYPE_NONE, .optional = 1), MEMBER("m", LINEGATE_TYPE_NONE, .optional = 1),
        MEMBER("nn", LINEGATE_TYPE_NONE, .optional = 1) };
    row = (linegate_action){ .size = sizeof row, .name = "set", .members = twins, .members_len = 3 };
    GIVES(LINEGATE_OK, with_row(gate, row));
    twins[2].name = "n";
    GIVES(LINEGATE_BAD_OPTIONS, with_row(gate, row));
    twins[2].name = "m";
    GIVES(LINEGATE_BAD_OPTIONS, with_row(gate, row));
    one = (linegate_member)MEMBER("other", LINEGATE_TYPE_OBJECT, .optional = 1, .members = twins, .members_len = 3);
    GIVES(LINEGATE_BAD_OPTIONS, with_member(gate, one));
    one.members_len = 2;
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, with_member(gate, one));
    linegate_action same[] = { table[0], table[1], table[1], table[2] };
    GIVES(LINEGATE_OK, feed(gate, CALL("{\"n\":0}"), &event));
    GIVES(LINEGATE_BAD_OPTIONS, linegate_call(gate, event.ticket, same, 4, &which, values, MEMBERS));
    HOLDS(which == 4 && values[0].data == NULL);
    same[2].target = LINEGATE_TARGET_METHOD;
    GIVES(LINEGATE_OK, linegate_call(gate, event.ticket, same, 4, &which, values, MEMBERS));
    HOLDS(which == 1);
    /* A row behind the one that is asked for counts as well. */
    same[3].target = 2;
    GIVES(LINEGATE_OK, feed(gate, CALL("{\"n\":0}"), &event));
    GIVES(LINEGATE_BAD_OPTIONS, linegate_call(gate, event.ticket, same, 4, &which, values, MEMBERS));
    /* Rows of another size than the first says. */
    struct { linegate_action known; size_t more; } uneven[2] = { { .known = table[0] }, { .known = table[1] } };
    uneven[0].known.size = sizeof *uneven;
    GIVES(LINEGATE_OK, feed(gate, CALL("{\"n\":0}"), &event));
    GIVES(LINEGATE_BAD_OPTIONS, linegate_call(gate, event.ticket, &uneven->known, 2, &which, values, MEMBERS));
    uneven[1].known.size = sizeof *uneven;
    GIVES(LINEGATE_OK, linegate_call(gate, event.ticket, &uneven->known, 2, &which, values, MEMBERS));
    /* Rows that nest as deep as they may, and one deeper; one that holds itself does. The arguments don't matter. */
    linegate_member deep[LINEGATE_MAX_NESTING + 1];
    for (size_t at = 0; at < sizeof deep / sizeof *deep; at++) {
        deep[at] = (linegate_member)MEMBER("o", LINEGATE_TYPE_OBJECT, .optional = 1);
        if (at > 0) deep[at - 1].members = deep + at, deep[at - 1].members_len = 1;
    }
    row = (linegate_action){ .size = sizeof row, .name = "set", .members = deep, .members_len = 1 };
    GIVES(LINEGATE_OK, feed(gate, CALL("{\"o\":{\"o\":{\"o\":{\"o\":{\"o\":{\"o\":{\"o\":{\"o\":{\"o\":{\"n\":1}}}}}}}}}}"), &event));
    GIVES(LINEGATE_OK, linegate_call(gate, event.ticket, &row, 1, &which, NULL, 0));
    GIVES(LINEGATE_OK, feed(gate, CALL("{}"), &event));
    GIVES(LINEGATE_OK, linegate_call(gate, event.ticket, &row, 1, &which, NULL, 0));
    deep[LINEGATE_MAX_NESTING].members = nobody;
    GIVES(LINEGATE_OK, feed(gate, CALL("{}"), &event));
    GIVES(LINEGATE_BAD_OPTIONS, linegate_call(gate, event.ticket, &row, 1, &which, NULL, 0));
    linegate_member loop[] = { MEMBER("o", LINEGATE_TYPE_OBJECT, .optional = 1) };
    loop[0].members = loop, loop[0].members_len = 1;
    linegate_action endless = { .size = sizeof endless, .name = "set", .members = loop, .members_len = 1 };
    GIVES(LINEGATE_OK, feed(gate, CALL("{}"), &event));
    GIVES(LINEGATE_BAD_OPTIONS, linegate_call(gate, event.ticket, &endless, 1, &which, NULL, 0));
    GIVES(LINEGATE_NOT_AUTHORIZED, linegate_authorized(gate, event.ticket));
}

/* What the header says of null, of _meta and of values_len. */
static void told_in_the_header(void) {
    static const char with_meta[] = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"_meta\":{},\"level\":\"x\"}}\n";
    linegate *gate = fresh();
    linegate_member nulls[] = { MEMBER("n", LINEGATE_TYPE_NONE, .optional = 0), MEMBER("m", LINEGATE_TYPE_NULL, .optional = 0) };
    linegate_action row = { .size = sizeof row, .name = "set", .members = nulls, .members_len = 2 };
    GIVES(LINEGATE_OK, feed(gate, CALL("{\"n\":null,\"m\":null}"), &event));
    GIVES(LINEGATE_OK, linegate_call(gate, event.ticket, &row, 1, &which, values, 2));
    HOLDS(values[0].data == NULL && values[1].data == NULL);
    GIVES(LINEGATE_OK, feed(gate, CALL("{\"n\":null}"), &event));
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, linegate_call(gate, event.ticket, &row, 1, &which, values, 2));
    /* Of plain JSON-RPC tools/call is a method, and _meta a member. */
    linegate_member members_too[] = { MEMBER("level", LINEGATE_TYPE_STRING, .optional = 0), MEMBER("_meta", LINEGATE_TYPE_OBJECT, .optional = 1) };
    row = (linegate_action){ .size = sizeof row, .name = "tools/call", .target = LINEGATE_TARGET_METHOD, .members = members_too, .members_len = 1 };
    linegate_options options = small();
    options.revision = LINEGATE_REVISION_JSONRPC;
    gate = in(storage, &options);
    GIVES(LINEGATE_OK, feed(gate, with_meta, &event));
    GIVES(LINEGATE_ARGUMENTS_SCHEMA, linegate_call(gate, event.ticket, &row, 1, &which, NULL, 0));
    row.members_len = 2;
    GIVES(LINEGATE_OK, feed(gate, with_meta, &event));
    GIVES(LINEGATE_OK, linegate_call(gate, event.ticket, &row, 1, &which, values, 2));
    HOLDS(values[0].len == 3 && values[1].len == 2);
}

static int complains(const linegate_options *options, linegate_status status, const char *option) {
    linegate_complaint said = { .size = sizeof said };
    int same = linegate_options_check(options, &said) == status && linegate_options_check(options, NULL) == status
        && said.option.len == strlen(option) && !memcmp(said.option.data, option, said.option.len) && said.text.len > 0;
    if (!same) fprintf(stderr, "%s: %.*s: %.*s\n", option, (int)said.option.len, said.option.data, (int)said.text.len, said.text.data);
    return same;
}

static void complaints(void) {
    linegate_options options = small();
    linegate_complaint said = { .size = sizeof said, .option = slice("?"), .text = slice("?") };
    GIVES(LINEGATE_OK, linegate_options_check(&options, &said));
    HOLDS(said.option.data == NULL && said.text.data == NULL && said.size == sizeof said);
    GIVES(LINEGATE_OK, linegate_options_check(&options, NULL));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_options_check(NULL, &said));
    HOLDS(said.option.len == strlen("options") && !memcmp(said.option.data, "options", said.option.len));
    GIVES(LINEGATE_NULL_ARGUMENT, linegate_options_check(&options, (void *)((char *)&said + 1)));
    said.size = 0;
    GIVES(LINEGATE_BAD_OPTIONS, linegate_options_check(&options, &said));
#define WRONG(member, value) do { options = small(); options.member = value; HOLDS(complains(&options, LINEGATE_BAD_OPTIONS, #member) && linegate_storage_size(&options) == 0); } while (0)
    WRONG(size, 0);
    WRONG(direction, 2);
    WRONG(profile, 4);
    WRONG(revision, 7);
    WRONG(policy, 3);
    WRONG(batches, 3);
    WRONG(batches, LINEGATE_BATCHES_ALLOW);
    WRONG(error_id, 3);
    WRONG(allow, 0x4000);
    WRONG(refuse, 0x4000);
    WRONG(grant, 0x4000);
    WRONG(max_frame, 3);
    WRONG(max_depth, 513);
    WRONG(max_depth, 65536 + 32);
    WRONG(max_keys, (1u << 24) + 1);
    WRONG(max_id, 4097);
    const char *empty[] = { "fine", "" }, *hole[] = { NULL }, *many[66];
    options = small();
    options.allow = options.refuse = LINEGATE_SWITCH_DEPTH;
    HOLDS(complains(&options, LINEGATE_BAD_OPTIONS, "refuse"));
#define WRONG_NAMES(member, list, len, status) \
    do { options = small(); options.member = list; options.member##_len = len; HOLDS(complains(&options, status, #member)); } while (0)
    WRONG_NAMES(methods, empty, 2, LINEGATE_BAD_OPTIONS);
    WRONG_NAMES(methods, hole, 1, LINEGATE_NULL_ARGUMENT);
    WRONG_NAMES(methods, NULL, 1, LINEGATE_NULL_ARGUMENT);
    WRONG_NAMES(result_types, empty, 2, LINEGATE_BAD_OPTIONS);
    WRONG_NAMES(result_types, hole, 1, LINEGATE_NULL_ARGUMENT);
    WRONG_NAMES(versions, empty, 2, LINEGATE_BAD_OPTIONS);
    for (size_t at = 0; at < 66; at++) many[at] = "1";
    options = small();
    options.versions = many, options.versions_len = 64;
    GIVES(LINEGATE_OK, linegate_options_check(&options, NULL));
    WRONG_NAMES(versions, many, 65, LINEGATE_BAD_OPTIONS);
    WRONG_NAMES(versions, many, 66, LINEGATE_BAD_OPTIONS);
}

int main(void) {
    arguments();
    order();
    by_hand();
    meta();
    reserved_codes();
    loosened();
    asks_for_nothing();
    in_vain();
    tables();
    told_in_the_header();
    complaints();
    return told("calls");
}
