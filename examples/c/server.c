/* A complete MCP server in C behind a linegate: handshake, list, call, end of input. A starting point: put your tools in
   place of `add` and `record`, and your policy in `allowed`.

       cc server.c $(pkg-config --cflags --libs linegate) -o server && ./server [FILE]

   Three things keep it safe. Nothing reaches a handler but lines that the gate accepted; a tool runs only with a ticket
   that the policy granted and that holds once; and nothing but what a second gate accepted reaches standard output, which
   was moved out of the reach of prints. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linegate.h>

#define REVISION "2025-11-25"

enum { LINE_MAX_BYTES = 65536, IN_FLIGHT = 64, INVALID_PARAMS = -32602, METHOD_NOT_FOUND = -32601, INTERNAL_ERROR = -32603 };

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
    char line[LINE_MAX_BYTES];
    size_t len;
    linegate_status status =
        linegate_write_error(server->out, id, code, message, NULL, 0, line, sizeof line, &len);
    if (status == LINEGATE_OK) write_all(server->wire, line, len);
    else fprintf(stderr, "server: an error could not be written: %s\n", linegate_status_name(status));
}

static void send_result(struct server *server, linegate_slice id, const char *result) {
    char line[LINE_MAX_BYTES];
    size_t len;
    linegate_status status = linegate_write_result(server->out, id, result, strlen(result), line, sizeof line, &len);
    if (status == LINEGATE_OK) {
        write_all(server->wire, line, len);
    } else {
        fprintf(stderr, "server: a result could not be written: %s\n", linegate_status_name(status));
        send_error(server, id, INTERNAL_ERROR, "The answer is not a line that every client can read.");
    }
}

/* A tool: its arguments, and whether it worked. `said` is text without anything that JSON escapes. */
typedef int tool_function(struct server *server, linegate_slice arguments, char *said, size_t cap);

static int integer(linegate_slice arguments, const char *name, int64_t *value) {
    linegate_slice member;
    return linegate_get(arguments, name, &member) == LINEGATE_OK && linegate_integer(member, value) == LINEGATE_OK;
}

static int add(struct server *server, linegate_slice arguments, char *said, size_t cap) {
    int64_t a, b;
    (void)server;
    if (!integer(arguments, "a", &a) || !integer(arguments, "b", &b)) {
        snprintf(said, cap, "add needs a and b, two integers.");
        return 0;
    }
    /* The gate lets no integer beyond 2^53-1 through, so the sum can't overflow. */
    snprintf(said, cap, "%lld", (long long)(a + b));
    return 1;
}

static int record(struct server *server, linegate_slice arguments, char *said, size_t cap) {
    char text[1024] = "";
    size_t len;
    linegate_slice member;
    if (linegate_get(arguments, "text", &member) == LINEGATE_OK
        && linegate_string(member, text, sizeof text, &len) != LINEGATE_OK) {
        snprintf(said, cap, "record takes text, a string of at most 1023 bytes.");
        return 0;
    }
    FILE *file = server->file ? fopen(server->file, "a") : NULL;
    if (!file || fprintf(file, "%s\n", text) < 0 || fclose(file) != 0) {
        snprintf(said, cap, "The file can't be written.");
        return 0;
    }
    snprintf(said, cap, "recorded");
    return 1;
}

static const struct tool {
    const char *name;
    tool_function *run;
    const char *description;
} tools[] = {
    { "add", add,
        "{\"name\":\"add\",\"description\":\"Adds two integers.\",\"inputSchema\":{\"type\":\"object\",\"properties\":"
        "{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\"}},\"required\":[\"a\",\"b\"]}}" },
    { "record", record,
        "{\"name\":\"record\",\"description\":\"Appends a line to a file: its text, if it has one.\",\"inputSchema\":"
        "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}}}}" },
};

static const struct tool *find(linegate_slice name) {
    char text[64];
    size_t len;
    if (linegate_string(name, text, sizeof text, &len) != LINEGATE_OK) return NULL;
    for (size_t at = 0; at < sizeof tools / sizeof *tools; at++) {
        if (strlen(tools[at].name) == len && !memcmp(tools[at].name, text, len)) return &tools[at];
    }
    return NULL;
}

/* Your policy: whether a call may run at all. It sees the whole message, and it alone decides. */
static int allowed(const struct tool *tool, linegate_slice arguments) {
    return tool != NULL && linegate_type(arguments) == LINEGATE_TYPE_OBJECT;
}

static void call(struct server *server, const linegate_event *event) {
    linegate_slice name = { NULL, 0 }, arguments = { NULL, 0 };
    char said[256], result[512];
    linegate_get(event->params, "name", &name);
    linegate_get(event->params, "arguments", &arguments);
    const struct tool *tool = find(name);
    linegate_authorize(server->in, event->ticket, allowed(tool, arguments));
    /* Where the tool runs, and nowhere else: a ticket that was granted, and not used. */
    if (linegate_authorized(server->in, event->ticket) != LINEGATE_OK) {
        send_error(server, event->id, INVALID_PARAMS, "There is no such tool, or it may not be called so.");
        return;
    }
    int worked = tool->run(server, arguments, said, sizeof said);
    snprintf(result, sizeof result, "{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}],\"isError\":%s}", said,
        worked ? "false" : "true");
    send_result(server, event->id, result);
}

static void list(struct server *server, const linegate_event *event) {
    char result[4096];
    size_t len = (size_t)snprintf(result, sizeof result, "{\"tools\":[");
    for (size_t at = 0; at < sizeof tools / sizeof *tools; at++) {
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

/* One refused line: told to people on standard error, and to the client where an answer is due. */
static void refuse(struct server *server, const linegate_event *event) {
    char reply[LINEGATE_REPLY_LEN];
    size_t len;
    fprintf(stderr, "server: line %llu refused: %d %s, byte %zu: %s\n", (unsigned long long)event->sequence,
        (int)event->status, linegate_status_name(event->status), event->offset, linegate_status_message(event->status));
    if (linegate_reply(server->in, reply, sizeof reply, &len) == LINEGATE_OK) write_all(server->wire, reply, len);
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
            else refuse(server, &event);
            if (event.closes) return;
        }
    }
    if (linegate_finish(server->in, &event) == LINEGATE_TRUNCATED) refuse(server, &event);
}

/* A gate for one direction, in memory of its own. */
static linegate *gate_for(uint32_t direction, uint32_t policy) {
    linegate_options options = { .size = sizeof options, .direction = direction, .policy = policy,
        .revision = LINEGATE_REVISION_2025_11_25, .max_frame = LINE_MAX_BYTES, .max_keys = 4096 };
    size_t len = linegate_storage_size(&options);
    linegate *gate = NULL;
    linegate_status status = linegate_init(malloc(len), len, &options, &gate);
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
    /* The storage is the program's own: it goes with it. */
    return 0;
}
