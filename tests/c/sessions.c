/* Calls that are refused in a session: none of them is left waiting, whichever way its reply takes, and nothing else of the
   session changes. */
#include "misuse.h"

enum { IN_FLIGHT = 4, CALLS = 200 };

static _Alignas(16) unsigned char second[65536], memory[4096], others[2][65536];
static const char hello[] = "{\"jsonrpc\":\"2.0\",\"id\":\"hello\",\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
    "\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n";
static const char welcome[] =
    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}";
static const linegate_member members[] = { { .size = sizeof(linegate_member), .name = "n", .type = LINEGATE_TYPE_INTEGER } };
static const linegate_action table[] = {
    { .size = sizeof(linegate_action), .name = "set", .members = members, .members_len = 1 },
};

static linegate *client, *server;
static linegate_tracker *tracker;
static linegate_event event;
static char line[LINEGATE_REPLY_LEN], sent[LINEGATE_REPLY_LEN];
static size_t len, sent_len;

static linegate_options options_of(uint32_t direction, uint32_t revision) {
    linegate_options options = small();
    options.direction = direction, options.revision = revision, options.policy = LINEGATE_POLICY_CONTINUE;
    return options;
}

/* A session of this revision that has begun. */
static void begin(uint32_t revision) {
    linegate_options options = options_of(LINEGATE_FROM_CLIENT, revision);
    options.allow = LINEGATE_SWITCH_BIG_INTEGERS;
    client = in(storage, &options);
    options = options_of(LINEGATE_FROM_SERVER, revision);
    server = in(second, &options);
    GIVES(LINEGATE_OK, linegate_tracker_init(memory, linegate_tracker_size(IN_FLIGHT), IN_FLIGHT, client, server, &tracker));
    GIVES(LINEGATE_OK, feed(client, hello, &event));
    GIVES(LINEGATE_OK, linegate_write_result(server, event.id, welcome, strlen(welcome), line, sizeof line, &len));
    GIVES(LINEGATE_OK, feed(client, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n", &event));
}

/* How many requests of the client's wait for their answers. */
static size_t waiting(void) {
    size_t of_client = 99, of_server;
    uint64_t late = 99;
    GIVES(LINEGATE_OK, linegate_tracker_count(tracker, &of_client, &of_server, &late));
    HOLDS(of_server == 0 && late == 0);
    return of_client;
}

static linegate_status call(int id, const char *tool, const char *arguments) {
    char text[256];
    snprintf(text, sizeof text,
        "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\",\"arguments\":%s}}\n", id, tool, arguments);
    return feed(client, text, &event);
}

static linegate_status judged(int id, const char *tool, const char *arguments) {
    size_t which;
    linegate_slice value;
    linegate_status status = call(id, tool, arguments);
    return status == LINEGATE_OK ? linegate_call(client, event.ticket, table, 1, &which, &value, 1) : status;
}

/* Refuses the call of that number, in turn in each way that there is. */
static void refused(int id) {
    static const linegate_slice absent;
    switch (id % 7) {
    case 0: GIVES(LINEGATE_UNKNOWN_TOOL, judged(id, "get", "{}")); break;
    case 1: GIVES(LINEGATE_ARGUMENTS_SCHEMA, judged(id, "set", "{}")); break;
    case 2: GIVES(LINEGATE_SWITCH_NOT_GRANTED, judged(id, "set", "{\"n\":9007199254740992}")); break;
    case 3:
        GIVES(LINEGATE_OK, judged(id, "set", "{\"n\":1}"));
        GIVES(LINEGATE_NOT_AUTHORIZED, linegate_authorize(client, event.ticket, 0));
        break;
    default:
        GIVES(LINEGATE_OK, call(id, "set", "{\"n\":1}"));
        HOLDS(waiting() == 1);
        linegate_status code = LINEGATE_UNKNOWN_TOOL + id % 7 - 4;
        GIVES(code, linegate_refuse(client, event.ticket, code, 0, absent));
    }
    HOLDS(waiting() == 0);
}

/* Straight to the wire, or through the server's gate: it goes out either way, and once through the gate. */
static void refused_calls(uint32_t revision) {
    for (int through_gate = 0; through_gate <= 1; through_gate++) {
        begin(revision);
        for (int id = 0; id < CALLS; id++) {
            refused(id);
            GIVES(LINEGATE_OK, linegate_reply(client, line, sizeof line, &len));
            HOLDS(len > 0);
            if (!through_gate) continue;
            GIVES(LINEGATE_OK, linegate_write_line(server, line, len - 1, sent, sizeof sent, &sent_len));
            HOLDS(sent_len == len && !memcmp(line, sent, len) && waiting() == 0);
            GIVES(LINEGATE_ANSWERED_TWICE, linegate_write_line(server, line, len - 1, sent, sizeof sent, &sent_len));
        }
        /* The ids are free again, and who has his answer is served. */
        for (int id = 0; id < CALLS; id++) {
            GIVES(LINEGATE_OK, judged(id, "set", "{\"n\":1}"));
            char number[12];
            snprintf(number, sizeof number, "%d", id);
            GIVES(LINEGATE_OK, linegate_write_result(server, slice(number), "{\"content\":[]}", 14, line, sizeof line, &len));
        }
    }
}

/* Room for as many as may wait, and not for one more: what is refused takes nothing of it. */
static void beside_others(void) {
    begin(LINEGATE_REVISION_2025_11_25);
    for (int id = 1000; id < 1000 + IN_FLIGHT - 1; id++) GIVES(LINEGATE_OK, judged(id, "set", "{\"n\":1}"));
    for (int id = 0; id < CALLS; id++) GIVES(LINEGATE_ARGUMENTS_SCHEMA, judged(id, "set", "{}"));
    GIVES(LINEGATE_OK, judged(1, "set", "{\"n\":1}"));
    GIVES(LINEGATE_TOO_MANY_IN_FLIGHT, judged(2, "set", "{\"n\":1}"));
    HOLDS(waiting() == IN_FLIGHT);
    /* A line that is refused was never in flight: the request of its id waits on, and is answered. */
    GIVES(LINEGATE_ID_IN_USE, judged(1, "set", "{}"));
    GIVES(LINEGATE_UNKNOWN_MEMBER, feed(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":1}\n", &event));
    HOLDS(waiting() == IN_FLIGHT);
    /* Nor was one that was judged by itself, for all that it has the same id. */
    linegate_slice absent = { NULL, 0 };
    static const char one[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    event = (linegate_event){ .size = sizeof event };
    GIVES(LINEGATE_OK, linegate_check_line(client, one, sizeof one - 1, &event));
    GIVES(LINEGATE_NOT_AUTHORIZED, linegate_refuse(client, event.ticket, LINEGATE_NOT_AUTHORIZED, 0, absent));
    HOLDS(waiting() == IN_FLIGHT);
    GIVES(LINEGATE_OK, linegate_write_result(server, slice("1"), "{\"content\":[]}", 14, line, sizeof line, &len));
    HOLDS(waiting() == IN_FLIGHT - 1);
    /* What was answered before it was refused is answered. */
    GIVES(LINEGATE_OK, call(5, "set", "{}"));
    GIVES(LINEGATE_OK, linegate_write_error(server, slice("5"), -32603, "no", NULL, 0, line, sizeof line, &len));
    GIVES(LINEGATE_ANSWERED_TWICE, linegate_write_error(server, slice("5"), -32603, "no", NULL, 0, line, sizeof line, &len));
    /* A handshake that was refused may be begun again. */
    GIVES(LINEGATE_OK, linegate_tracker_reset(tracker));
    for (int again = 0; again < CALLS; again++) {
        GIVES(LINEGATE_OK, feed(client, hello, &event));
        GIVES(LINEGATE_NOT_AUTHORIZED, linegate_refuse(client, event.ticket, LINEGATE_NOT_AUTHORIZED, 0, absent));
    }
    GIVES(LINEGATE_NOT_INITIALIZED, judged(1, "set", "{}"));
}

/* What the client is told in place of an answer that was refused on its way out: by the gate where the request has ended with it,
   else by the host. Never nothing, and never two. */
static void refused_answers(void) {
    static const struct {
        const char *id, *result;
        linegate_status status;
        int ended;
    } rows[] = {
        /* No result of tools/call, but a response to it. */
        { "1", "{\"content\":7}", LINEGATE_RESULT_SHAPE, 1 },
        { "1", "[]", LINEGATE_RESULT_TYPE, 1 },
        /* Text whose id nobody can be sure of. */
        { "1", "{\"content\":[],}", LINEGATE_UNEXPECTED_BYTE, 0 },
        { "1", "", LINEGATE_UNEXPECTED_BYTE, 0 },
        /* Two values in place of one: no response of any session's, even where the line would be one. */
        { "", "{\"content\":[]},\"id\":1", LINEGATE_TRAILING_BYTES, 0 },
        { "1,\"result\":{\"content\":[]}", "{\"content\":[]}", LINEGATE_DUPLICATE_KEY, 0 },
        { "1", "{\"content\":[]},\"x\":1", LINEGATE_UNKNOWN_MEMBER, 0 },
    };
    for (size_t at = 0; at < sizeof rows / sizeof *rows; at++) {
        begin(LINEGATE_REVISION_2025_11_25);
        GIVES(LINEGATE_OK, judged(1, "set", "{\"n\":1}"));
        linegate_status status = linegate_write_result(
            server, slice(rows[at].id), rows[at].result, strlen(rows[at].result), line, sizeof line, &len);
        if (status != rows[at].status) fprintf(stderr, "%s: %d\n", rows[at].result, (int)status);
        HOLDS(status == rows[at].status && len == 0 && waiting() == (rows[at].ended ? 0 : 1));
        status = linegate_settlement(server, line, sizeof line, &len);
        HOLDS(rows[at].ended ? status == LINEGATE_OK && len > 0 : len == 0);
        status = linegate_write_error(server, slice("1"), -32603, "no", NULL, 0, line, sizeof line, &len);
        HOLDS(status == (rows[at].ended ? LINEGATE_ANSWERED_TWICE : LINEGATE_OK) && waiting() == 0);
    }
    /* An error's data likewise. */
    begin(LINEGATE_REVISION_2025_11_25);
    GIVES(LINEGATE_OK, judged(1, "set", "{\"n\":1}"));
    const char *data = "1},\"x\":{\"y\":1";
    HOLDS(linegate_write_error(server, slice("1"), -32603, "no", data, strlen(data), line, sizeof line, &len) != LINEGATE_OK);
    HOLDS(len == 0 && waiting() == 1);
    GIVES(LINEGATE_OK, linegate_write_error(server, slice(" 1 "), -32603, "no", " [1] ", 5, line, sizeof line, &len));
    HOLDS(waiting() == 0);
}

/* A tracker that isn't made leaves the one that lives in its place as it was, and writes nothing. */
static void not_made(void) {
    static _Alignas(16) unsigned char unused[sizeof memory], as_it_was[sizeof memory];
    memset(unused, 0x5a, sizeof unused);
    memset(as_it_was, 0x5a, sizeof as_it_was);
    begin(LINEGATE_REVISION_2025_11_25);
    GIVES(LINEGATE_OK, judged(5, "set", "{\"n\":1}"));
    linegate_options options = options_of(LINEGATE_FROM_CLIENT, LINEGATE_REVISION_2025_11_25);
    linegate *one = in(others[0], &options);
    options = options_of(LINEGATE_FROM_SERVER, LINEGATE_REVISION_2025_06_18);
    linegate *other = in(others[1], &options);
    linegate_tracker *made = tracker;
    size_t size = linegate_tracker_size(IN_FLIGHT);
    GIVES(LINEGATE_BAD_OPTIONS, linegate_tracker_init(memory, size, IN_FLIGHT, one, other, &made));
    HOLDS(made == NULL);
    GIVES(LINEGATE_BAD_OPTIONS, linegate_tracker_init(memory, size, SIZE_MAX, one, other, &made));
    GIVES(LINEGATE_BAD_OPTIONS, linegate_tracker_init(unused, size, IN_FLIGHT, one, other, &made));
    HOLDS(!memcmp(unused, as_it_was, sizeof unused));
    GIVES(LINEGATE_ID_IN_USE, judged(5, "set", "{\"n\":1}"));
    HOLDS(waiting() == 1);
}

int main(void) {
    static const uint32_t revisions[] = { LINEGATE_REVISION_AUTO, LINEGATE_REVISION_2025_11_25 };
    for (size_t at = 0; at < 2; at++) refused_calls(revisions[at]);
    beside_others();
    refused_answers();
    not_made();
    return told("sessions");
}
