/* A reader with a buffer of 64 KiB: what is longer is two lines to it. */
#include "serve.h"

int main(void) {
    static char line[65536];
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (strchr(line, '\n') != NULL) answer(line);
    }
    return 0;
}
