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
        return model_refuse(p, "turbo_ghz", "missing in section [levels]; add 'turbo_ghz.1-%u = ...  # source'",
                            m->cores);
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

static int check_step_cores(struct model_parser *p, const struct model_step *s)
{
    for (size_t i = 0; i < s->n_variants; i++)
        if (s->variants[i].cores.hi > p->model->cores)
            return model_fail(p, s->line, "step", "a variant covers up to %u active cores, but the CPU has %u",
                              s->variants[i].cores.hi, p->model->cores);
    return 0;
}

static int check_throttle(struct model_parser *p, const struct model_step *s)
{
    double least = s->us;
    for (size_t i = 0; i < s->n_variants; i++)
        if (s->variants[i].us < least)
            least = s->variants[i].us;
    if (SIGMAS * p->model->throttle_sigma_us > least * ROUNDED)
        return model_fail(p, s->line, "throttle_sigma_us", "%g us is more than a third of this step's %g us",
                          p->model->throttle_sigma_us, least);
    return check_step_cores(p, s);
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
            if (check_throttle(p, s) != 0)
                return -1;
            continue;
        }
        if (s->grant <= held || s->grant > to)
            return model_fail(p, s->line, key, "grants %s out of order; classes above %s and up to %s would work",
                              m->classes[s->grant].name, m->classes[held].name, m->classes[to].name);
        held = s->grant;
    }
    if (held != to || t->steps[t->n_steps - 1].kind != MODEL_STEP_GRANT)
        return model_fail(p, t->steps[t->n_steps - 1].line, key, "must end with 'grant %s'", m->classes[to].name);
    return 0;
}

static int check_transitions(struct model_parser *p)
{
    const struct model *m = p->model;
    if (m->n_classes < 2)
        return 0;
    if (m->wait_us <= 0)
        return model_refuse(p, "timing", "section [timing] is missing; more than one class requires it");
    if (SIGMAS * m->halt_sigma_us > m->halt_us * ROUNDED)
        return model_refuse(p, "halt_sigma_us", "%g us is more than a third of halt_us, %g us", m->halt_sigma_us,
                            m->halt_us);
    if (SIGMAS * m->wait_sigma_us > m->wait_us * ROUNDED)
        return model_refuse(p, "wait_sigma_us", "%g us is more than a third of wait_us, %g us", m->wait_sigma_us,
                            m->wait_us);
    for (unsigned from = 0; from < m->n_classes; from++)
        for (unsigned to = from + 1; to < m->n_classes; to++)
            if (check_transition(p, from, to) != 0)
                return -1;
    return 0;
}

static int check_rest(struct model_parser *p)
{
    const struct model *m = p->model;
    if (m->n_points == 0)
        return model_refuse(p, "point.1", "missing in section [voltage]; add 'point.1 = GHZ VOLTS  # source'");
    for (size_t i = 0; i < m->n_boosts; i++)
        if (m->boosts[i].cores.hi > m->cores)
            return model_fail(p, m->boosts[i].line, "cores", "reaches %u active cores, but the CPU has %u",
                              m->boosts[i].cores.hi, m->cores);
    bool has_add = false;
    for (size_t i = 0; i < m->n_kernels; i++)
        has_add = has_add || strcmp(m->kernels[i].name, "64add") == 0;
    if (!has_add)
        return model_refuse(p, "64add", "missing in section [ipc]; add '64add = THROUGHPUT LATENCY  # source'");
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
