/* SPDX-License-Identifier: GPL-3.0-or-later */
/* To which CPUs what disturbs the measured one may go. */
#include "computer/environment/findings_parts.h"
#include "tests/support/test.h"

TEST(others_are_online_and_rather_neither_siblings_nor_isolated)
{
    static const struct {
        const char *of, *online, *siblings, *isolated, *others; /* others NULL: there are none */
    } cases[] = {
        {"0-7", "0-7", "1,5", "", "0,2-4,6-7"}, {"0-7", "0-3", "1,5", "", "0,2-3"},
        {"0-7", "0-7", "1,5", "6-7", "0,2-4"},  {"1-3", "0-7", "1", "2", "3"},
        {"1,5", "0-7", "1,5", "", "5"},         {"5-7", "0-7", "1,5", "6-7", "5-7"},
        {"1", "0-7", "1,5", "", NULL},          {"6-7", "0-5", "1,5", "", NULL},
        {"0-7", "1", "1", "0", NULL},           {"0-1023", "0-1023", "1", "2-1023", "0"},
    };
    static struct environment e;
    e.cpu = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cpu_mask of, others, expected;
        assert_int_equal(cpu_mask_parse(cases[i].of, &of) | cpu_mask_parse(cases[i].online, &e.online) |
                             cpu_mask_parse(cases[i].siblings, &e.siblings) |
                             cpu_mask_parse(cases[i].isolated, &e.isolated) |
                             cpu_mask_parse(cases[i].others ? cases[i].others : "", &expected),
                         0);
        assert_int_equal(findings_others(&e, &of, &others), cases[i].others != NULL);
        for (int cpu = 0; cpu < 1024; cpu++)
            if (cpu_mask_has(&others, cpu) != cpu_mask_has(&expected, cpu))
                fail_msg("case %zu: CPU %d", i, cpu);
    }
}
