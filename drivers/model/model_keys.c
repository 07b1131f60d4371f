/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sections and keys of model files; doc/model-format.md describes what they mean. */
#include "drivers/model/model_keys.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text_list.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define KEY(type, section, name, required, where, field, ...)                                                          \
    {                                                                                                                  \
        section, name, IS_##type, required, offsetof(struct where, field), __VA_ARGS__                                 \
    }
#define NUMBER(...) KEY(NUMBER, __VA_ARGS__)
#define UINT(...) KEY(UINT, __VA_ARGS__)
#define TEXT(...) KEY(TEXT, __VA_ARGS__)
#define NAME(...) KEY(NAME, __VA_ARGS__)
#define CLASS(...) KEY(CLASS, __VA_ARGS__)
#define CORES(...) KEY(CORES, __VA_ARGS__)
#define WIDTH(...) KEY(WIDTH, __VA_ARGS__)
#define WEIGHT(...) KEY(WEIGHT, __VA_ARGS__)
#define EITHER(section, name, required, where, field, pair)                                                            \
    KEY(EITHER, section, name, required, where, field, .either = &(pair))
#define YES_NO(...) EITHER(__VA_ARGS__, yes_no)
#define OWN(section, name, required, function)                                                                         \
    {                                                                                                                  \
        section, name, IS_OWN, required, .own = function                                                               \
    }
/* The name of what stands in the header of its section: its words in the order of the rows. */
#define HEADER ""

#define ARRAY(where, field, n, most, what)                                                                             \
    {                                                                                                                  \
        offsetof(struct model, field), offsetof(struct model, n), sizeof(struct where), offsetof(struct where, line),  \
            most, what                                                                                                 \
    }

void *model_key_add(struct parser *p, const char *key, const struct array *a)
{
    size_t *n = (size_t *)((char *)p->model + a->count);
    if (*n == a->most) {
        refuse(p, key, "more than %u %s", a->most, a->what);
        return NULL;
    }
    char *one = (char *)p->model + a->first + (*n)++ * a->size;
    *(unsigned *)(one + a->line) = p->ini.line;
    return one;
}

static int class_named(struct parser *p, const char *key, const char *text, unsigned *out)
{
    int i = model_class_index(p->model, text);
    if (i < 0) {
        char known[200] = "";
        for (size_t k = 0; k < p->model->n_classes; k++)
            text_list_add(known, sizeof known, " ", "%s", p->model->classes[k].name);
        return refuse(p, key, "no class '%.40s' above this line; classes so far: %s", text, known[0] ? known : "none");
    }
    *out = (unsigned)i;
    return 0;
}

static int new_name(struct parser *p, const char *key, const char *text, char *out)
{
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_')
            return refuse(p, key, "'%.40s' is not a name; letters, digits and _ would work", text);
    if (n == 0 || n >= MODEL_NAME_SIZE)
        return refuse(p, key, "'%.40s' is too long for a name; at most %d characters", text, MODEL_NAME_SIZE - 1);
    memcpy(out, text, n + 1);
    return 0;
}

static int text_of(struct parser *p, const char *key, const char *value, char *out)
{
    size_t n = strlen(value);
    if (n >= MODEL_TEXT_MAX)
        return refuse(p, key, "longer than %d characters", MODEL_TEXT_MAX - 1);
    memcpy(out, value, n + 1);
    return 0;
}

static int either_of(struct parser *p, const char *key, const char *value, const struct either *e, bool *out)
{
    *out = strcmp(value, e->yes) == 0;
    if (!*out && strcmp(value, e->no) != 0)
        return refuse(p, key, "'%.40s' is neither %s", value, e->both);
    return 0;
}

int model_key_store(struct parser *p, const char *key, const struct key *k, char *value)
{
    void *at = (char *)p->instance + k->at;
    switch (k->type) {
    case IS_NUMBER:
        return model_number(&p->ini, key, value, k->lo, k->hi, at);
    case IS_UINT:
        return model_uint(&p->ini, key, value, (unsigned)k->lo, (unsigned)k->hi, at);
    case IS_TEXT:
        return text_of(p, key, value, at);
    case IS_NAME:
        return new_name(p, key, value, at);
    case IS_EITHER:
        return either_of(p, key, value, k->either, at);
    case IS_CLASS:
        return class_named(p, key, value, at);
    case IS_CORES:
        return model_core_range(&p->ini, key, value, at);
    case IS_WIDTH:
        return model_width(&p->ini, key, value, at);
    case IS_WEIGHT:
        return model_weight(&p->ini, key, value, at);
    case IS_OWN:
        break;
    }
    return k->own(p, key, value);
}

/* Keys that are numbered from 1: 0 where this is the next one, after n of at most `most`. */
static int numbered(struct parser *p, const char *key, const char *prefix, size_t n, size_t most)
{
    char next[24];
    snprintf(next, sizeof next, "%s.%zu", prefix, n + 1);
    if (n < most && strcmp(key, next) == 0)
        return 0;
    return refuse(p, key, "these keys are numbered from 1 to at most %zu; %s would be next", most, next);
}

static const struct either yes_no = {"no", "yes", "yes nor no"};
/* GHz of any processor */
static const double GHZ_MIN = 0.1, GHZ_MAX = 10.0;

/* ---- [cpu] ---- */

static int store_features(struct parser *p, const char *key, char *value)
{
    static const char *const known[] = {"avx", "avx2", "fma", "avx512f", "avx512vl", "amx_bf16", "none", NULL};
    static const unsigned bits[] = {KERNEL_NEEDS_AVX,
                                    KERNEL_NEEDS_AVX2,
                                    KERNEL_NEEDS_FMA,
                                    KERNEL_NEEDS_AVX512F,
                                    KERNEL_NEEDS_AVX512VL,
                                    KERNEL_NEEDS_AMX_BF16,
                                    0};
    char *words[COUNT(bits)];
    size_t n = sourced_ini_words(value, words, COUNT(bits) - 1);
    for (size_t i = 0; i < n && i < COUNT(bits); i++) {
        int k = model_one_of(&p->ini, key, words[i], known,
                             "a feature; avx, avx2, fma, avx512f, avx512vl, amx_bf16 or none");
        if (k < 0)
            return -1;
        if (p->model->features & bits[k])
            return refuse(p, key, "'%s' is given twice; remove one", words[i]);
        if (!bits[k] && n > 1)
            return refuse(p, key, "'none' and another feature; one of the two would work");
        p->model->features |= bits[k];
    }
    return 0;
}

static int store_layout(struct parser *p, const char *key, char *value)
{
    static const char *const names[] = {"groups", "cores", "none", NULL}; /* as enum model_turbo_layout */
    int i = model_one_of(&p->ini, key, value, names, "a layout; groups, cores or none");
    p->model->turbo_layout = i < 0 ? MODEL_TURBO_NONE : (enum model_turbo_layout)i;
    return i < 0 ? -1 : 0;
}

/* ---- [levels] ---- */

static int store_ghz(struct parser *p, const char *key, char *value, double *out)
{
    char *words[MODEL_LEVELS_MAX + 1];
    size_t n = sourced_ini_words(value, words, MODEL_LEVELS_MAX);
    if (n > MODEL_LEVELS_MAX)
        return refuse(p, key, "more than %d levels; one frequency for each of 1 to %d levels would work",
                      MODEL_LEVELS_MAX, MODEL_LEVELS_MAX);
    if (p->model->n_levels && n != p->model->n_levels)
        return refuse(p, key, "%zu frequencies, but the line before has %zu; give one for each level", n,
                      p->model->n_levels);
    for (size_t i = 0; i < n; i++) {
        if (model_number(&p->ini, key, words[i], GHZ_MIN, GHZ_MAX, &out[i]) != 0)
            return -1;
        if (i > 0 && out[i] > out[i - 1])
            return refuse(p, key,
                          "level %zu (%g GHz) is faster than level %zu (%g GHz); list them from the fastest to the "
                          "slowest",
                          i, out[i], i - 1, out[i - 1]);
    }
    p->model->n_levels = n;
    return 0;
}

static int store_base(struct parser *p, const char *key, char *value)
{
    return store_ghz(p, key, value, p->model->base_ghz);
}

static int store_low(struct parser *p, const char *key, char *value)
{
    return store_ghz(p, key, value, p->model->low_ghz);
}

static int store_turbo(struct parser *p, const char *key, char *value)
{
    static const struct array rows = ARRAY(model_turbo, turbo, n_turbo, MODEL_TURBO_MAX, "ranges of active cores");
    struct model_turbo *t = model_key_add(p, key, &rows);
    if (!t || model_core_range(&p->ini, key, strchr(key, '.') + 1, &t->cores) != 0)
        return -1;
    return store_ghz(p, key, value, t->ghz);
}

/* ---- [class NAME], [demand WIDTH WEIGHT], [mixture WIDTH WEIGHT WIDTH WEIGHT], [dirty WIDTH] ---- */

static int store_umask(struct parser *p, const char *key, char *value)
{
    struct model_class *c = p->instance;
    if (model_uint(&p->ini, key, value, 0x00, 0x20, &c->umask) != 0)
        return -1;
    if (c->umask == 0x01 || (c->umask & (c->umask - 1)) != 0)
        return refuse(p, key,
                      "%.20s is not a bit that counts a license; 0x02, 0x04, 0x08, 0x10, 0x20 or 0 (none) would work",
                      value);
    return 0;
}

static int enter_demand(struct parser *p, char *words[])
{
    struct model_demand *d = p->instance;
    d->count = 1;
    d->below = MODEL_CLASSES_MAX; /* not said */
    if (words[3] &&
        (strlen(words[3]) >= sizeof d->kernel || strpbrk(words[3], ".-") != NULL || strstr(words[3], "@1/")))
        return refuse(p, p->header,
                      "'%.40s' is not the name of a kernel without suffixes, like 512mul, or with @, like 512fma@l3",
                      words[3]);
    snprintf(d->kernel, sizeof d->kernel, "%s", words[3] ? words[3] : "");
    return 0;
}

static int enter_mixture(struct parser *p, char *words[])
{
    const struct model_mixture *m = p->instance;
    (void)words;
    if (m->width[0] == m->width[1] && m->weight[0] == m->weight[1])
        return refuse(p, p->header, "a mixture takes two different kinds of code");
    return 0;
}

/* ---- [transition FROM TO] ---- */

static int enter_transition(struct parser *p, char *words[])
{
    unsigned from, to;
    if (class_named(p, p->header, words[1], &from) != 0 || class_named(p, p->header, words[2], &to) != 0)
        return -1;
    if (to <= from)
        return refuse(p, p->header, "leads to a class that needs no more; releases follow from [timing]");
    struct model_transition *t = &p->model->transitions[from][to];
    t->line = p->ini.line;
    p->instance = t;
    return 0;
}

/* The least ratio of throttling is that of clock modulation (IA32_CLOCK_MODULATION; Intel SDM, volume 3, "Software
 * Controlled Clock Modulation"): of slower code, a sample takes longer than the throttling. */
static const double RATIO_MIN = 1.0 / 16;

static int throttle_figures(struct parser *p, const char *key, char *words[], double *ratio, double *us)
{
    return model_number(&p->ini, key, words[1], RATIO_MIN, 1, ratio) != 0
               ? -1
               : model_number(&p->ini, key, words[2], 0.1, 1e5, us);
}

static int store_variant(struct parser *p, const char *key, const char *range, char *words[], struct model_step *s)
{
    if (s->kind != MODEL_STEP_THROTTLE || strcmp(words[0], "throttle") != 0)
        return refuse(p, key, "only a throttle step depends on active cores; give the step itself first");
    if (s->n_variants == MODEL_VARIANTS_MAX)
        return refuse(p, key, "more than %d ranges of active cores for one step", MODEL_VARIANTS_MAX);
    struct model_step_variant *v = &s->variants[s->n_variants];
    v->line = p->ini.line;
    if (model_core_range(&p->ini, key, range, &v->cores) != 0 ||
        throttle_figures(p, key, words, &v->ratio, &v->us) != 0)
        return -1;
    for (size_t i = 0; i < s->n_variants; i++)
        if (v->cores.lo <= s->variants[i].cores.hi && v->cores.hi >= s->variants[i].cores.lo)
            return refuse(p, key, "overlaps with the range %u-%u of this step", s->variants[i].cores.lo,
                          s->variants[i].cores.hi);
    s->n_variants++;
    return 0;
}

static int store_plain_step(struct parser *p, const char *key, char *words[], struct model_step *s)
{
    bool ramp = strcmp(words[0], "ramp") == 0;
    if (ramp || strcmp(words[0], "grant") == 0) {
        s->kind = MODEL_STEP_GRANT;
        if (ramp && model_number(&p->ini, key, words[2], 1, 1e6, &s->tau_us) != 0)
            return -1;
        return class_named(p, key, words[1], &s->grant);
    }
    if (strcmp(words[0], "throttle") == 0) {
        s->kind = MODEL_STEP_THROTTLE;
        return throttle_figures(p, key, words, &s->ratio, &s->us);
    }
    s->kind = MODEL_STEP_FADE;
    return model_number(&p->ini, key, words[1], RATIO_MIN, 1, &s->ratio) != 0
               ? -1
               : model_number(&p->ini, key, words[2], 1, 1e6, &s->tau_us);
}

/* step.N = throttle RATIO US | fade RATIO TAU_US | grant CLASS | ramp CLASS TAU_US; step.N.cores.RANGE = throttle
 * RATIO US */
static const char steps[] = "step.N and step.N.cores.RANGE, N from 1 to 8";
_Static_assert(MODEL_STEPS_MAX == 8, "as the text above has it");

static int store_step(struct parser *p, const char *key, char *value)
{
    struct model_transition *t = p->instance;
    char text[TEXT_SIZE], *words[4], *range;
    unsigned long n = strtoul(key + 5, &range, 10);
    bool variant = strncmp(range, ".cores.", 7) == 0;
    if (n < 1 || n > MODEL_STEPS_MAX || (*range && !variant))
        return model_key_unknown(p, key);
    snprintf(text, sizeof text, "%s", value);
    size_t n_words = sourced_ini_words(text, words, 3);
    bool of_three = !strcmp(words[0], "throttle") || !strcmp(words[0], "fade") || !strcmp(words[0], "ramp");
    if (n_words != (of_three ? 3 : 2) || (!of_three && strcmp(words[0], "grant") != 0))
        return refuse(p, key,
                      "'%.60s' is not a step; 'throttle RATIO MICROSECONDS', 'fade RATIO MICROSECONDS', 'grant "
                      "CLASS' or 'ramp CLASS MICROSECONDS' would work",
                      value);
    struct model_step *s = &t->steps[n - 1];
    if (variant)
        return n <= t->n_steps ? store_variant(p, key, range + 7, words, s)
                               : refuse(p, key, "give step.%lu itself first", n);
    if (n != t->n_steps + 1)
        return refuse(p, key, "steps are given in order; step.%zu would be next", t->n_steps + 1);
    t->n_steps++;
    s->line = p->ini.line;
    return store_plain_step(p, key, words, s);
}

/* ---- [voltage], [boost FROM TO] ---- */

static int store_point(struct parser *p, const char *key, char *value)
{
    static const double limits[2][2] = {{GHZ_MIN, GHZ_MAX}, {0.1, 2}};
    struct model *m = p->model;
    double v[2];
    if (numbered(p, key, "point", m->n_points, MODEL_POINTS_MAX) != 0 ||
        model_numbers(&p->ini, key, value, "GHZ VOLTS", 2, limits, v) != 0)
        return -1;
    if (m->n_points && (v[0] <= m->points[m->n_points - 1].ghz || v[1] < m->points[m->n_points - 1].volts))
        return refuse(p, key, "from point to point the frequency must rise and the voltage must not fall");
    m->points[m->n_points++] = (struct model_point){v[0], v[1], p->ini.line};
    return 0;
}

/* A delay of 0 too says that readings are stamped. */
static int store_read_delay(struct parser *p, const char *key, char *value)
{
    p->model->stamps_volts = true;
    return model_number(&p->ini, key, value, 0, 1000, &p->model->read_delay_us);
}

static int enter_boost(struct parser *p, char *words[])
{
    const struct model_boost *b = p->instance;
    (void)words;
    return b->to > b->from ? 0 : refuse(p, p->header, "a boost comes with a transition to a higher class");
}

static const struct either start_end = {"start", "end", "start nor end (of the throttling)"};
/* ---- [ipc], [power] ---- */

static int store_kernel(struct parser *p, const char *key, char *value)
{
    static const struct array kernels = ARRAY(model_kernel, kernels, n_kernels, MODEL_KERNELS_MAX, "kernels");
    static const double limits[2][2] = {{1e-4, 16}, {0.1, 1e4}};
    double v[2];
    char why[200];
    struct payload known;
    if (strlen(key) >= KERNEL_NAME_MAX || strpbrk(key, ".-@ ") != NULL)
        return refuse(p, key, "not the name of a kernel without suffixes, like 512fma");
    if (kernel_parse(key, &known, why, sizeof why) != 0)
        return refuse(p, key, "neither issue_width nor loop_instructions: %s", why);
    struct model_kernel *k = model_key_add(p, key, &kernels);
    if (!k || model_numbers(&p->ini, key, value, "THROUGHPUT LATENCY", 2, limits, v) != 0)
        return -1;
    snprintf(k->name, sizeof k->name, "%s", key);
    k->throughput = v[0];
    k->latency = v[1];
    return 0;
}

static int enter_power(struct parser *p, char *words[])
{
    (void)words;
    p->model->has_power = true;
    return 0;
}

/* nj.WIDTH.WEIGHT = NANOJOULES */
static int store_energy(struct parser *p, const char *key, char *value)
{
    static const struct array energies = ARRAY(model_energy, energies, n_energies, MODEL_ENERGIES_MAX,
                                               "kinds of instructions");
    char width[TEXT_SIZE];
    const char *weight = strchr(key + 3, '.');
    if (!weight)
        return model_key_unknown(p, key);
    struct model_energy *e = model_key_add(p, key, &energies);
    snprintf(width, sizeof width, "%.*s", (int)(weight - key - 3), key + 3);
    if (!e || model_width(&p->ini, key, width, &e->width) != 0 ||
        model_weight(&p->ini, key, weight + 1, &e->weight) != 0)
        return -1;
    return model_number(&p->ini, key, value, 0, 1e4, &e->nj);
}

/* ---- [pmu], [clock], [interrupt NAME] ---- */

static const struct either user_all = {"user", "all", "user nor all"}, no_counters = {"yes", "no", "yes nor no"};
/* All models have it; files may say so. */
static const struct either work = {"", "work", "work nor known: samples by time are no longer taken"};
/* ---- [wake WIDTH], [core FIRST LAST] ---- */

/* stage.N = IDLE_US FIRST_US FULL_RATE_US, in the order of idle times */
static int store_stage(struct parser *p, const char *key, char *value)
{
    static const double limits[3][2] = {{0, 1e6}, {0, 1e6}, {0, 1e6}};
    struct model_wake *w = p->instance;
    double v[3];
    if (numbered(p, key, "stage", w->n, MODEL_WAKE_STAGES_MAX) != 0 ||
        model_numbers(&p->ini, key, value, "IDLE_US FIRST_US FULL_RATE_US", 3, limits, v) != 0)
        return -1;
    if (w->n > 0 && v[0] <= w->stage[w->n - 1].idle_us)
        return refuse(p, key, "the idle time must be longer than that of the stage before");
    w->stage[w->n++] = (struct model_wake_stage){v[0], v[1], v[2]};
    return 0;
}

static int enter_core(struct parser *p, char *words[])
{
    struct model_unlike *u = p->instance;
    if (model_uint(&p->ini, p->header, words[1], 0, MODEL_CORES_MAX - 1, &u->cpus.lo) != 0)
        return -1;
    u->cpus.hi = u->cpus.lo;
    return words[2] ? model_uint(&p->ini, p->header, words[2], u->cpus.lo, MODEL_CORES_MAX - 1, &u->cpus.hi) : 0;
}

/* ---- [switching] ---- */

static int enter_switching(struct parser *p, char *words[])
{
    (void)words;
    p->model->has_switching = true;
    return 0;
}

/* ---- the sections ---- */

static const struct key keys[] = {
    TEXT("cpu", "name", true, model, cpu_name),
    UINT("cpu", "family", true, model, family, 1, 270),
    UINT("cpu", "model", true, model, model, 0, 255),
    UINT("cpu", "stepping", true, model, stepping, 0, 15),
    OWN("cpu", "features", true, store_features),
    NUMBER("cpu", "tsc_hz", true, model, tsc_hz, 1e8, 1e10),
    UINT("cpu", "cores", true, model, cores, 1, MODEL_CORES_MAX),
    OWN("cpu", "turbo_layout", true, store_layout),
    YES_NO("cpu", "speed_select", false, model, speed_select),
    OWN("levels", "base_ghz", true, store_base),
    OWN("levels", "low_priority_ghz", false, store_low),
    NAME("class", HEADER, true, model_class, name),
    UINT("class", "level", true, model_class, level, 0, MODEL_LEVELS_MAX - 1),
    OWN("class", "umask", true, store_umask),
    NUMBER("class", "wait_double", false, model_class, wait_double, 0, 1),
    NUMBER("class", "wait_us", false, model_class, wait_us, 0.1, 1e6),
    WIDTH("demand", HEADER, true, model_demand, width),
    WEIGHT("demand", HEADER, true, model_demand, weight),
    CLASS("demand", "class", true, model_demand, class_),
    NUMBER("demand", "rate", false, model_demand, rate, 0, 16),
    NUMBER("demand", "count", false, model_demand, count, 1, 1e9),
    NUMBER("demand", "count_sigma", false, model_demand, count_sigma, 0, 1.0 / 3),
    CLASS("demand", "below", false, model_demand, below),
    WIDTH("mixture", HEADER, true, model_mixture, width[0]),
    WEIGHT("mixture", HEADER, true, model_mixture, weight[0]),
    WIDTH("mixture", HEADER, true, model_mixture, width[1]),
    WEIGHT("mixture", HEADER, true, model_mixture, weight[1]),
    CLASS("mixture", "class", true, model_mixture, class_),
    UINT("mixture", "switches", true, model_mixture, switches, 2, 16),
    NUMBER("mixture", "window_us", true, model_mixture, window_us, 0.1, 1e6),
    WIDTH("dirty", HEADER, true, model_dirty, width),
    CLASS("dirty", "class", true, model_dirty, class_),
    NUMBER("timing", "halt_us", true, model, halt_us, 0, 1e5),
    NUMBER("timing", "halt_sigma_us", true, model, halt_sigma_us, 0, 1e4),
    NUMBER("timing", "throttle_sigma_us", true, model, throttle_sigma_us, 0, 1e4),
    NUMBER("timing", "wait_us", true, model, wait_us, 1, 1e6),
    NUMBER("timing", "wait_sigma_us", true, model, wait_sigma_us, 0, 1e5),
    NUMBER("timing", "throttle_distance", true, model, throttle_distance, 0, 1e6),
    NUMBER("timing", "release_tau_us", false, model, release_tau_us, 1, 1e6),
    NUMBER("voltage", "noise_volts", true, model, volts_noise, 0, 0.1),
    NUMBER("voltage", "ramp_us", false, model, volts_ramp_us, 0.1, 1000),
    OWN("voltage", "read_delay_us", false, store_read_delay),
    CLASS("boost", HEADER, true, model_boost, from),
    CLASS("boost", HEADER, true, model_boost, to),
    CORES("boost", "cores", true, model_boost, cores),
    NUMBER("boost", "volts", true, model_boost, volts, 0, 0.5),
    EITHER("boost", "at", true, model_boost, at_end, start_end),
    NUMBER("ipc", "issue_width", true, model, issue_width, 1, 16),
    NUMBER("ipc", "loop_instructions", true, model, loop_instructions, 0, 64),
    NUMBER("power", "idle_watts", true, model, idle_watts, 0, 1e4),
    NUMBER("power", "cycle_nj", true, model, cycle_nj, 0, 1e3),
    YES_NO("power", "companion_boosts", false, model, corunners_boosted),
    YES_NO("pmu", "licences", true, model, counts_licenses),
    YES_NO("pmu", "throttle", true, model, counts_throttle),
    EITHER("pmu", "counts", true, model, counts_kernel_mode, user_all),
    YES_NO("pmu", "licences_of_core", false, model, licenses_of_core),
    NUMBER("pmu", "noise_cycles", true, model, noise_cycles, 0, 1000),
    EITHER("pmu", "counters", false, model, no_counters, no_counters),
    NUMBER("clock", "jitter_ns", true, model, clock_jitter_ns, 0, 1e4),
    NUMBER("clock", "split_read_ns", true, model, split_read_ns, 0, 1e4),
    NUMBER("clock", "spread", true, model, spread, 0, 0.1),
    NUMBER("clock", "spread_period_us", true, model, spread_period_us, 1, 1e4),
    NUMBER("clock", "frequency_noise", true, model, frequency_noise, 0, 0.05),
    NUMBER("clock", "tsc_step_ns", false, model, tsc_step_ns, 0, 1000),
    EITHER("clock", "samples", false, model, fixed_work, work),
    NUMBER("clock", "chain_cost_sigma", false, model, chain_cost_sigma, 0, 15),
    NAME("interrupt", HEADER, true, model_interrupt, name),
    NUMBER("interrupt", "rate_hz", true, model_interrupt, rate_hz, 0, 1e5),
    NUMBER("interrupt", "min_us", true, model_interrupt, min_us, 0.1, 1e6),
    NUMBER("interrupt", "max_us", true, model_interrupt, max_us, 0.1, 1e6),
    NUMBER("interrupt", "rearm", true, model_interrupt, rearm, 0, 1),
    NUMBER("interrupt", "taken_off", true, model_interrupt, taken_off, 0, 1),
    NUMBER("smi", "rate_hz", true, model, scenario.smi_rate_hz, 0, 1e4),
    NUMBER("smi", "min_us", true, model, scenario.smi_min_us, 0.1, 1e5),
    NUMBER("smi", "max_us", true, model, scenario.smi_max_us, 0.1, 1e5),
    NUMBER("cold", "us", true, model, scenario.cold_us, 0, 1000),
    NUMBER("cold", "factor", true, model, scenario.cold_factor, 0.01, 1),
    NUMBER("sibling", "share", true, model, scenario.sibling.share, 0, 0.99),
    NUMBER("sibling", "period_us", true, model, scenario.sibling.period_us, 1, 1e7),
    NUMBER("sibling", "factor", true, model, scenario.sibling.factor, 0.05, 1),
    YES_NO("sibling", "lockstep", false, model, scenario.sibling.lockstep),
    NUMBER("sibling", "decades", false, model, scenario.sibling.decades, 0, 6),
    NUMBER("sibling", "chain_factor", false, model, scenario.sibling.chain_factor, 0.05, 1),
    NUMBER("wander", "slow_sigma", false, model, scenario.wander.sigma[0], 0, 0.05),
    NUMBER("wander", "slow_us", false, model, scenario.wander.us[0], 100, 1e10),
    NUMBER("wander", "fast_sigma", false, model, scenario.wander.sigma[1], 0, 0.05),
    NUMBER("wander", "fast_us", false, model, scenario.wander.us[1], 100, 1e10),
    NUMBER("wander", "step", false, model, scenario.wander.step, 0, 0.15),
    NUMBER("wander", "step_us", false, model, scenario.wander.step_us, 100, 1e10),
    WIDTH("wake", HEADER, true, model_wake, width),
    NUMBER("core", "factor", true, model_unlike, factor, 0.1, 1),
    TEXT("core", "label", false, model_unlike, label),
    NUMBER("switching", "switch_us", true, model, switching_us[SWITCHING_SWITCH], 0, 1e6),
    NUMBER("switching", "migration_us", true, model, switching_us[SWITCHING_MIGRATION], 0, 1e6),
    NUMBER("switching", "fault_us", true, model, switching_us[SWITCHING_FAULT], 0, 1e6),
    NUMBER("limit", "share", true, model, scenario.limit_share, 0, 1),
    NUMBER("limit", "factor", true, model, scenario.limit_factor, 0.1, 1),
    YES_NO("repetition", "carry", true, model, scenario.carries),
    NUMBER("repetition", "gap_us", true, model, scenario.gap_us, 0, 1e6),
};

static const struct section sections[] = {
    {"cpu", "[cpu]", .required = true},
    {"levels", "[levels]", .required = true, .more = "turbo_ghz.CORES", .other = store_turbo},
    {"class", "[class NAME]", {1, 1}, .array = ARRAY(model_class, classes, n_classes, MODEL_CLASSES_MAX, "of these")},
    {"demand",
     "[demand WIDTH WEIGHT] or [demand WIDTH WEIGHT KERNEL]",
     {2, 3},
     .array = ARRAY(model_demand, demands, n_demands, MODEL_DEMANDS_MAX, "of these"),
     .enter = enter_demand},
    {"mixture",
     "[mixture WIDTH WEIGHT WIDTH WEIGHT]",
     {4, 4},
     .array = ARRAY(model_mixture, mixtures, n_mixtures, MODEL_MIXTURES_MAX, "of these"),
     .enter = enter_mixture},
    {"dirty", "[dirty WIDTH]", {1, 1}, .array = ARRAY(model_dirty, dirty, n_dirty, MODEL_DIRTY_MAX, "of these")},
    {"transition", "[transition FROM TO]", {2, 2}, .more = steps, .other = store_step, .enter = enter_transition},
    {"timing", "[timing]"},
    {"voltage", "[voltage]", .required = true, .more = "point.N", .other = store_point},
    {"boost",
     "[boost FROM TO]",
     {2, 2},
     .array = ARRAY(model_boost, boosts, n_boosts, MODEL_BOOSTS_MAX, "of these"),
     .enter = enter_boost},
    {"ipc", "[ipc]", .required = true, .more = "KERNEL", .other = store_kernel},
    {"power", "[power]", .more = "nj.WIDTH.WEIGHT", .other = store_energy, .enter = enter_power},
    {"pmu", "[pmu]", .required = true},
    {"clock", "[clock]", .required = true},
    {"interrupt",
     "[interrupt NAME]",
     {1, 1},
     .array = ARRAY(model_interrupt, interrupts, n_interrupts, MODEL_INTERRUPTS_MAX, "of these")},
    {"smi", "[smi]"},
    {"cold", "[cold]"},
    {"sibling", "[sibling]"},
    {"wander", "[wander]"},
    {"wake",
     "[wake WIDTH]",
     {1, 1},
     .array = ARRAY(model_wake, wakes, n_wakes, MODEL_WAKES_MAX, "of these"),
     .more = "stage.N",
     .other = store_stage},
    {"core",
     "[core FIRST] or [core FIRST LAST]",
     {1, 2},
     .array = ARRAY(model_unlike, unlike, n_unlike, MODEL_UNLIKE_MAX, "of these"),
     .enter = enter_core},
    {"switching", "[switching]", .enter = enter_switching},
    {"limit", "[limit]"},
    {"repetition", "[repetition]"},
};

const struct section *model_sections(size_t *n)
{
    *n = COUNT(sections);
    return sections;
}

const struct key *model_next_key(const struct section *s, const struct key *k)
{
    for (k = k ? k + 1 : keys; k < keys + COUNT(keys); k++)
        if (strcmp(k->section, s->name) == 0)
            return k;
    return NULL;
}

int model_key_unknown(struct parser *p, const char *key)
{
    const struct section *s = p->section;
    char known[260] = "";
    for (const struct key *k = NULL; (k = model_next_key(s, k));)
        text_list_add(known, sizeof known, " ", "%s", k->name);
    if (s->more)
        text_list_add(known, sizeof known, " ", "%s", s->more);
    return refuse(p, key, "no such key in section [%s]; known keys: %s", s->name, known);
}
