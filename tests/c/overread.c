/* A caller that lies about the length of its input: the sanitizer must see the library read behind the block. */
#include <stdlib.h>
#include <string.h>

#include "linegate.h"

static _Alignas(16) unsigned char storage[16384];

int main(void) {
    linegate_options options = { .size = sizeof options, .max_frame = 512, .max_keys = 64 };
    linegate_event event = { .size = sizeof event };
    linegate *gate;
    size_t used;
    char *input = malloc(8);
    memset(input, '{', 8);
    if (linegate_init(storage, sizeof storage, &options, &gate) != LINEGATE_OK) return 0;
    linegate_feed(gate, input, 16, &used, &event);
    free(input);
    return 0;
}
