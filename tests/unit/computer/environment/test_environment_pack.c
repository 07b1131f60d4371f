/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bundle of a computer: read again, it gives what the computer gave, of whatever kind; and nothing in it identifies
 * the computer. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "computer/environment/pack.h"
#include "computer/environment/environment.h"
#include "tests/support/fake_environment.h"
#include "tests/support/test.h"

/* ---- kinds of computers ---- */

static void fake_remove(const char *root, const char *name)
{
    char path[2 * FOLDER_PATH_MAX + 100];
    snprintf(path, sizeof path, "%s/%s", root, name);
    folder_remove(path);
}

static void put_each(const char *root, int first, int last, const char *name, const char *text)
{
    for (int cpu = first; cpu <= last; cpu++) {
        char path[120];
        snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/%s", cpu, name);
        folder_put_line(root, path, text);
    }
}

static void two_sockets(const char *root)
{
    put_each(root, 2, 3, "topology/physical_package_id", "1");
    put_each(root, 6, 7, "topology/physical_package_id", "1");
    put_each(root, 2, 2, "microcode/version", "0x2b000591");
}

static void hybrid(const char *root)
{
    folder_put_line(root, "sys/devices/cpu_core/cpus", "0-1,4-5");
    folder_put_line(root, "sys/devices/cpu_atom/cpus", "2-3,6-7");
    put_each(root, 2, 2, "topology/thread_siblings_list", "2");
    put_each(root, 2, 2, "cpufreq/cpuinfo_max_freq", "2400000");
}

static void smt_off(const char *root)
{
    folder_put_line(root, "sys/devices/system/cpu/smt/control", "off");
    folder_put_line(root, "sys/devices/system/cpu/smt/active", "0");
    folder_put_line(root, "sys/devices/system/cpu/online", "0-3");
    put_each(root, 4, 7, "online", "0");
    put_each(root, 2, 2, "topology/thread_siblings_list", "2");
}

static void offline_cpus(const char *root)
{
    folder_put_line(root, "sys/devices/system/cpu/online", "0,2-4,7");
    put_each(root, 1, 1, "online", "0");
    put_each(root, 5, 6, "online", "0");
    fake_remove(root, "sys/devices/system/cpu/cpu1/topology");
    fake_remove(root, "sys/devices/system/cpu/cpu5/topology");
}

static void container(const char *root)
{
    folder_put(root, ".dockerenv", "");
    folder_put_line(root, "run/systemd/container", "docker");
    fake_remove(root, "proc/irq");
    fake_remove(root, "sys/firmware");
    fake_remove(root, "dev");
    fake_remove(root, "boot");
    folder_put_line(root, "sys/fs/cgroup/user.slice/cpu.max", "150000 100000");
}

static void guest_without_pmu(const char *root)
{
    fake_remove(root, "sys/bus/event_source");
    fake_remove(root, "sys/class/powercap");
    fake_remove(root, "sys/devices/system/cpu/intel_pstate");
    fake_remove(root, "sys/devices/system/cpu/cpu2/cpufreq");
    fake_remove(root, "sys/devices/system/cpu/cpu2/cpuidle");
    fake_remove(root, "sys/devices/system/cpu/cpu2/thermal_throttle");
    folder_put_line(root, "sys/devices/system/clocksource/clocksource0/current_clocksource", "kvm-clock");
    folder_put(root, "proc/cpuinfo", "processor\t: 2\nflags\t\t: fpu tsc hypervisor\n\n");
}

static void nothing_readable(const char *root)
{
    fake_remove(root, "proc");
    fake_remove(root, "run");
    fake_remove(root, "sys/class");
    fake_remove(root, "sys/kernel");
    fake_remove(root, "sys/fs");
}

/* ---- packed into another folder ---- */

/* A file with whatever bytes. */
static void put_bytes(const char *root, const char *name, const char *bytes, size_t size)
{
    char path[FOLDER_PATH_MAX + 200];
    if (memchr(bytes, 0, size) == NULL && strlen(bytes) == size) {
        folder_put(root, name, bytes);
        return;
    }
    folder_put(root, name, "");
    snprintf(path, sizeof path, "%s/%s", root, name);
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

static void nobody_may_write(const char *root, const char *name)
{
    char path[FOLDER_PATH_MAX + 200];
    snprintf(path, sizeof path, "%s/%s", root, name);
    assert_int_equal(chmod(path, 0444), 0);
}

static void secure_boot_off(const char *root)
{
    put_bytes(root, "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", "\6\0\0\0\0", 5);
}

static void placed_by_the_kernel(const char *root)
{
    nobody_may_write(root, "proc/irq/25/smp_affinity_list");
}

struct unpacked_tree {
    char root[FOLDER_PATH_MAX];
    size_t files, bytes;
    const char *secret; /* NULL: none is looked for */
};

static int unpack(void *data, const char *path, const char *bytes, size_t size, bool read_only)
{
    struct unpacked_tree *u = data;
    assert_true(strlen(path) < 92); /* with the folder in front of it, the name that an archive can hold */
    assert_null(strstr(path, ".."));
    assert_true(path[0] != '/' && path[0] != '.');
    put_bytes(u->root, path, bytes, size);
    if (read_only)
        nobody_may_write(u->root, path);
    u->files++;
    u->bytes += size;
    if (u->secret != NULL && (strstr(path, u->secret) != NULL || memmem(bytes, size, u->secret, strlen(u->secret))))
        fail_msg("%s tells the secret", path);
    return 0;
}

static void read_cpu2(const char *root, struct environment *e)
{
    struct machine_error err = {.status = MACHINE_OK};
    if (environment_read(root, 2, 0, NULL, NULL, e, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
}

static void assert_same_mask(const struct cpu_mask *a, const struct cpu_mask *b)
{
    assert_memory_equal(a, b, sizeof *a);
}

static void assert_same_lists(const struct environment *a, const struct environment *b)
{
    assert_int_equal(a->n_states, b->n_states);
    for (size_t i = 0; i < a->n_states; i++) {
        assert_string_equal(a->states[i].name, b->states[i].name);
        assert_int_equal(a->states[i].exit_us, b->states[i].exit_us);
        assert_int_equal(a->states[i].disabled, b->states[i].disabled);
    }
    assert_int_equal(a->n_irqs, b->n_irqs);
    assert_int_equal(a->irqs_error, b->irqs_error);
    for (size_t i = 0; i < a->n_irqs; i++) {
        assert_string_equal(a->irqs[i].name, b->irqs[i].name);
        assert_string_equal(a->irqs[i].device, b->irqs[i].device);
        assert_int_equal(a->irqs[i].since_boot, b->irqs[i].since_boot);
        assert_int_equal(a->irqs[i].here, b->irqs[i].here);
        assert_int_equal(a->irqs[i].movable, b->irqs[i].movable);
        assert_same_mask(&a->irqs[i].allowed, &b->irqs[i].allowed);
    }
    assert_int_equal(a->n_weaknesses, b->n_weaknesses);
    for (size_t i = 0; i < a->n_weaknesses; i++) {
        assert_string_equal(a->weaknesses[i].name, b->weaknesses[i].name);
        assert_string_equal(a->weaknesses[i].text, b->weaknesses[i].text);
    }
}

static void assert_same_kernel(const struct environment *a, const struct environment *b)
{
    assert_int_equal(a->config_hz, b->config_hz);
    assert_int_equal(a->secure_boot, b->secure_boot);
    assert_int_equal(a->msr_error == 0, b->msr_error == 0);
    assert_int_equal(a->hypervisor, b->hypervisor);
    assert_true(a->base_khz == b->base_khz || (isnan(a->base_khz) && isnan(b->base_khz)));
    assert_int_equal(a->microcodes, b->microcodes);
    assert_string_equal(a->cgroup_cpus, b->cgroup_cpus);
    assert_true(a->cgroup_quota == b->cgroup_quota || (isnan(a->cgroup_quota) && isnan(b->cgroup_quota)));
    assert_int_equal(a->container_files, b->container_files);
    assert_true(a->thermal_boot == b->thermal_boot || (isnan(a->thermal_boot) && isnan(b->thermal_boot)));
}

static void assert_same(const struct environment *a, const struct environment *b)
{
    for (int i = 0; i < ENV_FACTS; i++) {
        if (i == ENV_BOOT_ID || i == ENV_CMDLINE)
            continue;
        if ((a->fact[i].error == 0) != (b->fact[i].error == 0) || strcmp(a->fact[i].text, b->fact[i].text) != 0)
            fail_msg("fact %d: '%s' (%d), unpacked '%s' (%d)", i, a->fact[i].text, a->fact[i].error, b->fact[i].text,
                     b->fact[i].error);
    }
    assert_same_mask(&a->siblings, &b->siblings);
    assert_same_mask(&a->online, &b->online);
    assert_same_mask(&a->isolated, &b->isolated);
    assert_same_mask(&a->nohz_full, &b->nohz_full);
    assert_same_mask(&a->workqueue, &b->workqueue);
    assert_same_mask(&a->default_affinity, &b->default_affinity);
    assert_same_lists(a, b);
    assert_same_kernel(a, b);
    assert_string_equal(a->mitigations, b->mitigations);
}

/* Each change comes on top of those before it: a tree takes its time to make. */
TEST(every_kind_reads_alike_elsewhere)
{
    static void (*const kinds[])(const char *root) = {
        two_sockets,     hybrid,    smt_off,           offline_cpus,    placed_by_the_kernel,
        secure_boot_off, container, guest_without_pmu, nothing_readable};
    char root[FOLDER_PATH_MAX];
    fake_environment_make(root);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct unpacked_tree u = {.files = 0};
        struct environment here, there;
        kinds[i](root);
        folder_make(u.root);
        assert_int_equal(environment_pack(root, 2, unpack, &u), 0);
        read_cpu2(root, &here);
        read_cpu2(u.root, &there);
        assert_same(&here, &there);
        environment_free(&here);
        environment_free(&there);
        folder_remove(u.root);
    }
    folder_remove(root);
}

TEST(nothing_tells_whose_it_is)
{
    char root[FOLDER_PATH_MAX];
    struct unpacked_tree u = {.secret = "SECRET"};
    fake_environment_make(root);
    folder_put_line(root, "proc/cmdline",
                    "BOOT_IMAGE=/SECRET root=UUID=SECRET ip=SECRET isolcpus=3,7 nohz_full=SECRET/ mitigations=off "
                    "intel_idle.max_cstate=1 isolcpusSECRET=1 nomodule -- SECRET isolcpus=SECRET");
    folder_put_line(root, "proc/sys/kernel/random/boot_id", "SECRET");
    folder_put_line(root, "proc/sys/kernel/hostname", "SECRET");
    folder_put_line(root, "proc/800/cgroup", "0::/user.slice/SECRET.scope");
    folder_put_line(root, "proc/800/mountinfo", "29 24 0:26 / /sys/fs/cgroup rw - cgroup2 SECRET rw");
    folder_put(root, "proc/stat", "cpu  1 2 3 4 5 6 7 8 9 10\ncpu2 1 2 3 4 5 6 7 8 9 10\nbtime SECRET\n");
    folder_put_line(root, "sys/class/dmi/id/product_serial", "SECRET");
    const struct fake_task task = {.pid = 900, .tid = 900, .name = "SECRET", .cpu = 2, .ns = 5000000, .allowed = "0-7"};
    fake_environment_task(root, &task);
    folder_make(u.root);
    assert_int_equal(environment_pack(root, 2, unpack, &u), 0);
    struct environment e;
    read_cpu2(u.root, &e);
    assert_string_equal(e.fact[ENV_CMDLINE].text, "isolcpus=3,7 mitigations=off intel_idle.max_cstate=1 nomodule");
    assert_int_not_equal(e.fact[ENV_BOOT_ID].error, 0);
    environment_free(&e);
    assert_true(u.files > 60 && u.bytes > 2000); /* it was looked for in something */
    folder_remove(root);
    folder_remove(u.root);
}

static int refuse_third(void *data, const char *path, const char *bytes, size_t size, bool read_only)
{
    int *n = data;
    (void)path;
    (void)bytes;
    (void)size;
    (void)read_only;
    return ++*n < 3 ? 0 : -1;
}

TEST(a_taker_that_is_full_ends_it)
{
    char root[FOLDER_PATH_MAX];
    int n = 0;
    fake_environment_make(root);
    assert_int_equal(environment_pack(root, 2, refuse_third, &n), -1);
    assert_int_equal(n, 3);
    assert_int_equal(environment_pack("/nonexistent", 2, refuse_third, &n), 0);
    folder_remove(root);
}

BEFORE_TESTS
{
    close(STDIN_FILENO); /* the next file gets descriptor 0, which is as good as any */
}
