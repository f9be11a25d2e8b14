/* A handler of SIGSEGV that says its last word on stdout; a setting that is no good brings it on. */
#include "serve.h"

static void crashed(int signal) {
    static const char TEXT[] = "*** Caught signal 11 (Segmentation fault)\n";
    put(TEXT, sizeof TEXT - 1);
    _exit(128 + signal);
}

int main(void) {
    signal(SIGSEGV, crashed);
    const char *limit = getenv("FAULT_LIMIT");
    if (limit != NULL && atoi(limit) == 0) raise(SIGSEGV);
    return serve();
}
