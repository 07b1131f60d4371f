/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spelling of options: which one was meant. */
#include "cli/options/option_parts.h"

#include <stdio.h>
#include <string.h>

#include "cli/messages.h"
#include "util/edit_distance.h"
#include "util/text_list.h"

/* How many long options begin with a name; 1 if one equals it. *found is one of them, and `all` gets their names. */
static int options_like(const struct argp_option *table, const char *name, size_t length,
                        const struct argp_option **found, char *all, size_t size)
{
    int n = 0;
    for (const struct argp_option *o = table; o->name != NULL || o->doc != NULL; o++) {
        if (o->name != NULL && strncmp(o->name, name, length) == 0) {
            *found = o;
            if (strlen(o->name) == length)
                return 1;
            text_list_add(all, size, ", ", "--%s", o->name);
            n++;
        }
    }
    return n;
}

static const char *nearest_option(const struct argp_option *table, const char *name, size_t length)
{
    const char *nearest = NULL;
    unsigned least = edit_guess(length);
    for (const struct argp_option *o = table; o->name != NULL || o->doc != NULL; o++)
        if (o->name != NULL && edit_nearer(name, length, o->name, &least))
            nearest = o->name;
    return nearest;
}

static int unknown_option(const struct argp_option *table, const char *argument, size_t length)
{
    const char *nearest = length > 2 ? nearest_option(table, argument + 2, length - 2) : NULL;
    return refuse(BAD_USAGE, "unknown option '%s'%s%s; --help-all lists them", argument,
                  nearest != NULL ? ", perhaps --" : "", nearest != NULL ? nearest : "");
}

/* One argument that begins with two dashes; *taken: how many arguments it takes up. 0, or BAD_USAGE after a line. */
static int check_long_option(const struct argp_option *table, const char *argument, const char *next, int *taken)
{
    const struct argp_option *option = NULL;
    const char *name = argument + 2;
    size_t length = strcspn(name, "=");
    char all[700] = ""; /* those of any first letter fit */
    int matches = options_like(table, name, length, &option, all, sizeof(all));
    if (matches == 0)
        return unknown_option(table, argument, length + 2);
    if (matches > 1)
        return refuse(BAD_USAGE, "'%s' is ambiguous: %s", argument, all);
    if (option->arg == NULL && name[length] == '=')
        return refuse(BAD_USAGE, "--%s takes no value", option->name);
    bool optional = (option->flags & OPTION_ARG_OPTIONAL) != 0; /* only after '=' */
    if (option->arg != NULL && !optional && name[length] != '=' && next == NULL)
        return refuse(BAD_USAGE, "--%s needs a value: --%s %s", option->name, option->name, option->arg);
    *taken = option->arg != NULL && !optional && name[length] != '=' ? 2 : 1;
    return 0;
}

int option_names_check(const struct argp_option *table, int argc, char **argv, int *end)
{
    static char help[] = "--help"; /* also -h, and what is short for it, though --help-all begins alike */
    int status = 0, i = 1;
    for (int taken = 1; i < argc && status == 0 && strcmp(argv[i], "--") != 0; i += taken) {
        taken = 1;
        if (strcmp(argv[i], "-h") == 0 || (strlen(argv[i]) > 2 && strncmp(argv[i], help, strlen(argv[i])) == 0))
            argv[i] = help;
        if (strncmp(argv[i], "--", 2) == 0)
            status = check_long_option(table, argv[i], argv[i + 1], &taken);
        else if (argv[i][0] == '-' && argv[i][1] != '\0' && strcmp(argv[i], "-?") != 0 && strcmp(argv[i], "-V") != 0)
            status = unknown_option(table, argv[i], 0);
    }
    *end = i < argc ? i : argc;
    return status;
}
