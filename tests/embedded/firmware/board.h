/* The little that the firmware needs of a board: start, the stack's mark, and the host behind semihosting. */
#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>
#include <stdint.h>

int main(void);
size_t strlen(const char *text);

extern uint32_t _estack, _sidata, _sdata, _edata, _sbss, _ebss;

enum { SYS_OPEN = 1, SYS_WRITE0 = 4, SYS_READ = 6, SYS_EXIT_EXTENDED = 0x20, PATTERN = 0x5AFE57AC };

static int host(int operation, const void *argument) {
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static void leave(int status) {
    const uint32_t block[2] = { 0x20026, (uint32_t)status };
    host(SYS_EXIT_EXTENDED, block);
    for (;;) {}
}

static inline void say(const char *text) { host(SYS_WRITE0, text); }

static inline void say_number(uint32_t value) {
    char digits[11];
    char *at = digits + sizeof digits - 1;
    for (*at = 0; at == digits + sizeof digits - 1 || value > 0; value /= 10) *--at = (char)('0' + value % 10);
    say(at);
}

/* Opens a file of the host's to be read. */
static inline int host_open(const char *path, size_t len) {
    const struct {
        const char *path;
        uint32_t mode, len;
    } block = { path, 1, len };
    return host(SYS_OPEN, &block);
}

/* Reads that many bytes; 0 where the file has fewer. */
static inline int host_read(int file, void *to, size_t len) {
    const struct {
        uint32_t file;
        void *to;
        uint32_t len;
    } block = { (uint32_t)file, to, len };
    return host(SYS_READ, &block) == 0;
}

/* Paints the stack below this function's frame. */
static __attribute__((noinline)) void paint(void) {
    const uintptr_t end = (uintptr_t)__builtin_frame_address(0) - 64;
    for (uint32_t *at = &_ebss; (uintptr_t)at < end; at++) *at = PATTERN;
}

/* Bytes of stack below the caller's frame that were written to since it was painted. */
static __attribute__((noinline)) uint32_t stack_used(void) {
    const uintptr_t top = (uintptr_t)__builtin_frame_address(0);
    const uint32_t *at = &_ebss;
    while ((uintptr_t)at < top && *at == PATTERN) at++;
    return (uint32_t)(top - (uintptr_t)at);
}

void Reset_Handler(void) {
#ifdef __ARM_FP
    *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20; /* the floating point unit */
    __asm__ volatile("dsb\n isb");
#endif
    const uint32_t *from = &_sidata;
    for (uint32_t *to = &_sdata; to < &_edata;) *to++ = *from++;
    for (uint32_t *to = &_sbss; to < &_ebss;) *to++ = 0;
    leave(main());
}

static void fault(void) {
    say("fault\n");
    leave(99);
}

__attribute__((section(".vectors"), used)) static void (*const vectors[])(void) = { (void (*)(void))&_estack,
    Reset_Handler, fault, fault, fault, fault, fault };

/* The one function of a C library that the Rust compiler's own runtime doesn't bring. */
size_t strlen(const char *text) {
    const char *end = text;
    while (*end) end++;
    return (size_t)(end - text);
}

#endif
