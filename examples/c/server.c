/* A complete MCP server in C behind a linegate: handshake, list, call, end of input. A starting point: put your tools in
   place of `add` and `record`, and your policy in `allowed`.

       cc server.c $(pkg-config --cflags --libs linegate) -o server && ./server [FILE]

   Four things keep it safe. Nothing reaches a handler but lines that the gate accepted; a tool is given arguments of the types
   that its row in `actions` says, and nothing else; it runs only with a ticket that the policy granted and that holds once; and
   nothing but what a second gate accepted reaches standard output, which was moved out of the reach of prints. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linegate.h>

#define REVISION "2025-11-25"

enum { IN_FLIGHT = 64, METHOD_NOT_FOUND = -32601, INTERNAL_ERROR = -32603 };

struct server {
    linegate *in;    /* judges the client's lines */
    linegate *out;   /* judges ours */
    int wire;        /* where they go */
    const char *file; /* what `record` writes to; NULL for nothing */
};

static void write_all(int to, const char *data, size_t len) {
    while (len > 0) {
        ssize_t done = write(to, data, len);
        if (done < 0 && errno == EINTR) continue;
        /* A client that has gone away is the end. */
        if (done <= 0) exit(0);
        data += done;
        len -= (size_t)done;
    }
}

static void send_error(struct server *server, linegate_slice id, int code, const char *message) {
    char line[LINEGATE_REPLY_LEN];
    size_t len;
    linegate_status status =
        linegate_write_error(server->out, id, code, message, NULL, 0, line, sizeof line, &len);
    if (status == LINEGATE_OK) write_all(server->wire, line, len);
    else fprintf(stderr, "server: an error could not be written: %s\n", linegate_status_name(status));
}

static void send_result(struct server *server, linegate_slice id, const char *result) {
    size_t len = 0, result_len = strlen(result);
    char *line = NULL;
    /* The first call says how long the line is. */
    linegate_status status = linegate_write_result(server->out, id, result, result_len, NULL, 0, &len);
    if (status == LINEGATE_BUFFER_TOO_SMALL && (line = malloc(len)) != NULL) {
        status = linegate_write_result(server->out, id, result, result_len, line, len, &len);
    }
    if (status == LINEGATE_OK) {
        write_all(server->wire, line, len);
    } else {
        fprintf(stderr, "server: a result could not be written: %s\n", linegate_status_name(status));
        /* A response that was refused settles its request: what the gate says in its place is the one answer left. It says
           nothing where the request still waits. */
        char instead[LINEGATE_REPLY_LEN];
        if (linegate_settlement(server->out, instead, sizeof instead, &len) == LINEGATE_OK && len > 0) {
            write_all(server->wire, instead, len);
        } else {
            send_error(server, id, INTERNAL_ERROR, "The answer is not a line that every client can read.");
        }
    }
    free(line);
}

/* A tool: its arguments in the order of its members, and whether it worked. `said` is text without anything that JSON escapes. */
typedef int tool_function(struct server *server, const linegate_slice *values, char *said, size_t cap);

static int add(struct server *server, const linegate_slice *values, char *said, size_t cap) {
    int64_t a = 0, b = 0;
    (void)server;
    linegate_integer(values[0], &a);
    linegate_integer(values[1], &b);
    /* The gate lets no integer beyond 2^53-1 through, so the sum can't overflow. */
    snprintf(said, cap, "%lld", (long long)(a + b));
    return 1;
}

static int record(struct server *server, const linegate_slice *values, char *said, size_t cap) {
    /* Unescaped a string is no longer than it was written. */
    size_t len = 0, room = values[0].len + 1;
    char *text = calloc(room, 1);
    FILE *file = server->file ? fopen(server->file, "a") : NULL;
    int worked = text && file
        && (values[1].data == NULL || fprintf(file, "%.*s ", (int)values[1].len, values[1].data) > 0)
        && (values[0].data == NULL || linegate_string(values[0], text, room, &len) == LINEGATE_OK)
        && fwrite(text, 1, len, file) == len && fputc('\n', file) == '\n';
    if (file && fclose(file) != 0) worked = 0;
    free(text);
    snprintf(said, cap, worked ? "recorded" : "The file can't be written.");
    return worked;
}

static const linegate_member add_members[] = {
    { .size = sizeof(linegate_member), .name = "a", .type = LINEGATE_TYPE_INTEGER },
    { .size = sizeof(linegate_member), .name = "b", .type = LINEGATE_TYPE_INTEGER },
};
static const linegate_member record_members[] = {
    { .size = sizeof(linegate_member), .name = "text", .type = LINEGATE_TYPE_STRING, .optional = 1 },
    { .size = sizeof(linegate_member), .name = "n", .type = LINEGATE_TYPE_INTEGER, .optional = 1 },
};

/* Your tools: what the gate holds their arguments to, and what runs them and tells of them, in the same order. */
enum { TOOLS = 2, MEMBERS_MAX = 2 };
static const linegate_action actions[TOOLS] = {
    { .size = sizeof(linegate_action), .name = "add", .members = add_members, .members_len = 2 },
    { .size = sizeof(linegate_action), .name = "record", .members = record_members, .members_len = 2 },
};
static const struct tool {
    tool_function *run;
    const char *description;
} tools[TOOLS] = {
    { add,
        "{\"name\":\"add\",\"description\":\"Adds two integers.\",\"inputSchema\":{\"type\":\"object\",\"properties\":"
        "{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\"}},\"required\":[\"a\",\"b\"],\"additionalProperties\":false}}" },
    { record,
        "{\"name\":\"record\",\"description\":\"Appends a line to a file: its number and its text.\",\"inputSchema\":"
        "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"},\"n\":{\"type\":\"integer\"}},\"additionalProperties\":false}}" },
};

/* Your policy: whether a call may run at all. It sees the tool and arguments that fit it, and it alone decides. */
static int allowed(const linegate_action *action, const linegate_slice *values) {
    (void)values;
    return action != NULL;
}

/* A line or a call that was refused: told to people on standard error, and to the client where an answer is due. The reply goes
   straight to the wire: the session knows already that the refused call waits no longer. */
static void refuse(struct server *server) {
    linegate_event event = { .size = sizeof event };
    char reply[LINEGATE_REPLY_LEN];
    size_t len;
    if (linegate_refusal(server->in, &event) != LINEGATE_OK) return;
    fprintf(stderr, "server: line %llu refused: %d %s, byte %zu: %s\n", (unsigned long long)event.sequence,
        (int)event.status, linegate_status_name(event.status), event.offset, linegate_status_message(event.status));
    if (linegate_reply(server->in, reply, sizeof reply, &len) == LINEGATE_OK) write_all(server->wire, reply, len);
}

static void call(struct server *server, const linegate_event *event) {
    linegate_slice values[MEMBERS_MAX];
    char said[256], result[512];
    size_t which;
    if (linegate_call(server->in, event->ticket, actions, TOOLS, &which, values, MEMBERS_MAX) != LINEGATE_OK
        || linegate_authorize(server->in, event->ticket, allowed(&actions[which], values)) != LINEGATE_OK) {
        refuse(server);
        return;
    }
    /* Where the tool runs, and nowhere else: a ticket that was granted, and not used. */
    if (linegate_authorized(server->in, event->ticket) != LINEGATE_OK) return;
    int worked = tools[which].run(server, values, said, sizeof said);
    snprintf(result, sizeof result, "{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}],\"isError\":%s}", said,
        worked ? "false" : "true");
    send_result(server, event->id, result);
}

static void list(struct server *server, const linegate_event *event) {
    char result[4096];
    size_t len = (size_t)snprintf(result, sizeof result, "{\"tools\":[");
    for (size_t at = 0; at < TOOLS; at++) {
        len += (size_t)snprintf(result + len, sizeof result - len, "%s%s", at ? "," : "", tools[at].description);
    }
    snprintf(result + len, sizeof result - len, "]}");
    send_result(server, event->id, result);
}

static int is(linegate_slice method, const char *name) {
    return method.len == strlen(name) && !memcmp(method.data, name, method.len);
}

/* One accepted message. That the session has begun, and that no id is used twice, the gate has seen to. */
static void handle(struct server *server, const linegate_event *event) {
    /* Notifications ask for nothing here, and this server asks nothing that could be answered. */
    if (event->kind != LINEGATE_KIND_REQUEST) return;
    if (is(event->method, "initialize")) {
        send_result(server, event->id, "{\"protocolVersion\":\"" REVISION "\",\"capabilities\":{\"tools\":{}},"
            "\"serverInfo\":{\"name\":\"linegate-c-example\",\"version\":\"1\"}}");
    } else if (is(event->method, "ping")) {
        send_result(server, event->id, "{}");
    } else if (is(event->method, "tools/list")) {
        list(server, event);
    } else if (is(event->method, "tools/call")) {
        call(server, event);
    } else {
        send_error(server, event->id, METHOD_NOT_FOUND, "The method is not one of this server's.");
    }
}

static void serve(struct server *server) {
    char buffer[16384];
    linegate_event event = { .size = sizeof event };
    for (;;) {
        ssize_t got = read(STDIN_FILENO, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) perror("server: read");
        if (got <= 0) break;
        for (size_t at = 0, used; at < (size_t)got; at += used) {
            linegate_status status = linegate_feed(server->in, buffer + at, (size_t)got - at, &used, &event);
            if (status == LINEGATE_OK) handle(server, &event);
            else if (status == LINEGATE_NEED_MORE) continue;
            else if (status == LINEGATE_CLOSED || status > LINEGATE_CLOSED) return;
            else refuse(server);
            if (event.closes) return;
        }
    }
    if (linegate_finish(server->in, &event) == LINEGATE_TRUNCATED) refuse(server);
}

/* A gate for one direction, whose memory grows with the longest line, up to the default limit. A program that may not ask for
   memory takes linegate_init and a max_frame of its own. */
static linegate *gate_for(uint32_t direction, uint32_t policy) {
    linegate_options options = { .size = sizeof options, .direction = direction, .policy = policy,
        .revision = LINEGATE_REVISION_2025_11_25 };
    linegate *gate = NULL;
    linegate_status status = linegate_new(&options, &gate);
    if (status != LINEGATE_OK) fprintf(stderr, "server: %s\n", linegate_status_message(status));
    return gate;
}

int main(int argc, char **argv) {
    struct server server = { .file = argc > 1 ? argv[1] : NULL };
    /* First of all: from here on a print goes to standard error, whoever makes it. */
    if (linegate_guard_stdout(&server.wire) != LINEGATE_OK) return 2;
    server.in = gate_for(LINEGATE_FROM_CLIENT, LINEGATE_POLICY_CLOSE_MALFORMED);
    /* A line of ours that could not go out ends nothing. */
    server.out = gate_for(LINEGATE_FROM_SERVER, LINEGATE_POLICY_CONTINUE);
    if (!server.in || !server.out) return 2;
    size_t len = linegate_tracker_size(IN_FLIGHT);
    linegate_tracker *tracker;
    if (linegate_tracker_init(malloc(len), len, IN_FLIGHT, server.in, server.out, &tracker) != LINEGATE_OK) return 2;
    serve(&server);
    linegate_free(server.in);
    linegate_free(server.out);
    free(tracker);
    return 0;
}
