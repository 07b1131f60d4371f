/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spelling of options: which one was meant. */
#include "cli/options/option_parts.h"

#include <stdio.h>
#include <string.h>

#include "cli/messages.h"
#include "util/edit_distance.h"

/* What argp adds by itself. */
static const struct argp_option added_by_argp[] = {{"help", '?', NULL, 0, "", 0},
                                                   {"usage", 0, NULL, 0, "", 0},
                                                   {"version", 'V', NULL, 0, "", 0},
                                                   {NULL, 0, NULL, 0, NULL, 0}};

/* How many long options begin with a name; 1 if one equals it. *found is one of them. */
static int options_like(const struct argp_option *table, const char *name, size_t length,
                        const struct argp_option **found)
{
    int n = 0;
    for (const struct argp_option *o = table; o->name != NULL || o->doc != NULL; o++) {
        if (o->name != NULL && strncmp(o->name, name, length) == 0) {
            *found = o;
            if (strlen(o->name) == length)
                return 1;
            n++;
        }
    }
    return n;
}

static const char *nearest_option(const struct argp_option *table, const char *name, size_t length)
{
    const char *nearest = NULL;
    unsigned least = 1 + (length < 9 ? (unsigned)length / 3 : 3); /* further away it would be a guess */
    for (const struct argp_option *o = table; o->name != NULL || o->doc != NULL; o++) {
        if (o->name != NULL && edit_distance(name, length, o->name) < least) {
            least = edit_distance(name, length, o->name);
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
    int matches = options_like(table, name, length, &option) + options_like(added_by_argp, name, length, &option);
    if (matches == 0)
        return unknown_option(table, argument, length + 2);
    if (matches > 1) {
        complain("'%s' is ambiguous: more than one option begins like that; --help lists them", argument);
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
        if (strncmp(argv[i], "--", 2) == 0)
            taken = check_long_option(table, argv[i], argv[i + 1]);
        else if (argv[i][0] == '-' && argv[i][1] != '\0' && strcmp(argv[i], "-?") != 0 && strcmp(argv[i], "-V") != 0)
            taken = unknown_option(table, argv[i], 0);
        if (taken < 0)
            return -1;
        i += taken;
    }
    return 0;
}
