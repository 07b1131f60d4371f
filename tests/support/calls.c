/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which functions a unit test calls, for tests/mutants.sh. What is built with -finstrument-functions calls the first of
 * these at the beginning of each function; every other build never does. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function))

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

/* the beginning of the shared library that this is a part of (ld, "Builtin symbols") */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

/* One byte for each of the library's, in the file that CALLS names: shared, so that it holds what a process called
 * that forked, crashed or was killed. */
enum { CALLS_BYTES = 1 << 24 };
static unsigned char *calls;

__attribute__((constructor)) UNSEEN static void calls_open(void)
{
    const char *path = getenv("CALLS");
    int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file < 0)
        return;
    if (ftruncate(file, CALLS_BYTES) == 0) {
        void *map = mmap(NULL, CALLS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        calls = map == MAP_FAILED ? NULL : map;
    }
    close(file);
}

UNSEEN void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)caller;
    uintptr_t at = (uintptr_t)function - (uintptr_t)__ehdr_start;
    if (calls && at < CALLS_BYTES)
        calls[at] = 1;
}

UNSEEN void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function;
    (void)caller;
}
