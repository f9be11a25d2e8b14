/* A program of somebody else's: the installed header, the installed library, one line. */
#include <linegate.h>
#include <stdio.h>
#include <string.h>

static union {
    double align;
    unsigned char bytes[8192];
} storage;

int main(void) {
    static const char line[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    linegate_options options = { sizeof options };
    linegate_event event = { sizeof event };
    linegate *gate;
    size_t used;
    char version[32];
    sprintf(version, "%d.%d.%d", LINEGATE_VERSION_MAJOR, LINEGATE_VERSION_MINOR, LINEGATE_VERSION_PATCH);
    options.max_frame = 1024;
    options.max_keys = 128;
    if (strcmp(version, linegate_version()) != 0) return 2;
    if (linegate_init(&storage, sizeof storage, &options, &gate) != LINEGATE_OK) return 3;
    if (linegate_feed(gate, line, sizeof line - 1, &used, &event) != LINEGATE_OK) return 4;
    printf("%s %.*s\n", version, (int)event.method.len, event.method.data);
    return 0;
}
