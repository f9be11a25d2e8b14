/* A handler that only sets a flag, and a read that goes on waiting. */
#include "serve.h"

static volatile sig_atomic_t stopped;
static void stop(int signal) { stopped = signal; }

int main(void) {
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};
    sigaction(SIGTERM, &action, NULL);
    return serve();
}
