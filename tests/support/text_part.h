/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a text says; a failure shows all of it. For tests that include cmocka.h before this. */
#pragma once

#include <string.h>

static inline void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("there is no '%s' in:\n%s", part, text);
}

static inline void has_not(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("there is '%s' in:\n%s", part, text);
}
