/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks the values of a model file against each other. */
#include "drivers/model/model.h"

#include <stdio.h>
#include <string.h>

#include "util/sourced_ini.h"

/* The model that is checked, and its file. */
struct check {
    struct model *model;
    struct sourced_ini *ini;
};
/* Refuses what stands in a line: (line, key, format, ...) as sourced_ini_fail() takes them; returns non-zero. */
#define fail(c, ...) sourced_ini_fail((c)->ini, __VA_ARGS__)
/* The same of the file. */
#define lacks(c, ...) fail(c, (c)->ini->line, __VA_ARGS__)

/* Durations are drawn within three standard deviations, so that none becomes negative and the mean stays. */
static const double SIGMAS = 3, ROUNDED = 1 + 1e-12; /* 0.6 is 3 x 0.2 */

static int check_turbo(const struct check *p)
{
    const struct model *m = p->model;
    if (m->n_turbo == 0)
        return fail(p, sourced_ini_line(p->ini, "levels", "turbo_ghz"), "turbo_ghz",
                    "missing in section [levels]; add 'turbo_ghz.1-%u = ...  # source'", m->cores);
    char key[SOURCED_INI_KEY_MAX];
    unsigned covered = 0;
    for (size_t i = 0; i < m->n_turbo; i++) {
        const struct model_turbo *t = &m->turbo[i];
        snprintf(key, sizeof key, "turbo_ghz.%u-%u", t->cores.lo, t->cores.hi);
        if (t->cores.lo <= covered)
            return fail(p, t->line, key, "overlaps with the rows before, which reach %u active cores; %u would be next",
                        covered, covered + 1);
        if (t->cores.lo != covered + 1)
            return fail(p, t->line, key, "leaves a gap: the rows before reach %u active cores, %u would be next",
                        covered, covered + 1);
        covered = t->cores.hi;
    }
    if (covered != m->cores)
        return fail(p, m->turbo[m->n_turbo - 1].line, key, "the rows reach %u active cores, but the CPU has %u",
                    covered, m->cores);
    return 0;
}

/* Event 28H counts level 0 by umask 07H, level 1 by 18H, level 2 by 20H (Gottschlag's dissertation, table 3.2). */
static int check_umask(const struct check *p, const struct model_class *c)
{
    static const unsigned level_masks[] = {0x07, 0x18, 0x20};
    if (p->model->counts_licenses && c->level >= sizeof level_masks / sizeof *level_masks)
        return fail(p, c->line, "level",
                    "class %s is at level %u, which event 28H does not count; licences = no would work", c->name,
                    c->level);
    if (p->model->counts_licenses && !(c->umask & level_masks[c->level]))
        return fail(p, c->line, "umask",
                    "class %s is at level %u, which event 28H counts by umask %02XH; a bit of it would work", c->name,
                    c->level, level_masks[c->level]);
    for (const struct model_class *o = p->model->classes; o < c; o++)
        if (c->umask && o->umask == c->umask && o->level != c->level) /* which bits of a level share is nobody's rule */
            return fail(p, c->line, "umask", "%02XH already counts class %s, which is at another level", c->umask,
                        o->name);
    return 0;
}

static int check_classes(const struct check *p)
{
    const struct model *m = p->model;
    if (m->low_ghz[0] > 0 && !m->speed_select)
        return lacks(p, "speed_select", "with low_priority_ghz, it must be yes");
    if (m->n_classes == 0)
        return lacks(p, "class", "section [class NAME] is missing; one class would work");
    for (size_t i = 0; i < m->n_classes; i++) {
        const struct model_class *c = &m->classes[i];
        if (c->level >= m->n_levels)
            return fail(p, c->line, "level", "there is no level %u; the CPU has levels 0 to %zu", c->level,
                        m->n_levels - 1);
        if (i == 0 ? c->level != 0 : c->level < m->classes[i - 1].level)
            return fail(p, c->line, "level", "classes are listed in the order of their demand, from level 0 up");
        if (check_umask(p, c) != 0)
            return -1;
    }
    return 0;
}

static int check_below(const struct check *p, struct model_demand *d)
{
    bool conditional = d->rate > 0 || d->count > 1, said = d->below < MODEL_CLASSES_MAX;
    if (conditional && !said)
        return fail(p, d->line, "below",
                    "missing in section [demand]; with a rate or count it says what is needed until then");
    if (!conditional && said)
        return fail(p, d->line, "below", "without a rate or count it is never needed; remove it");
    if (!said)
        d->below = d->class_;
    if (d->below > d->class_)
        return fail(p, d->line, "below", "needs a higher class than 'class'; swap them");
    return 0;
}

static int check_demands(const struct check *p)
{
    static const struct {
        unsigned feature, width;
        enum kernel_weight weight;
        const char *text;
    } needed[] = {
        {KERNEL_NEEDS_AVX, 256, KERNEL_LIGHT, "demand 256 light"},
        {KERNEL_NEEDS_AVX, 256, KERNEL_HEAVY, "demand 256 heavy"},
        {KERNEL_NEEDS_AVX512F, 512, KERNEL_LIGHT, "demand 512 light"},
        {KERNEL_NEEDS_AVX512F, 512, KERNEL_HEAVY, "demand 512 heavy"},
        {KERNEL_NEEDS_AMX_BF16, 8192, KERNEL_HEAVY, "demand 8192 heavy"},
    };
    const struct model *m = p->model;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        bool found = !(m->features & needed[i].feature);
        for (size_t k = 0; k < m->n_demands && !found; k++)
            found = m->demands[k].width == needed[i].width && m->demands[k].weight == needed[i].weight &&
                    !m->demands[k].kernel[0];
        if (!found)
            return lacks(p, needed[i].text, "section [%s] is missing; the CPU's features require it", needed[i].text);
    }
    for (size_t i = 0; i < m->n_demands; i++)
        if (check_below(p, &p->model->demands[i]) != 0)
            return -1;
    return 0;
}

/* A duration, in a line of its own, against the scatter of all of them. */
static int check_throttle_us(const struct check *p, double us, unsigned line)
{
    static const char key[] = "throttle_sigma_us";
    if (SIGMAS * p->model->throttle_sigma_us > us * ROUNDED)
        return fail(p, sourced_ini_line(p->ini, "timing", key), key,
                    "%g us is more than a third of the %g us in line %u", p->model->throttle_sigma_us, us, line);
    return 0;
}

static int check_throttle(const struct check *p, const struct model_step *s, size_t number)
{
    if (check_throttle_us(p, s->us, s->line) != 0)
        return -1;
    for (size_t i = 0; i < s->n_variants; i++) {
        const struct model_step_variant *v = &s->variants[i];
        if (v->cores.hi > p->model->cores) {
            char key[SOURCED_INI_KEY_MAX];
            snprintf(key, sizeof key, "step.%zu.cores", number);
            return fail(p, v->line, key, "covers up to %u active cores, but the CPU has %u", v->cores.hi,
                        p->model->cores);
        }
        if (check_throttle_us(p, v->us, v->line) != 0)
            return -1;
    }
    return 0;
}

static int check_transition(const struct check *p, unsigned from, unsigned to)
{
    const struct model *m = p->model;
    const struct model_transition *t = &m->transitions[from][to];
    char key[SOURCED_INI_KEY_MAX];
    snprintf(key, sizeof key, "transition %s %s", m->classes[from].name, m->classes[to].name);
    if (t->n_steps == 0)
        return fail(p, t->line ? t->line : p->ini->line, key, "section [%s] is missing or has no steps", key);
    unsigned held = from;
    for (size_t i = 0; i < t->n_steps; i++) {
        const struct model_step *s = &t->steps[i];
        if (s->kind == MODEL_STEP_THROTTLE) {
            if (check_throttle(p, s, i + 1) != 0)
                return -1;
            continue;
        }
        if (s->kind == MODEL_STEP_FADE)
            continue;
        if (s->grant <= held || s->grant > to)
            return fail(p, s->line, key, "grants %s out of order; classes above %s and up to %s would work",
                        m->classes[s->grant].name, m->classes[held].name, m->classes[to].name);
        held = s->grant;
    }
    if (held != to || t->steps[t->n_steps - 1].kind != MODEL_STEP_GRANT)
        return fail(p, t->steps[t->n_steps - 1].line, key, "must end with 'grant %s'", m->classes[to].name);
    return 0;
}

static int check_sigma(const struct check *p, const char *sigma_key, double sigma, const char *mean_key, double mean)
{
    if (SIGMAS * sigma > mean * ROUNDED)
        return fail(p, sourced_ini_line(p->ini, "timing", sigma_key), sigma_key,
                    "%g us is more than a third of %s, %g us", sigma, mean_key, mean);
    return 0;
}

static int check_transitions(const struct check *p)
{
    const struct model *m = p->model;
    if (m->n_classes < 2)
        return 0;
    if (m->wait_us <= 0)
        return lacks(p, "timing", "section [timing] is missing; more than one class requires it");
    if (check_sigma(p, "halt_sigma_us", m->halt_sigma_us, "halt_us", m->halt_us) != 0 ||
        check_sigma(p, "wait_sigma_us", m->wait_sigma_us, "wait_us", m->wait_us) != 0)
        return -1;
    for (unsigned from = 0; from < m->n_classes; from++)
        for (unsigned to = from + 1; to < m->n_classes; to++)
            if (check_transition(p, from, to) != 0)
                return -1;
    return 0;
}

static int check_demanding_kernel(const struct check *p, struct model_demand *d)
{
    struct payload payload;
    char why[200];
    if (kernel_parse(d->kernel, &payload, why, sizeof why) != 0)
        return fail(p, d->line, "demand", "%s", why);
    if (payload.kernel->width != d->width || payload.kernel->weight != d->weight)
        return fail(p, d->line, "demand", "%s is another kind of code; [demand %u %s %s] would work", d->kernel,
                    payload.kernel->width, kernel_weight_name(payload.kernel->weight), d->kernel);
    snprintf(d->kernel, sizeof d->kernel, "%s", payload.kernel->name); /* in small letters */
    return 0;
}

static int check_kernels(const struct check *p)
{
    const struct model *m = p->model;
    bool has_add = false;
    for (size_t i = 0; i < m->n_kernels; i++) {
        const struct model_kernel *k = &m->kernels[i];
        if (k->throughput > m->issue_width)
            return fail(p, k->line, k->name, "%g per cycle are more than the issue_width, %g", k->throughput,
                        m->issue_width);
        has_add = has_add || strcmp(k->name, "64add") == 0;
    }
    if (!has_add)
        return fail(p, sourced_ini_line(p->ini, "ipc", "64add"), "64add",
                    "missing in section [ipc]; add '64add = THROUGHPUT LATENCY  # source'");
    for (size_t i = 0; i < m->n_demands; i++)
        if (m->demands[i].kernel[0] && check_demanding_kernel(p, &p->model->demands[i]) != 0)
            return -1;
    return 0;
}

/* Headers that are written in different ways and mean the same, or what there is none of. */
static int check_mixtures(const struct check *p)
{
    const struct model *m = p->model;
    for (const struct model_mixture *a = m->mixtures; a < m->mixtures + m->n_mixtures; a++)
        for (const struct model_mixture *b = m->mixtures; b < a; b++)
            if (a->width[0] == b->width[1] && a->weight[0] == b->weight[1] && a->width[1] == b->width[0] &&
                a->weight[1] == b->weight[0])
                return fail(p, a->line, "mixture", "the same two kinds of code as in line %u; remove one", b->line);
    return 0;
}

static int check_unlike(const struct check *p)
{
    const struct model *m = p->model;
    for (const struct model_unlike *a = m->unlike; a < m->unlike + m->n_unlike; a++) {
        if (a->cpus.hi >= m->cores)
            return fail(p, a->line, "core", "there is no CPU %u; the CPUs are 0 to %u", a->cpus.hi, m->cores - 1);
        for (const struct model_unlike *b = m->unlike; b < a; b++)
            if (a->cpus.lo <= b->cpus.hi && b->cpus.lo <= a->cpus.hi)
                return fail(p, a->line, "core", "overlaps with the CPUs %u to %u of line %u", b->cpus.lo, b->cpus.hi,
                            b->line);
    }
    return 0;
}

static int check_widths(const struct check *p)
{
    const struct model *m = p->model;
    for (size_t i = 0; i < m->n_dirty; i++)
        if (m->dirty[i].width < 256)
            return fail(p, m->dirty[i].line, "dirty",
                        "%u bits have nothing that stays in use; 256 and 512 have upper halves, 8192 are tiles",
                        m->dirty[i].width);
    for (size_t i = 0; i < m->n_wakes; i++)
        if (m->wakes[i].width < 256)
            return fail(p, m->wakes[i].line, "wake", "units of %u bits never sleep; 256, 512 or 8192 would work",
                        m->wakes[i].width);
    return 0;
}

/* Interruptions that take from min_us to max_us and `busy` of the time; `who`: for messages. */
static int check_bursts(const struct check *p, unsigned line, const char *who, double busy, double min_us,
                        double max_us)
{
    if (max_us < min_us)
        return fail(p, line, "max_us", "%g is less than min_us, %g; swap them", max_us, min_us);
    if (busy > 0.5)
        return fail(p, line, "rate_hz", "%s would take %.0f %% of the time; up to 50 %% would work", who, busy * 100);
    return 0;
}

static int check_interrupts(const struct check *p)
{
    const struct model *m = p->model;
    const struct model_scenario *w = &m->scenario;
    double busy = 0;
    for (const struct model_interrupt *i = m->interrupts; i < m->interrupts + m->n_interrupts; i++) {
        busy += i->rate_hz * 1e-6 * (i->min_us + i->max_us) / 2;
        if (check_bursts(p, i->line, "interrupts", 0, i->min_us, i->max_us) != 0)
            return -1;
    }
    if (check_bursts(p, m->interrupts[0].line, "interrupts", busy, 0, 0) != 0)
        return -1;
    busy = w->smi_rate_hz * 1e-6 * (w->smi_min_us + w->smi_max_us) / 2;
    return check_bursts(p, sourced_ini_line(p->ini, "smi", ""), "they", busy, w->smi_min_us, w->smi_max_us);
}

/* A tenth of the shorter of the long chains, 200 adds, at 4 GHz: readings of a clock that goes forwards only are then
 * never the wrong way round. */
static const double CHAIN_JITTER_MOST_NS = 5;

static int check_clock(const struct check *p)
{
    const struct model *m = p->model;
    if (!m->no_counters)
        return 0;
    if (m->counts_licenses || m->counts_throttle)
        return fail(p, sourced_ini_line(p->ini, "pmu", ""), "counters",
                    "nothing is counted, so licences and throttle must be no");
    if (m->clock_jitter_ns > CHAIN_JITTER_MOST_NS)
        return fail(p, sourced_ini_line(p->ini, "clock", ""), "jitter_ns",
                    "%g ns drown the chains that measure the frequency where counters = no; up to %g would work",
                    m->clock_jitter_ns, CHAIN_JITTER_MOST_NS);
    return 0;
}

static int check_wander(const struct check *p)
{
    static const char *const keys[][2] = {{"slow_sigma", "slow_us"}, {"fast_sigma", "fast_us"}, {"step", "step_us"}};
    const unsigned header = sourced_ini_line(p->ini, "wander", ""); /* also of a key that is missing */
    for (size_t i = 0; header != 0 && i < 3; i++) {
        bool size = sourced_ini_line(p->ini, "wander", keys[i][0]) != header;
        if (size != (sourced_ini_line(p->ini, "wander", keys[i][1]) != header))
            return fail(p, header, keys[i][size], "missing in section [wander]; %s and %s are given together",
                        keys[i][0], keys[i][1]);
    }
    return 0;
}

static int check_rest(const struct check *p)
{
    const struct model *m = p->model;
    if (m->n_points == 0)
        return fail(p, sourced_ini_line(p->ini, "voltage", "point.1"), "point.1",
                    "missing in section [voltage]; add 'point.1 = GHZ VOLTS  # source'");
    for (size_t i = 0; i < m->n_boosts; i++)
        if (m->boosts[i].cores.hi > m->cores)
            return fail(p, m->boosts[i].line, "cores", "reaches %u active cores, but the CPU has %u",
                        m->boosts[i].cores.hi, m->cores);
    if (check_kernels(p) != 0 || check_mixtures(p) != 0 || check_unlike(p) != 0 || check_widths(p) != 0)
        return -1;
    if (check_interrupts(p) != 0 || check_clock(p) != 0)
        return -1;
    return check_wander(p);
}

int model_check(struct model *m, struct sourced_ini *ini)
{
    const struct check c = {m, ini}, *p = &c;
    if (check_turbo(p) != 0 || check_classes(p) != 0 || check_demands(p) != 0)
        return -1;
    return check_transitions(p) != 0 ? -1 : check_rest(p);
}
