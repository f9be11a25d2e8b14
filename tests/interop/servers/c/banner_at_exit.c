/* A printf that stdio holds back until the process ends, behind all answers. */
#include "serve.h"

int main(void) {
    printf("fault-server 1.0 up and running\n");
    return serve();
}
