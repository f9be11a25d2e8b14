/* A text in Latin-1 in a result. */
#define REPLY(line, length) put_latin(line, length)
#include <stddef.h>
static void put_latin(char *line, size_t length);
#include "serve.h"

static void put_latin(char *line, size_t length) {
    char *place = strstr(line, "\"text\",\"text\":\"");
    if (place != NULL) place[16] = (char)0xE9;
    put(line, length);
}

int main(void) { return serve(); }
