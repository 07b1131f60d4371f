/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/strict_memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || !defined __GLIBC__

void strict_memory_fail(unsigned long n)
{
    (void)n;
}

bool strict_memory_failed(void)
{
    return false;
}

#else

#define PLAIN __attribute__((no_instrument_function))
#define MARK UINT64_C(0x7374726963746d65)
#define MARK_OWN UINT64_C(0x7374726963746f77) /* of what this library allocated itself */

enum { BEFORE = 16, AFTER = 256, FILL = 0xff };

/* Before each block. One without the mark is the C library's own, as of posix_memalign(). */
struct head {
    uint64_t size, mark;
};

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void __libc_free(void *block);
void *__libc_realloc(void *block, size_t size);

/* Allocations that this thread has seen since strict_memory_fail(): where in this library, and of what size. */
enum { KINDS_MOST = 4096 };
static _Thread_local uintptr_t kinds[KINDS_MOST];
static _Thread_local unsigned long n_kinds, fails_at;
static _Thread_local bool has_failed;
static atomic_bool out_of_memory; /* it was, or may have been: what is lost then is not looked at */
/* This library, by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

PLAIN void strict_memory_fail(unsigned long n)
{
    fails_at = n;
    out_of_memory = out_of_memory || n > 0;
    n_kinds = 0;
    has_failed = false;
}

PLAIN bool strict_memory_failed(void)
{
    return has_failed;
}

/* Blocks of this library that are not given back, of all threads; the process whose they are. */
static atomic_long n_own;
static pid_t owner;

PLAIN static bool is_own(const void *caller)
{
    return (uintptr_t)caller >= (uintptr_t)__ehdr_start && (uintptr_t)caller < (uintptr_t)_end;
}

/* Returns true if this is the first allocation of the kind that is to fail. */
PLAIN static bool is_to_fail(const void *caller, size_t size)
{
    const uintptr_t kind = (uintptr_t)caller ^ (uintptr_t)size << 32;
    if (fails_at == 0 || has_failed || !is_own(caller))
        return false;
    for (unsigned long i = 0; i < n_kinds; i++)
        if (kinds[i] == kind)
            return false;
    if (n_kinds < KINDS_MOST)
        kinds[n_kinds++] = kind;
    return has_failed = n_kinds == fails_at;
}

/* Zeros if it is `clear`. Else full but for the first `copied` bytes, which the caller writes. */
PLAIN static void *take(const void *caller, size_t size, bool clear, size_t copied)
{
    bool fails = is_to_fail(caller, size) || (size == 0 && is_own(caller)); /* as C allows: nobody may rely on it */
    struct head *h = NULL;
    if (!fails && size <= PTRDIFF_MAX - BEFORE - AFTER) /* large blocks of zeros take no time until they are used */
        h = clear ? __libc_calloc(1, BEFORE + size + AFTER) : __libc_malloc(BEFORE + size + AFTER);
    if (h == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    *h = (struct head){size, is_own(caller) ? MARK_OWN : MARK};
    n_own += is_own(caller);
    char *block = (char *)h + BEFORE;
    if (clear)
        copied = size;
    memset(block + copied, FILL, size - copied + AFTER);
    errno = EUCLEAN; /* success may leave anything there: nobody is to look at it then */
    return block;
}

PLAIN static struct head *head_of(void *block)
{
    struct head *h = (struct head *)((char *)block - BEFORE);
    return h->mark == MARK || h->mark == MARK_OWN ? h : NULL;
}

PLAIN static void expect_untouched(const struct head *h)
{
    static const char message[] = "strict_memory: written past an allocation\n";
    const unsigned char *end = (const unsigned char *)h + BEFORE + h->size;
    for (size_t i = 0; i < AFTER; i++)
        if (end[i] != FILL) {
            ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
            (void)written;
            abort();
        }
}

PLAIN void free(void *block)
{
    int error = errno;
    struct head *h = block != NULL ? head_of(block) : NULL;
    if (h != NULL) {
        expect_untouched(h);
        n_own -= h->mark == MARK_OWN;
        memset(h, FILL, BEFORE + h->size);
    }
    __libc_free(h != NULL ? (void *)h : block);
    errno = error;
}

PLAIN void *malloc(size_t size)
{
    return take(__builtin_return_address(0), size, false, 0);
}

PLAIN void *calloc(size_t n, size_t size)
{
    size_t all;
    return take(__builtin_return_address(0), __builtin_mul_overflow(n, size, &all) ? SIZE_MAX : all, true, 0);
}

PLAIN void *realloc(void *block, size_t size)
{
    struct head *h = block != NULL ? head_of(block) : NULL;
    if (block != NULL && h == NULL)
        return __libc_realloc(block, size);
    const size_t had = h != NULL ? h->size : 0, copied = had < size ? had : size;
    void *moved = take(__builtin_return_address(0), size, false, copied);
    if (moved != NULL && block != NULL) {
        memcpy(moved, block, copied);
        free(block);
    }
    return moved;
}

/* The C library's own would count as its, not as this library's. They do not fail. */
PLAIN static char *strict_copy(const void *caller, const char *text, size_t length)
{
    unsigned long at = fails_at;
    fails_at = 0;
    char *copy = take(caller, length + 1, false, length);
    fails_at = at;
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

PLAIN char *strndup(const char *text, size_t most)
{
    return strict_copy(__builtin_return_address(0), text, strnlen(text, most));
}

PLAIN char *strdup(const char *text)
{
    return strict_copy(__builtin_return_address(0), text, strlen(text));
}

PLAIN __attribute__((constructor)) static void begin_counting(void)
{
    owner = getpid();
}

/* A test that ends well has given back what was allocated; children end with what they took over. */
PLAIN __attribute__((destructor)) static void expect_all_back(void)
{
    if (n_own == 0 || out_of_memory || getpid() != owner)
        return;
    fflush(NULL);
    dprintf(STDERR_FILENO, "strict_memory: %ld allocations of the tested code were not given back\n", (long)n_own);
    _exit(1);
}

#endif
