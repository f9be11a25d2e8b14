/* The four memory functions that compiled code may call. Plain loops: build with -fno-builtin and
   -fno-tree-loop-distribute-patterns, or gcc turns each loop into a call of the function that it is in. */
#include <stddef.h>

void *memcpy(void *to, const void *from, size_t n) {
    unsigned char *t = to;
    const unsigned char *f = from;
    while (n--) *t++ = *f++;
    return to;
}

void *memmove(void *to, const void *from, size_t n) {
    unsigned char *t = to;
    const unsigned char *f = from;
    if (t < f) {
        while (n--) *t++ = *f++;
    } else {
        while (n--) t[n] = f[n];
    }
    return to;
}

void *memset(void *to, int byte, size_t n) {
    unsigned char *t = to;
    while (n--) *t++ = (unsigned char)byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t n) {
    const unsigned char *x = a, *y = b;
    for (; n--; x++, y++) {
        if (*x != *y) return *x - *y;
    }
    return 0;
}

int bcmp(const void *a, const void *b, size_t n) { return memcmp(a, b, n); }
