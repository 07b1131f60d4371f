/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader of models, events and published figures by itself: what it gives, line by line, and what it refuses. */
#include "tests/support/test.h"
#include "util/sourced_ini.h"

#define HEAD "format = test/1\n"

static struct sourced_ini r; /* large */
static struct machine_error err;

static void begin(const char *text, bool ascii)
{
    memset(&err, 0, sizeof err);
    sourced_ini_begin(&r, text, strlen(text), "a.ini", "test/1", ascii, &err);
}

static void pair_is(const char *key, const char *value, const char *source, unsigned line)
{
    char *k, *v;
    assert_int_equal(sourced_ini_next(&r), SOURCED_INI_LINE);
    assert_int_equal(r.line, line);
    assert_string_equal(r.source, source);
    assert_int_equal(sourced_ini_pair(&r, &k, &v), MACHINE_OK);
    assert_string_equal(k, key);
    assert_string_equal(v, value);
    assert_int_equal(sourced_ini_once(&r, key), MACHINE_OK);
}

TEST(sections_and_lines)
{
    begin("# first\r\n\n" HEAD
          "[ one  two ] # words\n a = 1 = 2 #  D 1 # more \r\n[three]\na=x#D\n[one two]\nb = y # D",
          true);
    assert_int_equal(sourced_ini_next(&r), SOURCED_INI_SECTION);
    assert_string_equal(r.header, "one two");
    assert_int_equal(r.header_line, 4);
    assert_int_equal(r.header_before, 0);
    unsigned first = r.section;
    pair_is("a", "1 = 2", "D 1 # more", 5);
    assert_int_equal(sourced_ini_next(&r), SOURCED_INI_SECTION);
    assert_int_not_equal(r.section, first);
    assert_int_equal(sourced_ini_has(&r, r.section, "a"), 0);
    assert_int_equal(sourced_ini_has(&r, first, "a"), 5);
    assert_int_equal(sourced_ini_line(&r, "one two", "a"), 5);
    assert_int_equal(sourced_ini_line(&r, "one two", "b"), 4); /* not given: the header */
    assert_int_equal(sourced_ini_line(&r, "one", "a"), 0);
    pair_is("a", "x", "D", 7);
    assert_int_equal(sourced_ini_next(&r), SOURCED_INI_SECTION); /* again: what was given there counts */
    assert_int_equal(r.section, first);
    assert_int_equal(r.header_before, 4);
    pair_is("b", "y", "D", 9);
    assert_int_equal(sourced_ini_once(&r, "a"), MACHINE_BAD_INPUT);
    assert_string_equal(err.text, "a.ini:9: a: given twice, first in line 5; remove one");
    assert_int_equal(sourced_ini_next(&r), SOURCED_INI_END);
    assert_int_equal(sourced_ini_next(&r), SOURCED_INI_END);
}

TEST(what_is_refused)
{
    static const struct {
        const char *text, *says;
        bool ascii;
    } cases[] = {
        {"", "a.ini: empty; it begins with 'format = test/1'", false},
        {"\n# x\n", "a.ini:2: format: missing; the file begins with 'format = test/1'", false},
        {"[a]\n", "a.ini:1: format: missing; the file begins with 'format = test/1'", false},
        {"format = test/2\n", "a.ini:1: format: 'test/2' is not a format that this program reads; it reads test/1",
         false},
        {"format =\n", "a.ini:1: format: has no value; write 'format = VALUE  # source'", false},
        {"a = 1 # D\n", "a.ini:1: a: comes before the first section, where only 'format = test/1' is allowed", false},
        {HEAD "a = 1 # D\n", "a.ini:2: a: comes before the first section, where only 'format = test/1' is allowed",
         false},
        {HEAD HEAD, "a.ini:2: format: given twice; remove one", false},
        {HEAD "[a\n", "a.ini:2: [a: the header of a section ends with ']'", false},
        {HEAD "[a] b\n", "a.ini:2: [a] b: after the header of a section only a '# comment' may follow", false},
        {HEAD "[ ]\n", "a.ini:2: []: the name of the section is missing", false},
        {HEAD "[a]\nb\n", "a.ini:3: b: not understood; lines are '[section]', 'key = value  # source', '# ...'", false},
        {HEAD "[a]\nb # c = 1\n", "a.ini:3: b: not understood; lines are", false},
        {HEAD "[a]\nb = 1\n", "a.ini:3: b: has no source; add '# document, section' or '# assumed: why'", false},
        {HEAD "[a]\nb = 1 # 5.2\n", "a.ini:3: b: has no source", false},
        {HEAD "[a]\nb = # D\n", "a.ini:3: b: has no value; write 'b = VALUE  # source'", false},
        {HEAD "[a]\n = 1 # D\n", "a.ini:3: =: the key is missing; write 'key = value  # source'", false},
        {HEAD "[a]\n\x1b[31m\n", "a.ini:3: ?[31m: not understood", false},
        {HEAD "[a]\n\xc3\xa9 = 1 # D\n",
         "a.ini:3: (byte): byte 1 is C3H: such a file is ASCII text (comments may be UTF-8)", true},
        {HEAD "[a]\nb = 1 # \x1b\n", "a.ini:3: (byte): byte 9 is 1BH", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *key, *value;
        begin(cases[i].text, cases[i].ascii);
        int item = SOURCED_INI_SECTION;
        while (item == SOURCED_INI_SECTION || item == SOURCED_INI_LINE) {
            item = (int)sourced_ini_next(&r);
            if (item == SOURCED_INI_LINE && sourced_ini_pair(&r, &key, &value) != MACHINE_OK)
                break;
        }
        if (item == SOURCED_INI_END || err.status != MACHINE_BAD_INPUT ||
            strncmp(err.text, cases[i].says, strlen(cases[i].says)) != 0)
            fail_msg("'%s': \"%s\" instead of \"%s\"", cases[i].text, err.text, cases[i].says);
    }
    begin(HEAD "[a]\n\xc3\xa9 = 1 # \xc3\xa9 D\n", false); /* elsewhere any text will do */
    assert_int_equal(sourced_ini_next(&r), SOURCED_INI_SECTION);
    assert_int_equal(sourced_ini_next(&r), SOURCED_INI_LINE);
    begin(HEAD "[a]\nb = 1 # D \xc3\xa9\n", true); /* and so it will in comments */
    assert_int_equal(sourced_ini_next(&r), SOURCED_INI_SECTION);
    assert_int_equal(sourced_ini_next(&r), SOURCED_INI_LINE);
}

/* A line of the longest length is read, one more byte is refused; so are keys and how many there may be. */
TEST(limits)
{
    char text[2 * SOURCED_INI_LINE_MAX], key[SOURCED_INI_KEY_MAX + 1];
    for (size_t more = 0; more < 2; more++) {
        int n = snprintf(text, sizeof text, HEAD "[a]\nb = 1 # D");
        size_t begins = strlen(HEAD "[a]\n"), length = SOURCED_INI_LINE_MAX - 1 + more;
        memset(text + n, 'x', begins + length - (size_t)n);
        text[begins + length] = '\0';
        begin(text, true);
        assert_int_equal(sourced_ini_next(&r), SOURCED_INI_SECTION);
        assert_int_equal(sourced_ini_next(&r), more ? SOURCED_INI_WRONG : SOURCED_INI_LINE);
    }
    assert_string_equal(err.text, "a.ini:3: (line): longer than 599 characters; break the comment");
    begin(HEAD "[a]\n", true);
    assert_int_equal(sourced_ini_next(&r), SOURCED_INI_SECTION);
    memset(key, 'k', sizeof key - 1);
    key[SOURCED_INI_KEY_MAX] = '\0';
    assert_int_equal(sourced_ini_once(&r, key), MACHINE_BAD_INPUT);
    key[SOURCED_INI_KEY_MAX - 1] = '\0';
    assert_int_equal(sourced_ini_once(&r, key), MACHINE_OK);
    for (int i = 2; i < SOURCED_INI_SEEN_MAX; i++) { /* the header is one, too */
        snprintf(key, sizeof key, "k%d", i);
        assert_int_equal(sourced_ini_once(&r, key), MACHINE_OK);
    }
    assert_int_equal(sourced_ini_once(&r, "last"), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "last: more than 1024 entries"));
}
