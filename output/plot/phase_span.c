/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/plot/phase_span.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "output/plot/plot_colours.h"
#include "util/text_list.h"

static void phase_span_names(const struct phase *p, char *full, char *brief, size_t size)
{
    const char *kind = phases_kind_name(p->kind);
    snprintf(brief, size, "%s", kind);
    snprintf(full, size, "%s", kind);
    if (p->kind == PHASE_THROTTLE && isfinite(p->ipc_ratio))
        snprintf(full, size, "%s \xC3\x97%.2f", kind, p->ipc_ratio);
    else if ((p->kind == PHASE_STEADY || p->kind == PHASE_SLOW) && p->level >= 0)
        snprintf(full, size, "%s L%d", kind, p->level);
    else if (p->kind == PHASE_RAMP)
        snprintf(full, size, "%s \xCF\x84 %.3g \xC2\xB5s", kind,
                 p->tau_us.value > 0 ? p->tau_us.value : p->rate_ramp.tau_us.value);
}

/* "9.11 us [9.02, 9.2], 2.4 GHz, IPC 0.5" */
static void phase_span_told(const struct phase *p, char *out, size_t size)
{
    const struct estimate *d = &p->duration_us;
    out[0] = '\0';
    if (isfinite(d->value))
        text_list_add(out, size, ", ", "%.4g \xC2\xB5s", d->value);
    if (isfinite(d->value) && isfinite(d->lo) && isfinite(d->hi))
        text_list_add(out, size, " ", "[%.4g, %.4g]", d->lo, d->hi);
    if (isfinite(p->freq_ghz.value))
        text_list_add(out, size, ", ", "%.4g GHz", p->freq_ghz.value);
    if (isfinite(p->ipc))
        text_list_add(out, size, ", ", "IPC %.3g", p->ipc);
}

void phase_span_add(struct chart *c, const struct phase *p, double end_us, double unit_us)
{
    struct chart_span span = {.from = p->start_us / unit_us,
                              .to = end_us / unit_us,
                              .colour = (unsigned)strtoul(plot_colours[PLOT_PHASE + p->kind].plain + 1, NULL, 16)};
    phase_span_names(p, span.text, span.kind, sizeof span.text);
    phase_span_told(p, span.told, sizeof span.told);
    chart_add_span(c, &span);
}
