/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists that grow: nothing is lost, also where they become shorter in between. */
#include "tests/support/test.h"
#include "util/list.h"

TEST(it_keeps_what_is_in_it)
{
    size_t *list = NULL;
    for (size_t n = 0; n < 1000; n++) {
        assert_true(list_room(&list, n, sizeof *list));
        list[n] = n;
        for (size_t i = 0; i <= n; i++)
            assert_int_equal(list[i], i);
    }
    free(list);
}

TEST(it_may_become_shorter)
{
    size_t *list = NULL, n = 0;
    for (size_t step = 0; step < 4000; step++) {
        if (n && step % 7 >= 4)
            n = step % 7 == 6 ? n - 1 : step % 1000 < 990 ? n : n / 3;
        assert_true(list_room(&list, n, sizeof *list));
        list[n] = n;
        n++;
        for (size_t i = 0; i < n; i++)
            assert_int_equal(list[i], i);
    }
    assert_true(n > 100);
    free(list);
}

TEST(what_is_too_much_leaves_it_as_it_was)
{
    char *list = NULL;
    skip_where_sanitized("the sanitizers end a program that asks for so much");
    assert_true(list_room(&list, 0, 1));
    list[0] = 'x';
    assert_false(list_room(&list, 1, SIZE_MAX / 4));
    assert_int_equal(list[0], 'x');
    free(list);
}
