/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which options of --profile go together. */
#include <string.h>

#include "cli/files.h"
#include "cli/messages.h"
#include "cli/options/option_parts.h"

/* The machines that know license levels. */
static bool profiles(const char *machine)
{
    static const char *const names[] = {"auto", "helper", "perf"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (machine == NULL || strcmp(machine, names[i]) == 0)
            return true;
    return strncmp(machine, "model:", 6) == 0;
}

int option_profile_check(const struct options *o)
{
    const struct profile_given *p = &o->profile;
    if (o->job != JOB_PROFILE)
        return 0;
    bool model = o->machine != NULL && strncmp(o->machine, "model:", 6) == 0;
    if (!profiles(o->machine))
        return refuse(BAD_USAGE, "--machine: --profile cannot use '%s'; it works with auto, helper, perf, model:NAME",
                      o->machine);
    if (p->command != NULL && model)
        return refuse(BAD_USAGE, "the command '%s' cannot be combined with --machine %s, whose tasks are modelled",
                      p->command[0], o->machine);
    if (p->command != NULL && p->command[0][0] == '\0')
        return refuse(BAD_USAGE, "--profile: the name of the command is empty");
    if (p->live && p->no_live)
        return refuse(BAD_USAGE, "--live and --no-live cannot be combined");
    if (p->live && (file_is_stdout(o->csv) || file_is_stdout(o->json) || file_is_stdout(p->folded)))
        return refuse(BAD_USAGE, "--live cannot be combined with a file on standard output, which the view needs");
    if (p->rehearsal && (model || (o->machine != NULL && strcmp(o->machine, "perf") == 0)))
        return refuse(BAD_USAGE, "--rehearsal needs the kernel module: it cannot be combined with --machine %s",
                      o->machine);
    const char *const counted = p->sources          ? "--sources"
                                : p->folded != NULL ? "--folded"
                                : o->params != NULL ? "--params"
                                                    : NULL;
    if (p->rehearsal && counted != NULL)
        return refuse(BAD_USAGE, "%s cannot be combined with --rehearsal, which counts nothing", counted);
    const char *const sampled = counted != NULL ? counted : o->plot != NULL ? "--plot" : p->live ? "--live" : NULL;
    if (o->machine != NULL && strcmp(o->machine, "perf") == 0 && sampled != NULL)
        return refuse(BAD_USAGE, "%s cannot be combined with --machine perf, which only has shares of levels", sampled);
    return 0;
}
