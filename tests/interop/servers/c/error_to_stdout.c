/* A complaint about an unknown method, in the stream of the answers. */
#define BEFORE(method) complain(method)
static void complain(const char *method);
#include "serve.h"

static void complain(const char *method) {
    static const char TEXT[] = "error: unsupported method server/discover\n";
    if (strcmp(method, "\"server/discover\"") == 0) put(TEXT, sizeof TEXT - 1);
}

int main(void) { return serve(); }
