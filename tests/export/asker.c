/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers questions, one a line, from the sample consumer and an exported header; test_export.c builds and asks it. */
#define CONSUMER_NO_MAIN
#include "examples/consumer.c"
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    char what;
    double x[20];
    int n, i;
    while (scanf(" %c%d", &what, &n) == 2) {
        for (i = 0; i < n; i++)
            if (scanf("%lf", &x[i]) != 1)
                return 1;
        if (what == 'i') { /* ideal: cpu level ns cycles... */
            uint64_t c[CHARACTERIZE_LEVELS];
            struct slice_verdict v;
            for (i = 0; i < CHARACTERIZE_LEVELS; i++)
                c[i] = (uint64_t)x[3 + i];
            v = judge_slice((unsigned)x[0], c, (uint64_t)x[2], (unsigned)x[1]);
            printf("%d %lu %lu\n", v.known, (unsigned long)v.ideal_khz, (unsigned long)v.measured_khz);
        } else if (what == 'b') { /* worth going up: from to cores ns */
            printf("%d\n", worth_going_up((unsigned)x[0], (unsigned)x[1], (unsigned)x[2], (int32_t)x[3]));
        } else if (what == 'd' || what == 'u') { /* from to cores */
            int32_t ns = -12345;
            int known = (what == 'd' ? characterize_down_ns : characterize_up_ns)((unsigned)x[0], (unsigned)x[1],
                                                                                  (unsigned)x[2], &ns);
            printf("%d %ld\n", known, (long)ns);
        } else if (what == 'w') { /* from to mode */
            int32_t ns = -12345;
            int known = characterize_wait_ns((unsigned)x[0], (unsigned)x[1], (unsigned)x[2], &ns);
            printf("%d %ld\n", known, (long)ns);
        } else if (what == 'l') { /* width heavy one_in */
            unsigned level = 99;
            int known = characterize_level_of((unsigned)x[0], (int)x[1], (unsigned)x[2], &level);
            printf("%d %u\n", known, level);
        } else if (what == 'm') { /* cpu cores level */
            uint32_t mhz = 99;
            int known = characterize_mhz((unsigned)x[0], (unsigned)x[1], (unsigned)x[2], &mhz);
            printf("%d %lu\n", known, (unsigned long)mhz);
        } else if (what == 'f') { /* turbo share... */
#if CHARACTERIZE_N_TURBOS > 0
            uint32_t share[CHARACTERIZE_LEVELS], khz = 99;
            int known;
            for (i = 0; i < CHARACTERIZE_LEVELS; i++)
                share[i] = (uint32_t)x[1 + i];
            known = characterize_expected_khz((unsigned)x[0], share, &khz);
            printf("%d %lu\n", known, (unsigned long)khz);
#endif
        }
    }
    return 0;
}
