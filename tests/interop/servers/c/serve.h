/* An MCP server over stdio in its smallest form; what the servers beside this file have in common. It is clean: nothing but
 * answers on stdout, a word on stderr for each request, status 0 at the end of input. It looks for the members that it needs
 * as text, which is enough for requests that are well formed. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes past stdio, so that a fault can use that. */
static void put(const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t put = write(1, bytes, length);
        if (put <= 0) _exit(0);
        bytes += put;
        length -= (size_t)put;
    }
}

/* The member's value as it is written: up to the next comma or brace, or for a string its closing quote. */
static char *member(const char *line, const char *name) {
    char *at = strstr(line, name);
    if (at == NULL) return NULL;
    at += strlen(name);
    size_t length = *at == '"' ? strcspn(at + 1, "\"") + 2 : strcspn(at, ",}");
    return strndup(at, length);
}

#ifndef BEFORE
#define BEFORE(method) (void)(method)
#endif
#ifndef REPLY
#define REPLY(line, length) put(line, length)
#endif
#ifndef TOOL
#define TOOL() (void)0
#endif

static const char INITIALIZED[] =
    "\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
    "\"serverInfo\":{\"name\":\"fault\",\"version\":\"1\"}}";
static const char LISTED[] = "\"result\":{\"tools\":[{\"name\":\"work\",\"inputSchema\":{\"type\":\"object\"}}]}";
static const char UNKNOWN[] = "\"error\":{\"code\":-32601,\"message\":\"Method not found\"}";

static void answer(const char *line) {
    char *id = member(line, "\"id\":"), *method = member(line, "\"method\":"), *text = NULL, *content = NULL, *reply = NULL;
    if (id == NULL || method == NULL) goto done;
    fprintf(stderr, "request %s\n", method);
    BEFORE(method);
    const char *body = UNKNOWN;
    if (strcmp(method, "\"initialize\"") == 0) body = INITIALIZED;
    if (strcmp(method, "\"ping\"") == 0) body = "\"result\":{}";
    if (strcmp(method, "\"tools/list\"") == 0) body = LISTED;
    if (strcmp(method, "\"tools/call\"") == 0) {
        TOOL();
        text = member(line, "\"text\":");
        if (asprintf(&content, "\"result\":{\"content\":[{\"type\":\"text\",\"text\":%s}]}", text ? text : "\"\"") < 0) abort();
        body = content;
    }
    int length = asprintf(&reply, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}\n", id, body);
    if (length < 0) abort();
    REPLY(reply, (size_t)length);
done:
    free(id), free(method), free(text), free(content), free(reply);
}

static int serve(void) {
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) answer(line);
    free(line);
    return 0;
}
