/* Reading JSON in the tests with the library's own values: whoever misreads them here misreads the vectors. */
#ifndef TESTS_JSON_H
#define TESTS_JSON_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linegate.h"

#define ABSENT ((linegate_slice){ NULL, 0 })

/* Ends the test: something that the test itself rests on is broken. */
static inline void broken(const char *what) {
    fprintf(stderr, "broken: %s\n", what);
    exit(2);
}

static inline linegate_slice member(linegate_slice object, const char *name) {
    linegate_slice value = ABSENT;
    linegate_get(object, name, &value);
    return value;
}

/* A string, unescaped, on the heap; NULL for an absent slice. */
static inline char *text(linegate_slice value, size_t *len) {
    size_t needed = 0;
    if (linegate_type(value) == LINEGATE_TYPE_NONE) return NULL;
    if (linegate_string(value, NULL, 0, &needed) != LINEGATE_BUFFER_TOO_SMALL) broken("not a string");
    char *out = malloc(needed + 1);
    if (linegate_string(value, out, needed + 1, &needed) != LINEGATE_OK) broken("a string that is no text");
    if (len) *len = needed;
    return out;
}

static inline int64_t number(linegate_slice value) {
    int64_t integer;
    if (linegate_integer(value, &integer) != LINEGATE_OK) broken("not an integer");
    return integer;
}

/* The number that is a member, or another if there is none. */
static inline int64_t number_or(linegate_slice object, const char *name, int64_t otherwise) {
    linegate_slice value = member(object, name);
    return value.data ? number(value) : otherwise;
}

/* Whether a string value, or its absence, is that text. */
static inline int says(linegate_slice value, const char *expected) {
    size_t len = 0;
    char *out = text(value, &len);
    int same = out && expected ? len == strlen(expected) && !memcmp(out, expected, len) : !out && !expected;
    free(out);
    return same;
}

/* Whether a string value, or its absence, is those bytes. */
static inline int is_bytes(linegate_slice value, linegate_slice bytes) {
    size_t len = 0;
    char *out = text(value, &len);
    int same = out && bytes.data ? len == bytes.len && !memcmp(out, bytes.data, len) : !out && !bytes.data;
    free(out);
    return same;
}

/* Whether two values are the same, whatever the order of members. */
static inline int equal(linegate_slice a, linegate_slice b) {
    uint32_t type = linegate_type(a);
    linegate_iter left, right;
    linegate_slice key, one, other;
    size_t ones = 0, others = 0;
    if (type != linegate_type(b)) return 0;
    if (type == LINEGATE_TYPE_STRING) {
        size_t len;
        char *out = text(b, &len);
        int same = is_bytes(a, (linegate_slice){ out, len });
        free(out);
        return same;
    }
    if (linegate_iterate(a, &left) != LINEGATE_OK || linegate_iterate(b, &right) != LINEGATE_OK) {
        return a.len == b.len && (a.len == 0 || !memcmp(a.data, b.data, a.len));
    }
    while (linegate_next(&left, &key, &one) == LINEGATE_OK) {
        ones++;
        if (type == LINEGATE_TYPE_OBJECT) {
            char *name = text(key, NULL);
            other = member(b, name);
            free(name);
        } else if (linegate_next(&right, NULL, &other) != LINEGATE_OK) {
            return 0;
        }
        if (!equal(one, other)) return 0;
    }
    linegate_iterate(b, &right);
    while (linegate_next(&right, NULL, &other) == LINEGATE_OK) others++;
    return ones == others;
}

#endif
