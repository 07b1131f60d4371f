/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The finding about CPUs that share a core, of made pairs, and its JSON. */
#include <jansson.h>

#include "computer/environment/environment.h"
#include "computer/environment/findings.h"
#include "tests/support/computer.h"
#include "tests/support/test.h"

static void expect(struct core_pair *pairs, size_t n, enum finding_kind kind, const char *seen, size_t listed)
{
    const struct core_pairs p = {.n = n + 1, .n_pairs = n, .pairs = pairs, .seconds = 0.13};
    struct computer c;
    struct findings f;
    const struct finding *found = NULL;
    computer_quiet(&c);
    c.e.pairs = &p;
    assert_int_equal(findings_of(&c.e, &f), 0);
    for (size_t i = 0; i < f.n; i++)
        if (strcmp(f.list[i].id, "shared-cores") == 0)
            found = &f.list[i];
    assert_non_null(found);
    assert_string_equal(found->seen, seen);
    assert_int_equal(found->kind, kind);
    assert_true(kind == FINDING_QUIET || strlen(found->why) > 20);
    assert_true(isnan(found->cost));

    char *text = environment_json(&c.e, &f, NULL);
    json_t *root = json_loads(text, 0, NULL), *o = json_object_get(root, "core_pairs");
    assert_int_equal(json_integer_value(json_object_get(o, "examined")), n);
    assert_int_equal(json_array_size(json_object_get(o, "pairs")), listed);
    json_decref(root);
    free(text);
    findings_free(&f);
}

TEST(what_sysfs_says_is_quiet)
{
    struct core_pair p[] = {{0, 1, CORE_PAIR_APART, false, 60, 1.0002, 0.999, 1.001, 0},
                            {0, 2, CORE_PAIR_SHARED, true, 60, 0.6, 0.59, 0.61, 1},
                            {1, 2, CORE_PAIR_APART, false, 60, 1, 0.99, 1.01, 0}};
    expect(
        p, 1, FINDING_QUIET,
        "CPUs 0 and 1 do not share a core (while one runs, the other has 1.00 [1.00, 1.00] of its rate), as sysfs says",
        1);
    expect(p, 3, FINDING_QUIET, "1 of 3 pairs of CPUs share a core, as sysfs says; measured in 0.13 s", 1);
}

TEST(contradictions_disturb)
{
    struct core_pair together = {0, 1, CORE_PAIR_SHARED, false, 60, 0.58, 0.57, 0.59, 1},
                     apart = {0, 1, CORE_PAIR_APART, true, 60, 1, 0.99, 1.01, 0};
    expect(
        &together, 1, FINDING_DISTURBS,
        "CPUs 0 and 1 share a core (while one runs, the other has 0.58 [0.57, 0.59] of its rate), although sysfs says "
        "that they do not",
        1);
    expect(&apart, 1, FINDING_DISTURBS,
           "CPUs 0 and 1 do not share a core (while one runs, the other has 1.00 [0.99, 1.01] of its rate), although "
           "sysfs says that they do",
           1);
}

TEST(what_varies_disturbs)
{
    struct core_pair varies = {0, 1, CORE_PAIR_VARIES, false, 60, 0.9, 0.6, 1, 0.42};
    expect(&varies, 1, FINDING_DISTURBS, "CPUs 0 and 1 share a core now and then, in 42 % of 60 moments", 1);
}

TEST(what_is_undecided_is_unknown)
{
    struct core_pair few = {0, 1, CORE_PAIR_UNDECIDED, false, 7, NAN, NAN, NAN, NAN};
    expect(&few, 1, FINDING_UNKNOWN, "CPUs 0 and 1 ran at the same time in 7 moments only", 1);
}

TEST(one_line_names_as_many_pairs_as_fit)
{
    struct core_pair p[20];
    struct core_pairs all = {.n_pairs = 20, .pairs = p};
    char text[200];
    for (int i = 0; i < 20; i++)
        p[i] = (struct core_pair){2 * i, 2 * i + 1, CORE_PAIR_SHARED, false, 60, 0.58, 0.57, 0.59, 1};
    assert_int_equal(core_pairs_text(&all, CORE_PAIR_KINDS, text, sizeof text), 20);
    assert_string_equal(text,
                        "CPUs 0 and 1 share a core (while one runs, the other has 0.58 [0.57, 0.59] of its rate), "
                        "although sysfs says that they do not; 19 more pairs");
}
