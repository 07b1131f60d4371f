/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Identity, CPU lists, and the choice of CPUs on made machines. */
#include <unistd.h>

#include "computer/cpu/cpu.h"
#include "drivers/active_cores.h"
#include "drivers/machine.h"
#include "tests/support/cpu_leaves.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

/* ---- identity ---- */

TEST(test_intel_signature)
{
    struct cpu_identity id;
    struct cpu_leaves l = cpu_leaves_of("GenuineIntel", 0x000806f8);
    memcpy(l.brand, "   Intel(R) Xeon(R) Platinum 8480+      ", 40);
    cpu_identify(&l, &id);
    assert_true(id.intel);
    assert_false(id.hypervisor);
    assert_string_equal(id.signature, "06_8FH-8");
    assert_string_equal(id.brand, "Intel(R) Xeon(R) Platinum 8480+");
    assert_string_equal(id.hypervisor_name, "");
}

TEST(test_amd_signature_uses_the_extended_family)
{
    struct cpu_identity id;
    struct cpu_leaves l = cpu_leaves_of("AuthenticAMD", 0x00a10f11);
    cpu_identify(&l, &id);
    assert_false(id.intel);
    assert_int_equal(id.family, 25);
    assert_int_equal(id.model, 0x11);
    assert_int_equal(id.stepping, 1);
    assert_string_equal(id.signature, "19_11H-1");
    assert_string_equal(id.brand, "AuthenticAMD"); /* no brand string */
}

/* The extended model counts only in families 6 and 15 (SDM vol. 2A, CPUID, "DisplayModel"). */
TEST(test_old_families_ignore_the_extended_model)
{
    struct cpu_identity id;
    struct cpu_leaves l = cpu_leaves_of("GenuineIntel", 0x000f0543);
    cpu_identify(&l, &id);
    assert_string_equal(id.signature, "05_04H-3");
}

TEST(test_names_of_unknown_origin_stay_printable)
{
    struct cpu_identity id;
    struct cpu_leaves l = cpu_leaves_of("GenuineIntel", 0x000806f8);
    memcpy(l.brand, "evil\n\033[31mname", 15);
    l.version.ecx = 1u << 31;
    memcpy(&l.hypervisor.ebx, "KVMK", 4);
    memcpy(&l.hypervisor.ecx, "VMKV", 4);
    memcpy(&l.hypervisor.edx, "M\0\0\0", 4);
    cpu_identify(&l, &id);
    assert_string_equal(id.brand, "evil??[31mname");
    assert_true(id.hypervisor);
    assert_string_equal(id.hypervisor_name, "KVMKVMKVM");
}

TEST(test_contradictions)
{
    char why[200];
    struct cpu_leaves l = cpu_leaves_of("GenuineIntel", 0x000a0678); /* Rocket Lake */
    l.structured.ebx = 1u << 16;
    assert_false(cpu_contradicts(&l, why, sizeof why));
    l.structured.edx = 1u << 24;
    l.version.ecx = 1u << 31;
    assert_true(cpu_contradicts(&l, why, sizeof why));
    assert_non_null(strstr(why, "hypervisor reports a model number that does not match its features"));
    assert_non_null(strstr(why, "06_A7H is Rocket Lake, which has no AMX"));
    l.version.eax = 0x000806f8; /* Sapphire Rapids */
    assert_false(cpu_contradicts(&l, why, sizeof why));
    l.version.eax = 0x000506e3; /* Skylake client, which has no AVX-512 either */
    l.structured.edx = 0;
    l.version.ecx = 0;
    assert_true(cpu_contradicts(&l, why, sizeof why));
    assert_non_null(strstr(why, "the CPU reports"));
    assert_non_null(strstr(why, "AVX-512"));
    l.structured.ebx = 0;
    assert_false(cpu_contradicts(&l, why, sizeof why));
    l = cpu_leaves_of("AuthenticAMD", 0x00a10f11);
    l.structured.ebx = 1u << 16;
    assert_false(cpu_contradicts(&l, why, sizeof why));
}

/* ---- lists ---- */

static struct cpu_mask mask(const char *text)
{
    struct cpu_mask m;
    assert_int_equal(cpu_mask_parse(text, &m), 0);
    return m;
}

TEST(test_lists_survive_a_round_trip)
{
    static const char *const lists[] = {"", "0", "0-3", "0-3,8", "1,3,5", "0-1,1023-1024,8191"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char text[64];
        struct cpu_mask m = mask(lists[i]);
        cpu_mask_format(&m, text, sizeof text);
        assert_string_equal(text, lists[i]);
    }
    struct cpu_mask m = mask("5-5");
    assert_true(cpu_mask_has(&m, 5));
    assert_false(cpu_mask_has(&m, 4));
    assert_false(cpu_mask_has(&m, -1));
    assert_false(cpu_mask_has(&m, CPU_LIMIT));
}

TEST(test_bad_lists_are_empty)
{
    static const char *const lists[] = {"x", "1-", "-1", "3-1", "1,", ",1", "1 2", "8192", "99999999999999999999"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct cpu_mask m;
        char text[16];
        assert_int_equal(cpu_mask_parse(lists[i], &m), -1);
        cpu_mask_format(&m, text, sizeof text);
        assert_string_equal(text, "");
    }
}

TEST(test_masks_in_hexadecimal)
{
    static const struct {
        const char *hex, *list; /* NULL: it is none */
    } cases[] = {{"3", "0-1"},
                 {"0", ""},
                 {"00000f0A", "1,3,8-11"},
                 {"1,00000000,80000001", "0,31,64"},
                 {"ff,ffffffff", "0-39"},
                 {"", NULL},
                 {"g", NULL},
                 {"0x3", NULL},
                 {"ff,ff", NULL},
                 {",00000001", NULL},
                 {"00000001,", NULL},
                 {"1ffffffff", NULL},
                 {"1 ", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cpu_mask m;
        char text[64];
        assert_int_equal(cpu_mask_parse_hex(cases[i].hex, &m), cases[i].list != NULL ? 0 : -1);
        cpu_mask_format(&m, text, sizeof text);
        assert_string_equal(text, cases[i].list != NULL ? cases[i].list : "");
    }
    /* words beyond the limit: zeros are nothing, others are refused */
    char large[9 * (CPU_LIMIT / 32 + 1) + 1];
    struct cpu_mask m;
    for (size_t i = 0; i <= CPU_LIMIT / 32; i++)
        memcpy(large + 9 * i, "00000000,", 9);
    large[sizeof large - 2] = '\0';
    assert_int_equal(cpu_mask_parse_hex(large, &m), 0);
    large[7] = '1';
    assert_int_equal(cpu_mask_parse_hex(large, &m), -1);
}

/* A list without the CPU whose list it is says nothing: not that there is a first one. */
TEST(test_lists_of_others)
{
    static const char *const lists[] = {"", "(null)", "0-2", "5", "3-"};
    char root[FOLDER_PATH_MAX];
    folder_make(root);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        folder_put_line(root, "devices/system/cpu/cpu3/cache/index3/shared_cpu_list", lists[i]);
        folder_put_line(root, "devices/system/cpu/cpu3/topology/thread_siblings_list", lists[i]);
        assert_int_equal(cpu_l3_of(root, 3), -1);
        assert_int_equal(cpu_core_of(root, 3), 3);
    }
    folder_put_line(root, "devices/system/cpu/cpu3/cache/index3/shared_cpu_list", "1-3,7");
    assert_int_equal(cpu_l3_of(root, 3), 1);
    folder_remove(root);
}

TEST(test_long_lists_end_in_dots)
{
    struct cpu_mask m = mask("0,2,4,6,8,10,12");
    char text[12];
    cpu_mask_format(&m, text, sizeof text);
    assert_string_equal(text, "0,2,4,6...");
}

/* ---- a made machine ---- */

struct rig {
    char root[FOLDER_PATH_MAX];
    struct cpu_view view;
};

static void write_file(const struct rig *r, const char *path, const char *text)
{
    folder_put_line(r->root, path, text);
}

static void place_cpu(const struct rig *r, int cpu, const char *siblings, int package)
{
    char path[128], text[16];
    snprintf(path, sizeof path, "devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    write_file(r, path, siblings);
    snprintf(path, sizeof path, "devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
    snprintf(text, sizeof text, "%d", package);
    write_file(r, path, text);
}

/* Two packages of four cores of two threads; numbered as Linux does: threads 8 to 15 are the second ones. */
static int make_server(void **state)
{
    struct rig *r = calloc(1, sizeof *r);
    if (r == NULL)
        return -1;
    folder_make(r->root);
    write_file(r, "devices/system/cpu/present", "0-15");
    write_file(r, "devices/system/cpu/online", "0-15");
    for (int cpu = 0; cpu < 16; cpu++) {
        char siblings[16];
        snprintf(siblings, sizeof siblings, "%d,%d", cpu % 8, cpu % 8 + 8);
        place_cpu(r, cpu, siblings, cpu % 8 / 4);
    }
    *state = r;
    return 0;
}

static int remove_server(void **state)
{
    struct rig *r = *state;
    folder_remove(r->root);
    free(r);
    return 0;
}

static void look(struct rig *r, const char *allowed)
{
    cpu_view_read(r->root, &r->view);
    r->view.allowed = mask(allowed);
}

static const struct machine_setup all = {.cpu = -1};

static void expect_corunners(struct rig *r, int cpu, unsigned active, const char *expected, unsigned available)
{
    const struct machine_setup s = {.active_cores = active};
    struct machine_error err;
    struct cpu_corunners c;
    char got[128] = "";
    assert_int_equal(active_cores_pick(r->root, &r->view, cpu, &s, &c, &err), MACHINE_OK);
    for (size_t i = 0; i < c.n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d", i > 0 ? " " : "", c.cpus[i]);
    free(c.cpus);
    assert_string_equal(got, expected);
    assert_int_equal(c.available, available);
    assert_int_equal(c.active, active ? active : available);
    assert_int_equal(c.n, c.active - 1);
}

TEST(test_corunners_are_other_cores_of_the_same_package_first)
{
    struct rig *r = *state;
    look(r, "0-15");
    expect_corunners(r, 15, 0, "4 5 6 0 1 2 3", 8); /* CPU 15 shares its core with 7, in package 1 */
    expect_corunners(r, 15, 1, "", 8);
    expect_corunners(r, 15, 4, "4 5 6", 8);
    expect_corunners(r, 0, 6, "1 2 3 4 5", 8);
}

static void put_all(struct rig *r, const char *file, const char *const value[8])
{
    for (int cpu = 0; cpu < 16; cpu++) {
        char path[128];
        snprintf(path, sizeof path, "devices/system/cpu/cpu%d/%s", cpu, file);
        write_file(r, path, value[cpu % 8]);
    }
}

static void remove_all(const struct rig *r, const char *file)
{
    char command[200];
    snprintf(command, sizeof command, "rm -r '%s'/devices/system/cpu/cpu*/%s", r->root, file);
    assert_int_equal(system(command), 0);
}

/* Packages 0-3 and 4-7, of two dies each: dies take turns, the measured CPU's the last of each round; on Zen 2 the
 * third-level caches do. Clusters of cores, which share a second-level cache, do not. */
TEST(test_dies_become_active_in_turn)
{
    static const char *const dies[] = {"0", "0", "1", "1", "0", "0", "1", "1"};
    static const char *const caches[] = {"0-1,8-9", "0-1,8-9", "2-3,10-11", "2-3,10-11",
                                         "4,12",    "5,13",    "6-7,14-15", "6-7,14-15"};
    struct rig *r = *state;
    look(r, "0-15");
    put_all(r, "topology/cluster_id", dies);
    expect_corunners(r, 15, 0, "4 5 6 0 1 2 3", 8);
    put_all(r, "topology/die_id", dies);
    expect_corunners(r, 15, 0, "4 5 6 0 2 1 3", 8);
    expect_corunners(r, 4, 3, "6 5", 8);
    expect_corunners(r, 4, 2, "6", 8);
    expect_corunners(r, 0, 4, "2 1 3", 8);
    remove_all(r, "topology/die_id");
    expect_corunners(r, 0, 4, "1 2 3", 8);
    put_all(r, "cache/index3/shared_cpu_list", caches);
    expect_corunners(r, 0, 4, "2 1 3", 8);
    expect_corunners(r, 7, 4, "4 5 6", 8);
    const struct machine_setup three = {.active_cores = 3}, one = {.active_cores = 1};
    struct machine_error err;
    struct cpu_corunners c;
    assert_int_equal(active_cores_pick(r->root, &r->view, 7, &three, &c, &err), MACHINE_OK);
    assert_int_equal(c.parts, 3);
    free(c.cpus);
    assert_int_equal(active_cores_pick(r->root, &r->view, 7, &one, &c, &err), MACHINE_OK);
    assert_int_equal(c.parts, 1);
    free(c.cpus);
    remove_all(r, "cache");
    remove_all(r, "topology/cluster_id");
}

static void expect_widened(struct rig *r, const char *allowed, const char *reach, const char *expected)
{
    const struct cpu_mask all_of_cpuset = mask(reach);
    char got[80];
    look(r, allowed);
    cpu_view_widen(&r->view, &all_of_cpuset);
    cpu_mask_format(&r->view.allowed, got, sizeof got);
    assert_string_equal(got, expected);
}

/* The affinity of a process that nobody restricts lacks the isolated CPUs, and nothing else. */
TEST(test_isolated_cpus_are_allowed_unless_somebody_restricts)
{
    struct rig *r = *state;
    write_file(r, "devices/system/cpu/isolated", "2-3,10");
    expect_widened(r, "0-1,4-9,11-15", "0-15", "0-15");
    expect_widened(r, "0-1,4-8,11-15", "0-15", "0-1,4-8,11-15"); /* taskset left out 9 */
    expect_widened(r, "3", "0-15", "3");                         /* taskset chose 3 of them */
    expect_widened(r, "0-15", "0-15", "0-15");
    expect_widened(r, "0-1", "0-2", "0-2"); /* of a cpuset of 0-2 */
    expect_widened(r, "4-7", "4-7", "4-7"); /* of a cpuset without any */
    expect_widened(r, "0,4-7", "0-7", "0,4-7");
    write_file(r, "devices/system/cpu/isolated", "");
    expect_widened(r, "0-7", "0-15", "0-7");
}

TEST(test_quiet_cpus_come_first)
{
    struct rig *r = *state;
    struct machine_error err;
    struct core_kind kinds[4];
    int cpu;
    write_file(r, "devices/system/cpu/isolated", "2-3,10");
    write_file(r, "devices/system/cpu/nohz_full", "5,10");
    look(r, "0-15");
    assert_int_equal(cpu_choose(&r->view, -1, &cpu, &err), MACHINE_OK);
    assert_int_equal(cpu, 10);
    assert_int_equal(cpu_choose(&r->view, 15, &cpu, &err), MACHINE_OK);
    assert_int_equal(cpu, 15);
    cpu_mask_parse("9", &r->view.big); /* performance cores are chosen first */
    assert_int_equal(cpu_choose(&r->view, -1, &cpu, &err), MACHINE_OK);
    assert_int_equal(cpu, 9);
    cpu_mask_clear(&r->view.big);
    expect_corunners(r, 10, 2, "3", 8); /* 2 is of the same core */
    expect_corunners(r, 3, 4, "2 0 1", 8);
    expect_corunners(r, 1, 4, "2 3 0", 8);
    expect_corunners(r, 7, 3, "5 4", 8); /* the package counts more */
    assert_int_equal(cpu_core_kinds(r->root, &r->view, false, kinds, 4), 2);
    assert_int_equal(kinds[0].cpu, 10);
    assert_int_equal(kinds[1].cpu, 5);
    look(r, "4-7,12-15");
    assert_int_equal(cpu_choose(&r->view, -1, &cpu, &err), MACHINE_OK);
    assert_int_equal(cpu, 5);
    write_file(r, "devices/system/cpu/nohz_full", "(null)"); /* as Linux says that there is none */
    look(r, "4-7,12-15");
    assert_int_equal(cpu_choose(&r->view, -1, &cpu, &err), MACHINE_OK);
    assert_int_equal(cpu, 15);
    write_file(r, "devices/system/cpu/isolated", "");
}

static void expect_near(struct rig *r, unsigned active, bool siblings, unsigned in_package, unsigned in_die)
{
    const struct machine_setup s = {.active_cores = active, .siblings = siblings};
    struct machine_error err;
    struct cpu_corunners c;
    assert_int_equal(active_cores_pick(r->root, &r->view, 5, &s, &c, &err), MACHINE_OK);
    free(c.cpus);
    assert_int_equal(c.in_package, in_package);
    assert_int_equal(c.in_die, in_die);
}

/* Cores whose energy is counted with that of the measured CPU, 5: cores, not threads. */
TEST(test_active_cores_of_a_package_and_of_a_die)
{
    struct rig *r = *state;
    look(r, "0-15");
    expect_near(r, 1, false, 1, 1);
    expect_near(r, 3, false, 3, 3);
    expect_near(r, 0, false, 4, 4);
    expect_near(r, 0, true, 4, 4);
    for (int cpu = 0; cpu < 16; cpu++) { /* dies have the same numbers in either package */
        char path[128];
        snprintf(path, sizeof path, "devices/system/cpu/cpu%d/topology/die_id", cpu);
        write_file(r, path, cpu % 4 < 2 ? "0" : "1");
    }
    expect_near(r, 0, false, 4, 2);
    expect_near(r, 6, true, 4, 2);
    char command[128];
    snprintf(command, sizeof command, "rm '%s'/devices/system/cpu/cpu*/topology/die_id", r->root);
    assert_int_equal(system(command), 0);
}

TEST(test_corunners_only_where_allowed)
{
    struct rig *r = *state;
    look(r, "2,3,10,11,13");
    expect_corunners(r, 10, 0, "3 13", 3); /* one of 3 and 11; 2 is the sibling of 10 */
    const struct machine_setup four = {.active_cores = 4};
    struct machine_error err;
    struct cpu_corunners c;
    assert_int_equal(active_cores_pick(r->root, &r->view, 10, &four, &c, &err), MACHINE_BAD_INPUT);
    assert_int_equal(err.status, MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "4 active cores requested"));
    assert_non_null(strstr(err.text, "may use 3 physical cores"));
    assert_non_null(strstr(err.remedy, "2-3,10-11,13"));
}

static void expect_listed(struct rig *r, int cpu, const int *cpus, size_t n, unsigned active, bool siblings,
                          const char *expected)
{
    const struct machine_setup s = {
        .cpu = cpu, .active_cores = active, .cpus = cpus, .n_cpus = n, .siblings = siblings};
    struct machine_error err;
    struct cpu_corunners c;
    char got[128] = "";
    int measured;
    assert_int_equal(active_cores_measured(&r->view, &s, &measured, &err), MACHINE_OK);
    assert_int_equal(measured, cpu >= 0 ? cpu : cpus[0]);
    assert_int_equal(active_cores_pick(r->root, &r->view, measured, &s, &c, &err), MACHINE_OK);
    for (size_t i = 0; i < c.n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d", i > 0 ? " " : "", c.cpus[i]);
    free(c.cpus);
    assert_string_equal(got, expected);
    assert_int_equal(c.active, active ? active : n);
    assert_int_equal(c.cores, 8);
}

TEST(test_cpus_become_active_in_the_order_that_is_given)
{
    struct rig *r = *state;
    const int order[] = {13, 2, 7, 8};
    look(r, "0-15");
    expect_listed(r, -1, order, 4, 1, false, "");
    expect_listed(r, -1, order, 4, 3, false, "2 7");
    expect_listed(r, -1, order, 4, 4, false, "2 7 8");
    expect_listed(r, -1, order, 4, 0, false, "2 7 8"); /* all are those of the list */
    expect_listed(r, 7, order, 4, 3, false, "13 2");   /* another one is measured */
    expect_listed(r, 7, order, 4, 0, false, "13 2 8");
    expect_listed(r, 1, order, 4, 3, false, "13 2");
}

TEST(test_siblings_are_busy_only_where_requested)
{
    struct rig *r = *state;
    const int order[] = {13, 2, 7, 10, 5}, first_core[] = {8};
    look(r, "0-15");
    expect_listed(r, -1, order, 3, 1, true, "5"); /* of the measured core, too */
    expect_listed(r, -1, first_core, 1, 1, true, "0");
    expect_listed(r, -1, order, 3, 3, true, "2 7 5 10 15");
    expect_listed(r, -1, order, 5, 3, true, "2 7 5 10 15"); /* 10 and 5 are no other cores */
    look(r, "2,5,7,10,13");
    expect_listed(r, -1, order, 3, 3, true, "2 7 5 10"); /* 15 is not allowed */
    look(r, "7,10");                                     /* nobody is busy, as if none had been requested */
    const struct machine_setup s = {.cpu = 7, .active_cores = 1, .siblings = true};
    struct cpu_corunners chosen;
    struct machine_error err;
    assert_int_equal(active_cores_pick(r->root, &r->view, 7, &s, &chosen, &err), MACHINE_CANNOT);
    assert_string_equal(err.text, "CPU 7 has no sibling thread that this process may use");
    assert_null(chosen.cpus);
}

static void refuse_list(struct rig *r, int cpu, int a, int b, const char *why)
{
    const int order[] = {a, b};
    const struct machine_setup s = {.cpu = cpu, .active_cores = 2, .cpus = order, .n_cpus = 2};
    struct machine_error err;
    struct cpu_corunners c;
    int measured;
    int status = active_cores_measured(&r->view, &s, &measured, &err);
    if (status == MACHINE_OK)
        status = active_cores_pick(r->root, &r->view, measured, &s, &c, &err);
    assert_int_equal(status, MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, why));
}

TEST(test_bad_lists_of_cpus_are_refused)
{
    struct rig *r = *state;
    look(r, "0-12");
    refuse_list(r, -1, 3, 16, "CPU 16 does not exist");
    refuse_list(r, -1, -1, 3, "CPU -1 does not exist");
    refuse_list(r, -1, 3, -1, "CPU -1 does not exist");
    refuse_list(r, -1, 3, 13, "CPU 13 is not allowed");
    refuse_list(r, -1, 3, 3, "CPU 3 is listed twice");
    refuse_list(r, 0, 3, 3, "CPU 3 is listed twice");
    refuse_list(r, -1, 3, 11, "CPU 11 shares its core");
    refuse_list(r, 0, 3, 8, "CPU 8 shares its core");
    const int order[] = {3, 0};
    const struct machine_setup three = {.cpu = -1, .active_cores = 3, .cpus = order, .n_cpus = 2};
    struct machine_error err;
    struct cpu_corunners c;
    assert_int_equal(active_cores_pick(r->root, &r->view, 3, &three, &c, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "3 active cores requested, but the list of CPUs has 2 physical cores"));
}

TEST(test_cores_online_are_counted_whoever_may_use_them)
{
    struct rig *r = *state;
    struct machine_error err;
    struct cpu_corunners c;
    write_file(r, "devices/system/cpu/online", "0-5,8-13");
    look(r, "1");
    assert_int_equal(active_cores_pick(r->root, &r->view, 1, &all, &c, &err), MACHINE_OK);
    free(c.cpus);
    assert_int_equal(c.cores, 6);
    assert_int_equal(c.available, 1);
    write_file(r, "devices/system/cpu/online", "0-15");
}

TEST(test_cpu_is_chosen_or_refused_with_one_of_three_reasons)
{
    struct rig *r = *state;
    struct machine_error err;
    int cpu;
    write_file(r, "devices/system/cpu/online", "0-13,15");
    look(r, "0-6,14");
    assert_int_equal(cpu_choose(&r->view, -1, &cpu, &err), MACHINE_OK);
    assert_int_equal(cpu, 6); /* 14 is allowed but offline */
    assert_int_equal(cpu_choose(&r->view, 3, &cpu, &err), MACHINE_OK);
    assert_int_equal(cpu, 3);
    assert_int_equal(cpu_choose(&r->view, 16, &cpu, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "CPU 16 does not exist"));
    assert_non_null(strstr(err.remedy, "0-6"));
    assert_int_equal(cpu_choose(&r->view, 14, &cpu, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "CPU 14 is offline"));
    assert_non_null(strstr(err.remedy, "cpu14/online"));
    assert_int_equal(cpu_choose(&r->view, 15, &cpu, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "CPU 15 is not allowed"));
    look(r, "0-6,14");
    assert_int_equal(cpu_choose(&r->view, -5, &cpu, &err), MACHINE_BAD_INPUT);
    look(r, "14");
    assert_int_equal(cpu_choose(&r->view, -1, &cpu, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.remedy, "none"));
    write_file(r, "devices/system/cpu/online", "0-15");
}

TEST(test_performance_cores_come_first)
{
    struct rig *r = *state;
    struct machine_error err;
    int cpu;
    write_file(r, "devices/cpu_core/cpus", "0-2,8-10");
    look(r, "0-15");
    assert_int_equal(cpu_choose(&r->view, -1, &cpu, &err), MACHINE_OK);
    assert_int_equal(cpu, 10);
    expect_corunners(r, 10, 4, "0 1 3", 8); /* 3: an efficient core of the same package before those of the other */
    look(r, "4,5");
    assert_int_equal(cpu_choose(&r->view, -1, &cpu, &err), MACHINE_OK);
    assert_int_equal(cpu, 5);
    write_file(r, "devices/cpu_core/cpus", "");
}

static void expect_cores(const struct rig *r, bool every, const char *expected)
{
    struct core_kind kinds[8];
    char got[300] = "";
    size_t n = cpu_core_kinds(r->root, &r->view, every, kinds, 8);
    for (size_t i = 0; i < n; i++) {
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d:%s", i > 0 ? "; " : "", kinds[i].cpu,
                 kinds[i].label);
    }
    assert_string_equal(got, expected);
}

static void expect_kinds(const struct rig *r, const char *expected)
{
    expect_cores(r, false, expected);
}

static void write_number(const struct rig *r, int cpu, const char *file, int value)
{
    char path[128], text[16];
    snprintf(path, sizeof path, "devices/system/cpu/cpu%d/%s", cpu, file);
    snprintf(text, sizeof text, "%d", value);
    write_file(r, path, text);
}

/* One package of eight CPUs on eight cores, or `threads` on each. */
static void make_desktop(struct rig *r, int cpus, int threads)
{
    char list[16];
    folder_make(r->root);
    snprintf(list, sizeof list, "0-%d", cpus - 1);
    write_file(r, "devices/system/cpu/present", list);
    write_file(r, "devices/system/cpu/online", list);
    for (int cpu = 0; cpu < cpus; cpu++) {
        int first = cpu / threads * threads;
        snprintf(list, sizeof list, "%d-%d", first, first + threads - 1);
        place_cpu(r, cpu, list, 0);
    }
    look(r, "0-63");
}

static void remove_desktop(const struct rig *r)
{
    folder_remove(r->root);
}

TEST(test_kinds_of_cores)
{
    struct rig *server = *state, desktop;
    look(server, "0-15");
    expect_kinds(server, "15:package 1; 11:package 0");
    look(server, "0-6");
    expect_kinds(server, "6:package 1; 3:package 0");
    look(server, "1,2,10");
    expect_kinds(server, "10:"); /* a CPU that cannot be used differs from no CPU */

    make_desktop(&desktop, 8, 2);
    expect_kinds(&desktop, "7:");
    for (int cpu = 0; cpu < 8; cpu++)
        write_number(&desktop, cpu, "topology/die_id", cpu / 4);
    expect_kinds(&desktop, "7:die 1; 3:die 0");
    remove_desktop(&desktop);
}

TEST(test_favoured_cores)
{
    struct rig desktop;
    make_desktop(&desktop, 8, 1);
    for (int cpu = 0; cpu < 8; cpu++)
        write_number(&desktop, cpu, "cpufreq/cpuinfo_max_freq", 4500000);
    expect_kinds(&desktop, "7:");
    write_number(&desktop, 2, "cpufreq/cpuinfo_max_freq", 4700000);
    write_number(&desktop, 5, "cpufreq/cpuinfo_max_freq", 4700000);
    expect_kinds(&desktop, "7:not favoured; 5:favoured");
    /* CPPC tells it more finely */
    for (int cpu = 0; cpu < 8; cpu++)
        write_number(&desktop, cpu, "acpi_cppc/highest_perf", cpu == 3 ? 40 : 30 + cpu);
    expect_kinds(&desktop, "7:not favoured; 3:favoured");
    remove_desktop(&desktop);
}

TEST(test_kinds_of_a_hybrid_part)
{
    struct rig desktop;
    make_desktop(&desktop, 16, 1);
    write_file(&desktop, "devices/cpu_core/cpus", "0-3");
    write_file(&desktop, "devices/cpu_atom/cpus", "4-11");
    write_file(&desktop, "devices/cpu_lowpower/cpus", "12-15");
    for (int cpu = 0; cpu < 16; cpu++)
        write_number(&desktop, cpu, "acpi_cppc/highest_perf", cpu == 1 ? 70 : cpu < 4 ? 65 : 40);
    expect_kinds(&desktop, "15:LP-E; 11:E; 3:P, not favoured; 1:P, favoured");
    assert_string_equal(cpu_core_class(desktop.root, 0), "P");
    assert_string_equal(cpu_core_class(desktop.root, 4), "E");
    assert_string_equal(cpu_core_class(desktop.root, 12), "LP-E");
    assert_string_equal(cpu_core_class("/nonexistent", 0), "");
    remove_desktop(&desktop);
}

/* Clusters are no kinds, but each core tells in which it is; where each core is one, or all are, there is nothing to
 * tell. */
TEST(test_clusters)
{
    struct rig desktop;
    make_desktop(&desktop, 8, 1);
    expect_cores(&desktop, true, "0:; 1:; 2:; 3:; 4:; 5:; 6:; 7:");
    for (int cpu = 0; cpu < 8; cpu++)
        write_number(&desktop, cpu, "topology/cluster_id", cpu);
    expect_cores(&desktop, true, "0:; 1:; 2:; 3:; 4:; 5:; 6:; 7:");
    for (int cpu = 0; cpu < 8; cpu++)
        write_number(&desktop, cpu, "topology/cluster_id", 8);
    expect_cores(&desktop, true, "0:; 1:; 2:; 3:; 4:; 5:; 6:; 7:");
    write_file(&desktop, "devices/cpu_core/cpus", "0-1");
    write_file(&desktop, "devices/cpu_atom/cpus", "2-7");
    for (int cpu = 0; cpu < 8; cpu++)
        write_number(&desktop, cpu, "topology/cluster_id", cpu < 2 ? 8 * cpu : cpu < 5 ? 16 : 24);
    expect_cores(&desktop, true,
                 "0:P; 1:P; 2:E, cluster 16; 3:E, cluster 16; 4:E, cluster 16; 5:E, cluster 24; 6:E, cluster 24; "
                 "7:E, cluster 24");
    expect_kinds(&desktop, "7:E; 1:P");
    remove_desktop(&desktop);
}

TEST(test_without_sysfs_the_affinity_decides)
{
    struct cpu_view v;
    struct machine_error err;
    struct cpu_corunners c;
    int cpu;
    cpu_view_read("/nonexistent", &v);
    assert_int_equal(cpu_choose(&v, -1, &cpu, &err), MACHINE_OK);
    assert_true(cpu_mask_has(&v.allowed, cpu));
    /* every CPU is then a core of its own */
    assert_int_equal(active_cores_pick("/nonexistent", &v, cpu, &all, &c, &err), MACHINE_OK);
    free(c.cpus);
    assert_int_equal(c.available, CPU_COUNT_S(sizeof v.allowed, v.allowed.set));
}

TEST(test_affinity_is_set_and_restored)
{
    struct cpu_mask before, one, now;
    struct cpu_view v;
    struct machine_error err;
    int cpu;
    cpu_view_read("/sys", &v);
    assert_int_equal(cpu_get_affinity(&before), 0);
    assert_int_equal(cpu_choose(&v, -1, &cpu, &err), MACHINE_OK);
    cpu_mask_clear(&one);
    cpu_mask_add(&one, cpu);
    assert_int_equal(cpu_set_affinity(&one), 0);
    assert_int_equal(sched_getcpu(), cpu);
    assert_int_equal(cpu_set_affinity(&before), 0);
    assert_int_equal(cpu_get_affinity(&now), 0);
    assert_memory_equal(&now, &before, sizeof now);
}

BEFORE_TESTS
{
    close(STDIN_FILENO); /* the next file gets descriptor 0, which is as good as any */
}

TEST_GROUP(make_server, remove_server)
