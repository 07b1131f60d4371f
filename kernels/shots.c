/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names, counts and code of bursts: a number of instructions of one kernel. */
#include "kernels/shots.h"

#include <string.h>

#include "util/text_list.h"

/* clang-format off */
#define SHOTS(X) \
    X(128fma) X(128or) X(128add) X(128mul) X(256fma) X(256or) X(256add) X(256mul) X(512fma) X(512or) X(512add) \
    X(512mul) X(128mulpd) X(128addpd) X(128orpd) X(256mulpd) X(256addpd) X(256orpd)
/* clang-format on */

#define SHOT_DECLARED(name) extern shot_fn kernel_shot_##name;
SHOTS(SHOT_DECLARED)

#define SHOT_ENTRY(name) {#name, kernel_shot_##name},
static const struct {
    const char *name;
    shot_fn *run;
} shots[] = {SHOTS(SHOT_ENTRY)};
enum { N_SHOTS = sizeof shots / sizeof shots[0] };

shot_fn *kernel_shot(const struct payload *p)
{
    for (size_t i = 0; i < N_SHOTS; i++)
        if (p->density == 1 && strcmp(shots[i].name, p->kernel->name) == 0)
            return shots[i].run;
    return NULL;
}

const char *kernel_shot_names(char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < N_SHOTS; i++)
        text_list_add(out, size, " ", "%s", shots[i].name);
    return out;
}
