/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of options that only --simulate takes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/messages.h"
#include "cli/options/option_parts.h"
#include "util/text_list.h"

/*
 * The names of a list, separated by commas, as indices into `names` from `first` on. Returns how many, or -1 after a
 * line.
 */
static int option_names_of(const char *option, const char *text, const char *const *names, int first, int n, int *out)
{
    char all[200] = "", name[40];
    int count = 0;
    for (int i = first; i < n; i++)
        text_list_add(all, sizeof(all), ", ", "%s", names[i]);
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        int found = -1;
        snprintf(name, sizeof(name), "%.*s", (int)(length < sizeof(name) ? length : sizeof(name) - 1), at);
        for (int i = first; i < n; i++)
            if (strcmp(names[i], name) == 0)
                found = i;
        if (found < 0) {
            complain("--%s: unknown '%s'; one or more of: %s", option, name, all);
            return -1;
        }
        for (int i = 0; i < count; i++)
            if (out[i] == found) {
                complain("--%s: '%s' is given twice", option, name);
                return -1;
            }
        out[count++] = found;
        at += length;
        if (*at == '\0')
            return count;
    }
}

int option_take_policies(const struct option_row *p, const char *text, struct options *o)
{
    struct simulate_given *out = &o->simulate;
    int index[SIM_POLICIES], n = option_names_of(p->name, text, sim_policy_names, 0, SIM_POLICIES, index);
    for (int i = 0; i < n; i++)
        out->policy[i] = (enum sim_policy)index[i];
    out->n_policies = n > 0 ? (size_t)n : 0;
    return n > 0 ? 0 : BAD_USAGE;
}

int option_take_schedulers(const struct option_row *p, const char *text, struct options *o)
{
    struct simulate_given *out = &o->simulate;
    int index[SIM_SCHEDULERS], n = option_names_of(p->name, text, sim_scheduler_names, SIM_FAIR, SIM_SCHEDULERS, index);
    for (int i = 0; i < n; i++)
        out->scheduler[i] = (enum sim_scheduler)index[i];
    out->n_schedulers = n > 0 ? (size_t)n : 0;
    return n > 0 ? 0 : BAD_USAGE;
}

int option_take_switching(const struct option_row *p, const char *text, struct options *o)
{
    char copy[100], *rest = copy, *one;
    size_t n = 0;
    bool good = strlen(text) < sizeof(copy);
    snprintf(copy, sizeof(copy), "%s", text);
    while (good && (one = strsep(&rest, ",")) != NULL) {
        good = n < SIM_SCHEDULING_COSTS && option_time(one, 0, 1e6, &o->simulate.switching_us[n]) == NULL;
        n++;
    }
    if (!good || n != SIM_SCHEDULING_COSTS)
        return refuse(
            BAD_USAGE,
            "--%s: '%s' is not of the form SWITCH,MIGRATION,FAULT: what each costs, 0 to 1000000 microseconds "
            "(also 1ms), as in 2,8,1",
            p->name, text);
    o->simulate.switching_given = true;
    return 0;
}

/* The class after the last '=' of a text. NULL: there is none. */
static const char *class_after(const char *text, enum sim_class *class)
{
    const char *equals = strrchr(text, '=');
    return equals != NULL && equals > text && sim_parse_class(equals + 1, class) ? equals : NULL;
}

int option_take_mark(const struct option_row *p, const char *text, struct options *o)
{
    struct simulate_given *out = &o->simulate;
    enum sim_class class;
    const char *equals = class_after(text, &class);
    if (equals == NULL)
        return refuse(BAD_USAGE, "--%s: '%s' is not of the form WHO=CLASS, as in 'x265*=512heavy'; classes: %s",
                      p->name, text, SIM_CLASSES_ALLOWED);
    if (out->n_marks == MARKS_GIVEN_MAX)
        return refuse(BAD_USAGE, "--%s: '%s' is one too many; the limit is %d", p->name, text, MARKS_GIVEN_MAX);
    char *who = strndup(text, (size_t)(equals - text));
    if (who == NULL)
        return complain_out_of_memory();
    out->mark[out->n_marks++] = (struct sim_mark){.who = who, .class = class};
    return 0;
}

int option_take_stamps(const struct option_row *p, const char *text, struct options *o)
{
    struct simulate_given *out = &o->simulate;
    const char *equals = class_after(text, &out->stamps_class);
    if (text[0] == '\0')
        return refuse(BAD_USAGE, "--%s: the name is empty", p->name);
    const char *last_equals = strrchr(text, '=');
    if (equals == NULL && last_equals != NULL && last_equals > text && access(text, F_OK) != 0)
        return refuse(BAD_USAGE, "--%s: '%s' is not a class, and there is no file '%s'; classes: %s", p->name,
                      last_equals + 1, text, SIM_CLASSES_ALLOWED);
    if (equals == NULL)
        out->stamps_class = SIM_NONE;
    out->stamps = equals == NULL ? text : strndup(text, (size_t)(equals - text));
    return out->stamps != NULL ? 0 : complain_out_of_memory();
}
