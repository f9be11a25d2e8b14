/* What the examples at the head of the header take for granted: the run puts their text behind this, each in a function. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linegate.h>

enum { ACTIONS = 1, MEMBERS = 1 };
static const linegate_action table[ACTIONS] = { { .size = sizeof(linegate_action), .name = "do" } };
static char line[4096];
static size_t line_len;

int read_loop(void);
int session(linegate_slice id, const char *result);
void answer(const linegate_event *event);
void execute(linegate *gate, const linegate_event *event, size_t which, const linegate_slice *values);
int policy(size_t which, const linegate_slice *values);
void write_all(int to, const char *data, size_t len);
