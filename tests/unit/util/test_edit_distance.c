/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far names are from each other. */
#include "tests/support/test.h"
#include "util/edit_distance.h"
#include "tests/support/random_numbers.h"

static unsigned between(const char *a, const char *b)
{
    return edit_distance(a, strlen(a), b);
}

TEST(test_exact)
{
    assert_int_equal(between("", ""), 0);
    assert_int_equal(between("table", "table"), 0);
    assert_int_equal(between("TABLE", "table"), 0);
    assert_int_equal(between("tabel", "table"), 1);
    assert_int_equal(between("tble", "table"), 1);
    assert_int_equal(between("tabble", "table"), 1);
    assert_int_equal(between("cable", "table"), 1);
    assert_int_equal(between("", "table"), 5);
    assert_int_equal(between("table", ""), 5);
    assert_int_equal(between("ca", "abc"), 3); /* no letter is edited twice */
    assert_int_equal(edit_distance("table=3", 5, "table"), 0);
}

/* One edit is one edit away, and it is as far there as back. */
TEST(test_random)
{
    struct rng r;
    rng_init(&r, 1, 0);
    for (int round = 0; round < 3000; round++) {
        char name[3][24];
        for (int i = 0; i < 3; i++) {
            int length = rng_int(&r, 1, 12);
            for (int k = 0; k < length; k++)
                name[i][k] = (char)rng_int(&r, 'a', 'd');
            name[i][length] = '\0';
        }
        assert_int_equal(between(name[0], name[1]), between(name[1], name[0]));
        size_t at = (size_t)rng_int(&r, 0, (int)strlen(name[0]) - 1);
        strcpy(name[2], name[0]);
        memmove(name[2] + at, name[2] + at + 1, strlen(name[2]) - at);
        assert_int_equal(between(name[0], name[2]), 1);
    }
}

/* Names that are longer than the table, as anybody may type them, cost nothing but time. */
TEST(test_long)
{
    char name[500];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(between(name, "table"), 499);
    assert_int_equal(between("table", name), EDIT_NAME_MAX - 1);
}
