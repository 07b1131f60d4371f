/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gives up the capabilities of root that a job does not need. */
#include "cli/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/messages.h"

#ifndef CAP_PERFMON /* Linux 5.8 */
#define CAP_PERFMON 38
#endif
#ifndef CAP_CHECKPOINT_RESTORE /* Linux 5.9 */
#define CAP_CHECKPOINT_RESTORE 40
#endif

#define BIT(cap) (UINT64_C(1) << (cap))

/* Outputs in folders of other users, whose files keep their owner (util/atomic_file.c), and inputs there. */
static const uint64_t for_files = BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_FOWNER);
/* Registers and the module; counters; real-time priority, and tasks of others in a cpuset; locked samples. */
static const uint64_t for_opening = BIT(CAP_SYS_RAWIO) | BIT(CAP_PERFMON);
static const uint64_t for_running = BIT(CAP_SYS_NICE) | BIT(CAP_IPC_LOCK);
/* Other users' tasks and their mapped files, kernel symbols; the reader of symbols becomes nobody, and is ended. */
static const uint64_t for_profile = BIT(CAP_SYS_PTRACE) | BIT(CAP_CHECKPOINT_RESTORE) | BIT(CAP_SYSLOG) |
                                    BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_KILL);

/* Where the kernel is older than one of them, CAP_SYS_ADMIN stands for it (capabilities(7)). */
static uint64_t with_older_names(uint64_t kept)
{
    static const int newer[] = {CAP_PERFMON, CAP_CHECKPOINT_RESTORE};
    for (size_t i = 0; i < sizeof(newer) / sizeof(*newer); i++)
        if ((kept & BIT(newer[i])) != 0 && prctl(PR_CAPBSET_READ, newer[i], 0, 0, 0) < 0)
            kept |= BIT(CAP_SYS_ADMIN);
    return kept;
}

#ifdef __SANITIZE_ADDRESS__ /* the leak checker attaches to its own process, as a debugger does */
static const uint64_t for_tests = BIT(CAP_SYS_PTRACE);
#else
static const uint64_t for_tests = 0;
#endif

static uint64_t privileges_of(enum job job)
{
    switch (job) {
    case JOB_ANALYZE:
    case JOB_SIMULATE:
        return for_files;
    case JOB_PROFILE:
        return for_files | for_opening | for_running | for_profile;
    default:
        return for_files | for_opening | for_running;
    }
}

/* Limits the capabilities of the calling thread to `kept`; nothing can be inherited. Returns 0 or an error number. */
static int limit(uint64_t kept)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &head, data) != 0)
        return errno;
    for (unsigned i = 0; i < 2; i++) {
        data[i].permitted &= (uint32_t)(kept >> 32 * i);
        data[i].effective &= data[i].permitted;
        data[i].inheritable = 0;
    }
    return syscall(SYS_capset, &head, data) == 0 ? 0 : errno;
}

/* Limits what a program that root starts could get; refused (EPERM) where there is nothing to get. */
static void limit_children(uint64_t kept)
{
    for (int cap = 0; cap < 64; cap++)
        if ((kept & BIT(cap)) == 0)
            (void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}

int privileges_check(void)
{
    if (geteuid() == getuid() && getegid() == getgid() && getauxval(AT_SECURE) == 0)
        return DONE;
    return refuse(CANNOT, "refused: this copy of the program would give whoever runs it extra privileges (set-uid, "
                          "set-gid or file capabilities); remove them (chmod ug-s, setcap -r), and use sudo");
}

int privileges_keep(const struct options *o)
{
    uint64_t kept = with_older_names(privileges_of(o->job)) | for_tests;
    if (o->profile.command == NULL) /* that one has what its user has */
        limit_children(kept);
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    int error = limit(kept);
    return error == 0 ? DONE : refuse(FAILED, "cannot give up capabilities: %s", strerror(error));
}

void privileges_opened(const struct options *o, const char *machine, bool changed)
{
    bool opens_no_more = strcmp(machine, "timing") == 0 || strcmp(machine, "helper") == 0;
    if (o->job == JOB_TRANSITION && opens_no_more && !changed)
        (void)limit(for_files | for_running | for_tests);
}
