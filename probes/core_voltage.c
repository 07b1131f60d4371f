/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading the voltage disturbs, so it is never read in a sampled repetition: repetitions of their own, each ending at a
 * different time, read it once.
 */
#include "probes/transition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "computer/msr/msr_decode.h"
#include "util/order.h"

enum { TRIES = 20 }; /* readings without a voltage before the rest is given up */
/* ... but for this reason the next one may well succeed */
static const char disturbed[] = "something else ran between the kernel and the reading";
/* After the kernel's end, more than readings take there: a reading this late tells of what ran in between. The kernel's
 * end is looked for some twenty times in a period, and a quarter as often where it is throttled. */
#define LATE_US 20.0
#define USUAL_MOST_US 100.0 /* a reading that usually comes later is useless: a core may have come back */
#define LATE_PERIODS 0.25

/*
 * A step that, taken again and again modulo n, visits 0..n-1 once each and fills them evenly at any moment: the number
 * below n over the golden ratio that shares no divisor with n (Knuth, TAOCP 3, section 6.4). What drifts slowly, as the
 * temperature does, then does not look like a change over the recording.
 */
static unsigned scattering_step(unsigned n)
{
    unsigned step = (unsigned)(n * 0.6180339887498949 + 0.5);
    for (; step > 1; step--) {
        unsigned a = n, b = step;
        while (b) {
            unsigned rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return step;
    }
    return 1;
}

/* The position of a reading of a register on the time axis: `at` where the machine reads exactly when requested. */
static double read_time(const struct machine *m, const struct transition_setup *s, const struct recording *rec,
                        const struct run_request *r, double at)
{
    struct machine_info info;
    if (!m->ops->register_tsc)
        return at;
    m->ops->info(m, &info);
    double since_zero = recording_time_us(rec, m->ops->register_tsc(m), info.tsc_hz);
    /* a repetition that ends before the switch has its zero where it begins */
    return r->n_segments > 1 ? since_zero : since_zero - s->warmup_us - s->before_us;
}

struct volt_reading {
    unsigned run;
    double time_us, late_us; /* late_us: after the kernel's end */
    double volts;
};

/* One repetition that ends at `at` and one reading. Returns what the machine's run returns; *why is "" if there is a
 * voltage and a time. */
static int read_voltage(struct machine *m, const struct transition_setup *s, double at, struct volt_reading *out,
                        char *why, size_t size, struct machine_error *err)
{
    struct segment segments[2] = {{s->from, s->warmup_us + s->before_us + fmin(at, 0), false},
                                  {s->to, fmax(at, 0), false}};
    struct run_request request = {
        .segments = segments, .n_segments = at > 0 ? 2 : 1, .zero_segment = at > 0, .repetition = out->run};
    struct machine_error unread = {MACHINE_OK, "", ""};
    struct recording rec;
    uint64_t value;
    const char *reason;
    out->time_us = out->volts = NAN;
    why[0] = '\0';
    int status = m->ops->run(m, &request, &rec, err);
    if (status)
        return status;
    if (m->ops->read_register(m, MSR_PERF_STATUS, &value, &unread)) {
        snprintf(why, size, "%.240s%s%.120s", unread.text, unread.remedy[0] ? "; " : "", unread.remedy);
        return MACHINE_OK;
    }
    out->time_us = read_time(m, s, &rec, &request, at);
    out->late_us = out->time_us - at;
    const struct trace_range *range = trace_channel_range(TRACE_VOLTS);
    if (!msr_volts(value, &out->volts, &reason))
        snprintf(why, size, "%s", reason);
    else if (!trace_within(range, out->volts))
        snprintf(why, size, "register 198H reports %.4f V, outside %s", out->volts, range->text);
    else if (rec.migrated || rec.involuntary_switches)
        snprintf(why, size, "%s", disturbed);
    return MACHINE_OK;
}

/*
 * Enters the readings in the trace, except for those that came later than readings do here (*late: how many), and those
 * after time 0 of repetitions that ended before it: the second kernel had not run. 0, or -1: out of memory.
 */
static int keep_readings(const struct transition_setup *s, const struct volt_reading *reading, size_t n,
                         struct trace *t, unsigned *late)
{
    double *x = malloc((n + 1) * sizeof *x);
    *late = 0;
    if (!x)
        return -1;
    for (size_t i = 0; i < n; i++)
        x[i] = reading[i].late_us;
    double usual = n ? fmin(fmax(0, order_nth_smallest(x, n, n / 4)), USUAL_MOST_US) : NAN;
    char text[40];
    free(x);
    snprintf(text, sizeof text, "%.3f", usual);
    int bad = usual > 0 ? trace_set(t, "volts_late_us", text) : 0;
    for (size_t i = 0; i < n && !bad; i++) {
        const struct volt_reading *v = &reading[i];
        bool too_late = v->late_us > usual + LATE_US + LATE_PERIODS * s->period_us;
        *late += too_late;
        if (too_late || (v->time_us > 0 && v->time_us - v->late_us <= 0))
            continue;
        bad = trace_add_channel(t, TRACE_VOLTS) || trace_append(t, v->run, v->time_us) ? -1 : 0;
        if (!bad)
            t->channel[TRACE_VOLTS][t->n - 1] = (float)v->volts;
    }
    return bad;
}

int core_voltage_read(struct machine *m, const struct transition_setup *s, unsigned readings,
                      repetitions_progress *progress, void *data, struct repetitions *out, struct machine_error *err)
{
    unsigned step = scattering_step(readings), missing = 0, without = 0, done = 0, late = 0;
    char first_why[sizeof out->volts_missing] = "";
    struct volt_reading *reading = malloc((readings + 1) * sizeof *reading);
    /* after the repetitions, of which there may be more than were wanted */
    unsigned first = out->trace.n && out->trace.run && out->trace.run[out->trace.n - 1] >= s->runs
                         ? out->trace.run[out->trace.n - 1] + 1
                         : s->runs;
    size_t n = 0;
    int status = reading ? MACHINE_OK : machine_fail(err, MACHINE_FAILED, "", "out of memory");
    bool stopped = false;
    for (; !status && !stopped && done < readings && (without < TRIES || without < done); done++) {
        unsigned point = (unsigned)((uint64_t)done * step % readings);
        double at = -s->before_us + (s->before_us + s->observe_us) * (point + 0.5) / readings;
        char why[sizeof first_why];
        reading[n].run = first + done;
        status = read_voltage(m, s, at, &reading[n], why, sizeof why, err);
        if (why[0]) {
            without += strcmp(why, disturbed) != 0;
            if (!missing++)
                memcpy(first_why, why, sizeof why);
        } else {
            n++;
        }
        stopped = !status && progress(data, done + 1, readings);
    }
    if (!status && keep_readings(s, reading, n, &out->trace, &late))
        status = machine_fail(err, MACHINE_FAILED, "", "out of memory");
    free(reading);
    if (late && !missing)
        memcpy(first_why, disturbed, sizeof disturbed);
    missing += late;
    if (missing == done)
        memcpy(out->volts_missing, first_why, sizeof first_why);
    else if (missing)
        snprintf(out->volts_missing, sizeof out->volts_missing, "%u of %u readings: %.160s", missing, done, first_why);
    return status;
}
