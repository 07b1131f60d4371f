/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests that say nothing where the sanitizers run (make sanitize sets SANITIZED), or say it in minutes. */
#pragma once

#include <stdlib.h>
#include <string.h>

/* Include cmocka.h before. `why`: a clause, for the list of skipped tests. */
#define skip_where_sanitized(why) skip_if_sanitized(getenv("SANITIZED") != NULL, why)
/* Where time is short as well (SLOW=no, as in ./check --ci); ./check --deep runs them with the sanitizers, too. */
#define skip_where_sanitized_in_brief(why)                                                                             \
    skip_if_sanitized(getenv("SANITIZED") != NULL && getenv("SLOW") != NULL && strcmp(getenv("SLOW"), "no") == 0, why)

#define skip_if_sanitized(when, why)                                                                                   \
    do {                                                                                                               \
        if (when) {                                                                                                    \
            print_message("skipped: %s\n", why);                                                                       \
            skip();                                                                                                    \
        }                                                                                                              \
    } while (0)
