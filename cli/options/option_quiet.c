/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --quiet-machine, --interference, --sysroot: their values, and what they go with. */
#include "cli/options/option_parts.h"

#include <string.h>

#include "cli/messages.h"
#include "computer/settings/settings.h"
#include "util/text_list.h"

/* The index of a name of `length`, or -1. */
static int name_index(const char *const *names, int n, const char *text, size_t length)
{
    for (int i = 0; i < n; i++)
        if (strlen(names[i]) == length && strncmp(names[i], text, length) == 0)
            return i;
    return -1;
}

static int refuse_name(const char *option, const char *text, size_t length, const char *const *names, int n)
{
    char all[200] = "";
    for (int i = 0; i < n; i++)
        text_list_add(all, sizeof(all), ", ", "%s", names[i]);
    return refuse(BAD_USAGE, "--%s: unknown '%.*s'; allowed: %s", option, (int)length, text, all);
}

int option_take_quiet(const struct option_row *p, const char *text, struct options *o)
{
    o->quiet_given = true;
    o->quiet_parts = 0;
    while (text != NULL) {
        size_t length = strcspn(text, ",");
        int part = name_index(settings_part_names, QUIET_PARTS, text, length);
        if (part < 0)
            return refuse_name(p->name, text, length, settings_part_names, QUIET_PARTS);
        o->quiet_parts |= 1u << part;
        text = text[length] == ',' ? text + length + 1 : NULL;
    }
    return 0;
}

int option_take_interference(const struct option_row *p, const char *text, struct options *o)
{
    const char *const *names = interference_names + INTERFERENCE_MAKE;
    const int n = INTERFERENCES - INTERFERENCE_MAKE;
    int i = name_index(names, n, text, strlen(text));
    if (i < 0)
        return refuse_name(p->name, text, strlen(text), names, n);
    o->interference = (enum interference)(i + INTERFERENCE_MAKE);
    return 0;
}

int option_quiet_check(const struct options *o)
{
    bool modelled = o->machine != NULL && strncmp(o->machine, "model:", 6) == 0;
    if (o->quiet_given && modelled && o->sysroot == NULL)
        return refuse(BAD_USAGE, "--quiet-machine would change this machine and cannot be combined with --machine %s",
                      o->machine);
    if (o->quiet_given && o->input != NULL)
        return refuse(BAD_USAGE,
                      "--quiet-machine cannot be combined with --input, which reads tables measured earlier");
    if (o->interference != INTERFERENCE_NONE && modelled)
        return refuse(BAD_USAGE, "--interference would load this machine and cannot be combined with --machine %s",
                      o->machine);
    if (o->sysroot != NULL && o->job == JOB_LIST && o->list != LIST_MACHINES)
        return refuse(BAD_USAGE, "--sysroot cannot be combined with --list %s", o->job_argument);
    if (o->sysroot != NULL && o->job == JOB_LIST && !o->quiet_given)
        return refuse(BAD_USAGE,
                      "--sysroot with --list machines shows what --quiet-machine would do: add --quiet-machine");
    if (o->sysroot != NULL && o->job != JOB_CHECK && o->job != JOB_RESTORE && !o->quiet_given)
        return refuse(BAD_USAGE,
                      "--sysroot: with --%s it says where --quiet-machine changes settings: add --quiet-machine",
                      o->job_option);
    if (o->sysroot != NULL && (WITH_MEASURING & 1u << o->job) != 0 && !modelled)
        return refuse(BAD_USAGE, "--sysroot changes settings in a directory, which have no effect on this machine; use "
                                 "it with --machine model:NAME");
    if (o->turbo.given && o->turbo.on && (o->quiet_parts & QUIET_TURBO) != 0)
        return refuse(BAD_USAGE,
                      "--quiet-machine=turbo switches turbo off, which contradicts --turbo on: leave one out");
    if (o->quiet_given && o->job == JOB_LIST && o->list != LIST_MACHINES)
        return refuse(BAD_USAGE, "--quiet-machine cannot be combined with --list %s", o->job_argument);
    return 0;
}
