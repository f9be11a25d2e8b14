/* Clean: the server as it is. */
#include "serve.h"

int main(void) { return serve(); }
