/* The string's terminator goes over the wire with it. */
#define REPLY(line, length) put(line, (length) + 1)
#include "serve.h"

int main(void) { return serve(); }
