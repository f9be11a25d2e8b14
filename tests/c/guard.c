/* What reaches standard output under the guard: guard END, with END `release` or `exit`. The caller compares. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "linegate.h"

static void expect(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "guard.c: %s\n", what);
    _exit(3);
}

static void raw(int to, const char *text) { expect(write(to, text, strlen(text)) == (ssize_t)strlen(text), "write"); }

int main(int argc, char **argv) {
    int32_t wire = 5, again = 5;
    expect(argc == 2, "usage");
    printf("a banner before\n");
    expect(linegate_release_stdout(7) == LINEGATE_STALE_EVENT, "released without a guard");
    expect(linegate_guard_stdout(NULL) == LINEGATE_NULL_ARGUMENT, "NULL");
    expect(linegate_guard_stdout(&wire) == LINEGATE_OK && wire > 2, "guarded");
    expect(linegate_guard_stdout(&again) == LINEGATE_STALE_EVENT && again == -1, "guarded twice");
    raw(wire, "wire 1\n");
    raw(1, "raw\n");
    printf("a print\n");
    expect(system("echo child") == 0, "child");
    raw(wire, "wire 2\n");
    printf("buffered");
    if (!strcmp(argv[1], "exit")) exit(0);
    expect(linegate_release_stdout(wire + 1) == LINEGATE_STALE_EVENT, "another descriptor");
    expect(linegate_release_stdout(wire) == LINEGATE_OK, "released");
    expect(linegate_release_stdout(wire) == LINEGATE_STALE_EVENT, "released twice");
    printf("after\n");
    /* Once more, without a standard error to go to. */
    fflush(stdout);
    close(2);
    expect(linegate_guard_stdout(&wire) == LINEGATE_INTERNAL && wire == -1, "no standard error");
    printf("still here\n");
    return 0;
}
