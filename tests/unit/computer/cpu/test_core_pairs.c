/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which CPUs share a core, judged by made rates of computers that share them, or do not, or now and then. */
#include "computer/cpu/core_pairs.h"
#include "drivers/active_cores.h"
#include "tests/support/folder.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

FOLDER_GROUP(root);

enum { SEEDS = 40, ROUNDS = 60, BATCHES = 5 }; /* as they are measured */

/* A computer of made CPUs. */
struct made {
    int n;
    int core[CORE_PAIRS_CPUS_MAX]; /* where each is; those of one number share a core ... */
    double together;               /* ... in this part of the time, for `stays` slots at a time */
    double stays;
    double factor; /* the rate of one of two on a core */
    double noise;  /* of the logarithm of a rate */
    double drift;  /* of a rate, for each slot */
    double
        strangers; /* the part of the time in which a stranger of another guest is on the core of a CPU alone there */
    double away;   /* the part of the time in which a process of this guest has a CPU */
};

/* A state that is on for a part of the time, and stays for so many slots. */
static bool goes_on(struct rng *r, bool was, double part, double stays)
{
    return rng_chance(r, 1 / stays) ? rng_chance(r, part) : was;
}

static void make_list(const struct made *m, const char *siblings)
{
    char text[32];
    snprintf(text, sizeof text, "0-%d", m->n - 1);
    folder_put_line(root, "devices/system/cpu/online", text);
    for (int cpu = 0; cpu < m->n; cpu++) {
        char path[100];
        snprintf(path, sizeof path, "devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
        if (siblings == NULL)
            snprintf(text, sizeof text, "%d", cpu);
        folder_put_line(root, path, siblings != NULL ? siblings : text);
    }
}

static void view_of(const struct made *m, struct cpu_view *v)
{
    memset(v, 0, sizeof *v);
    for (int cpu = 0; cpu < m->n; cpu++) {
        cpu_mask_add(&v->online, cpu);
        cpu_mask_add(&v->present, cpu);
        cpu_mask_add(&v->allowed, cpu);
    }
}

/* The rates of one slot. */
static void make_slot(const struct made *m, struct rng *r, size_t round, unsigned half, const double *level,
                      const bool *stranger, const bool *away, bool together, struct core_pairs *p)
{
    for (int i = 0; i < m->n; i++) {
        struct core_slot *s = &p->slots[(2 * round + half) * p->n + (size_t)i];
        const bool runs = core_pairs_runs(p, round, half, (size_t)i);
        double log_rate = level[i] + m->noise * rng_normal(r);
        int others = stranger[i];
        for (int k = 0; k < m->n; k++)
            others += k != i && m->core[k] == m->core[i] && together &&
                      (away[k] || core_pairs_runs(p, round, half, (size_t)k));
        log_rate += others * log(m->factor);
        *s = (struct core_slot){.log_rate = runs ? (float)log_rate : NAN, .present = !away[i]};
    }
}

static void make_rounds(const struct made *m, uint64_t seed, struct core_pairs *p)
{
    double level[CORE_PAIRS_CPUS_MAX] = {0};
    bool stranger[CORE_PAIRS_CPUS_MAX] = {0}, away[CORE_PAIRS_CPUS_MAX] = {0}, together = true;
    struct rng r;
    struct cpu_view v;
    rng_init(&r, seed, 1);
    view_of(m, &v);
    assert_int_equal(core_pairs_begin(root, &v, BATCHES * ROUNDS, seed, p), 0);
    assert_int_equal(p->n, m->n);
    for (p->rounds = 0; p->rounds < p->most; p->rounds++)
        for (unsigned half = 0; half < 2; half++) {
            together = goes_on(&r, together, m->together, m->stays);
            for (int i = 0; i < m->n; i++) {
                bool alone = true;
                for (int k = 0; k < m->n; k++)
                    alone &= k == i || m->core[k] != m->core[i] || !together;
                level[i] += m->drift * rng_normal(&r);
                stranger[i] = goes_on(&r, stranger[i], m->strangers, 3) && alone;
                away[i] = goes_on(&r, away[i], m->away, 12);
            }
            make_slot(m, &r, p->rounds, half, level, stranger, away, together, p);
        }
}

/* Judges computers of one kind; pairs on one core are `expected`. */
static void expect_kinds(const char *what, void (*vary)(struct rng *r, struct made *m), enum core_pair_kind expected)
{
    unsigned is[2][CORE_PAIR_KINDS] = {{0}};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct made m = {.n = seed % 2 ? 2 : 6, .together = 1, .stays = 1};
        struct rng r;
        struct core_pairs p;
        rng_init(&r, seed, 2);
        m.factor = rng_range(&r, 0.5, 0.68);
        m.noise = rng_log(&r, 0.001, 0.04);
        m.drift = rng_log(&r, 0.0002, 0.01);
        vary(&r, &m);
        make_list(&m, NULL);
        make_rounds(&m, seed, &p);
        p.rounds = ROUNDS;
        while (core_pairs_judge(&p) > 0 && p.rounds < p.most)
            p.rounds += ROUNDS;
        for (size_t i = 0; i < p.n_pairs; i++)
            is[m.core[p.pairs[i].a] == m.core[p.pairs[i].b]][p.pairs[i].kind]++;
        core_pairs_free(&p);
    }
    char seen[300] = "";
    for (int same = 0; same < 2; same++)
        for (enum core_pair_kind k = 0; k < CORE_PAIR_KINDS; k++)
            snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s%s %u",
                     k      ? ", "
                     : same ? "; shared: "
                            : ": ",
                     core_pair_kind_names[k], is[same][k]);
    print_message("%s%s\n", what, seen);
    for (int same = 0; same < 2; same++) {
        const enum core_pair_kind right = same ? expected : CORE_PAIR_APART;
        unsigned all = 0;
        for (enum core_pair_kind k = 0; k < CORE_PAIR_KINDS; k++) {
            all += is[same][k];
            if (k != right && k != CORE_PAIR_UNDECIDED)
                assert_int_equal(is[same][k], 0);
        }
        assert_true(is[same][CORE_PAIR_UNDECIDED] * 10 <= all);
    }
}

static void all_apart(struct rng *r, struct made *m)
{
    (void)r;
    for (int i = 0; i < m->n; i++)
        m->core[i] = i;
}

static void two_and_two(struct rng *r, struct made *m)
{
    const bool far = rng_chance(r, 0.5); /* 0 and n / 2, as Linux numbers them; or 0 and 1 */
    for (int i = 0; i < m->n; i++)
        m->core[i] = far ? i % (m->n / 2) : i / 2;
}

static void apart_among_strangers(struct rng *r, struct made *m)
{
    all_apart(r, m);
    m->strangers = rng_range(r, 0.1, 0.9);
}

static void apart_busy(struct rng *r, struct made *m)
{
    all_apart(r, m);
    m->away = rng_range(r, 0.1, 0.5);
}

static void shared_busy(struct rng *r, struct made *m)
{
    two_and_two(r, m);
    m->away = rng_range(r, 0.1, 0.5);
}

static void sometimes(struct rng *r, struct made *m)
{
    two_and_two(r, m);
    m->together = rng_range(r, 0.35, 0.65);
    m->stays = rng_range(r, 2, 6); /* the time between bursts is longer */
    m->strangers = rng_range(r, 0, 0.3);
}

TEST(cores_of_their_own)
{
    expect_kinds("apart", all_apart, CORE_PAIR_UNDECIDED);
}

TEST(two_threads_of_a_core)
{
    expect_kinds("two threads", two_and_two, CORE_PAIR_SHARED);
}

TEST(strangers_of_other_guests_are_not_taken_for_each_other)
{
    expect_kinds("strangers", apart_among_strangers, CORE_PAIR_UNDECIDED);
}

TEST(busy_processes_of_this_guest_make_nobody_share)
{
    expect_kinds("apart, busy", apart_busy, CORE_PAIR_UNDECIDED);
}

TEST(threads_are_found_beside_busy_processes)
{
    expect_kinds("two threads, busy", shared_busy, CORE_PAIR_SHARED);
}

TEST(a_hypervisor_that_moves_cpus_is_told)
{
    expect_kinds("now and then", sometimes, CORE_PAIR_VARIES);
}

TEST(processors_never_there_at_once_are_undecided)
{
    struct made m = {.n = 2, .core = {0, 0}, .together = 1, .stays = 1, .factor = 0.6, .noise = 0.01, .away = 1};
    struct core_pairs p;
    char text[200];
    make_list(&m, NULL);
    make_rounds(&m, 1, &p);
    assert_int_equal(core_pairs_judge(&p), 1);
    core_pair_text(&p.pairs[0], text, sizeof text);
    assert_non_null(strstr(text, "CPUs 0 and 1 ran at the same time in "));
    core_pairs_free(&p);
}

/* ---- what follows from it ---- */

/* Four CPUs, and what was measured of each pair, 0-1, 0-2, 0-3, 1-2, 1-3, 2-3: Undecided, Apart, Shared, Varies. */
static bool cores_of(const char *siblings, const char *kinds, struct cpu_view *v, int *core, char *text, size_t size)
{
    static const char letters[] = "UASV"; /* enum core_pair_kind */
    const struct made m = {.n = 4};
    struct core_pairs p;
    make_list(&m, siblings);
    view_of(&m, v);
    assert_int_equal(core_pairs_begin(root, v, 1, 1, &p), 0);
    assert_int_equal(p.n_pairs, 6);
    for (size_t i = 0; i < 6; i++) {
        p.pairs[i].kind = (enum core_pair_kind)(strchr(letters, kinds[i]) - letters);
        p.pairs[i].rate = p.pairs[i].lo = p.pairs[i].hi = p.pairs[i].kind == CORE_PAIR_SHARED ? 0.58 : 1;
    }
    const bool any = core_pairs_cores(&p, root, core);
    v->core = any ? core : NULL;
    (void)core_pairs_text(&p, CORE_PAIR_KINDS, text, size);
    core_pairs_free(&p);
    return any;
}

/* Which CPUs run co-runners while CPU 3 is measured, in words. */
static void expect_corunners(const struct cpu_view *v, bool siblings, const char *expected)
{
    const struct machine_setup s = {.cpu = 3, .siblings = siblings};
    struct cpu_corunners c;
    struct machine_error err;
    char text[100];
    assert_int_equal(active_cores_pick(root, v, 3, &s, &c, &err), MACHINE_OK);
    snprintf(text, sizeof text, "%u of %u:", c.active, c.cores);
    for (size_t i = 0; i < c.n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " %d", c.cpus[i]);
    free(c.cpus);
    assert_string_equal(text, expected);
}

TEST(measured_siblings_are_no_cores_for_corunners)
{
    int core[CPU_LIMIT];
    struct cpu_view v;
    char text[400];
    assert_false(cores_of(NULL, "UAAAAV", &v, core, text, sizeof text));
    assert_string_equal(text, "");
    expect_corunners(&v, false, "4 of 4: 0 1 2");
    assert_true(cores_of(NULL, "SAAAAS", &v, core, text, sizeof text));
    assert_string_equal(text, "CPUs 0 and 1 share a core (while one runs, the other has 0.58 [0.58, 0.58] of its "
                              "rate), although sysfs says that they do not; CPUs 2 and 3 share a core (while one runs, "
                              "the other has 0.58 [0.58, 0.58] of its rate), although sysfs says that they do not");
    expect_corunners(&v, false, "2 of 2: 0");
    expect_corunners(&v, true, "2 of 2: 0 1 2");
}

TEST(measured_cores_are_cores_for_corunners)
{
    int core[CPU_LIMIT];
    struct cpu_view v;
    char text[400];
    assert_true(cores_of("0-3", "SAAAAA", &v, core, text, sizeof text));
    expect_corunners(&v, false, "3 of 3: 0 2");
    /* what is undecided or varies is as sysfs says */
    assert_true(cores_of("0-3", "AAAUVU", &v, core, text, sizeof text));
    expect_corunners(&v, false, "2 of 2: 0");
}
