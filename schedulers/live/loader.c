/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "schedulers/live/loader.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "computer/cpu/cpu.h"

/* Linux 6.12; older headers lack them. */
enum { STRUCT_OPS_ATTACH = 44, STRUCT_OPS_BY_LINK = 1 << 13 };
static const char sysfs[] = "/sys/kernel/sched_ext";

/* sched.bpf.c, compiled. */
extern const char live_object[];
extern const size_t live_object_size;
__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        ".globl live_object, live_object_size\n"
        "live_object: .incbin \"" LIVE_OBJECT "\"\n"
        ".balign 8\n"
        "live_object_size: .quad . - live_object\n"
        ".popsection\n");

struct live_scheduler {
    struct bpf_object *object;
    struct bpf_link *ops, *calls, *saved, *tasks;
    const volatile struct live_state *state;
    struct live_counters counters;
    volatile struct live_control *control;
    struct ring_buffer *records;
    FILE *record; /* where they go; NULL: nowhere */
    int link;
    char said[600]; /* the first line of libbpf that is not for debugging */
};

/* CHARACTERIZE_SCHED_FAULT, for tests of what the kernel does then. */
static policy_u32 wanted_fault(void)
{
    const char *fault = getenv("CHARACTERIZE_SCHED_FAULT");
    if (fault == NULL)
        return LIVE_FAULT_NONE;
    return strcmp(fault, "stall") == 0 ? LIVE_FAULT_STALL : strcmp(fault, "error") == 0 ? LIVE_FAULT_ERROR : 0;
}

/* The NUMA nodes that have CPUs, in the order of their numbers; without any, all are of one. */
static void find_nodes(struct live_config *config, const struct cpu_view *view)
{
    struct cpu_mask nodes, cpus;
    config->n_nodes = 0;
    memset(config->node_of, 0, sizeof(config->node_of));
    (void)cpu_read_list("/sys", &nodes, "devices/system/node/online");
    for (int node = 0; node < CPU_LIMIT; node++) {
        bool has_cpus = false;
        if (!cpu_mask_has(&nodes, node) || !cpu_read_list("/sys", &cpus, "devices/system/node/node%d/cpulist", node))
            continue;
        for (int cpu = 0; cpu < LIVE_CPUS_MAX; cpu++)
            if (cpu_mask_has(&cpus, cpu) && cpu_mask_has(&view->online, cpu)) {
                has_cpus = true;
                config->node_of[cpu] = config->n_nodes < LIVE_NODES_MAX ? config->n_nodes : LIVE_NODES_MAX - 1;
            }
        config->n_nodes += has_cpus;
    }
    config->n_nodes = config->n_nodes > LIVE_NODES_MAX ? LIVE_NODES_MAX : config->n_nodes > 0 ? config->n_nodes : 1;
}

int live_config_here(struct live_config *config, struct machine_error *err)
{
    struct cpu_view view;
    cpu_view_read("/sys", &view);
    config->first_wide = 0;
    config->fault = wanted_fault();
    find_nodes(config, &view);
    config->n_cpus = config->n_cores = 0;
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++) {
        if (cpu < LIVE_CPUS_MAX)
            config->core_of[cpu] = LIVE_CPUS_MAX;
        if (!cpu_mask_has(&view.online, cpu))
            continue;
        int core = cpu_core_of("/sys", cpu);
        if (cpu >= LIVE_CPUS_MAX || core < 0 || core >= LIVE_CPUS_MAX)
            return machine_fail(err, MACHINE_CANNOT, "", "CPU %d: more than the %d that the scheduler knows", cpu,
                                LIVE_CPUS_MAX);
        config->n_cpus = (policy_u32)cpu + 1;
        config->core_of[cpu] = (policy_u32)core;
        if (core == cpu) {
            config->n_cores++;
            config->first_wide = (policy_u32)core;
        }
    }
    if (config->specialize && config->n_cores < 2)
        return machine_fail(err, MACHINE_CANNOT, "--mode fair",
                            "specialization needs two physical cores, and %u is online", config->n_cores);
    return MACHINE_OK;
}

/* Why nothing can be loaded here, before it is tried. */
static int check_kernel(struct machine_error *err)
{
    struct utsname name;
    char state[40] = "", ops[140] = "";
    if (access(sysfs, F_OK) != 0) {
        uname(&name);
        return machine_fail(err, MACHINE_CANNOT, "",
                            "Linux %s has no sched_ext; Linux 7.2 and newer with CONFIG_SCHED_CLASS_EXT have what is "
                            "needed, such as Debian's of trixie-backports and sid",
                            name.release);
    }
    if (geteuid() != 0)
        return machine_fail(err, MACHINE_CANNOT, "sudo", "only root may load a scheduler");
    cpu_read_text(sysfs, state, sizeof(state), "state");
    if (strcmp(state, "disabled") != 0) {
        cpu_read_text(sysfs, ops, sizeof(ops), "root/ops");
        return machine_fail(err, MACHINE_CANNOT, "", "a scheduler is loaded already: %s (%s)", ops, state);
    }
    return MACHINE_OK;
}

/* Where the first line of libbpf goes; CHARACTERIZE_BPF_LOG shows all. */
static char *log_text;
static int keep_log(enum libbpf_print_level level, const char *format, va_list args)
{
    if (level == LIBBPF_DEBUG || log_text == NULL)
        return 0;
    if (getenv("CHARACTERIZE_BPF_LOG") != NULL)
        return vfprintf(stderr, format, args);
    if (log_text[0] == '\0')
        vsnprintf(log_text, sizeof(((struct live_scheduler *)NULL)->said), format, args);
    return 0;
}

static int load_failed(const struct live_scheduler *s, const char *what, int error, struct machine_error *err)
{
    return machine_fail(err, MACHINE_FAILED, "", "cannot %s: %s%s%.300s", what, strerror(error < 0 ? -error : error),
                        s->said[0] != '\0' ? ": " : "", s->said);
}

/* ---- what the accounting needs ---- */

static struct bpf_map *map_of(const struct live_scheduler *s, const char *name)
{
    return bpf_object__find_map_by_name(s->object, name);
}

/* Before it is loaded. */
static bool size_maps(const struct live_scheduler *s, const struct live_config *config,
                      const struct live_params *params)
{
    enum { RECORDS_BYTES = 1 << 23 };
    return bpf_map__set_max_entries(map_of(s, "counters"), config->n_cpus * LIVE_EVENTS) == 0 &&
           (!config->recorded || bpf_map__set_max_entries(map_of(s, "records"), RECORDS_BYTES) == 0) &&
           bpf_map__set_initial_value(map_of(s, ".rodata.turbos"), &params->turbos, sizeof(params->turbos)) == 0;
}

static int record(void *file, void *bytes, size_t size)
{
    return fwrite(bytes, size, 1, file) == 1 ? 0 : -EIO;
}

/* Once it is loaded. */
static int fill_maps(struct live_scheduler *s, const struct live_config *config, const char *const *groups,
                     struct machine_error *err)
{
    const int counters = bpf_map__fd(map_of(s, "counters")), cgroups = bpf_map__fd(map_of(s, "groups"));
    for (policy_u32 cpu = 0; s->counters.groups != NULL && cpu < config->n_cpus; cpu++)
        for (size_t i = 0; i < s->counters.n; i++) {
            const policy_u32 key = cpu * LIVE_EVENTS + (policy_u32)s->counters.event[i];
            const int fd = perf_groups_fd(s->counters.groups, (int)cpu, i);
            if (fd >= 0 && bpf_map_update_elem(counters, &key, &fd, BPF_ANY) != 0)
                return load_failed(s, "give counters to the scheduler", errno, err);
        }
    for (policy_u32 i = 0; i < config->n_groups; i++) {
        const int fd = open(groups[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        const int error = fd < 0 || bpf_map_update_elem(cgroups, &i, &fd, BPF_ANY) != 0 ? errno : 0;
        if (fd >= 0)
            close(fd);
        if (error != 0)
            return machine_fail(err, MACHINE_BAD_INPUT,
                                "name a directory of cgroup 2, such as /sys/fs/cgroup/user.slice", "--cgroup %s: %s",
                                groups[i], error == EBADF ? "not a cgroup of version 2" : strerror(error));
    }
    s->records = s->record != NULL ? ring_buffer__new(bpf_map__fd(map_of(s, "records")), record, s->record, NULL)
                                   : NULL;
    return s->record == NULL || s->records != NULL ? MACHINE_OK : load_failed(s, "record", errno, err);
}

bool live_take_records(struct live_scheduler *s)
{
    return s->records == NULL || (ring_buffer__consume(s->records) >= 0 && fflush(s->record) == 0);
}

/* A variable of the scheduler; NULL with errno. */
static void *shared_memory(const struct live_scheduler *s, const char *name, size_t size, int access)
{
    void *place = mmap(NULL, size, access, MAP_SHARED, bpf_map__fd(map_of(s, name)), 0);
    return place == MAP_FAILED ? NULL : place;
}

static int load(struct live_scheduler *s, const struct live_config *config, const struct live_params *params,
                const char *const *groups, struct machine_error *err)
{
    const struct bpf_object_open_opts options = {.sz = sizeof(options), .object_name = "characterize"};
    s->object = bpf_object__open_mem(live_object, live_object_size, &options);
    if (s->object == NULL)
        return load_failed(s, "read the scheduler", errno, err);
    struct bpf_map *ops = bpf_object__find_map_by_name(s->object, "characterize");
    struct bpf_map *constants = bpf_object__find_map_by_name(s->object, ".rodata.config");
    struct bpf_program *init = bpf_object__find_program_by_name(s->object, "live_init");
    struct bpf_program *calls = bpf_object__find_program_by_name(s->object, "on_call");
    struct bpf_program *saved = bpf_object__find_program_by_name(s->object, "on_saved");
    const bool watched = config->marks || config->injected || (config->counted_wide && config->specialize);
    if (bpf_map__set_initial_value(constants, config, sizeof(*config)) != 0 || !size_maps(s, config, params))
        return machine_fail(err, MACHINE_FAILED, "", "the scheduler was compiled with another struct live_config");
    bpf_program__set_autoload(calls, watched);
    bpf_program__set_autoload(saved, config->registers != 0);
#if LIBBPF_MAJOR_VERSION == 1 && LIBBPF_MINOR_VERSION < 4 /* newer ones know both by the names of sections */
    bpf_map__set_map_flags(ops, STRUCT_OPS_BY_LINK);
    bpf_program__set_flags(init, BPF_F_SLEEPABLE);
#endif
    int error = bpf_object__load(s->object);
    if (error != 0)
        return load_failed(s, "load the scheduler", error, err);
    const int status = fill_maps(s, config, groups, err);
    if (status != MACHINE_OK)
        return status;
    s->state = shared_memory(s, ".data.state", sizeof(*s->state), PROT_READ);
    s->control = shared_memory(s, ".data.control", sizeof(*s->control), PROT_READ | PROT_WRITE);
    if (s->state == NULL || s->control == NULL)
        return load_failed(s, "read what the scheduler counts", errno, err);
    s->calls = watched ? bpf_program__attach(calls) : NULL;
    if (watched && s->calls == NULL)
        return load_failed(s, "watch system calls", errno, err);
    s->saved = config->registers != 0 ? bpf_program__attach(saved) : NULL;
    if (config->registers != 0 && s->saved == NULL)
        return load_failed(s, "watch which registers are saved", errno, err);
    s->tasks = bpf_program__attach_iter(bpf_object__find_program_by_name(s->object, "live_tasks"), NULL);
    if (s->tasks == NULL)
        return load_failed(s, "list tasks", errno, err);
    s->ops = bpf_map__attach_struct_ops(ops);
    if (s->ops == NULL)
        return load_failed(s, "register the scheduler", errno, err);
#if LIBBPF_MAJOR_VERSION == 1 && LIBBPF_MINOR_VERSION < 4
    union bpf_attr attr = {0};
    attr.link_create.prog_fd = (__u32)bpf_map__fd(ops);
    attr.link_create.attach_type = STRUCT_OPS_ATTACH;
    s->link = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
    if (s->link < 0)
        return load_failed(s, "attach the scheduler", errno, err);
#endif
    /* from now on the kernel ends it where a CPU comes or goes */
    struct live_config now = *config;
    if (live_config_here(&now, err) != MACHINE_OK || memcmp(&now, config, sizeof(now)) != 0)
        return machine_fail(err, MACHINE_FAILED, "start it again", "a CPU came or went while the scheduler was loaded");
    return MACHINE_OK;
}

/* Nothing more is opened. */
static void give_up_privileges(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    (void)syscall(SYS_capset, &head, none);
}

static void free_scheduler(struct live_scheduler *s)
{
    if (s->link >= 0)
        close(s->link);
    bpf_link__destroy(s->calls);
    bpf_link__destroy(s->saved);
    bpf_link__destroy(s->tasks);
    bpf_link__destroy(s->ops);
    ring_buffer__free(s->records);
    bpf_object__close(s->object);
    live_counters_close(&s->counters);
    if (s->record != NULL)
        (void)fclose(s->record);
    if (s->state != NULL)
        munmap((void *)s->state, sizeof(*s->state));
    if (s->control != NULL)
        munmap((void *)s->control, sizeof(*s->control));
    free(s);
}

/* What is recorded, if it is. */
static int open_record(struct live_scheduler *s, struct live_config *config, struct machine_error *err)
{
    const char *path = getenv("CHARACTERIZE_SCHED_RECORD");
    if (path == NULL)
        return MACHINE_OK;
    config->recorded = 1;
    s->record = fopen(path, "we");
    if (s->record == NULL || fwrite(config, sizeof(*config), 1, s->record) != 1)
        return machine_fail(err, MACHINE_FAILED, "", "cannot write %s: %s", path, strerror(errno));
    return MACHINE_OK;
}

int live_start(struct live_config *config, const struct live_params *params, const struct cpu_identity *here,
               const char *const *groups, struct live_scheduler **out, struct machine_error *err)
{
    int status = check_kernel(err);
    if (status != MACHINE_OK)
        return status;
    struct live_scheduler *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return machine_fail(err, MACHINE_FAILED, "", "out of memory");
    s->link = -1;
    log_text = s->said;
    libbpf_set_print(keep_log);
    status = live_counters_open(params, here, config, &s->counters, err);
    if (status == MACHINE_OK)
        status = open_record(s, config, err);
    if (status == MACHINE_OK)
        status = load(s, config, params, groups, err);
    log_text = NULL;
    if (status != MACHINE_OK) {
        free_scheduler(s);
        return status;
    }
    give_up_privileges();
    *out = s;
    return MACHINE_OK;
}

const char *live_without(const struct live_scheduler *s)
{
    return s->counters.without;
}

const volatile struct live_state *live_state_of(const struct live_scheduler *s)
{
    return s->state;
}

void live_specialize(struct live_scheduler *s, bool on)
{
    s->control->off = !on;
}

int live_tasks_read(const struct live_scheduler *s, struct live_task **rows, size_t *n, struct machine_error *err)
{
    enum { AT_ONCE = 1 << 16 }; /* bytes */
    char *bytes = NULL;
    size_t used = 0, room = 0;
    ssize_t got = -1;
    int fd = bpf_iter_create(bpf_link__fd(s->tasks));
    do {
        if (room - used < AT_ONCE) {
            char *more = realloc(bytes, room = 2 * room + AT_ONCE);
            if (more == NULL)
                break;
            bytes = more;
        }
        got = fd >= 0 ? read(fd, bytes + used, room - used) : -1;
        used += got > 0 ? (size_t)got : 0;
    } while (got > 0 || (got < 0 && fd >= 0 && (errno == EINTR || errno == EAGAIN)));
    if (got != 0) {
        machine_fail(err, MACHINE_FAILED, "", "cannot list tasks: %s", strerror(errno));
        free(bytes);
        bytes = NULL;
    }
    if (fd >= 0)
        close(fd);
    *rows = (struct live_task *)(void *)bytes;
    *n = used / sizeof(**rows);
    return got == 0 ? MACHINE_OK : MACHINE_FAILED;
}

/* enum scx_exit_kind of Linux 7.3: unregistered by its owner; by the kernel; codes: because a CPU came or went */
enum { EXIT_UNREGISTERED = 64, EXIT_BY_KERNEL = 66 };
#define EXIT_HOTPLUG (1ULL << 32)

int live_stop(struct live_scheduler *s, struct machine_error *err)
{
    const volatile struct live_state *state = s->state;
    const policy_u32 kind = state->exit_kind;
    int status = MACHINE_OK;
    if (kind == EXIT_BY_KERNEL && (state->exit_code & EXIT_HOTPLUG) != 0)
        status = machine_fail(err, MACHINE_FAILED, "start it again",
                              "a CPU came or went: Linux' own scheduler has taken over");
    else if (kind != 0 && kind != EXIT_UNREGISTERED)
        status = machine_fail(err, MACHINE_FAILED, "", "Linux' own scheduler has taken over: %s%s%s (%u)",
                              (const char *)state->exit_reason, state->exit_text[0] != '\0' ? ": " : "",
                              (const char *)state->exit_text, kind);
    free_scheduler(s);
    return status;
}
