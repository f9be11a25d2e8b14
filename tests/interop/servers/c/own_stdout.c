/* Closes its stdout behind a call, and reads on. */
#define REPLY(line, length) put_once(line, length)
#include <stddef.h>
static void put_once(const char *line, size_t length);
#include "serve.h"

static void put_once(const char *line, size_t length) {
    if (write(1, line, length) < 0) return;
    if (strstr(line, "\"content\"") != NULL) close(1);
}

int main(void) { return serve(); }
