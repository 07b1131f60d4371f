/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is planned, changed, written down and told of the settings of a fake machine, and what is made of journals: held
 * in tests/golden/machine/settings.txt, which `make golden` rewrites.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/folder_changes.h"
#include "tests/support/golden.h"
#include "tests/support/quiet_rig.h"
#include "tests/support/test.h"

enum { LINES_MOST = 200 };
#define ALL ((1u << QUIET_PARTS) - 1)

static int no_bridge(struct likwid_functions *out, char *why, size_t size)
{
    (void)out;
    snprintf(why, size, "no likwid in this test");
    return -1;
}

/* ---- text that does not depend on where it was made ---- */

/* The line without the name of the tree. */
static void write_line(FILE *out, const struct quiet_tree *t, const char *line, size_t length)
{
    size_t root = strlen(t->root);
    for (size_t i = 0; i < length;)
        if (strncmp(line + i, t->root, root) == 0)
            i += root;
        else
            fputc(line[i++], out);
    fputc('\n', out);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lines whose order is that of a folder on this disk. */
struct sorted {
    char *line[LINES_MOST];
    size_t n;
};

static void add_sorted(struct sorted *s, const char *text)
{
    assert_true(s->n < LINES_MOST);
    s->line[s->n] = strdup(text);
    assert_non_null(s->line[s->n++]);
}

static void write_sorted(FILE *out, const struct quiet_tree *t, struct sorted *s)
{
    if (s->n > 0)
        qsort(s->line, s->n, sizeof *s->line, by_text);
    for (size_t i = 0; i < s->n; i++) {
        write_line(out, t, s->line[i], strlen(s->line[i]));
        free(s->line[i]);
    }
    s->n = 0;
}

/* ---- wishes ---- */

struct variation {
    const char *name;
    int turbo; /* as in the wish, but 0 is none and 2 is off */
    double ghz;
    unsigned quiet, must;
    int cpu; /* 0: 3 */
    bool spread, intel;
    struct folder_change change[FOLDER_CHANGES];
};

#define CPUS QUIET_CPUS
#define POLICY(n, lo, hi, min, max)                                                                                    \
    {CPUS "cpufreq/policy" n "/cpuinfo_min_freq", lo}, {CPUS "cpufreq/policy" n "/cpuinfo_max_freq", hi},              \
        {CPUS "cpufreq/policy" n "/scaling_min_freq", min},                                                            \
    {                                                                                                                  \
        CPUS "cpufreq/policy" n "/scaling_max_freq", max                                                               \
    }
#define GROUPS                                                                                                         \
    {"sys/fs/cgroup/cgroup.controllers", "cpu cpuset io"}, {"sys/fs/cgroup/cgroup.subtree_control", "cpu"},            \
    {                                                                                                                  \
        "proc/self/cgroup", "3:cpu:/x\n0::/own"                                                                        \
    }
#define TASK(cpus)                                                                                                     \
    {"proc/77/task/78/comm", "x"},                                                                                     \
    {                                                                                                                  \
        "proc/78/status", "Name:\tx\nTgid:\t77\nVmSize:\t1 kB\nCpus_allowed_list:\t" cpus                              \
    }
#define SHIELD "sys/fs/cgroup/cpuset/characterize-others/"
#define PARTITION "sys/fs/cgroup/characterize/"
static const struct variation variations[] = {
    {.name = "all", .quiet = ALL},
    {.name = "all by default", .quiet = QUIET_DEFAULT, .must = QUIET_GOVERNOR},
    {.name = "another CPU", .quiet = ALL, .cpu = 1},
    {.name = "nothing"},
    {.name = "turbo on", .turbo = 1},
    {.name = "turbo off", .turbo = 2},
    {.name = "turbo off twice", .turbo = 2, .change = {{CPUS "intel_pstate/no_turbo", "1"}}},
    {.name = "turbo: boost", .turbo = 2, .change = {{CPUS "intel_pstate", NULL}, {CPUS "cpufreq/boost", "1"}}},
    {.name = "turbo: policies",
     .turbo = 2,
     .change = {{CPUS "intel_pstate", NULL}, {CPUS "cpufreq/policy1/boost", "1"}, {CPUS "cpufreq/policy0/boost", "0"}}},
    {.name = "turbo: none", .turbo = 2, .change = {{CPUS "intel_pstate", NULL}}},
    {.name = "turbo: no register", .turbo = 1, .intel = true, .change = {{CPUS "intel_pstate", NULL}}},
    {.name = "turbo: not understood", .turbo = 2, .change = {{CPUS "intel_pstate/no_turbo", "2"}}},
    {.name = "turbo: part", .quiet = QUIET_TURBO, .must = QUIET_TURBO, .change = {{CPUS "intel_pstate", NULL}}},
    {.name = "fixed",
     .ghz = 2.5,
     .change = {POLICY("1", "800000", "3700000", "1000000", "3000000"), {CPUS "cpufreq/policy0", NULL}}},
    {.name = "fixed: higher",
     .ghz = 3.5,
     .change = {POLICY("1", "800000", "3700000", "1000000", "3000000"), {CPUS "cpufreq/policy0", NULL}}},
    {.name = "fixed: lower",
     .ghz = 0.9,
     .change = {POLICY("1", "800000", "3700000", "1000000", "3000000"), {CPUS "cpufreq/policy0", NULL}}},
    {.name = "fixed: as it is",
     .ghz = 3,
     .change = {POLICY("1", "800000", "3700000", "1000000", "3000000"), {CPUS "cpufreq/policy0", NULL}}},
    {.name = "fixed: highest",
     .ghz = 3.7,
     .turbo = 2,
     .change = {POLICY("1", "800000", "3700000", "1000000", "3000000"), {CPUS "cpufreq/policy0", NULL}}},
    {.name = "fixed: too high",
     .ghz = 3.700001,
     .change = {POLICY("1", "800000", "3700000", "1000000", "3000000"), {CPUS "cpufreq/policy0", NULL}}},
    {.name = "fixed: lowest",
     .ghz = 0.8,
     .change = {POLICY("1", "800000", "3700000", "1000000", "3000000"), {CPUS "cpufreq/policy0", NULL}}},
    {.name = "fixed: too low",
     .ghz = 0.799999,
     .change = {POLICY("1", "800000", "3700000", "1000000", "3000000"), {CPUS "cpufreq/policy0", NULL}}},
    {.name = "fixed: no limits", .ghz = 3, .change = {{CPUS "cpufreq/policy0", NULL}}},
    {.name = "fixed: odd limits",
     .ghz = 3,
     .change = {POLICY("1", "800000", "3700000", "1000000x", "3000000"), {CPUS "cpufreq/policy0", NULL}}},
    {.name = "fixed: no maximum",
     .ghz = 3,
     .change = {POLICY("1", "800000", "3700000", "1000000", NULL), {CPUS "cpufreq/policy0", NULL}}},
    {.name = "fixed: none", .ghz = 3, .change = {{CPUS "cpufreq", NULL}}},
    {.name = "no cpufreq", .quiet = QUIET_GOVERNOR | QUIET_EPP, .change = {{CPUS "cpufreq", NULL}}},
    {.name = "no cpufreq, by name",
     .quiet = QUIET_GOVERNOR | QUIET_EPP,
     .must = QUIET_EPP,
     .change = {{CPUS "cpufreq", NULL}}},
    {.name = "own policy",
     .quiet = QUIET_GOVERNOR,
     .change = {{CPUS "cpufreq/policy1", NULL}, {CPUS "cpufreq/policy3/scaling_governor", "ondemand"}}},
    {.name = "no preference",
     .quiet = QUIET_EPP,
     .change = {{CPUS "cpufreq/policy1/energy_performance_preference", NULL}}},
    {.name = "odd governor", .quiet = QUIET_GOVERNOR, .change = {{CPUS "cpufreq/policy1/scaling_governor", "a b"}}},
    {.name = "so already",
     .quiet = QUIET_GOVERNOR | QUIET_TICK,
     .change = {{CPUS "cpufreq/policy1/scaling_governor", "performance"}, {"proc/sys/vm/stat_interval", "120"}}},
    {.name = "C-states: latency",
     .quiet = QUIET_CSTATES,
     .change = {{CPUS "cpu3/cpuidle/state10/latency", "2"}, {CPUS "cpu3/cpuidle/state2/disable", "1"}}},
    {.name = "C-states: fast",
     .quiet = QUIET_CSTATES,
     .change = {{CPUS "cpu3/cpuidle/state10/latency", "2"}, {CPUS "cpu3/cpuidle/state2/latency", "1"}}},
    {.name = "C-states: none", .quiet = QUIET_CSTATES, .must = QUIET_CSTATES, .change = {{CPUS "cpu3/cpuidle", NULL}}},
    {.name = "C-states: odd",
     .quiet = QUIET_CSTATES,
     .change = {{CPUS "cpu3/cpuidle/state10/disable", NULL}, {CPUS "cpu3/cpuidle/state2/disable", "3"}}},
    {.name = "sibling: none", .quiet = QUIET_SMT, .change = {{CPUS "cpu3/topology/thread_siblings_list", "3"}}},
    {.name = "sibling: cpusets", .quiet = QUIET_SMT, .change = {{"sys/fs/cgroup/cpuset/a/x", "1"}}},
    {.name = "sibling: bound", .quiet = QUIET_SMT, .change = {TASK("1")}},
    {.name = "sibling: bound elsewhere", .quiet = QUIET_SMT, .change = {TASK("1,2")}},
    {.name = "sibling: interrupts",
     .quiet = QUIET_SMT,
     .change = {{"proc/irq/27/smp_affinity_list", "1"},
                {"proc/irq/28/smp_affinity_list", "0-1"},
                {"sys/kernel/irq/28/actions", ""}}},
    {.name = "interrupts: unused",
     .quiet = QUIET_IRQ,
     .change = {{"sys/kernel/irq/24/actions", ""}, {"sys/kernel/irq/25/actions", "timer"}}},
    {.name = "interrupts: odd",
     .quiet = QUIET_IRQ,
     .change = {{"proc/irq/24/smp_affinity_list", "0-x"}, {"proc/irq/default_smp_affinity", "q"}}},
    {.name = "interrupts: names",
     .quiet = QUIET_IRQ,
     .change = {{"proc/irq/12345678/smp_affinity_list", "3"},
                {"proc/irq/123456789/smp_affinity_list", "3"},
                {"proc/irq/1a/smp_affinity_list", "3"}}},
    {.name = "one CPU", .quiet = ALL, .change = {{CPUS "online", "3"}}},
    {.name = "no CPUs", .quiet = QUIET_IRQ | QUIET_WORKQUEUE, .change = {{CPUS "online", NULL}}},
    {.name = "workqueues: none", .quiet = QUIET_WORKQUEUE, .change = {{"sys/devices/virtual/workqueue", NULL}}},
    {.name = "workqueues: another",
     .quiet = QUIET_WORKQUEUE,
     .change = {{QUIET_WORKQUEUES "scsi_tmf_0/cpumask", "7"},
                {QUIET_WORKQUEUES "nvme/cpumask", "ffffffff,00000008"},
                {QUIET_WORKQUEUES "power/control", "auto"}}},
    {.name = "workqueues: odd",
     .quiet = QUIET_WORKQUEUE,
     .change = {{QUIET_WORKQUEUES "cpumask", "z"}, {QUIET_WORKQUEUES "writeback/cpumask", ""}}},
    {.name = "tick: none",
     .quiet = QUIET_TICK,
     .must = QUIET_TICK,
     .change = {{"proc/sys/kernel/nmi_watchdog", NULL},
                {"proc/sys/kernel/sched_rt_runtime_us", NULL},
                {"proc/sys/vm", NULL}}},
    {.name = "tick: odd",
     .quiet = QUIET_TICK,
     .change = {{"proc/sys/kernel/nmi_watchdog", "2"}, {"proc/sys/kernel/sched_rt_runtime_us", "-2"}}},
    {.name = "tick: large",
     .quiet = QUIET_TICK,
     .change = {{"proc/sys/vm/stat_interval", "12345678901234567890"}, {"proc/sys/kernel/sched_rt_runtime_us", "0"}}},
    {.name = "cpuset", .quiet = QUIET_ISOLATE, .change = {GROUPS}},
    {.name = "cpuset: spread", .quiet = QUIET_ISOLATE, .spread = true, .change = {GROUPS}},
    {.name = "cpuset: old kernel",
     .quiet = QUIET_ISOLATE,
     .change = {GROUPS, {"proc/sys/kernel/osrelease", "6.2.9"}, TASK("1")}},
    {.name = "cpuset: old kernel, free",
     .quiet = QUIET_ISOLATE,
     .change = {GROUPS, {"proc/sys/kernel/osrelease", "5.19"}, TASK("0-7")}},
    {.name = "cpuset: new kernel",
     .quiet = QUIET_ISOLATE,
     .change = {GROUPS, {"proc/sys/kernel/osrelease", "6.3.0"}, TASK("1")}},
    {.name = "cpuset: old kernel, offline",
     .quiet = QUIET_ISOLATE,
     .change = {GROUPS, {"proc/sys/kernel/osrelease", "6.2"}, {CPUS "present", "0-4"}}},
    {.name = "cpuset: no group",
     .quiet = QUIET_ISOLATE,
     .change = {GROUPS, {"proc/self/cgroup", "1:cpuset:/x\n0::own"}}},
    {.name = "cpuset: strange name", .quiet = QUIET_ISOLATE, .change = {GROUPS, {"proc/self/cgroup", "0::/my own"}}},
    {.name = "cpuset: enabled",
     .quiet = QUIET_ISOLATE,
     .change = {GROUPS, {"sys/fs/cgroup/cgroup.subtree_control", "cpuset cpu"}}},
    {.name = "cpuset: unified",
     .quiet = QUIET_ISOLATE,
     .change = {{"sys/fs/cgroup/unified/cgroup.controllers", "cpuset"},
                {"sys/fs/cgroup/unified/cgroup.subtree_control", ""},
                {"proc/self/cgroup", "0::/"}}},
    {.name = "cpuset: no controller",
     .quiet = QUIET_ISOLATE,
     .change = {{"sys/fs/cgroup/cgroup.controllers", "cpu cpusets"}, {"proc/self/cgroup", "0::/"}}},
    {.name = "shield",
     .quiet = QUIET_ISOLATE,
     .change = {{"sys/fs/cgroup/cpuset/cpuset.cpus", "0-3"}, {"proc/self/cgroup", "4:cpu:/x\n5:cpuset:/\n0::/a"}}},
    {.name = "shield: no tasks",
     .quiet = QUIET_ISOLATE,
     .change = {{"sys/fs/cgroup/cpuset/cpuset.cpus", "0-3"},
                {"sys/fs/cgroup/cpuset/cpuset.mems", "0"},
                {"proc/self/cgroup", "5:cpuset:/"},
                {SHIELD "cpuset.mems", ""},
                {SHIELD "cpuset.cpus", ""},
                {SHIELD "tasks", ""}}},
    {.name = "shield: none of them may",
     .quiet = QUIET_ISOLATE,
     .change = {{"sys/fs/cgroup/cpuset/cpuset.cpus", "0-3"},
                {"sys/fs/cgroup/cpuset/cpuset.mems", "0"},
                {"sys/fs/cgroup/cpuset/tasks", "78"},
                {"proc/self/cgroup", "5:cpuset:/"},
                {SHIELD "cpuset.mems", ""},
                {SHIELD "cpuset.cpus", ""}}},
    {.name = "shield: odd CPUs",
     .quiet = QUIET_ISOLATE,
     .change = {{"sys/fs/cgroup/cpuset/cpuset.cpus", "0-x"},
                {"sys/fs/cgroup/cpuset/cpuset.mems", "0"},
                {"proc/self/cgroup", "5:cpuset:/"},
                {SHIELD "cpuset.mems", ""},
                {SHIELD "cpuset.cpus", ""}}},
    {.name = "partition",
     .quiet = QUIET_ISOLATE,
     .change = {{"sys/fs/cgroup/cgroup.controllers", "cpuset"},
                {"sys/fs/cgroup/cgroup.subtree_control", "cpuset"},
                {"proc/self/cgroup", "0::/own"},
                {PARTITION "cpuset.cpus", ""},
                {PARTITION "cpuset.cpus.partition", "member"},
                {PARTITION "cgroup.procs", ""}}},
    {.name = "partition: not entered",
     .quiet = QUIET_ISOLATE,
     .change = {{"sys/fs/cgroup/cgroup.controllers", "cpuset"},
                {"sys/fs/cgroup/cgroup.subtree_control", "cpuset"},
                {"proc/self/cgroup", "0::/own"},
                {PARTITION "cpuset.cpus", ""},
                {PARTITION "cpuset.cpus.partition", "member"}}},
    {.name = "shield: within",
     .quiet = QUIET_ISOLATE,
     .change = {{"sys/fs/cgroup/cpuset/cpuset.cpus", "0-3"}, {"proc/self/cgroup", "5:cpuset:/b"}}},
};

static const char *part_name(enum quiet_part part)
{
    return settings_part_names[__builtin_ctz(part)];
}

static void take_line(void *data, const struct settings_line *line)
{
    char text[1000];
    if (line->name)
        snprintf(text, sizeof text, "  %s: %s: %s -> %s %s", part_name(line->part), line->name, line->before,
                 line->after, line->why);
    else
        snprintf(text, sizeof text, "  %s: (%s)", part_name(line->part), line->why);
    add_sorted(data, text);
}

static void write_journal(FILE *out, const struct quiet_tree *t)
{
    struct sorted s = {.n = 0};
    char text[8192], *rest = NULL;
    snprintf(text, sizeof text, "%s", folder_get(t->root, "state"));
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char indented[600];
        if (line != strstr(text, "characterize-settings/2") && strcmp(line, "boot " QUIET_BOOT) != 0 &&
            strncmp(line, "pid ", 4) != 0) {
            snprintf(indented, sizeof indented, "  | %.500s", line);
            add_sorted(&s, indented);
        }
    }
    write_sorted(out, t, &s);
}

static void write_text(FILE *out, const struct quiet_tree *t, const char *what, const char *text)
{
    char line[1600];
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        snprintf(line, sizeof line, "  %s: %.*s", what, (int)strcspn(text, "\n"), text);
        write_line(out, t, line, strlen(line));
    }
}

static void write_error(FILE *out, const struct quiet_tree *t, const char *what, int status,
                        const struct machine_error *err)
{
    char text[1000];
    snprintf(text, sizeof text, "%d %s; %s", status, err->text, err->remedy);
    write_text(out, t, what, text);
}

static void write_wish(FILE *out, struct quiet_tree *t, const struct variation *v)
{
    struct sorted lines = {.n = 0};
    struct settings *s = NULL;
    struct machine_error err = {.status = MACHINE_OK};
    struct settings_wish wish = {.fixed_ghz = v->ghz, .quiet = v->quiet, .quiet_must = v->must, .spread = v->spread};
    wish.turbo = v->turbo == 0 ? -1 : v->turbo == 1;
    wish.cpu = v->cpu ? v->cpu : 3;
    t->roots.likwid = no_bridge;
    t->roots.intel = v->intel;
    fprintf(out, "\n# %s\n", v->name);
    folder_change(t->root, v->change);
    assert_int_equal(settings_show(&t->roots, &wish, take_line, &lines, &err), MACHINE_OK);
    write_sorted(out, t, &lines);
    int status = settings_apply(&t->roots, &wish, &s, &err);
    if (status != MACHINE_OK)
        write_error(out, t, "refused", status, &err);
    assert_int_equal(s == NULL, strcmp(folder_get(t->root, "state"), "(not there)") == 0);
    if (s) {
        write_journal(out, t);
        fprintf(out, "  changes: %zu, of which base %zu\n", settings_mark(s), settings_base(s));
        write_text(out, t, "text", settings_text(s));
        write_text(out, t, "left", settings_left(s));
        for (unsigned i = 0; i < QUIET_PARTS; i++)
            if (v->quiet & 1u << i) {
                struct machine_error why = {.status = MACHINE_OK};
                status = settings_stands(s, (enum quiet_part)(1u << i), &why);
                if (status != MACHINE_OK)
                    write_error(out, t, settings_part_names[i], status, &why);
            }
        err = (struct machine_error){.status = MACHINE_OK};
        status = settings_restore(s, &err);
        if (status != MACHINE_OK || err.text[0])
            write_error(out, t, "restored", status, &err);
        assert_int_equal(status != MACHINE_OK, strcmp(folder_get(t->root, "state"), "(not there)") != 0);
        folder_remove(t->state);
    }
    folder_change_undo();
    quiet_all_are(t, 0);
}

/* ---- journals ---- */

#define HEAD "characterize-settings/2\nboot " QUIET_BOOT "\npid 1\n"
#define TURBO "file -1 /sys/devices/system/cpu/intel_pstate/no_turbo 1 0"
static const struct {
    const char *name, *text;
} journals[] = {
    {"one change", HEAD TURBO "\n"},
    {"it was set by somebody else",
     HEAD "file -1 /sys/devices/system/cpu/cpufreq/policy1/scaling_governor powersave performance\n"},
    {"is so already", HEAD "file -1 /sys/devices/system/cpu/intel_pstate/no_turbo 0 1\n"},
    {"undone", HEAD TURBO "\nundone 0\n"},
    {"undone: not there", HEAD TURBO "\nundone 1\n"},
    {"undone: below 0", HEAD TURBO "\nundone -1\n"},
    {"half a line", HEAD TURBO "\nfile -1 /sys/devices/system/cpu/cpufreq/boo"},
    {"another boot", "characterize-settings/2\nboot x\npid 1\n" TURBO "\n"},
    {"no boot known", "characterize-settings/2\nboot -\npid 1\n" TURBO "\n"},
    {"boot: long", "characterize-settings/2\nboot 0123456789012345678901234567890123456789\npid 1\n" TURBO "\n"},
    {"boot: longest", "characterize-settings/2\nboot 012345678901234567890123456789012345678\npid 1\n" TURBO "\n"},
    {"boot: empty", "characterize-settings/2\nboot \npid 1\n" TURBO "\n"},
    {"no head", TURBO "\n"},
    {"head: cut off", "characterize-set"},
    {"head: another", "characterize-settings/3\n"},
    {"pid: odd", "characterize-settings/2\nboot x\npid y\n" TURBO "\n"},
    {"version 1",
     "characterize-settings/1\npid 1\nfile -1 ROOT/sys/devices/system/cpu/intel_pstate/no_turbo 1 0\nend\n"},
    {"version 1: elsewhere", "characterize-settings/1\npid 1\n" TURBO "\nend\n"},
    {"version 1: not complete",
     "characterize-settings/1\npid 1\nfile -1 ROOT/sys/devices/system/cpu/intel_pstate/no_turbo 1 0\n"},
    {"kind", HEAD "files -1 /sys/devices/system/cpu/intel_pstate/no_turbo 1 0\n"},
    {"CPU", HEAD "file 0 /sys/devices/system/cpu/intel_pstate/no_turbo 1 0\n"},
    {"CPU: below", HEAD "file -2 /sys/devices/system/cpu/intel_pstate/no_turbo 1 0\n"},
    {"value", HEAD "file -1 /sys/devices/system/cpu/intel_pstate/no_turbo 2 0\n"},
    {"value after", HEAD "file -1 /sys/devices/system/cpu/intel_pstate/no_turbo 0 01\n"},
    {"path", HEAD "file -1 /sys/devices/system/cpu/intel_pstate/min_perf_pct 1 0\n"},
    {"path: up", HEAD "file -1 /sys/devices/virtual/workqueue/../cpumask 1 0\n"},
    {"four words", HEAD "file -1 /sys/devices/system/cpu/intel_pstate/no_turbo 1\n"},
    {"six words", HEAD TURBO " 1\n"},
    {"no word", HEAD "file  -1 /sys/devices/system/cpu/intel_pstate/no_turbo 1 0\n"},
    {"several",
     HEAD "file -1 /sys/devices/system/cpu/cpu3/cpuidle/state2/disable 1 0\n"
          "irq -1 /proc/irq/24/smp_affinity_list 0 0-3\nfile -1 /proc/irq/default_smp_affinity 7 f\n"
          "file -1 /sys/devices/virtual/workqueue/cpumask 3 f\nfile -1 /proc/sys/kernel/sched_rt_runtime_us -1 950000\n"
          "file -1 /proc/sys/vm/stat_interval 5 1\n"},
    {"empty", ""},
};

static void write_recoveries(FILE *out, struct quiet_tree *t)
{
    static const char *const touched[] = {
        QUIET_CPUS "intel_pstate/no_turbo",       QUIET_CPUS "cpufreq/policy1/scaling_governor",
        QUIET_CPUS "cpu3/cpuidle/state2/disable", "proc/irq/24/smp_affinity_list",
        "proc/irq/default_smp_affinity",          QUIET_WORKQUEUES "cpumask",
        "proc/sys/kernel/sched_rt_runtime_us",    "proc/sys/vm/stat_interval"};
    for (size_t i = 0; i < sizeof journals / sizeof *journals; i++) {
        char text[2000], told[800] = "";
        struct machine_error err = {.status = MACHINE_OK};
        bool lives = false;
        const char *mark = strstr(journals[i].text, "ROOT");
        snprintf(text, sizeof text, "%.*s%s%s", mark ? (int)(mark - journals[i].text) : 0, journals[i].text,
                 mark ? t->root : "", mark ? mark + 4 : journals[i].text);
        folder_put(t->root, "state", text);
        fprintf(out, "\n# journal: %s\n", journals[i].name);
        int status = settings_recover(&t->roots, told, sizeof told, &lives, &err);
        write_text(out, t, lives ? "lives" : "told", told);
        if (status != MACHINE_OK)
            write_error(out, t, "refused", status, &err);
        for (size_t k = 0; k < sizeof touched / sizeof *touched; k++)
            for (int f = 0; f < QUIET_FILES; f++)
                if (strcmp(quiet_files[f].path, touched[k]) == 0 &&
                    strcmp(folder_get(t->root, touched[k]), quiet_files[f].before) != 0) {
                    fprintf(out, "  %s: %s\n", touched[k], folder_get(t->root, touched[k]));
                    quiet_put(t, touched[k], quiet_files[f].before);
                }
        fprintf(out, "  journal %s\n", strcmp(folder_get(t->root, "state"), "(not there)") == 0 ? "gone" : "stays");
    }
}

TEST_WITH(what_is_told, quiet_grow, quiet_fell)
{
    struct quiet_tree *t = *state;
    struct golden g;
    FILE *out = golden_begin(&g);
    for (size_t i = 0; i < sizeof variations / sizeof *variations; i++)
        write_wish(out, t, &variations[i]);
    write_recoveries(out, t);
    golden_expect(&g, "machine/settings", "txt", false);
}

BEFORE_TESTS
{
    close(STDIN_FILENO); /* what is opened may have descriptor 0, which is as good as any */
}
