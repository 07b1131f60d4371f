/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spelling of options: which one was meant. */
#include "cli/option_names.h"

#include <stdio.h>
#include <string.h>

#include "cli/messages.h"

/* What argp adds by itself. */
static const struct argp_option added_by_argp[] = {
    {"help", '?', NULL, 0, "", 0}, {"usage", 0, NULL, 0, "", 0}, {"version", 'V', NULL, 0, "", 0},
    {NULL, 0, NULL, 0, NULL, 0}};

/* How many long options begin with a name; 1 if one equals it. *found is one of them. */
static int options_like(const struct argp_option *table, const char *name, size_t length,
                        const struct argp_option **found)
{
    int n = 0;
    for (const struct argp_option *o = table; o->name != NULL || o->doc != NULL; o++) {
        if (o->name != NULL && strncmp(o->name, name, length) == 0) {
            *found = o;
            if (strlen(o->name) == length) {
                return 1;
            }
            n++;
        }
    }
    return n;
}

/* Edit distance (Levenshtein) of a name of a_length characters to another; names are short. */
static size_t edits(const char *a, size_t a_length, const char *b)
{
    enum { LONGEST = 40 };
    size_t row[LONGEST + 1], n = strnlen(b, LONGEST);
    for (size_t j = 0; j <= n; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t above = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
            best = above + 1 < best ? above + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            row[j] = best;
            diagonal = above;
        }
    }
    return row[n];
}

static const char *nearest_option(const struct argp_option *table, const char *name, size_t length)
{
    const char *nearest = NULL;
    size_t least = 1 + (length < 9 ? length / 3 : 3); /* further away it would be a guess */
    for (const struct argp_option *o = table; o->name != NULL || o->doc != NULL; o++) {
        if (o->name != NULL && edits(name, length, o->name) < least) {
            least = edits(name, length, o->name);
            nearest = o->name;
        }
    }
    return nearest;
}

static int unknown_option(const struct argp_option *table, const char *argument, size_t length)
{
    const char *nearest = length > 2 ? nearest_option(table, argument + 2, length - 2) : NULL;
    complain("unknown option '%s'%s%s; --help lists them", argument, nearest != NULL ? ", perhaps --" : "",
             nearest != NULL ? nearest : "");
    return -1;
}

/* One argument that begins with two dashes. Returns how many arguments it takes up, or -1. */
static int check_long_option(const struct argp_option *table, const char *argument, const char *next)
{
    const struct argp_option *option = NULL;
    const char *name = argument + 2;
    size_t length = strcspn(name, "=");
    int matches = options_like(table, name, length, &option) +
                  options_like(added_by_argp, name, length, &option);
    if (matches == 0) {
        return unknown_option(table, argument, length + 2);
    }
    if (matches > 1) {
        complain("'%s' is short for more than one option; --help lists them", argument);
        return -1;
    }
    if (option->arg == NULL && name[length] == '=') {
        complain("--%s takes no value", option->name);
        return -1;
    }
    if (option->arg != NULL && name[length] != '=' && next == NULL) {
        complain("--%s needs a value: --%s %s", option->name, option->name, option->arg);
        return -1;
    }
    return option->arg != NULL && name[length] != '=' ? 2 : 1;
}

/*
 * The names of all options, before argp sees them: what argp says of a wrong one takes two lines and does not tell what
 * was meant.
 */
int option_names_check(const struct argp_option *table, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0;) {
        int taken = 1;
        if (strncmp(argv[i], "--", 2) == 0) {
            taken = check_long_option(table, argv[i], argv[i + 1]);
        } else if (argv[i][0] == '-' && argv[i][1] != '\0' && strcmp(argv[i], "-?") != 0 &&
                   strcmp(argv[i], "-V") != 0) {
            taken = unknown_option(table, argv[i], 0);
        }
        if (taken < 0) {
            return -1;
        }
        i += taken;
    }
    return 0;
}
