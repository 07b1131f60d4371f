/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/test.h"
#include "tests/support/trace_text.h"

#include "tests/support/stream_text.h"

int trace_text_read(const char *text, size_t size, struct trace *t, struct trace_error *err)
{
    FILE *in = tmpfile();
    assert_non_null(in);
    assert_int_equal(fwrite(text, 1, size, in), size);
    rewind(in);
    int bad = trace_read_csv(in, t, err);
    fclose(in);
    return bad;
}

void trace_text_good(const char *text, struct trace *t)
{
    struct trace_error err;
    if (trace_text_read(text, strlen(text), t, &err))
        fail_msg("line %zu, column %zu: %s\n%s", err.line, err.column, err.text, text);
}

char *trace_text_of(const struct trace *t)
{
    struct stream_text s;
    assert_int_equal(trace_write_csv(stream_text_open(&s), t), 0);
    return stream_text_close(&s);
}
