/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words for what machines are asked for, and the check of bursts. */
#include "drivers/machine.h"

#include "drivers/corun.h"
#include "kernels/shots.h"

const char *const machine_corun_place_names[CORUN_PLACES] = {
    [CORUN_SAME] = "same", [CORUN_SIBLING] = "sibling", [CORUN_CORE] = "core", [CORUN_PACKAGE] = "package"};
const char *const machine_switching_names[SWITCHING_KINDS] = {
    [SWITCHING_SWITCH] = "switch", [SWITCHING_MIGRATION] = "migration", [SWITCHING_FAULT] = "fault"};

int machine_bursts_check(const struct bursts_request *r, struct machine_error *err)
{
    char names[150];
    uint64_t bursts = (uint64_t)r->skipped + r->bursts;

    if (kernel_shot(&r->wide) == NULL) {
        return machine_fail(err, MACHINE_CANNOT, "choose others with --kernels",
                            "instructions of %s cannot be run in exact numbers; those that can: %s", r->wide.name,
                            kernel_shot_names(names, sizeof names));
    }
    if (!(r->every_us >= 0 && r->every_us <= 1e6 && r->before_us >= 0 && r->before_us <= 1e6) || r->bursts == 0 ||
        bursts > BURSTS_MOST || r->count > 1000000000) {
        return machine_fail(err, MACHINE_BAD_INPUT, "",
                            "%llu bursts of %llu instructions every %g us cannot be run: at most %d of 1e9, once a "
                            "second or more often",
                            (unsigned long long)bursts, (unsigned long long)r->count, r->every_us, BURSTS_MOST);
    }
    return MACHINE_OK;
}
