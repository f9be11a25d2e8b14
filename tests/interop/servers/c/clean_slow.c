/* Clean: slow to come up, talkative on stderr, and with a child that it ends before it ends itself. */
#include "serve.h"
#include <sys/wait.h>

int main(void) {
    usleep(300000);
    pid_t child = fork();
    if (child == 0) {
        close(0), close(1);
        for (;;) pause();
    }
    fprintf(stderr, "up, with child %d\n", (int)child);
    int status = serve();
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return status;
}
