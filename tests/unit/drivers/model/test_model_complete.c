/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A model file with all sections and keys: where each value goes, which limits each has and that these are exact, and
 * what a user reads where a line is missing, a value is none or out of range, or does not go with the others: of that
 * tests/golden/machine/model.refused.txt has a sum for each section, and REFUSED=FILE writes the messages.
 */
#include <ctype.h>

#include "tests/support/golden.h"
#include "tests/support/model_rig.h"
#include "tests/support/test.h"

#define COMPLETE "tests/golden/machine/complete.model"
enum { TEXT_SIZE = 16384 };

static struct model parsed; /* too large for the stack */
static char complete[TEXT_SIZE];

static int read_complete(void **state)
{
    (void)state;
    FILE *in = fopen(COMPLETE, "r");
    if (!in)
        return -1;
    complete[fread(complete, 1, sizeof complete - 1, in)] = '\0';
    return fclose(in);
}

/* ---- where values go ---- */

static void write_cpu(FILE *out, const struct model *m)
{
    fprintf(out, "cpu: %s, %u %u %u, %u cores, features %#x, %.0f Hz, layout %d, speed select %d\n", m->cpu_name,
            m->family, m->model, m->stepping, m->cores, m->features, m->tsc_hz, m->turbo_layout, m->speed_select);
    for (size_t i = 0; i < m->n_levels; i++)
        fprintf(out, "level %zu: %g, low priority %g\n", i, m->base_ghz[i], m->low_ghz[i]);
    for (size_t i = 0; i < m->n_turbo; i++)
        fprintf(out, "turbo %u-%u: %g %g %g, line %u\n", m->turbo[i].cores.lo, m->turbo[i].cores.hi, m->turbo[i].ghz[0],
                m->turbo[i].ghz[1], m->turbo[i].ghz[2], m->turbo[i].line);
    for (size_t i = 0; i < m->n_unlike; i++)
        fprintf(out, "core %u-%u: %g '%s', line %u\n", m->unlike[i].cpus.lo, m->unlike[i].cpus.hi, m->unlike[i].factor,
                m->unlike[i].label, m->unlike[i].line);
}

static void write_needs(FILE *out, const struct model *m)
{
    for (size_t i = 0; i < m->n_classes; i++)
        fprintf(out, "class %s: level %u, umask %#x, wait_us %g, wait_double %g, line %u\n", m->classes[i].name,
                m->classes[i].level, m->classes[i].umask, m->classes[i].wait_us, m->classes[i].wait_double,
                m->classes[i].line);
    for (size_t i = 0; i < m->n_demands; i++) {
        const struct model_demand *d = &m->demands[i];
        fprintf(out, "demand %u %d '%s': %u from %g a cycle and %g +- %g on, below %u, line %u\n", d->width, d->weight,
                d->kernel, d->class_, d->rate, d->count, d->count_sigma, d->below, d->line);
    }
    for (size_t i = 0; i < m->n_mixtures; i++) {
        const struct model_mixture *x = &m->mixtures[i];
        fprintf(out, "mixture %u %d, %u %d: %u at %u in %g us, line %u\n", x->width[0], x->weight[0], x->width[1],
                x->weight[1], x->class_, x->switches, x->window_us, x->line);
    }
    for (size_t i = 0; i < m->n_dirty; i++)
        fprintf(out, "dirty %u: %u, line %u\n", m->dirty[i].width, m->dirty[i].class_, m->dirty[i].line);
}

static void write_steps(FILE *out, const struct model *m)
{
    for (size_t from = 0; from < m->n_classes; from++)
        for (size_t to = 0; to < m->n_classes; to++)
            for (size_t i = 0; i < m->transitions[from][to].n_steps; i++) {
                const struct model_step *s = &m->transitions[from][to].steps[i];
                fprintf(out, "step %zu-%zu.%zu: kind %d, %g for %g us, grant %u tau %g, line %u", from, to, i, s->kind,
                        s->ratio, s->us, s->grant, s->tau_us, s->line);
                for (size_t k = 0; k < s->n_variants; k++)
                    fprintf(out, "; %u-%u: %g for %g us", s->variants[k].cores.lo, s->variants[k].cores.hi,
                            s->variants[k].ratio, s->variants[k].us);
                fputc('\n', out);
            }
    fprintf(out, "timing: halt %g +- %g, throttle +- %g, wait %g +- %g, distance %g, tau %g\n", m->halt_us,
            m->halt_sigma_us, m->throttle_sigma_us, m->wait_us, m->wait_sigma_us, m->throttle_distance,
            m->release_tau_us);
}

static void write_power(FILE *out, const struct model *m)
{
    for (size_t i = 0; i < m->n_points; i++)
        fprintf(out, "point: %g GHz %g V, line %u\n", m->points[i].ghz, m->points[i].volts, m->points[i].line);
    fprintf(out, "volts: noise %g, ramp %g, stamps %d, delay %g\n", m->volts_noise, m->volts_ramp_us, m->stamps_volts,
            m->read_delay_us);
    for (size_t i = 0; i < m->n_boosts; i++)
        fprintf(out, "boost %u-%u: %u-%u cores %g V at end %d, line %u\n", m->boosts[i].from, m->boosts[i].to,
                m->boosts[i].cores.lo, m->boosts[i].cores.hi, m->boosts[i].volts, m->boosts[i].at_end,
                m->boosts[i].line);
    fprintf(out, "ipc: width %g, loop %g\n", m->issue_width, m->loop_instructions);
    for (size_t i = 0; i < m->n_kernels; i++)
        fprintf(out, "kernel %s: %g %g, line %u\n", m->kernels[i].name, m->kernels[i].throughput, m->kernels[i].latency,
                m->kernels[i].line);
    fprintf(out, "power %d: %g W, %g nJ, boosted %d\n", m->has_power, m->idle_watts, m->cycle_nj, m->corunners_boosted);
    for (size_t i = 0; i < m->n_energies; i++)
        fprintf(out, "nj %u %d: %g, line %u\n", m->energies[i].width, m->energies[i].weight, m->energies[i].nj,
                m->energies[i].line);
}

static void write_readings(FILE *out, const struct model *m)
{
    fprintf(out, "pmu: licences %d, throttle %d, kernel %d, of core %d, noise %g, no counters %d\n", m->counts_licenses,
            m->counts_throttle, m->counts_kernel_mode, m->licenses_of_core, m->noise_cycles, m->no_counters);
    fprintf(out, "clock: jitter %g, split %g, chain %g, step %g, spread %g in %g us, noise %g, by work %d\n",
            m->clock_jitter_ns, m->split_read_ns, m->chain_cost_sigma, m->tsc_step_ns, m->spread, m->spread_period_us,
            m->frequency_noise, m->fixed_work);
}

static void write_world(FILE *out, const struct model *m)
{
    const struct model_scenario *w = &m->scenario;
    for (size_t i = 0; i < m->n_interrupts; i++)
        fprintf(out, "interrupt %s: %g Hz, %g-%g us, rearm %g, taken off %g, line %u\n", m->interrupts[i].name,
                m->interrupts[i].rate_hz, m->interrupts[i].min_us, m->interrupts[i].max_us, m->interrupts[i].rearm,
                m->interrupts[i].taken_off, m->interrupts[i].line);
    for (size_t i = 0; i < m->n_wakes; i++)
        for (size_t k = 0; k < m->wakes[i].n; k++)
            fprintf(out, "wake %u.%zu: %g %g %g, line %u\n", m->wakes[i].width, k, m->wakes[i].stage[k].idle_us,
                    m->wakes[i].stage[k].first_us, m->wakes[i].stage[k].full_rate_us, m->wakes[i].line);
    fprintf(out, "sibling: %g of %g us, %g, chain %g, lockstep %d, decades %g\n", w->sibling.share,
            w->sibling.period_us, w->sibling.factor, w->sibling.chain_factor, w->sibling.lockstep, w->sibling.decades);
    fprintf(out, "wander: %g in %g us, %g in %g us\n", w->wander.sigma[0], w->wander.us[0], w->wander.sigma[1],
            w->wander.us[1]);
    fprintf(out, "switching %d: %g %g %g us\n", m->has_switching, m->switching_us[SWITCHING_SWITCH],
            m->switching_us[SWITCHING_MIGRATION], m->switching_us[SWITCHING_FAULT]);
    fprintf(out, "limit: %g %g; smi: %g Hz %g-%g us; cold: %g us %g; carries %d, gap %g us\n", w->limit_share,
            w->limit_factor, w->smi_rate_hz, w->smi_min_us, w->smi_max_us, w->cold_us, w->cold_factor, w->carries,
            w->gap_us);
}

TEST(test_where_values_go)
{
    struct machine_error err;
    struct golden g;
    FILE *out = golden_begin(&g);
    if (model_parse(complete, strlen(complete), "complete.model", &parsed, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    write_cpu(out, &parsed);
    write_needs(out, &parsed);
    write_steps(out, &parsed);
    write_power(out, &parsed);
    write_readings(out, &parsed);
    write_world(out, &parsed);
    golden_expect(&g, "machine/model", "values.txt", false);
}

/* ---- what is refused ---- */

/* The message for the complete file with `length` bytes from `at` on replaced, without the file's name; "accepted". */
static const char *message_with(const char *at, size_t length, const char *instead)
{
    static struct machine_error err;
    static char text[TEXT_SIZE + 200];
    int n = snprintf(text, sizeof text, "%.*s%s%s", (int)(at - complete), complete, instead, at + length);
    int status = model_parse(text, (size_t)n, "", &parsed, &err);
    assert_true(status == MACHINE_OK || status == MACHINE_BAD_INPUT);
    return status == MACHINE_OK ? "accepted" : err.text;
}

/* A value just outside its limits is refused by them, one just at them is not. */
static void check_limits(const char *at, size_t length, const char *message)
{
    const char *limits = strstr(message, " is out of range; ");
    double lo, hi;
    char value[40];
    if (!limits)
        return;
    assert_int_equal(sscanf(limits, " is out of range; %lf to %lf would work", &lo, &hi), 2);
    /* whole numbers are told by their refusing 0.5 */
    bool whole = strstr(message_with(at, length, "0.5"), "not a whole number") != NULL;
    const struct {
        double value;
        bool inside;
    } cases[] = {{lo, true},
                 {hi, true},
                 {whole ? lo - 1 : lo - fmax(1e-3 * lo, 1e-9), false},
                 {whole ? hi + 1 : hi * 1.00001, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (whole && cases[i].value < 0)
            continue;
        /* 1/3 is written with six digits in the message */
        double v = fabs(cases[i].value - 1.0 / 3) < 1e-6 ? 1.0 / 3 : cases[i].value;
        snprintf(value, sizeof value, whole ? "%.0f" : "%.17g", v);
        bool refused = strstr(message_with(at, length, value), " is out of range; ") != NULL;
        if (refused == cases[i].inside)
            fail_msg("%s at %s: %s", value, message, refused ? "refused" : "accepted");
    }
}

static struct {
    unsigned n;
    uint64_t sum;
    FILE *texts; /* NULL: nobody wants them */
} told;

/* What is said of the file with another word counts where it is refused. */
static void add_message(const char *word, size_t n, const char *instead)
{
    const char *message = message_with(word, n, instead);
    if (strcmp(message, "accepted") == 0)
        return;
    told.n++;
    for (const char *c = message; *c; c++) /* FNV-1a */
        told.sum = (told.sum ^ (unsigned char)*c) * 0x100000001b3u;
    if (told.texts)
        fprintf(told.texts, "%.*s -> %s: %s\n", (int)n, word, instead, message);
}

static void end_section(FILE *out, const char *section)
{
    if (section)
        fprintf(out, "%.*s: %u refused #%016llx\n", (int)strcspn(section, "\n"), section, told.n,
                (unsigned long long)told.sum);
    told.n = 0;
    told.sum = 0xcbf29ce484222325u;
}

static void check_value(const char *word, size_t n)
{
    const char *large = "987654321e9";
    char copy[400];
    if (strstr(message_with(word, n, large), "not a whole number"))
        large = "987654321";
    add_message(word, n, large);
    snprintf(copy, sizeof copy, "%s", message_with(word, n, large));
    check_limits(word, n, copy);
    if (!strstr(message_with(word, n, ""), "has no value"))
        add_message(word, n, "");
}

/* Each word with those that may stand for it elsewhere, and each number with others near it: what one says must go with
 * what the others say. */
static void try_other_words(const char *word, size_t n)
{
    static const char *const kinds[][6] = {
        {"64", "128", "256", "512", "8192"},   {"light", "heavy"}, {"narrow", "middle", "most"},
        {"throttle", "ramp", "grant", "halt"}, {"yes", "no"},      {"cores", "bins"}};
    char as_it_is[60], *end;
    bool known = false;
    snprintf(as_it_is, sizeof as_it_is, "%.*s", (int)n, word);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bool of_kind = false;
        for (size_t k = 0; k < 6 && kinds[i][k]; k++)
            of_kind |= strcmp(kinds[i][k], as_it_is) == 0;
        for (size_t k = 0; of_kind && k < 6 && kinds[i][k]; k++)
            add_message(word, n, kinds[i][k]);
        known |= of_kind;
    }
    double value = strtod(as_it_is, &end);
    if (known || end == as_it_is || *end != '\0')
        return;
    const double others[] = {value - 1, value + 1, value / 2};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char text[40];
        snprintf(text, sizeof text, "%.10g", others[i]);
        add_message(word, n, text);
    }
}

TEST(test_what_is_refused)
{
    struct golden g;
    const char *path = getenv("REFUSED"), *section = NULL;
    FILE *out = golden_begin(&g);
    told.texts = path ? fopen(path, "w") : NULL;
    for (const char *line = strstr(complete, "[cpu]"); *line; line += strcspn(line, "\n") + 1) {
        if (*line == '[') {
            end_section(out, section);
            section = line;
        }
        const char *stop = *line == '[' ? " ]#\n" : " #\n";
        size_t end = strcspn(line, "#\n");
        add_message(line, strcspn(line, "#\n"), "#");
        for (const char *word = line + strcspn(line, stop); word < line + end; word += strcspn(word, stop)) {
            word += strspn(word, " ]=");
            size_t n = strcspn(word, stop);
            if (word >= line + end || n == 0)
                continue;
            if (*line == '[') {
                add_message(word, n, "77");
                add_message(word, n, "");
            } else
                check_value(word, n);
            try_other_words(word, n);
        }
    }
    end_section(out, section);
    if (told.texts)
        assert_int_equal(fclose(told.texts), 0);
    golden_expect(&g, "machine/model", "refused.txt", false);
}

TEST_GROUP(read_complete, NULL)
