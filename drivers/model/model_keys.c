/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which sections and keys a model file has. The meaning of each is described in doc/model-format.md. */
#include "drivers/model/model_parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GHZ_WORDS = MODEL_LEVELS_MAX + 1, STEP_WORDS = 4 };
static const double GHZ_MIN = 0.1, GHZ_MAX = 10.0;

/* One more of at most `max`, zeroed, with its line; NULL after filling *err. */
#define ADD(p, key, array, count, max, what)                                                                           \
    ((p)->model->count < (max) ? ((p)->model->array[(p)->model->count].line = (p)->ini.line,                           \
                                  (void *)&(p)->model->array[(p)->model->count++])                                     \
                               : too_many(p, key, max, what))

static void *too_many(struct model_parser *p, const char *key, unsigned max, const char *what)
{
    model_refuse(p, key, "more than %u %s", max, what);
    return NULL;
}

/* ---- [cpu] ---- */

static int store_features(struct model_parser *p, const char *key, char *value)
{
    static const struct {
        const char *name;
        unsigned bit;
    } known[] = {{"avx", KERNEL_NEEDS_AVX},
                 {"avx2", KERNEL_NEEDS_AVX2},
                 {"fma", KERNEL_NEEDS_FMA},
                 {"avx512f", KERNEL_NEEDS_AVX512F},
                 {"avx512vl", KERNEL_NEEDS_AVX512VL},
                 {"amx_bf16", KERNEL_NEEDS_AMX_BF16},
                 {"none", 0}};
    char *words[COUNT(known)];
    size_t n = sourced_ini_words(value, words, COUNT(known));
    for (size_t i = 0; i < n && i < COUNT(known); i++) {
        size_t k = 0;
        while (k < COUNT(known) && strcmp(known[k].name, words[i]) != 0)
            k++;
        if (k == COUNT(known))
            return model_refuse(
                p, key, "'%.40s' is not a feature; avx, avx2, fma, avx512f, avx512vl, amx_bf16 or none would work",
                words[i]);
        if (p->model->features & known[k].bit)
            return model_refuse(p, key, "'%s' is given twice; remove one", words[i]);
        if (!known[k].bit && n > 1)
            return model_refuse(p, key, "'none' and another feature; one of the two would work");
        p->model->features |= known[k].bit;
    }
    return 0;
}

static int store_layout(struct model_parser *p, const char *key, char *value)
{
    static const char *const names[] = {"groups", "cores", "none"};
    for (size_t i = 0; i < COUNT(names); i++)
        if (strcmp(names[i], value) == 0) {
            p->model->turbo_layout = (enum model_turbo_layout)i;
            return 0;
        }
    return model_refuse(p, key, "'%.40s' is not a layout; groups, cores or none would work", value);
}

static const struct model_key cpu_keys[] = {
    TEXT("name", true, model, cpu_name),
    UINT("family", true, model, family, 1, 270),
    UINT("model", true, model, model, 0, 255),
    UINT("stepping", true, model, stepping, 0, 15),
    OWN("features", true, store_features),
    NUMBER("tsc_hz", true, model, tsc_hz, 1e8, 1e10),
    UINT("cores", true, model, cores, 1, MODEL_CORES_MAX),
    OWN("turbo_layout", true, store_layout),
    YES_NO("speed_select", false, model, speed_select),
};

/* ---- [levels] ---- */

static int store_ghz(struct model_parser *p, const char *key, char *value, double *out)
{
    char *words[GHZ_WORDS];
    size_t n = sourced_ini_words(value, words, GHZ_WORDS - 1);
    if (n > MODEL_LEVELS_MAX)
        return model_refuse(p, key, "more than %d levels; one frequency for each of 1 to %d levels would work",
                            MODEL_LEVELS_MAX, MODEL_LEVELS_MAX);
    if (p->model->n_levels && n != p->model->n_levels)
        return model_refuse(p, key, "%zu frequencies, but the line before has %zu; give one for each level", n,
                            p->model->n_levels);
    for (size_t i = 0; i < n; i++) {
        if (model_number(p, key, words[i], GHZ_MIN, GHZ_MAX, &out[i]) != 0)
            return -1;
        if (i > 0 && out[i] > out[i - 1])
            return model_refuse(
                p, key,
                "level %zu (%g GHz) is faster than level %zu (%g GHz); list them from the fastest to the slowest", i,
                out[i], i - 1, out[i - 1]);
    }
    p->model->n_levels = n;
    return 0;
}

static int store_base(struct model_parser *p, const char *key, char *value)
{
    return store_ghz(p, key, value, p->model->base_ghz);
}

static int store_turbo(struct model_parser *p, const char *key, char *value)
{
    static const char prefix[] = "turbo_ghz.";
    if (strncmp(key, prefix, sizeof prefix - 1) != 0)
        return model_refuse(p, key, "no such key in section [levels]; base_ghz and turbo_ghz.CORES would work");
    struct model_turbo *t = ADD(p, key, turbo, n_turbo, MODEL_TURBO_MAX, "ranges of active cores");
    if (!t || model_core_range(p, key, key + sizeof prefix - 1, &t->cores) != 0)
        return -1;
    return store_ghz(p, key, value, t->ghz);
}

static const struct model_key levels_keys[] = {OWN("base_ghz", true, store_base)};

/* ---- [class NAME] ---- */

static int enter_class(struct model_parser *p, char *words[])
{
    struct model_class *c = p->instance = ADD(p, p->header, classes, n_classes, MODEL_CLASSES_MAX, "of these");
    return c ? model_name(p, p->header, words[1], c->name, sizeof c->name) : -1;
}

static int store_umask(struct model_parser *p, const char *key, char *value)
{
    struct model_class *c = p->instance;
    if (model_uint(p, key, value, 0x00, 0x20, &c->umask) != 0)
        return -1;
    if (c->umask == 0x01 || (c->umask & (c->umask - 1)) != 0)
        return model_refuse(
            p, key, "%.20s is not a bit that counts a license; 0x02, 0x04, 0x08, 0x10, 0x20 or 0 (none) would work",
            value);
    return 0;
}

static const struct model_key class_keys[] = {
    UINT("level", true, model_class, level, 0, MODEL_LEVELS_MAX - 1),
    OWN("umask", true, store_umask),
    NUMBER("wait_double", false, model_class, wait_double, 0, 1),
};

/* ---- [demand WIDTH WEIGHT] ---- */

static int enter_demand(struct model_parser *p, char *words[])
{
    struct model_demand *d = p->instance = ADD(p, p->header, demands, n_demands, MODEL_DEMANDS_MAX, "of these");
    if (!d || model_width(p, p->header, words[1], &d->width) != 0)
        return -1;
    d->count = 1;
    if (words[3] && (strlen(words[3]) >= sizeof d->kernel || strpbrk(words[3], ".-@") != NULL))
        return model_refuse(p, p->header, "'%.40s' is not the name of a kernel without suffixes, like 512mul",
                            words[3]);
    snprintf(d->kernel, sizeof d->kernel, "%s", words[3] ? words[3] : "");
    return model_weight(p, p->header, words[2], &d->weight);
}

static int leave_demand(struct model_parser *p)
{
    struct model_demand *d = p->instance;
    bool conditional = d->rate > 0 || d->count > 1;
    bool below = model_was_seen(p, "below");
    if (conditional && !below)
        return model_fail(p, d->line, "below",
                          "missing in section [%s]; with a rate or count it says what is needed until then", p->header);
    if (!conditional && below)
        return model_fail(p, d->line, "below", "without a rate or count it is never needed; remove it");
    if (!below)
        d->below = d->class_;
    if (d->below > d->class_)
        return model_fail(p, d->line, "below", "needs a higher class than 'class'; swap them");
    return 0;
}

static const struct model_key demand_keys[] = {
    CLASS("class", true, model_demand, class_),
    NUMBER("rate", false, model_demand, rate, 0, 16),
    NUMBER("count", false, model_demand, count, 1, 1e9),
    NUMBER("count_sigma", false, model_demand, count_sigma, 0, 1.0 / 3),
    CLASS("below", false, model_demand, below),
};

/* ---- [mixture WIDTH WEIGHT WIDTH WEIGHT], [dirty WIDTH] ---- */

static int enter_mixture(struct model_parser *p, char *words[])
{
    struct model_mixture *m = p->instance = ADD(p, p->header, mixtures, n_mixtures, MODEL_MIXTURES_MAX, "of these");
    for (size_t i = 0; i < 2; i++)
        if (!m || model_width(p, p->header, words[1 + 2 * i], &m->width[i]) != 0 ||
            model_weight(p, p->header, words[2 + 2 * i], &m->weight[i]) != 0)
            return -1;
    if (m->width[0] == m->width[1] && m->weight[0] == m->weight[1])
        return model_refuse(p, p->header, "a mixture takes two different kinds of code");
    return 0;
}

static const struct model_key mixture_keys[] = {
    CLASS("class", true, model_mixture, class_),
    UINT("switches", true, model_mixture, switches, 2, 16),
    NUMBER("window_us", true, model_mixture, window_us, 0.1, 1e6),
};

static int enter_dirty(struct model_parser *p, char *words[])
{
    struct model_dirty *d = p->instance = ADD(p, p->header, dirty, n_dirty, MODEL_DIRTY_MAX, "of these");
    return d ? model_width(p, p->header, words[1], &d->width) : -1;
}

static const struct model_key dirty_keys[] = {CLASS("class", true, model_dirty, class_)};

/* ---- [transition FROM TO] ---- */

static int enter_transition(struct model_parser *p, char *words[])
{
    unsigned from, to;
    if (model_class_name(p, p->header, words[1], &from) != 0 || model_class_name(p, p->header, words[2], &to) != 0)
        return -1;
    if (to <= from)
        return model_refuse(p, p->header, "leads to a class that needs no more; releases follow from [timing]");
    struct model_transition *t = &p->model->transitions[from][to];
    t->line = p->ini.line;
    p->instance = t;
    return 0;
}

/* The least ratio is that of clock modulation (IA32_CLOCK_MODULATION; Intel SDM, volume 3, "Software Controlled Clock
 * Modulation"): of slower code, a sample takes longer than the throttling. */
static int throttle_figures(struct model_parser *p, const char *key, char *words[], double *ratio, double *us)
{
    return model_number(p, key, words[1], 1.0 / 16, 1, ratio) != 0 || model_number(p, key, words[2], 0.1, 1e5, us) != 0
               ? -1
               : 0;
}

static int store_variant(struct model_parser *p, const char *key, const char *range, char *words[],
                         struct model_step *s)
{
    if (s->kind != MODEL_STEP_THROTTLE || strcmp(words[0], "throttle") != 0)
        return model_refuse(p, key, "only a throttle step depends on active cores; give the step itself first");
    if (s->n_variants == MODEL_VARIANTS_MAX)
        return model_refuse(p, key, "more than %d ranges of active cores for one step", MODEL_VARIANTS_MAX);
    struct model_step_variant *v = &s->variants[s->n_variants];
    v->line = p->ini.line;
    if (model_core_range(p, key, range, &v->cores) != 0 || throttle_figures(p, key, words, &v->ratio, &v->us) != 0)
        return -1;
    for (size_t i = 0; i < s->n_variants; i++)
        if (v->cores.lo <= s->variants[i].cores.hi && v->cores.hi >= s->variants[i].cores.lo)
            return model_refuse(p, key, "overlaps with the range %u-%u of this step", s->variants[i].cores.lo,
                                s->variants[i].cores.hi);
    s->n_variants++;
    return 0;
}

static int store_plain_step(struct model_parser *p, const char *key, char *words[], size_t n, struct model_step *s)
{
    bool ramp = strcmp(words[0], "ramp") == 0;
    if (strcmp(words[0], "fade") == 0) {
        s->kind = MODEL_STEP_FADE;
        return model_number(p, key, words[1], 1.0 / 16, 1, &s->ratio) ||
                       model_number(p, key, words[2], 1, 1e6, &s->tau_us)
                   ? -1
                   : 0;
    }
    if (ramp || (strcmp(words[0], "grant") == 0 && n == 2)) {
        s->kind = MODEL_STEP_GRANT;
        if (ramp && model_number(p, key, words[2], 1, 1e6, &s->tau_us) != 0)
            return -1;
        return model_class_name(p, key, words[1], &s->grant);
    }
    s->kind = MODEL_STEP_THROTTLE;
    return throttle_figures(p, key, words, &s->ratio, &s->us);
}

/* step.N = throttle RATIO US | fade RATIO TAU_US | grant CLASS | ramp CLASS TAU_US; step.N.cores.RANGE = throttle
 * RATIO US */
static int store_step(struct model_parser *p, const char *key, char *value)
{
    struct model_transition *t = p->instance;
    char *range = NULL;
    unsigned long number = strncmp(key, "step.", 5) == 0 ? strtoul(key + 5, &range, 10) : 0;
    bool variant = range && strncmp(range, ".cores.", 7) == 0;
    if (number < 1 || number > MODEL_STEPS_MAX || !range || (*range && !variant))
        return model_refuse(p, key,
                            "no such key in section [transition]; step.1 to step.%d and step.N.cores.RANGE would work",
                            MODEL_STEPS_MAX);
    char text[MODEL_LINE_MAX], *words[STEP_WORDS];
    snprintf(text, sizeof text, "%s", value);
    size_t n = sourced_ini_words(text, words, STEP_WORDS - 1);
    bool of_three = n == 3 && (!strcmp(words[0], "throttle") || !strcmp(words[0], "fade") || !strcmp(words[0], "ramp"));
    if (!of_three && (n != 2 || strcmp(words[0], "grant") != 0))
        return model_refuse(p, key,
                            "'%.60s' is not a step; 'throttle RATIO MICROSECONDS', 'fade RATIO MICROSECONDS', 'grant "
                            "CLASS' or 'ramp CLASS MICROSECONDS' would work",
                            value);
    struct model_step *s = &t->steps[number - 1];
    if (variant)
        return number <= t->n_steps ? store_variant(p, key, range + 7, words, s)
                                    : model_refuse(p, key, "give step.%lu itself first", number);
    if (number != t->n_steps + 1)
        return model_refuse(p, key, "steps are given in order; step.%zu would be next", t->n_steps + 1);
    t->n_steps++;
    s->line = p->ini.line;
    return store_plain_step(p, key, words, n, s);
}

/* ---- [timing] ---- */

static const struct model_key timing_keys[] = {
    NUMBER("halt_us", true, model, halt_us, 0, 1e5),
    NUMBER("halt_sigma_us", true, model, halt_sigma_us, 0, 1e4),
    NUMBER("throttle_sigma_us", true, model, throttle_sigma_us, 0, 1e4),
    NUMBER("wait_us", true, model, wait_us, 1, 1e6),
    NUMBER("wait_sigma_us", true, model, wait_sigma_us, 0, 1e5),
    NUMBER("throttle_distance", true, model, throttle_distance, 0, 1e6),
    NUMBER("release_tau_us", false, model, release_tau_us, 1, 1e6),
};

/* ---- [voltage], [boost FROM TO] ---- */

static int store_point(struct model_parser *p, const char *key, char *value)
{
    struct model *m = p->model;
    char text[MODEL_LINE_MAX], *words[3], *end = NULL;
    if (strncmp(key, "point.", 6) != 0)
        return model_refuse(p, key, "no such key in section [voltage]; noise_volts and point.N would work");
    unsigned long number = strtoul(key + 6, &end, 10);
    if (*end || number != m->n_points + 1 || number > MODEL_POINTS_MAX)
        return model_refuse(p, key, "points are numbered from 1 to at most %d; point.%zu would be next",
                            MODEL_POINTS_MAX, m->n_points + 1);
    snprintf(text, sizeof text, "%s", value);
    if (sourced_ini_words(text, words, 2) != 2)
        return model_refuse(p, key, "'%.40s' is not a point; write 'GHZ VOLTS'", value);
    struct model_point *point = &m->points[m->n_points];
    point->line = p->ini.line;
    if (model_number(p, key, words[0], GHZ_MIN, GHZ_MAX, &point->ghz) != 0 ||
        model_number(p, key, words[1], 0.1, 2, &point->volts) != 0)
        return -1;
    if (m->n_points && (point->ghz <= point[-1].ghz || point->volts < point[-1].volts))
        return model_refuse(p, key, "from point to point the frequency must rise and the voltage must not fall");
    m->n_points++;
    return 0;
}

/* A delay of 0 too says that readings are stamped. */
static int store_read_delay(struct model_parser *p, const char *key, char *value)
{
    p->model->stamps_volts = true;
    return model_number(p, key, value, 0, 1000, &p->model->read_delay_us);
}

static const struct model_key voltage_keys[] = {
    NUMBER("noise_volts", true, model, volts_noise, 0, 0.1),
    NUMBER("ramp_us", false, model, volts_ramp_us, 0.1, 1000),
    OWN("read_delay_us", false, store_read_delay),
};

static int enter_boost(struct model_parser *p, char *words[])
{
    struct model_boost *b = p->instance = ADD(p, p->header, boosts, n_boosts, MODEL_BOOSTS_MAX, "of these");
    if (!b || model_class_name(p, p->header, words[1], &b->from) != 0 ||
        model_class_name(p, p->header, words[2], &b->to) != 0)
        return -1;
    return b->to > b->from ? 0 : model_refuse(p, p->header, "a boost comes with a transition to a higher class");
}

static const struct model_either start_end = {"start", "end", "start nor end (of the throttling)"};
static const struct model_key boost_keys[] = {
    CORES("cores", true, model_boost, cores),
    NUMBER("volts", true, model_boost, volts, 0, 0.5),
    EITHER("at", true, model_boost, at_end, start_end),
};

/* ---- [ipc] ---- */

static int store_kernel(struct model_parser *p, const char *key, char *value)
{
    char text[MODEL_LINE_MAX], *words[3], why[200];
    struct payload known;
    if (strlen(key) >= KERNEL_NAME_MAX || strpbrk(key, ".-@ ") != NULL)
        return model_refuse(p, key, "not the name of a kernel without suffixes, like 512fma");
    if (kernel_parse(key, &known, why, sizeof why) != 0)
        return model_refuse(p, key, "neither issue_width nor loop_instructions: %s", why);
    struct model_kernel *k = ADD(p, key, kernels, n_kernels, MODEL_KERNELS_MAX, "kernels");
    if (!k)
        return -1;
    snprintf(k->name, sizeof k->name, "%s", key);
    snprintf(text, sizeof text, "%s", value);
    if (sourced_ini_words(text, words, 2) != 2)
        return model_refuse(p, key, "'%.40s' is not 'THROUGHPUT LATENCY' (per cycle, and cycles)", value);
    if (model_number(p, key, words[0], 1e-4, 16, &k->throughput) != 0)
        return -1;
    return model_number(p, key, words[1], 0.1, 1e4, &k->latency);
}

static const struct model_key ipc_keys[] = {
    NUMBER("issue_width", true, model, issue_width, 1, 16),
    NUMBER("loop_instructions", true, model, loop_instructions, 0, 64),
};

/* ---- [power] ---- */

static int enter_power(struct model_parser *p, char *words[])
{
    (void)words;
    p->model->has_power = true;
    return 0;
}

/* nj.WIDTH.WEIGHT = NANOJOULES */
static int store_energy(struct model_parser *p, const char *key, char *value)
{
    char width[MODEL_KEY_SIZE];
    const char *weight = strncmp(key, "nj.", 3) == 0 ? strchr(key + 3, '.') : NULL;
    if (!weight || strlen(key) >= sizeof width)
        return model_refuse(p, key,
                            "no such key in section [power]; idle_watts, cycle_nj and nj.WIDTH.WEIGHT would work");
    struct model_energy *e = ADD(p, key, energies, n_energies, MODEL_ENERGIES_MAX, "kinds of instructions");
    if (!e)
        return -1;
    snprintf(width, sizeof width, "%.*s", (int)(weight - key - 3), key + 3);
    if (model_width(p, key, width, &e->width) != 0 || model_weight(p, key, weight + 1, &e->weight) != 0)
        return -1;
    return model_number(p, key, value, 0, 1e4, &e->nj);
}

static const struct model_key power_keys[] = {
    NUMBER("idle_watts", true, model, idle_watts, 0, 1e4),
    NUMBER("cycle_nj", true, model, cycle_nj, 0, 1e3),
    YES_NO("companion_boosts", false, model, corunners_boosted),
};

/* ---- [pmu], [clock], [interrupt NAME] ---- */

static const struct model_either user_all = {"user", "all", "user nor all"}, no_counters = {"yes", "no", "yes nor no"};
static const struct model_key pmu_keys[] = {
    YES_NO("licences", true, model, counts_licenses),
    YES_NO("throttle", true, model, counts_throttle),
    EITHER("counts", true, model, counts_kernel_mode, user_all),
    YES_NO("licences_of_core", false, model, licenses_of_core),
    NUMBER("noise_cycles", true, model, noise_cycles, 0, 1000),
    EITHER("counters", false, model, no_counters, no_counters),
};

/* A tenth of the shorter of the long chains, 200 adds, at 4 GHz: readings of a clock that goes forwards only are then
 * never the wrong way round. */
static const double CHAIN_JITTER_MOST_NS = 5;

/* Whichever of [pmu] and [clock] comes last. */
static int leave_clock(struct model_parser *p)
{
    const struct model *m = p->model;
    if (m->no_counters && m->clock_jitter_ns > CHAIN_JITTER_MOST_NS)
        return model_fail(p, p->section_line, "jitter_ns",
                          "%g ns drown the chains that measure the frequency where counters = no; up to %g would work",
                          m->clock_jitter_ns, CHAIN_JITTER_MOST_NS);
    return 0;
}

static int leave_pmu(struct model_parser *p)
{
    const struct model *m = p->model;
    if (m->no_counters && (m->counts_licenses || m->counts_throttle))
        return model_fail(p, p->section_line, "counters", "nothing is counted, so licences and throttle must be no");
    return leave_clock(p);
}

/* What all have: files may say it. */
static const struct model_either work = {"", "work", "work nor known: samples by time are no longer taken"};
static const struct model_key clock_keys[] = {
    NUMBER("jitter_ns", true, model, clock_jitter_ns, 0, 1e4),
    NUMBER("split_read_ns", true, model, split_read_ns, 0, 1e4),
    NUMBER("spread", true, model, spread, 0, 0.1),
    NUMBER("spread_period_us", true, model, spread_period_us, 1, 1e4),
    NUMBER("frequency_noise", true, model, frequency_noise, 0, 0.05),
    NUMBER("tsc_step_ns", false, model, tsc_step_ns, 0, 1000),
    EITHER("samples", false, model, fixed_work, work),
    NUMBER("chain_cost_sigma", false, model, chain_cost_sigma, 0, 15),
};

static int enter_interrupt(struct model_parser *p, char *words[])
{
    struct model_interrupt *i = p->instance = ADD(p, p->header, interrupts, n_interrupts, MODEL_INTERRUPTS_MAX,
                                                  "of these");
    return i ? model_name(p, p->header, words[1], i->name, sizeof i->name) : -1;
}

static int check_ends(struct model_parser *p, double min_us, double max_us)
{
    if (max_us < min_us)
        return model_fail(p, p->section_line, "max_us", "%g is less than min_us, %g; swap them", max_us, min_us);
    return 0;
}

static int leave_interrupt(struct model_parser *p)
{
    const struct model_interrupt *i = p->instance;
    return check_ends(p, i->min_us, i->max_us);
}

static const struct model_key interrupt_keys[] = {
    NUMBER("rate_hz", true, model_interrupt, rate_hz, 0, 1e5),
    NUMBER("min_us", true, model_interrupt, min_us, 0.1, 1e6),
    NUMBER("max_us", true, model_interrupt, max_us, 0.1, 1e6),
    NUMBER("rearm", true, model_interrupt, rearm, 0, 1),
    NUMBER("taken_off", true, model_interrupt, taken_off, 0, 1),
};

/* ---- an ordinary processor's surroundings, all of them optional ---- */

static const struct model_key smi_keys[] = {
    NUMBER("rate_hz", true, model, world.smi_rate_hz, 0, 1e4),
    NUMBER("min_us", true, model, world.smi_min_us, 0.1, 1e5),
    NUMBER("max_us", true, model, world.smi_max_us, 0.1, 1e5),
};

static int leave_smi(struct model_parser *p)
{
    const struct model_world *w = &p->model->world;
    if (check_ends(p, w->smi_min_us, w->smi_max_us) != 0)
        return -1;
    double busy = w->smi_rate_hz * 1e-6 * (w->smi_min_us + w->smi_max_us) / 2;
    if (busy > 0.5)
        return model_fail(p, p->section_line, "rate_hz", "they would take %.0f %% of the time; up to 50 %% would work",
                          busy * 100);
    return 0;
}

static const struct model_key cold_keys[] = {
    NUMBER("us", true, model, world.cold_us, 0, 1000),
    NUMBER("factor", true, model, world.cold_factor, 0.01, 1),
};

static const struct model_key sibling_keys[] = {
    NUMBER("share", true, model, world.sibling.share, 0, 0.99),
    NUMBER("period_us", true, model, world.sibling.period_us, 1, 1e7),
    NUMBER("factor", true, model, world.sibling.factor, 0.05, 1),
    YES_NO("lockstep", false, model, world.sibling.lockstep),
    NUMBER("decades", false, model, world.sibling.decades, 0, 6),
    NUMBER("chain_factor", false, model, world.sibling.chain_factor, 0.05, 1),
};

static const struct model_key wander_keys[] = {
    NUMBER("slow_sigma", false, model, world.wander.sigma[0], 0, 0.05),
    NUMBER("slow_us", false, model, world.wander.us[0], 100, 1e10),
    NUMBER("fast_sigma", false, model, world.wander.sigma[1], 0, 0.05),
    NUMBER("fast_us", false, model, world.wander.us[1], 100, 1e10),
    NUMBER("step", false, model, world.wander.step, 0, 0.15),
    NUMBER("step_us", false, model, world.wander.step_us, 100, 1e10),
};

static int leave_wander(struct model_parser *p)
{
    static const char *const keys[][2] = {{"slow_sigma", "slow_us"}, {"fast_sigma", "fast_us"}, {"step", "step_us"}};
    for (size_t i = 0; i < COUNT(keys); i++)
        if (model_was_seen(p, keys[i][0]) != model_was_seen(p, keys[i][1]))
            return model_fail(p, p->section_line, keys[i][model_was_seen(p, keys[i][0])],
                              "missing in section [wander]; %s and %s are given together", keys[i][0], keys[i][1]);
    return 0;
}

static int enter_wake(struct model_parser *p, char *words[])
{
    struct model_wake *w = p->instance = ADD(p, p->header, wakes, n_wakes, MODEL_WAKES_MAX, "of these");
    return w ? model_width(p, p->header, words[1], &w->width) : -1;
}

/* stage.N = IDLE_US FIRST_US FULL_RATE_US, in the order of idle times */
static int store_wake(struct model_parser *p, const char *key, char *value)
{
    struct model_wake *w = p->instance;
    char expected[24], *words[4];
    double number[3];
    snprintf(expected, sizeof expected, "stage.%zu", w->n + 1);
    if (strcmp(key, expected) != 0)
        return model_refuse(p, key, "no such key in section [wake], or out of order; %s would work", expected);
    if (w->n == MODEL_WAKE_STAGES_MAX)
        return model_refuse(p, key, "more than %d stages", MODEL_WAKE_STAGES_MAX);
    if (sourced_ini_words(value, words, 3) != 3)
        return model_refuse(p, key, "write IDLE_US FIRST_US FULL_RATE_US");
    for (size_t i = 0; i < 3; i++)
        if (model_number(p, key, words[i], 0, 1e6, &number[i]) != 0)
            return -1;
    if (w->n > 0 && number[0] <= w->stage[w->n - 1].idle_us)
        return model_refuse(p, key, "the idle time must be longer than that of the stage before");
    w->stage[w->n++] = (struct model_wake_stage){number[0], number[1], number[2]};
    return 0;
}

static int enter_core(struct model_parser *p, char *words[])
{
    struct model_unlike *u = p->instance = ADD(p, p->header, unlike, n_unlike, MODEL_UNLIKE_MAX, "of these");
    if (!u || model_uint(p, p->header, words[1], 0, MODEL_CORES_MAX - 1, &u->cpus.lo) != 0)
        return -1;
    u->cpus.hi = u->cpus.lo;
    return words[2] ? model_uint(p, p->header, words[2], u->cpus.lo, MODEL_CORES_MAX - 1, &u->cpus.hi) : 0;
}

static const struct model_key core_keys[] = {
    NUMBER("factor", true, model_unlike, factor, 0.1, 1),
    TEXT("label", false, model_unlike, label),
};

static const struct model_key limit_keys[] = {
    NUMBER("share", true, model, world.limit_share, 0, 1),
    NUMBER("factor", true, model, world.limit_factor, 0.1, 1),
};

static const struct model_key repetition_keys[] = {
    YES_NO("carry", true, model, world.carries),
    NUMBER("gap_us", true, model, world.gap_us, 0, 1e6),
};

#define KEYS(table) .keys = (table), .n_keys = COUNT(table)
const struct model_section model_sections[] = {
    {"cpu", "[cpu]", .required = true, KEYS(cpu_keys)},
    {"levels", "[levels]", .required = true, KEYS(levels_keys), .more = "turbo_ghz.CORES", .other = store_turbo},
    {"class", "[class NAME]", {1, 1}, KEYS(class_keys), .enter = enter_class},
    {"demand",
     "[demand WIDTH WEIGHT] or [demand WIDTH WEIGHT KERNEL]",
     {2, 3},
     KEYS(demand_keys),
     .enter = enter_demand,
     .leave = leave_demand},
    {"mixture", "[mixture WIDTH WEIGHT WIDTH WEIGHT]", {4, 4}, KEYS(mixture_keys), .enter = enter_mixture},
    {"dirty", "[dirty WIDTH]", {1, 1}, KEYS(dirty_keys), .enter = enter_dirty},
    {"transition", "[transition FROM TO]", {2, 2}, .more = "step.N", .other = store_step, .enter = enter_transition},
    {"timing", "[timing]", KEYS(timing_keys)},
    {"voltage", "[voltage]", .required = true, KEYS(voltage_keys), .more = "point.N", .other = store_point},
    {"boost", "[boost FROM TO]", {2, 2}, KEYS(boost_keys), .enter = enter_boost},
    {"ipc", "[ipc]", .required = true, KEYS(ipc_keys), .more = "KERNEL", .other = store_kernel},
    {"power", "[power]", KEYS(power_keys), .more = "nj.WIDTH.WEIGHT", .other = store_energy, .enter = enter_power},
    {"pmu", "[pmu]", .required = true, KEYS(pmu_keys), .leave = leave_pmu},
    {"clock", "[clock]", .required = true, KEYS(clock_keys), .leave = leave_clock},
    {"interrupt", "[interrupt NAME]", {1, 1}, KEYS(interrupt_keys), .enter = enter_interrupt, .leave = leave_interrupt},
    {"smi", "[smi]", KEYS(smi_keys), .leave = leave_smi},
    {"cold", "[cold]", KEYS(cold_keys)},
    {"sibling", "[sibling]", KEYS(sibling_keys)},
    {"wander", "[wander]", KEYS(wander_keys), .leave = leave_wander},
    {"wake", "[wake WIDTH]", {1, 1}, .more = "stage.N", .other = store_wake, .enter = enter_wake},
    {"core", "[core FIRST] or [core FIRST LAST]", {1, 2}, KEYS(core_keys), .enter = enter_core},
    {"limit", "[limit]", KEYS(limit_keys)},
    {"repetition", "[repetition]", KEYS(repetition_keys)},
};
const size_t model_n_sections = COUNT(model_sections);
