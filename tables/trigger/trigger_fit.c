/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables/trigger/trigger_fit.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/stats/robust.h"
#include "util/order.h"

#define AGREE 0.8
#define BEYOND 0.2 /* which 1 - AGREE is not quite */

static bool all_counted(const struct sight *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isnan(s[i].level))
            return false;
    return n > 0;
}

static int grade_by_frequency(struct sight *s, size_t n, struct trigger_grades *out)
{
    struct value_mode mode[TRIGGER_GRADES_MAX];
    double *x = calloc(n + 1, sizeof *x);
    if (!x)
        return -1;
    for (size_t i = 0; i < n; i++)
        x[i] = log(s[i].freq);
    out->n = robust_modes(x, n, TRIGGER_SAME_FREQUENCY, n > 3 ? 2 : 1, mode, TRIGGER_GRADES_MAX);
    qsort(mode, out->n, sizeof *mode, order_double_descending);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 1; k < out->n; k++)
            if (fabs(x[i] - mode[k].mean) < fabs(x[i] - mode[s[i].grade].mean))
                s[i].grade = (int)k;
    free(x);
    return 0;
}

int trigger_grade(struct sight *s, size_t n, struct trigger_grades *out)
{
    *out = (struct trigger_grades){.counted = all_counted(s, n)};
    for (size_t i = 0; i < n; i++)
        s[i].grade = 0;
    if (!out->counted && grade_by_frequency(s, n, out))
        return -1;
    for (size_t i = 0; i < n && out->counted; i++) {
        s[i].grade = (int)(s[i].level + 0.5);
        out->n = (size_t)s[i].grade + 1 > out->n ? (size_t)s[i].grade + 1 : out->n;
    }
    for (size_t k = 0; k < out->n; k++) {
        double sum = 0;
        size_t m = 0;
        for (size_t i = 0; i < n; i++)
            if (s[i].grade == (int)k) {
                sum += s[i].freq;
                m++;
            }
        out->freq[k] = m ? sum / (double)m : NAN;
    }
    return 0;
}

bool trigger_reaches(const struct sight *s, const struct trigger_grades *g, int grade)
{
    int above = grade - 1; /* the next higher frequency that was seen */
    if (g->counted)
        return s->level >= grade - 0.5;
    while (above > 0 && isnan(g->freq[above]))
        above--;
    return above < 0 || s->freq * s->freq < g->freq[above] * g->freq[grade];
}

double trigger_share(const struct sight *s, size_t n, int grade)
{
    size_t yes = 0;
    for (size_t i = 0; i < n; i++)
        yes += s[i].grade >= grade;
    return n ? (double)yes / (double)n : NAN;
}

int trigger_agreed(const struct sight *s, size_t n)
{
    for (int grade = TRIGGER_GRADES_MAX - 1; grade >= 0 && n; grade--)
        if (trigger_share(s, n, grade) >= AGREE)
            return trigger_share(s, n, grade + 1) <= BEYOND ? grade : -1;
    return -1;
}
