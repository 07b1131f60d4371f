/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text of unknown origin: every limit of what UTF-8 is (RFC 3629, section 4), and of what is shown. */
#include "tests/support/test.h"
#include "util/plain_text.h"

#define NOT "\xEF\xBF\xBD" /* U+FFFD, in the place of a byte */

static void shows(const char *in, const char *wanted)
{
    char out[200];
    size_t n = plain_text(in, out, sizeof out);
    assert_string_equal(out, wanted);
    assert_int_equal(n, strlen(wanted));
    char *copy = plain_text_copy(in);
    assert_non_null(copy);
    assert_string_equal(copy, wanted);
    free(copy);
}

TEST(what_is_well_formed_stays)
{
    /* the first and the last of each length, and those next to the surrogates */
    static const char *const good[] = {"",
                                       "a ~",
                                       "\xC2\xA0",
                                       "\xDF\xBF",
                                       "\xE0\xA0\x80",
                                       "\xED\x9F\xBF",
                                       "\xEE\x80\x80",
                                       "\xEF\xBF\xBF",
                                       "\xF0\x90\x80\x80",
                                       "\xF1\x80\x80\x80",
                                       "\xF4\x8F\xBF\xBF"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        shows(good[i], good[i]);
}

TEST(what_is_not_well_formed_is_replaced)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"\x80", NOT}, /* goes on from nothing */
        {"\xBF", NOT},
        {"\xC0\x80", NOT NOT}, /* longer than need be */
        {"\xC1\xBF", NOT NOT},
        {"\xE0\x9F\xBF", NOT NOT NOT},
        {"\xF0\x8F\xBF\xBF", NOT NOT NOT NOT},
        {"\xED\xA0\x80", NOT NOT NOT}, /* surrogates, the first and the last */
        {"\xED\xBF\xBF", NOT NOT NOT},
        {"\xF4\x90\x80\x80", NOT NOT NOT NOT}, /* beyond U+10FFFF */
        {"\xF5\x80\x80\x80", NOT NOT NOT NOT},
        {"\xF8\x80\x80\x80", NOT NOT NOT NOT},
        {"\xFF", NOT},
        {"\xC2", NOT}, /* ends too soon */
        {"\xC2"
         "a",
         NOT "a"},
        {"\xE2\x82", NOT NOT},
        {"\xE2\x82"
         "a",
         NOT NOT "a"},
        {"\xE2"
         "aa",
         NOT "aa"},
        {"\xF0\x9F\x98", NOT NOT NOT},
        {"\xF0\x9F\x98"
         "a",
         NOT NOT NOT "a"},
        {"\xF0\x9F"
         "a\x98",
         NOT NOT "a" NOT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        shows(cases[i].in, cases[i].out);
}

/* The first and the last of each range, and what stands next to it. */
TEST(what_moves_or_reorders_is_not_shown)
{
    static const char *const hidden[] = {"\x01",         "\x1B",         "\x1F",         "\x7F",
                                         "\xC2\x80",     "\xC2\x9F",     "\xD8\x9C",     "\xE2\x80\x8E",
                                         "\xE2\x80\x8F", "\xE2\x80\xA8", "\xE2\x80\xA9", "\xE2\x80\xAA",
                                         "\xE2\x80\xAE", "\xE2\x81\xA6", "\xE2\x81\xA9"};
    static const char *const shown[] = {" ",
                                        "~",
                                        "\xC2\xA0",
                                        "\xD8\x9B",
                                        "\xD8\x9D",
                                        "\xE2\x80\x8D",
                                        "\xE2\x80\x90",
                                        "\xE2\x80\xA7",
                                        "\xE2\x80\xAF",
                                        "\xE2\x81\xA5",
                                        "\xE2\x81\xAA"};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        shows(hidden[i], "?");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        shows(shown[i], shown[i]);
    shows("a\tb\nc\rd", "a b c d");
}

/* At a character, and only where it does not fit. */
TEST(what_does_not_fit_is_cut_off)
{
    char out[8];
    assert_int_equal(plain_text("abcdefg", out, sizeof out), 7);
    assert_string_equal(out, "abcdefg");
    assert_int_equal(plain_text("abcdefgh", out, sizeof out), 7);
    assert_string_equal(out, "abcdefg");
    assert_int_equal(plain_text("abcde\xC3\xA4", out, sizeof out), 7);
    assert_string_equal(out, "abcde\xC3\xA4");
    assert_int_equal(plain_text("abcdef\xC3\xA4g", out, sizeof out), 6);
    assert_string_equal(out, "abcdef");
    assert_int_equal(plain_text("\xFF\xFF\xFF", out, sizeof out), 6);
    assert_string_equal(out, NOT NOT);
    assert_int_equal(plain_text("a", out, 1), 0);
    assert_string_equal(out, "");
}

/* printf writes what rounds to 0 from below as "-0.0". */
TEST(no_zero_is_negative)
{
    static const struct {
        double value;
        int decimals;
        const char *shown;
    } cases[] = {
        {-0.0, 0, "0"},         {0, 1, "0.0"},       {-0.2, 0, "0"},    {-0.5, 0, "0"},         {-0.51, 0, "-1"},
        {0.51, 0, "1"},         {-0.049, 1, "0.0"},  {0.049, 1, "0.0"}, {-0.06, 1, "-0.1"},     {-0.0004, 3, "0.000"},
        {-0.0006, 3, "-0.001"}, {-12.5, 1, "-12.5"}, {12.5, 1, "12.5"}, {-INFINITY, 1, "-inf"}, {INFINITY, 1, "inf"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[40];
        snprintf(out, sizeof out, "%.*f", cases[i].decimals, plain_number(cases[i].value, cases[i].decimals));
        assert_string_equal(out, cases[i].shown);
    }
    assert_true(isnan(plain_number(NAN, 1)));
}

TEST(long_times_are_seconds)
{
    assert_string_equal(plain_time(12.345, 1).text, "12.3 us");
    assert_string_equal(plain_time(-0.2, 0).text, "0 us");
    assert_string_equal(plain_time(999999.4, 0).text, "999999 us");
    assert_string_equal(plain_time(-1e6, 1).text, "-1.000 s");
    assert_string_equal(plain_time(118996843.028, 1).text, "118.997 s");
}

TEST(messages_show_the_beginning)
{
    assert_string_equal(plain_shown("").text, "");
    assert_string_equal(plain_shown("\xC3\xBC\x1B").text, "\xC3\xBC?");
    assert_string_equal(plain_shown("1234567890123456789012345678901234567890").text,
                        "1234567890123456789012345678901234567890");
    assert_string_equal(plain_shown("12345678901234567890123456789012345678901").text,
                        "1234567890123456789012345678901234567890...");
    /* a character that does not fit is left out as a whole */
    assert_string_equal(plain_shown("123456789012345678901234567890123456789\xF0\x9F\x98\x80").text,
                        "123456789012345678901234567890123456789...");
    assert_string_equal(plain_shown("1234567890123456789012345678901234567890\xF0\x9F\x98\x80").text,
                        "1234567890123456789012345678901234567890...");
}
