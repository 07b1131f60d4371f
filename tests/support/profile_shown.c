/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/profile_shown.h"

#include "tests/support/stream_text.h"
#include "tests/support/test.h"

char *profile_text_of(const struct profile_result *r, bool colour, size_t most)
{
    struct stream_text s;
    profile_print(stream_text_open(&s), colour, r, most);
    return stream_text_close(&s);
}

char *profile_csv_of(const struct profile_result *r)
{
    struct stream_text s;
    assert_int_equal(profile_csv(stream_text_open(&s), r), 0);
    return stream_text_close(&s);
}

char *profile_page_of(const struct profile_result *r)
{
    struct stream_text s;
    char why[300] = "";
    if (profile_html(r, stream_text_open(&s), why, sizeof why) != 0)
        fail_msg("%s", why);
    return stream_text_close(&s);
}

json_t *profile_json_of(const struct profile_result *r)
{
    json_error_t error;
    char *text = profile_json(r);
    assert_non_null(text);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error); /* also refuses what is not UTF-8 */
    if (!root)
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    free(text);
    return root;
}
