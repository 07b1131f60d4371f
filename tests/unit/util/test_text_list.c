/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line that grows by items. */
#include "tests/support/test.h"
#include "util/text_list.h"

TEST(test_items)
{
    char list[40] = "";
    text_list_add(list, sizeof list, "; ", "%s", "");
    assert_string_equal(list, "");
    text_list_add(list, sizeof list, "; ", "one %d", 1);
    assert_string_equal(list, "one 1");
    text_list_add(list, sizeof list, "; ", "%s", "");
    assert_string_equal(list, "one 1");
    text_list_add(list, sizeof list, "; ", "two");
    text_list_add(list, sizeof list, " ", "three");
    assert_string_equal(list, "one 1; two three");
}

/* Text that does not fit is cut off; a separator never stands at the end. */
TEST(test_full)
{
    for (size_t size = 1; size <= 12; size++) {
        char list[16], whole[] = "ab, cd, ef";
        memset(list, '#', sizeof list);
        list[0] = '\0';
        text_list_add(list, size, ", ", "ab");
        text_list_add(list, size, ", ", "cd");
        text_list_add(list, size, ", ", "ef");
        size_t length = strlen(list);
        assert_true(length < size);
        assert_memory_equal(list, whole, length);
        assert_true(length == 0 || strchr(", ", list[length - 1]) == NULL);
        assert_int_equal(list[size], '#');
        if (size > strlen(whole))
            assert_string_equal(list, whole);
    }
}

TEST(test_has)
{
    const char *const words = "64add,128or,512fma";
    assert_true(text_list_has(words, "64add") && text_list_has(words, "128or") && text_list_has(words, "512fma"));
    assert_false(text_list_has(words, "64") || text_list_has(words, "512fma-lat") || text_list_has(words, ""));
    assert_false(text_list_has("", "64add"));
}
