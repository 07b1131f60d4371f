/* SPDX-License-Identifier: GPL-3.0-or-later */
/* util/screen_text.c, plain_xml_text(): lines are broken where they end; text does no harm in a page. */
#include <limits.h>
#include <unistd.h>

#include "tests/support/stream_text.h"
#include "tests/support/test.h"
#include "util/screen_text.h"
#include "util/plain_text.h"

static void must_be(const char *text, unsigned column, unsigned indent, unsigned width, const char *expected)
{
    struct stream_text s;
    screen_text_words(stream_text_open(&s), text, column, indent, width);
    char *seen = stream_text_close(&s);
    assert_string_equal(seen, expected);
    free(seen);
}

TEST(words_stay_in_their_width)
{
    must_be("", 0, 2, 10, "");
    must_be("  one   two ", 0, 2, 7, "one two");
    must_be("one two", 0, 2, 6, "one\n  two");
    must_be("one two three", 3, 3, 10, "one two\n   three");
    must_be("one two three", 3, 1, 9, "one\n two\n three");
    must_be("abcdefghijk x", 0, 0, 4, "abcdefghijk\nx");                        /* is not broken */
    must_be("\xC2\xB5\xC2\xB5 \xC2\xB5", 0, 0, 4, "\xC2\xB5\xC2\xB5 \xC2\xB5"); /* characters, not bytes */
    must_be("word", 8, 2, 10, "\n  word"); /* not even the first one fits where the cursor is */
    must_be("word", 8, 8, 10, "word");     /* and nowhere else would it */
    must_be("a b", 0, 0, UINT_MAX, "a b");
}

TEST(widths_are_those_that_can_be_used)
{
    static const struct {
        const char *columns;
        unsigned width;
    } cases[] = {
        {"72", 72},          {"200", 200},         {"10", SCREEN_WIDTH_LEAST}, {"", SCREEN_WIDTH},
        {"0", SCREEN_WIDTH}, {"-3", SCREEN_WIDTH}, {"80x", SCREEN_WIDTH},      {"99999999999999999999", SCREEN_WIDTH}};
    FILE *file = tmpfile();
    assert_non_null(file);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("COLUMNS", cases[i].columns, 1);
        if (!isatty(STDOUT_FILENO)) {
            assert_int_equal(screen_text_width(stdout), cases[i].width);
            assert_int_equal(screen_text_record_width(stdout), UINT_MAX);
        }
        assert_int_equal(screen_text_width(file), SCREEN_WIDTH); /* of a file it is always the same */
    }
    unsetenv("COLUMNS");
    fclose(file);
}

TEST(text_is_harmless_in_xml)
{
    struct stream_text s;
    FILE *out = stream_text_open(&s);
    plain_xml_text(out, "<a b=\"c\">&'\033");
    plain_xml_text(out, NULL);
    char *seen = stream_text_close(&s);
    assert_string_equal(seen, "&lt;a b=&quot;c&quot;&gt;&amp;&#39;?");
    free(seen);
}
