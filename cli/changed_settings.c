/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/changed_settings.h"

#include <stdio.h>
#include <string.h>

#include "cli/jobs/jobs.h"
#include "cli/messages.h"
#include "cli/stop.h"
#include "drivers/cpu/cpu.h"

enum { STATE_MAX = 240 };

static struct settings_roots roots_with(const char *state)
{
    struct cpu_leaves leaves;
    struct cpu_identity id;
    cpu_read_leaves(&leaves);
    cpu_identify(&leaves, &id);
    return (struct settings_roots){.sys = "/sys", .dev = "/dev", .state = state, .intel = id.intel};
}

/* What this user's runs have left, and what root's have. *anything: something was said. */
static int recover(bool quiet, bool tell_lives, bool *anything)
{
    char own[STATE_MAX] = "";
    const char *states[2] = {settings_root_state_file, own};
    int n = settings_state_file(own, sizeof(own)) == 0 && strcmp(own, states[0]) != 0 ? 2 : 1;
    for (int i = 0; i < n; i++) {
        struct settings_roots roots = roots_with(states[i]);
        struct machine_error error;
        char told[200];
        bool lives;
        if (settings_recover(&roots, told, sizeof(told), &lives, &error) != MACHINE_OK)
            return complain_of_machine("", &error);
        if (told[0] != '\0' && !quiet && (tell_lives || !lives))
            fprintf(stderr, "%s\n", told);
        *anything = *anything || told[0] != '\0';
    }
    return DONE;
}

/* Where a signal ends the program before it could do so itself: whoever holds stderr then may never let go of it. */
static void changed_settings_put_back(void *s)
{
    static char line[sizeof(((struct machine_error *)0)->text) + sizeof(((struct machine_error *)0)->remedy) + 20];
    struct machine_error error;
    if (settings_restore(s, &error) != MACHINE_OK) {
        snprintf(line, sizeof(line), "interrupted; %s; %s", error.text, error.remedy);
        stop_says(line);
    }
}

static int apply(const struct settings_wish *wish, struct settings **out)
{
    char state[STATE_MAX];
    struct machine_error error;
    if (settings_state_file(state, sizeof(state)) != 0)
        return refuse(
            CANNOT,
            "settings were not changed: there is nowhere to record the old ones, because XDG_RUNTIME_DIR is not "
            "set (run as root)");
    struct settings_roots roots = roots_with(state);
    return settings_apply(&roots, wish, out, &error) == MACHINE_OK ? DONE : complain_of_machine("", &error);
}

int changed_settings_begin(const struct options *o, struct settings **out)
{
    bool anything = false;
    struct settings_wish wish = {.turbo = o->turbo_given ? o->turbo_on : -1,
                                 .fixed_ghz = o->fixed_ghz.given ? o->fixed_ghz.value : 0};
    *out = NULL;
    if (o->machine != NULL && strncmp(o->machine, "model:", 6) == 0)
        return DONE;
    stop_only_asks(true);
    bool wishes = wish.turbo >= 0 || wish.fixed_ghz > 0;
    stop_hold();
    int status = recover(o->quiet, !wishes, &anything); /* with wishes a run that lives is an error, told below */
    if (status == DONE && wishes)
        status = apply(&wish, out);
    stop_release(*out != NULL ? changed_settings_put_back : NULL, *out);
    if (*out == NULL)
        stop_only_asks(false);
    return status;
}

int changed_settings_add(const struct settings_wish *wish, struct settings **s, struct machine_error *err)
{
    char state[STATE_MAX];
    if (settings_state_file(state, sizeof(state)) != 0)
        return machine_fail(err, MACHINE_CANNOT, "run as root",
                            "settings were not changed: there is nowhere to record the old ones, because "
                            "XDG_RUNTIME_DIR is not set");
    struct settings_roots roots = roots_with(state);
    stop_only_asks(true);
    stop_hold();
    int status = settings_add(&roots, wish, s, err);
    stop_release(*s != NULL ? changed_settings_put_back : NULL, *s);
    return status;
}

int changed_settings_back_to(struct settings **s, size_t mark, struct machine_error *err)
{
    stop_hold();
    int status = settings_back_to(*s, mark, err);
    stop_release(*s != NULL ? changed_settings_put_back : NULL, *s);
    return status;
}

int changed_settings_end(struct settings *s)
{
    struct machine_error error;
    stop_hold();
    int status = settings_restore(s, &error) == MACHINE_OK ? DONE : complain_of_machine("", &error);
    stop_release(NULL, NULL);
    return status;
}

int job_restore(const struct options *o)
{
    bool anything = false;
    stop_only_asks(true);
    stop_hold();
    int status = recover(false, true, &anything);
    stop_release(NULL, NULL);
    if (status == DONE && !anything && !o->quiet)
        printf("no run left settings of this machine changed\n");
    return status;
}
