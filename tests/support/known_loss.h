/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Behavior that the present analysis does not have: told in doc/limits.md, and skipped visibly until it has it. */
#pragma once

#include <stdio.h>

#define skip_known_loss(what)                                                                                          \
    do {                                                                                                               \
        print_message("skipped: not the case at present (doc/limits.md): %s\n", what);                                 \
        skip();                                                                                                        \
    } while (0)
