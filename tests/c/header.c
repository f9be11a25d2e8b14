/* The header alone, first of all, by each standard. */
#include "linegate.h"

int main(void) { return linegate_version() == 0; }
