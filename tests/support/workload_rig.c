/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/test.h"
#include "tests/support/workload_rig.h"

#include <inttypes.h>
#include <unistd.h>

int workload_rig_open_bytes(const char *text, size_t length, const struct sim_workload_options *o,
                            struct sim_workload **w, struct machine_error *err)
{
    char path[] = "/tmp/workload-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, length), length);
    close(fd);
    int status = sim_workload_open(path, o, w, err);
    unlink(path);
    if (status != MACHINE_OK) {
        assert_null(*w);
        assert_int_equal(err->status, status);
        char *at = strstr(err->text, path);
        if (at) {
            memmove(at + 4, at + strlen(path), strlen(at + strlen(path)) + 1);
            memcpy(at, "FILE", 4);
        }
    }
    return status;
}

int workload_rig_open(const char *text, const struct sim_workload_options *o, struct sim_workload **w,
                      struct machine_error *err)
{
    return workload_rig_open_bytes(text, strlen(text), o, w, err);
}

struct sim_workload *workload_rig_opened(const char *text, const struct sim_workload_options *o)
{
    struct sim_workload *w;
    struct machine_error err;
    if (workload_rig_open(text, o, &w, &err))
        fail_msg("%s\n%s", err.text, text);
    return w;
}

void workload_rig_refused(const char *text, const struct sim_workload_options *o, const char *expected)
{
    struct sim_workload *w;
    struct machine_error err;
    if (workload_rig_open(text, o, &w, &err) == MACHINE_OK)
        fail_msg("accepted:\n%s", text);
    assert_string_equal(err.text, expected);
    assert_int_equal(err.status, MACHINE_BAD_INPUT);
    assert_string_equal(err.remedy, "");
}

static void print_row(FILE *out, const struct sim_workload *w, const struct sim_row *row)
{
    char us[40];
    snprintf(us, sizeof us, "%" PRId64 ".%06" PRId64, row->ps / SIM_PS_PER_US, row->ps % SIM_PS_PER_US);
    for (char *end = us + strlen(us); end[-1] == '0' || end[-1] == '.';) {
        bool point = *--end == '.';
        *end = '\0';
        if (point)
            break;
    }
    if (row->task == SIM_IDLE) {
        fprintf(out, "%s -", us);
        assert_false(row->ipc || row->stall || row->class || row->syscall);
        return;
    }
    assert_true(row->task < w->n_tasks);
    fprintf(out, "%s %s %s", us, w->tasks[row->task].name, sim_class_names[row->class]);
    if (row->ipc)
        fprintf(out, " ipc=%u", row->ipc);
    if (row->stall)
        fprintf(out, " stall=%u", row->stall);
    if (row->syscall)
        fputs(" syscall", out);
}

char *workload_rig_rows(struct sim_workload *w, const struct sim_source *s, unsigned stream, size_t at_once)
{
    struct sim_row row[7];
    char *text = NULL;
    size_t size = 0, n;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_in_range(at_once, 1, 7);
    for (bool first = true; (n = s->read(s->self, stream, row, at_once)); first = false) {
        assert_in_range(n, 1, at_once);
        for (size_t i = 0; i < n; i++) {
            fputs(first && !i ? "" : "; ", out);
            print_row(out, w, &row[i]);
        }
    }
    assert_int_equal(s->read(s->self, stream, row, 1), 0);
    assert_null(s->error(s->self));
    fclose(out);
    return text;
}

static void check_streams(struct sim_workload *w, const struct sim_source *s, const char *const rows[], unsigned n)
{
    static const size_t at_once[] = {7, 1, 2};
    assert_non_null(s->read);
    for (size_t k = 0; k < sizeof at_once / sizeof *at_once; k++) {
        for (unsigned i = 0; i < n; i++) {
            assert_non_null(rows[i]);
            char *text = workload_rig_rows(w, s, i, at_once[k]);
            assert_string_equal(text, rows[i]);
            free(text);
        }
        s->rewind(s->self);
    }
    assert_null(rows[n]);
}

void workload_rig_check_cpus(struct sim_workload *w, const char *const rows[])
{
    check_streams(w, &w->cpus, rows, w->n_cpus);
}

void workload_rig_check_works(struct sim_workload *w, const char *const rows[])
{
    check_streams(w, &w->works, rows, (unsigned)w->n_tasks);
}
