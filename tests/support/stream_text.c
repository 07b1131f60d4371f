/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/stream_text.h"

#include "output/plot/chart_script.h"
#include "tests/support/test.h"

FILE *stream_text_open(struct stream_text *s)
{
    s->text = NULL;
    s->size = 0;
    s->out = open_memstream(&s->text, &s->size);
    assert_non_null(s->out);
    return s->out;
}

char *stream_text_close(struct stream_text *s)
{
    assert_int_equal(fclose(s->out), 0);
    return s->text;
}

char *chart_text(struct chart *c, int status, const char *why)
{
    struct stream_text s;
    FILE *out = stream_text_open(&s);
    if (status == 0)
        status = chart_script(c, PLOT_SVG, out, NULL);
    chart_free(c);
    char *text = stream_text_close(&s);
    if (status != 0)
        fail_msg("%s", why);
    return text;
}

void no_line_is_longer_than(size_t most, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n"), columns = 0;
        for (size_t i = 0; i < length; i++)
            columns += ((unsigned char)text[i] & 0xc0) != 0x80;
        if (columns > most)
            fail_msg("%zu columns: %.*s", columns, (int)length, text);
        text += length + (text[length] == '\n');
    }
}
