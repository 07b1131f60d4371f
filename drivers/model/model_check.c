/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What must hold between the values of a model file. */
#include "drivers/model/model_parser.h"

#include <stdio.h>
#include <string.h>

/* Durations are drawn within three standard deviations, so that none becomes negative and the mean stays. */
static const double SIGMAS = 3, ROUNDED = 1 + 1e-12; /* 0.6 is 3 x 0.2 */

static int check_turbo(struct model_parser *p)
{
    const struct model *m = p->model;
    if (m->n_turbo == 0)
        return model_fail(p, model_line(p, "levels", "turbo_ghz"), "turbo_ghz",
                          "missing in section [levels]; add 'turbo_ghz.1-%u = ...  # source'", m->cores);
    char key[MODEL_KEY_SIZE];
    unsigned covered = 0;
    for (size_t i = 0; i < m->n_turbo; i++) {
        const struct model_turbo *t = &m->turbo[i];
        snprintf(key, sizeof key, "turbo_ghz.%u-%u", t->cores.lo, t->cores.hi);
        if (t->cores.lo <= covered)
            return model_fail(p, t->line, key,
                              "overlaps with the rows before, which reach %u active cores; %u would be next", covered,
                              covered + 1);
        if (t->cores.lo != covered + 1)
            return model_fail(p, t->line, key, "leaves a gap: the rows before reach %u active cores, %u would be next",
                              covered, covered + 1);
        covered = t->cores.hi;
    }
    if (covered != m->cores)
        return model_fail(p, m->turbo[m->n_turbo - 1].line, key, "the rows reach %u active cores, but the CPU has %u",
                          covered, m->cores);
    return 0;
}

/* Event 28H counts level 0 by umask 07H, level 1 by 18H, level 2 by 20H (Gottschlag's dissertation, table 3.2). */
static int check_umask(struct model_parser *p, const struct model_class *c)
{
    static const unsigned level_masks[MODEL_LEVELS_MAX] = {0x07, 0x18, 0x20};
    if (p->model->counts_licenses && !(c->umask & level_masks[c->level]))
        return model_fail(p, c->line, "umask",
                          "class %s is at level %u, which event 28H counts by umask %02XH; a bit of it would work",
                          c->name, c->level, level_masks[c->level]);
    for (const struct model_class *o = p->model->classes; o < c; o++)
        if (c->umask && o->umask == c->umask && o->level != c->level) /* which bits of a level share is nobody's rule */
            return model_fail(p, c->line, "umask", "%02XH already counts class %s, which is at another level", c->umask,
                              o->name);
    return 0;
}

static int model_check_classes(struct model_parser *p)
{
    const struct model *m = p->model;
    if (m->n_classes == 0)
        return model_refuse(p, "class", "section [class NAME] is missing; one class would work");
    for (size_t i = 0; i < m->n_classes; i++) {
        const struct model_class *c = &m->classes[i];
        if (c->level >= m->n_levels)
            return model_fail(p, c->line, "level", "there is no level %u; the CPU has levels 0 to %zu", c->level,
                              m->n_levels - 1);
        if (i == 0 ? c->level != 0 : c->level < m->classes[i - 1].level)
            return model_fail(p, c->line, "level", "classes are listed in the order of their demand, from level 0 up");
        if (check_umask(p, c) != 0)
            return -1;
    }
    return 0;
}

static int check_demands(struct model_parser *p)
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
            return model_refuse(p, needed[i].text, "section [%s] is missing; the CPU's features require it",
                                needed[i].text);
    }
    return 0;
}

/* A duration, in a line of its own, against the scatter of all of them. */
static int check_throttle_us(struct model_parser *p, double us, unsigned line)
{
    static const char key[] = "throttle_sigma_us";
    if (SIGMAS * p->model->throttle_sigma_us > us * ROUNDED)
        return model_fail(p, model_line(p, "timing", key), key, "%g us is more than a third of the %g us in line %u",
                          p->model->throttle_sigma_us, us, line);
    return 0;
}

static int check_throttle(struct model_parser *p, const struct model_step *s, size_t number)
{
    if (check_throttle_us(p, s->us, s->line) != 0)
        return -1;
    for (size_t i = 0; i < s->n_variants; i++) {
        const struct model_step_variant *v = &s->variants[i];
        if (v->cores.hi > p->model->cores) {
            char key[MODEL_KEY_SIZE];
            snprintf(key, sizeof key, "step.%zu.cores", number);
            return model_fail(p, v->line, key, "covers up to %u active cores, but the CPU has %u", v->cores.hi,
                              p->model->cores);
        }
        if (check_throttle_us(p, v->us, v->line) != 0)
            return -1;
    }
    return 0;
}

static int check_transition(struct model_parser *p, unsigned from, unsigned to)
{
    const struct model *m = p->model;
    const struct model_transition *t = &m->transitions[from][to];
    char key[MODEL_KEY_SIZE];
    snprintf(key, sizeof key, "transition %s %s", m->classes[from].name, m->classes[to].name);
    if (t->n_steps == 0)
        return model_fail(p, t->line ? t->line : p->ini.line, key, "section [%s] is missing or has no steps", key);
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
            return model_fail(p, s->line, key, "grants %s out of order; classes above %s and up to %s would work",
                              m->classes[s->grant].name, m->classes[held].name, m->classes[to].name);
        held = s->grant;
    }
    if (held != to || t->steps[t->n_steps - 1].kind != MODEL_STEP_GRANT)
        return model_fail(p, t->steps[t->n_steps - 1].line, key, "must end with 'grant %s'", m->classes[to].name);
    return 0;
}

static int check_sigma(struct model_parser *p, const char *sigma_key, double sigma, const char *mean_key, double mean)
{
    if (SIGMAS * sigma > mean * ROUNDED)
        return model_fail(p, model_line(p, "timing", sigma_key), sigma_key, "%g us is more than a third of %s, %g us",
                          sigma, mean_key, mean);
    return 0;
}

static int check_transitions(struct model_parser *p)
{
    const struct model *m = p->model;
    if (m->n_classes < 2)
        return 0;
    if (m->wait_us <= 0)
        return model_refuse(p, "timing", "section [timing] is missing; more than one class requires it");
    if (check_sigma(p, "halt_sigma_us", m->halt_sigma_us, "halt_us", m->halt_us) != 0 ||
        check_sigma(p, "wait_sigma_us", m->wait_sigma_us, "wait_us", m->wait_us) != 0)
        return -1;
    for (unsigned from = 0; from < m->n_classes; from++)
        for (unsigned to = from + 1; to < m->n_classes; to++)
            if (check_transition(p, from, to) != 0)
                return -1;
    return 0;
}

static int check_demanding_kernel(struct model_parser *p, const struct model_demand *d)
{
    struct payload payload;
    char why[200];
    if (kernel_parse(d->kernel, &payload, why, sizeof why) != 0)
        return model_fail(p, d->line, "demand", "%s", why);
    if (payload.kernel->width != d->width || payload.kernel->weight != d->weight)
        return model_fail(p, d->line, "demand", "%s is another kind of code; [demand %u %s %s] would work", d->kernel,
                          payload.kernel->width, kernel_weight_name(payload.kernel->weight), d->kernel);
    return 0;
}

static int model_check_kernels(struct model_parser *p)
{
    const struct model *m = p->model;
    bool has_add = false;
    for (size_t i = 0; i < m->n_kernels; i++) {
        const struct model_kernel *k = &m->kernels[i];
        if (k->throughput > m->issue_width)
            return model_fail(p, k->line, k->name, "%g per cycle are more than the issue_width, %g", k->throughput,
                              m->issue_width);
        has_add = has_add || strcmp(k->name, "64add") == 0;
    }
    if (!has_add)
        return model_fail(p, model_line(p, "ipc", "64add"), "64add",
                          "missing in section [ipc]; add '64add = THROUGHPUT LATENCY  # source'");
    for (size_t i = 0; i < m->n_demands; i++)
        if (m->demands[i].kernel[0] && check_demanding_kernel(p, &m->demands[i]) != 0)
            return -1;
    return 0;
}

/* Headers that are written in different ways and mean the same, or what there is none of. */
static int check_mixtures(struct model_parser *p)
{
    const struct model *m = p->model;
    for (const struct model_mixture *a = m->mixtures; a < m->mixtures + m->n_mixtures; a++)
        for (const struct model_mixture *b = m->mixtures; b < a; b++)
            if (a->width[0] == b->width[1] && a->weight[0] == b->weight[1] && a->width[1] == b->width[0] &&
                a->weight[1] == b->weight[0])
                return model_fail(p, a->line, "mixture", "the same two kinds of code as in line %u; remove one",
                                  b->line);
    return 0;
}

static int check_unlike(struct model_parser *p)
{
    const struct model *m = p->model;
    for (const struct model_unlike *a = m->unlike; a < m->unlike + m->n_unlike; a++) {
        if (a->cpus.hi >= m->cores)
            return model_fail(p, a->line, "core", "there is no CPU %u; the CPUs are 0 to %u", a->cpus.hi, m->cores - 1);
        for (const struct model_unlike *b = m->unlike; b < a; b++)
            if (a->cpus.lo <= b->cpus.hi && b->cpus.lo <= a->cpus.hi)
                return model_fail(p, a->line, "core", "overlaps with the CPUs %u to %u of line %u", b->cpus.lo,
                                  b->cpus.hi, b->line);
    }
    return 0;
}

static int model_check_widths(struct model_parser *p)
{
    const struct model *m = p->model;
    for (size_t i = 0; i < m->n_dirty; i++)
        if (m->dirty[i].width != 256 && m->dirty[i].width != 512)
            return model_fail(p, m->dirty[i].line, "dirty", "only 256 and 512 bits have upper halves; not %u",
                              m->dirty[i].width);
    for (size_t i = 0; i < m->n_wakes; i++)
        if (m->wakes[i].width < 256)
            return model_fail(p, m->wakes[i].line, "wake", "units of %u bits never sleep; 256, 512 or 8192 would work",
                              m->wakes[i].width);
    return 0;
}

static int check_rest(struct model_parser *p)
{
    const struct model *m = p->model;
    if (m->n_points == 0)
        return model_fail(p, model_line(p, "voltage", "point.1"), "point.1",
                          "missing in section [voltage]; add 'point.1 = GHZ VOLTS  # source'");
    for (size_t i = 0; i < m->n_boosts; i++)
        if (m->boosts[i].cores.hi > m->cores)
            return model_fail(p, m->boosts[i].line, "cores", "reaches %u active cores, but the CPU has %u",
                              m->boosts[i].cores.hi, m->cores);
    if (model_check_kernels(p) != 0 || check_mixtures(p) != 0 || check_unlike(p) != 0 || model_check_widths(p) != 0)
        return -1;
    double busy = 0;
    for (size_t i = 0; i < m->n_interrupts; i++)
        busy += m->interrupts[i].rate_hz * 1e-6 * (m->interrupts[i].min_us + m->interrupts[i].max_us) / 2;
    if (busy > 0.5)
        return model_fail(p, m->interrupts[0].line, "rate_hz",
                          "interrupts would take %.0f %% of the time; up to 50 %% would work", busy * 100);
    return 0;
}

int model_check(struct model_parser *p)
{
    if (check_turbo(p) != 0 || model_check_classes(p) != 0 || check_demands(p) != 0)
        return -1;
    return check_transitions(p) != 0 ? -1 : check_rest(p);
}
