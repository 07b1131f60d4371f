/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests that say nothing where the sanitizers run (make sanitize sets SANITIZED), or say it in minutes. */
#pragma once

#include <stdlib.h>

/* Include cmocka.h before. `why`: a clause, for the list of skipped tests. */
#define skip_where_sanitized(why)                                                                                      \
    do {                                                                                                               \
        if (getenv("SANITIZED") != NULL) {                                                                             \
            print_message("skipped: %s\n", why);                                                                       \
            skip();                                                                                                    \
        }                                                                                                              \
    } while (0)
