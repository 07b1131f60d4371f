/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Model files: what is accepted, and that each refusal names file, line, key, what is wrong and what would work. */
#include <unistd.h>

#include "drivers/model/model_random.h"
#include "tests/support/model_rig.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

enum { TEXT_SIZE = 32768 };

/* The text that the cases below change: a shipped model. */
static void base_text(char *out)
{
    FILE *in = fopen("data/models/xeon-gold-6130.model", "r");
    assert_non_null(in);
    size_t n = fread(out, 1, TEXT_SIZE - 1, in);
    fclose(in);
    out[n] = '\0';
    assert_true(n > 1000 && n < TEXT_SIZE - 1);
}

static unsigned line_of(const char *text, const char *at)
{
    unsigned line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

struct refusal {
    const char *find, *replace; /* in the base text, first occurrence after `after` */
    const char *after;
    const char *key, *says; /* expected in the message */
    int line;               /* against the line of `find` */
};

static void check_refusal(const struct refusal *r)
{
    static struct model m;
    char *base = malloc(TEXT_SIZE), *text = malloc(2 * TEXT_SIZE);
    struct machine_error err;
    assert_true(base && text);
    base_text(base);
    char *from = r->after ? strstr(base, r->after) : base;
    char *at = from ? strstr(from, r->find) : NULL;
    if (!at)
        fail_msg("'%s' is not in the base text", r->find);
    int length = snprintf(text, 2 * TEXT_SIZE, "%.*s%s%s", (int)(at - base), base, r->replace, at + strlen(r->find));
    char where[64];
    snprintf(where, sizeof where, "a.model:%d: ", (int)line_of(base, at) + r->line);
    int status = model_parse(text, (size_t)length, "a.model", &m, &err);
    if (status != MACHINE_BAD_INPUT || err.status != MACHINE_BAD_INPUT)
        fail_msg("'%s' was accepted", r->replace);
    if (strncmp(err.text, where, strlen(where)) != 0 || !strstr(err.text, r->key) || !strstr(err.text, r->says))
        fail_msg("expected '%s%s ... %s', got '%s'", where, r->key, r->says, err.text);
    assert_null(strchr(err.text, '\n'));
    free(base);
    free(text);
}

static void check_all(const struct refusal *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_refusal(&r[i]);
}
#define CHECK_ALL(array) check_all(array, sizeof(array) / sizeof *(array))

TEST(lines_that_are_not_understood)
{
    static const struct refusal r[] = {
        {"halt_us = 10 ", "halt_us 10 ", NULL, "halt_us", "not understood", 0},
        {"halt_us = 10 ", "= 10 ", NULL, "=", "key is missing", 0},
        {"halt_us = 10 ", "halt_us = ", NULL, "halt_us", "no value", 0},
        {"halt_us = 10 ", "halt = 10 ", NULL, "halt", "no such key in section [timing]; known keys: halt_us", 0},
        {"halt_us = 10 ", "Halt_us = 10 ", NULL, "Halt_us", "no such key", 0},
        {"[timing]", "[timings]", NULL, "timings", "no such section; known sections: cpu levels", 0},
        {"[timing]", "[timing", NULL, "[timing", "ends with ']'", 0},
        {"[timing]", "[timing] now", NULL, "[timing] now", "comment", 0},
        {"[timing]", "[]", NULL, "[]", "name of the section is missing", 0},
        {"[timing]", "[timing now]", NULL, "timing now", "written [timing]", 0},
        {"[demand 256 light]", "[demand 256]", NULL, "demand 256", "written [demand WIDTH WEIGHT]", 0},
        {"[demand 256 light]", "[demand 256 light or heavy]", NULL, "demand", "written [demand WIDTH WEIGHT]", 0},
        {"[demand 256 light]", "[demand 300 light]", NULL, "demand 300 light", "64, 128, 256, 512 or 8192", 0},
        {"[demand 256 light]", "[demand 256 airy]", NULL, "demand 256 airy", "light or heavy", 0},
        {"[class light256]", "[class light-256]", NULL, "class light-256", "letters, digits and _", 0},
        {"[class light256]", "[class a_name_that_is_far_too_long_for_this]", NULL, "class", "at most 23", 0},
        {"format = characterize-model/1", "format = characterize-model/2", NULL, "format", "it reads", 0},
        {"format = characterize-model/1", "# none", NULL, "format", "begins with", 2},
        {"format = characterize-model/1", "name = x # y", NULL, "name", "before the first section", 0},
        {"[timing]", "\x01[timing]", NULL, "(byte)", "byte 1 is 01H", 0},
        {"[timing]", "\xc2\x9b[timing]", NULL, "(byte)", "byte 1 is C2H", 0},
    };
    CHECK_ALL(r);
}

TEST(figures_without_a_source)
{
    static const struct refusal r[] = {
        {"halt_us = 10                  # G 5.2.2: approximately 10 us each frequency change", "halt_us = 10", NULL,
         "halt_us", "has no source", 0},
        {"# G 5.2.2: approximately 10 us each frequency change", "#", NULL, "halt_us", "# assumed: why", 0},
        {"# G 5.2.2: approximately 10 us each frequency change", "# 5.2.2", NULL, "halt_us", "has no source", 0},
        {"# G 3.2: Skylake-SP has AVX-512", "", NULL, "features", "has no source", 0},
    };
    CHECK_ALL(r);
}

TEST(power)
{
    static const struct refusal r[] = {
        {"nj.64.light", "nj.65.light", NULL, "nj.65.light", "not a register width", 0},
        {"nj.64.light", "nj.64.lighter", NULL, "nj.64.lighter", "not a weight", 0},
        {"nj.64.light", "nj.64", NULL, "nj.64", "nj.WIDTH.WEIGHT", 0},
        {"nj.64.light", "joules", NULL, "joules", "nj.WIDTH.WEIGHT", 0},
        {"nj.64.light", "nj.64.heavy", NULL, "nj.64.heavy", "twice", 1},
        {"nj.64.heavy", "nj.0x40.light", NULL, "nj.0x40.light", "not a register width", 0},
        {"nj.64.light = 0.15", "nj.64.light = -1", NULL, "nj.64.light", "out of range", 0},
        {"idle_watts = ", "idle_watts = -", NULL, "idle_watts", "out of range", 0},
        {"[power]", "[power on]", NULL, "power on", "is written [power]", 0},
    };
    CHECK_ALL(r);
}

TEST(duplicates)
{
    static const struct refusal r[] = {
        {"halt_sigma_us = 0.2", "halt_us = 10 # x\nhalt_sigma_us = 0.2", NULL, "halt_us", "twice, first in line", 0},
        {"[voltage]", "[timing]", NULL, "timing", "given twice", 0},
        {"[class light256]", "[class  narrow ]", NULL, "class narrow", "given twice", 0},
        {"[transition narrow heavy256]", "[transition narrow light256]", NULL, "transition narrow light256", "twice",
         0},
        {"format = characterize-model/1", "format = characterize-model/1\nformat = characterize-model/1", NULL,
         "format", "given twice", 1},
        {"point.2 = 1.9", "point.1 = 1.9", NULL, "point.1", "given twice", 0},
    };
    CHECK_ALL(r);
}

TEST(impossible_numbers)
{
    static const struct refusal r[] = {
        {"halt_us = 10 ", "halt_us = -1 ", NULL, "halt_us", "out of range; 0 to", 0},
        {"halt_us = 10 ", "halt_us = ten ", NULL, "halt_us", "not a number", 0},
        {"halt_us = 10 ", "halt_us = nan ", NULL, "halt_us", "not a number", 0},
        {"halt_us = 10 ", "halt_us = inf ", NULL, "halt_us", "not a number", 0},
        {"halt_us = 10 ", "halt_us = 0x10 ", NULL, "halt_us", "not a number", 0},
        {"halt_us = 10 ", "halt_us = 1e999 ", NULL, "halt_us", "not a number", 0},
        {"halt_us = 10 ", "halt_us = 10 us ", NULL, "halt_us", "not a number", 0},
        {"halt_us = 10 ", "halt_us = 1/0 ", NULL, "halt_us", "not a number", 0},
        {"wait_us = 670 ", "wait_us = -670 ", NULL, "wait_us", "out of range", 0},
        {"throttle 1/4 20", "throttle 0 20", "[transition narrow light256]", "step.1", "0 is out of range; 0.0625 to 1",
         0},
        {"throttle 1/4 20", "throttle 1.5 20", "[transition narrow light256]", "step.1", "0.0625 to 1", 0},
        {"throttle 1/4 20", "throttle -1/4 20", "[transition narrow light256]", "step.1", "out of range", 0},
        {"throttle 1/4 20", "throttle 1/4 -20", "[transition narrow light256]", "step.1", "out of range", 0},
        {"throttle 1/4 20", "throttle 1/4", "[transition narrow light256]", "step.1", "not a step", 0},
        {"throttle 1/4 20", "fade 1/4", "[transition narrow light256]", "step.1", "not a step", 0},
        {"throttle 1/4 20", "fade 0.06 20", "[transition narrow light256]", "step.1",
         "0.06 is out of range; 0.0625 to 1", 0},
        {"throttle 1/4 20", "fade 1/4 0.9", "[transition narrow light256]", "step.1", "0.9 is out of range; 1 to 1e+06",
         0},
        {"throttle 1/4 20", "ramp light256 0.9", "[transition narrow light256]", "step.1",
         "0.9 is out of range; 1 to 1e+06", 0},
        {"throttle 1/4 20", "ramp 1/4 20", "[transition narrow light256]", "step.1", "no class '1/4'", 0},
        {"throttle 1/4 20", "halt 10", "[transition narrow light256]", "step.1", "not a step", 0},
        {"wait_double = 0.1 ", "wait_double = 1.1 ", NULL, "wait_double", "0 to 1", 0},
        {"wait_double = 0.1 ", "wait_double = -0.1 ", NULL, "wait_double", "0 to 1", 0},
        {"rearm = 1 ", "rearm = 2 ", NULL, "rearm", "0 to 1", 0},
        {"taken_off = 0.5 ", "taken_off = 5 ", NULL, "taken_off", "0 to 1", 0},
        {"count_sigma = 0.3 ", "count_sigma = 0.9 ", NULL, "count_sigma", "out of range", 0},
        {"family = 6 ", "family = -6 ", NULL, "family", "not a whole number", 0},
        {"family = 6 ", "family = 6.5 ", NULL, "family", "not a whole number", 0},
        {"cores = 16 ", "cores = 0 ", NULL, "cores", "1 to 1024", 0},
        {"tsc_hz = 2100000000 ", "tsc_hz = 2100 ", NULL, "tsc_hz", "out of range", 0},
        {"point.1 = 1.2 0.70 ", "point.1 = 1.2 7 ", NULL, "point.1", "0.1 to 2", 0},
        {"point.1 = 1.2 0.70 ", "point.1 = 1.2 ", NULL, "point.1", "GHZ VOLTS", 0},
        {"point.2 = 1.9 0.75 ", "point.2 = 1.1 0.75 ", NULL, "point.2", "must rise", 0},
        {"point.2 = 1.9 0.75 ", "point.2 = 1.9 0.65 ", NULL, "point.2", "must not fall", 0},
        {"point.2 = 1.9 0.75 ", "point.3 = 1.9 0.75 ", NULL, "point.3", "point.2 would be next", 0},
        {"512fma = 2 4 ", "512fma = 0 4 ", NULL, "512fma", "out of range", 0},
        {"512fma = 2 4 ", "512fma = 2 ", NULL, "512fma", "THROUGHPUT LATENCY", 0},
        {"512fma = 2 4 ", "512fma = 4.1 4 ", NULL, "512fma", "more than the issue_width, 4", 0},
        {"512fma = 2 4 ", "513fma = 2 4 ", NULL, "513fma", "nearest is '512fma'", 0},
        {"issue_width = 4 ", "issue_width = 4 # x\nloop = 2 ", NULL, "loop", "neither issue_width nor", 1},
        {"512fma = 2 4 ", "512fma-lat = 2 4 ", NULL, "512fma-lat", "without suffixes", 0},
        {"min_us = 2 ", "min_us = 20 ", NULL, "max_us", "less than min_us", -2},
        {"rate_hz = 250 ", "rate_hz = 90000 ", NULL, "rate_hz", "up to 50 %", -1},
        {"licences = yes ", "licences = maybe ", NULL, "licences", "neither yes nor no", 0},
        {"counts = user ", "counts = none ", NULL, "counts", "neither user nor all", 0},
        {"turbo_layout = groups ", "turbo_layout = rows ", NULL, "turbo_layout", "groups, cores or none", 0},
        {"features = avx ", "features = avx1024 ", NULL, "features", "not a feature", 0},
        {"features = avx ", "features = none avx ", NULL, "features", "'none' and another", 0},
        {"features = avx ", "features = avx none ", NULL, "features", "'none' and another", 0},
        {"features = avx ", "features = avx avx avx avx avx ", NULL, "features", "'avx' is given twice", 0},
        {"at = start ", "at = middle ", NULL, "at", "neither start nor end", 0},
    };
    CHECK_ALL(r);
}

/* Reported where the scatter is given, whichever of the two was changed. */
TEST(scatter_that_makes_durations_negative)
{
    static const struct refusal r[] = {
        {"halt_us = 10 ", "halt_us = 0 ", NULL, "halt_sigma_us", "more than a third of halt_us, 0 us", 1},
        {"halt_sigma_us = 0.2", "halt_sigma_us = 5", NULL, "halt_sigma_us", "more than a third", 0},
        {"wait_sigma_us = 2", "wait_sigma_us = 300", NULL, "wait_sigma_us", "more than a third", 0},
        {"throttle_sigma_us = 0.4", "throttle_sigma_us = 7", NULL, "throttle_sigma_us",
         "7 us is more than a third of the 20 us in line 101", 0},
        {"throttle_sigma_us = 0.4", "throttle_sigma_us = 6", NULL, "throttle_sigma_us",
         "6 us is more than a third of the 15.9 us in line 108", 0},
    };
    CHECK_ALL(r);
}

TEST(frequencies_and_cores)
{
    static const struct refusal r[] = {
        {"turbo_ghz.1-2 = 3.7 3.6 3.5", "turbo_ghz.1-2 = 3.7 3.8 3.5", NULL, "turbo_ghz.1-2", "faster than level 0", 0},
        {"turbo_ghz.1-2 = 3.7 3.6 3.5", "turbo_ghz.1-2 = 37 3.6 3.5", NULL, "turbo_ghz.1-2", "0.1 to 10", 0},
        {"turbo_ghz.1-2 = 3.7 3.6 3.5", "turbo_ghz.1-2 = 3.7 3.6 0.05", NULL, "turbo_ghz.1-2", "0.1 to 10", 0},
        {"turbo_ghz.1-2 = 3.7 3.6 3.5", "turbo_ghz.1-2 = 3.7 3.6", NULL, "turbo_ghz.1-2", "one for each level", 0},
        {"turbo_ghz.1-2 = 3.7 3.6 3.5", "turbo_ghz.1-2 = 4 3.9 3.8 3.7 3.6 3.5", NULL, "turbo_ghz.1-2",
         "more than 5 levels", 0},
        {"turbo_ghz.1-2 =", "turbo_ghz.2-1 =", NULL, "turbo_ghz.2-1", "backwards; write 1-2", 0},
        {"turbo_ghz.1-2 =", "turbo_ghz.0-2 =", NULL, "turbo_ghz.0-2", "1 to 1024", 0},
        {"turbo_ghz.1-2 =", "turbo_ghz.few =", NULL, "turbo_ghz.few", "not a whole number", 0},
        {"turbo_ghz.1-2 =", "turbo_ghz. =", NULL, "turbo_ghz.", "not a range", 0},
        {"turbo_ghz.1-2 =", "turbo =", NULL, "turbo", "base_ghz low_priority_ghz turbo_ghz.CORES", 0},
        {"turbo_ghz.3-4 =", "turbo_ghz.2-4 =", NULL, "turbo_ghz.2-4", "overlaps", 0},
        {"turbo_ghz.3-4 =", "turbo_ghz.4 =", NULL, "turbo_ghz.4-4", "gap", 0},
        {"turbo_ghz.13-16 =", "turbo_ghz.13-15 =", NULL, "turbo_ghz.13-15", "reach 15 active cores", 0},
        {"turbo_ghz.13-16 =", "turbo_ghz.13-17 =", NULL, "turbo_ghz.13-17", "reach 17", 0},
        {"step.1.cores.2 =", "step.1.cores.2-20 =", "[transition narrow light256]", "step.1.cores: ", "20 active cores",
         0},
        {"[class narrow]", "[core 1 3]\nfactor = 0.5 # x\n[core 2]\nfactor = 0.6 # x\n[class narrow]", NULL, "core",
         "overlaps with the CPUs 1 to 3 of line 34", 2},
        {"[class narrow]", "[core 1 3 4]\nfactor = 0.5 # x\n[class narrow]", NULL, "core", "[core FIRST LAST]", 0},
        {"[class narrow]", "[core 15 16]\nfactor = 0.5 # x\n[class narrow]", NULL, "core", "no CPU 16", 0},
        {"step.1.cores.2 =", "step.2.cores.2 =", "[transition narrow light256]", "step.2.cores", "give step.2 itself",
         0},
        {"step.1.cores.2 = throttle 1/4 30", "step.1.cores.2 = grant light256", "[transition narrow light256]",
         "step.1.cores", "only a throttle step", 0},
        {"cores = 1-2 ", "cores = 1-20 ", "[boost", "cores", "reaches 20", -1},
    };
    CHECK_ALL(r);
}

/* As many levels as there may be, of which the counters know three. */
TEST(five_levels_need_no_counters)
{
    static struct model m;
    char *base = malloc(TEXT_SIZE), *text = calloc(2, TEXT_SIZE);
    struct machine_error err;
    assert_true(base && text);
    base_text(base);
    for (char *line = strtok(base, "\n"); line; line = strtok(NULL, "\n")) {
        bool levels = strstr(line, "_ghz") == line + 4 || strncmp(line, "turbo_ghz.", 10) == 0;
        size_t used = strlen(text), before = strcspn(line, "#");
        snprintf(text + used, 2 * TEXT_SIZE - used, "%.*s%s%s\n", (int)before, line, levels ? " 1.2 1.1 " : "",
                 line + before);
    }
    if (model_parse(text, strlen(text), "a.model", &m, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(m.n_levels, 5);
    char *heavy = strstr(text, "[class heavy512]\nlevel = 2");
    assert_non_null(heavy);
    heavy[strlen("[class heavy512]\nlevel = ")] = '4';
    assert_int_equal(model_parse(text, strlen(text), "a.model", &m, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "class heavy512 is at level 4, which event 28H does not count; licences = no"));
    memcpy(strstr(text, "licences = yes"), "licences = no ", 14);
    if (model_parse(text, strlen(text), "a.model", &m, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(m.classes[4].level, 4);
    free(base);
    free(text);
}

TEST(classes_demands_and_transitions)
{
    static const struct refusal r[] = {
        {"level = 0 ", "level = 1 ", "[class narrow]", "level", "from level 0 up", -1},
        {"level = 1 ", "level = 0 ", "[class light512]", "level", "in the order", -1},
        {"level = 1 ", "level = 5 ", "[class light512]", "level", "0 to 4", 0},
        {"umask = 0x04 ", "umask = 0x06 ", NULL, "umask", "0x02, 0x04", 0},
        {"umask = 0x04 ", "umask = 0x01 ", NULL, "umask", "0x02, 0x04", 0},
        {"umask = 0x04 ", "umask = 0x40 ", NULL, "umask", "0 to 32", 0},
        {"umask = 0x04 ", "umask = 0x20 ", NULL, "umask", "counts by umask 07H", -2},
        {"class = light256 ", "class = light128 ", NULL, "class", "classes so far: narrow light256 heavy256", 0},
        {"below = light256 ", "below = heavy512 ", NULL, "below", "higher class", -5},
        {"step.2 = grant light256 ", "step.2 = grant heavy256 ", NULL, "transition narrow light256", "out of order", 0},
        {"step.2 = grant heavy256 ", "step.2 = grant narrow ", NULL, "transition narrow heavy512", "out of order", 0},
        {"step.4 = grant heavy512 ", "step.4 = throttle 1/2 5 ", NULL, "transition narrow heavy512",
         "must end with 'grant heavy512'", 0},
        {"step.2 = grant light256 ", "step.3 = grant light256 ", NULL, "step.3", "step.2 would be next", 0},
        {"step.2 = grant light256 ", "step.9 = grant light256 ", NULL, "step.9", "N from 1 to 8", 0},
        {"step.2 = grant light256 ", "steps = grant light256 ", NULL, "steps", "N from 1 to 8", 0},
        {"step.2 = grant light256 ", "step.0 = grant light256 ", NULL, "step.0", "N from 1 to 8", 0},
        {"step.2 = grant light256 ", "step. = grant light256 ", NULL, "step.", "N from 1 to 8", 0},
        {"step.2 = grant light256 ", "step.2x = grant light256 ", NULL, "step.2x", "N from 1 to 8", 0},
        {"step.2 = grant light256 ", "step.2.core.1 = grant light256 ", NULL, "step.2.core.1", "N from 1 to 8", 0},
        {"step.2 = grant light256 ", "pets.2 = grant light256 ", NULL, "pets.2", "N from 1 to 8", 0},
        {"[transition narrow light256]", "[transition light256 narrow]", NULL, "transition light256 narrow",
         "needs no more", 0},
        {"[transition narrow light256]", "[transition narrow wide]", NULL, "transition narrow wide", "no class 'wide'",
         0},
        {"[boost heavy256 light512]", "[boost light512 heavy256]", NULL, "boost light512 heavy256", "higher class", 0},
        {"[mixture 256 heavy 512 light]", "[mixture 256 heavy 256 heavy]", NULL, "mixture", "two different kinds", 0},
        {"switches = 3 ", "switches = 1 ", NULL, "switches", "2 to 16", 0},
        {"[mixture 128 heavy 256 light]", "[mixture 512 light 256 heavy]", NULL, "mixture", "as in line 82", 0},
        {"[dirty 512]", "[dirty 128]", NULL, "dirty", "8192 are tiles", 0},
        {"wait_double = 0.1 ", "wait_us = 0.09 ", NULL, "wait_us", "0.1 to 1e+06", 0},
        {"[dirty 512]", "[dirty 0x200]", NULL, "dirty 0x200", "not a register width", 0},
        {"[class narrow]", "[wake 128]\nstage.1 = 1 1 1 # x\n[class narrow]", NULL, "wake", "256, 512 or 8192", 0},
        {"[demand 512 light]", "[demand 512 heavy 512fmb]\nclass = light512 # x\n[demand 512 light]", NULL, "demand",
         "nearest is '512fma'", 0},
        {"[demand 512 light]", "[demand 512 heavy 512or]\nclass = light512 # x\n[demand 512 light]", NULL, "demand",
         "[demand 512 light 512or] would work", 0},
        {"[class narrow]", "[demand 256 light]", NULL, "level", "no such key", 1},
    };
    CHECK_ALL(r);
}

/* Deletes the line that begins with `begins` after `after` and expects it to be missed, in the line of the header. */
static void check_missing(const char *after, const char *begins, const char *key)
{
    static struct model m;
    struct machine_error err;
    char *base = malloc(TEXT_SIZE);
    assert_non_null(base);
    base_text(base);
    char *header = strstr(base, after), *line = header ? strstr(header, begins) : NULL;
    char *end = line ? strchr(line, '\n') : NULL;
    if (!end || line[-1] != '\n') {
        fail_msg("no line '%s' after '%s' in the base text", begins, after);
        return;
    }
    memmove(line, end, strlen(end) + 1);
    char where[64];
    snprintf(where, sizeof where, "a.model:%u: %s: missing", line_of(base, header), key);
    assert_int_equal(model_parse(base, strlen(base), "a.model", &m, &err), MACHINE_BAD_INPUT);
    if (strncmp(err.text, where, strlen(where)) != 0)
        fail_msg("expected '%s', got '%s'", where, err.text);
    free(base);
}

TEST(required_keys)
{
    static const char *const keys[][2] = {
        {"[cpu]", "name"},
        {"[cpu]", "family"},
        {"[cpu]", "tsc_hz"},
        {"[cpu]", "cores"},
        {"[cpu]", "features"},
        {"[levels]", "base_ghz"},
        {"[class narrow]", "level"},
        {"[class narrow]", "umask"},
        {"[demand 256 heavy]", "class"},
        {"[dirty 512]", "class"},
        {"[timing]", "wait_us"},
        {"[timing]", "throttle_distance"},
        {"[voltage]", "noise_volts"},
        {"[boost heavy256 light512]", "volts"},
        {"[ipc]", "issue_width"},
        {"[ipc]", "64add"},
        {"[pmu]", "counts"},
        {"[clock]", "spread"},
        {"[interrupt timer]", "rearm"},
        {"[power]", "idle_watts"},
        {"[power]", "cycle_nj"},
        {"[mixture 256 heavy 512 light]", "window_us"},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        check_missing(keys[i][0], keys[i][1], keys[i][1]);
}

/* Renames a whole section away by deleting it up to the next header; something must then be missed. */
TEST(required_sections)
{
    static const char *const cases[][2] = {
        {"[cpu]", "cpu"},
        {"[levels]", "levels"},
        {"[voltage]", "voltage"},
        {"[ipc]", "ipc"},
        {"[pmu]", "pmu"},
        {"[clock]", "clock"},
        {"[timing]", "timing"},
        {"[demand 512 light]", "demand 512 light"},
        {"[demand 512 heavy]", "demand 512 heavy"},
        {"[transition light512 heavy512]", "transition light512 heavy512"},
    };
    static struct model m;
    char *base = malloc(TEXT_SIZE);
    assert_non_null(base);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine_error err;
        base_text(base);
        char *at = strstr(base, cases[i][0]);
        assert_non_null(at);
        char *next = strstr(at, "\n[");
        assert_non_null(next);
        memmove(at, next + 1, strlen(next + 1) + 1);
        assert_int_equal(model_parse(base, strlen(base), "a.model", &m, &err), MACHINE_BAD_INPUT);
        if (!strstr(err.text, cases[i][1]) || !strstr(err.text, "missing"))
            fail_msg("without %s: %s", cases[i][0], err.text);
    }
    free(base);
}

/* A transition of eight steps, of which the last grants, and a CPU that is unlike others at either end. */
TEST(as_much_as_there_may_be_is_accepted)
{
    static const char grant[] = "step.2 = grant light256 ", class_[] = "[class narrow]";
    char *base = malloc(TEXT_SIZE), *text = malloc(2 * TEXT_SIZE);
    static struct model m;
    struct machine_error err;
    assert_true(base && text);
    base_text(base);
    char *at = strstr(base, grant), *before = strstr(base, class_);
    assert_true(before && at && before < at);
    int n = sprintf(text, "%.*s[core 0]\nfactor = 0.5 # x\n[core 15]\nfactor = 0.1 # x\n%.*s", (int)(before - base),
                    base, (int)(at - before), before);
    for (unsigned i = 2; i < MODEL_STEPS_MAX; i++)
        n += sprintf(text + n, "step.%u = throttle 1/4 %u # x\n", i, 10 * i);
    n += sprintf(text + n, "step.%d = grant light256 %s", MODEL_STEPS_MAX, at + strlen(grant));
    if (model_parse(text, (size_t)n, "a.model", &m, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(m.transitions[0][1].n_steps, MODEL_STEPS_MAX);
    for (unsigned i = 1; i + 1 < MODEL_STEPS_MAX; i++) {
        assert_int_equal(m.transitions[0][1].steps[i].kind, MODEL_STEP_THROTTLE);
        assert_true(m.transitions[0][1].steps[i].us == 10 * (i + 1));
    }
    assert_int_equal(m.transitions[0][1].steps[MODEL_STEPS_MAX - 1].kind, MODEL_STEP_GRANT);
    assert_int_equal(m.n_unlike, 2);
    assert_true(m.unlike[0].cpus.lo == 0 && m.unlike[0].cpus.hi == 0 && m.unlike[0].factor == 0.5);
    assert_true(m.unlike[1].cpus.lo == 15 && m.unlike[1].cpus.hi == 15 && m.unlike[1].factor == 0.1);
    free(base);
    free(text);
}

TEST(other_ways_of_writing_are_accepted)
{
    char *base = malloc(TEXT_SIZE), *dos = malloc(2 * TEXT_SIZE);
    static struct model plain, other;
    struct machine_error err;
    assert_true(base && dos);
    base_text(base);
    assert_int_equal(model_parse(base, strlen(base), "a.model", &plain, &err), MACHINE_OK);
    size_t n = 0;
    for (const char *c = base; *c; c++) {
        if (*c == '\n')
            dos[n++] = '\r';
        dos[n++] = *c;
    }
    if (model_parse(dos, n, "a.model", &other, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    assert_true(other.halt_us == plain.halt_us && other.n_classes == plain.n_classes);
    /* without a newline at the end */
    assert_int_equal(model_parse(base, strlen(base) - 1, "a.model", &other, &err), MACHINE_OK);
    free(base);
    free(dos);
}

TEST(values_arrive)
{
    struct model m;
    rig_load("xeon-gold-6130", &m);
    assert_int_equal(m.family, 6);
    assert_int_equal(m.model, 0x55);
    assert_int_equal(m.cores, 16);
    assert_true(m.tsc_hz == 2.1e9);
    assert_int_equal(m.n_levels, 3);
    assert_true(m.base_ghz[0] == 2.1 && m.base_ghz[2] == 1.3);
    assert_true(model_ghz(&m, 0, 1) == 3.7 && model_ghz(&m, 1, 4) == 3.4 && model_ghz(&m, 2, 16) == 1.9);
    assert_int_equal(model_class_index(&m, "heavy512"), 4);
    assert_int_equal(model_class_index(&m, "heavy"), -1);
    assert_true(m.classes[3].wait_double == 0.1 && m.classes[4].wait_double == 0);
    const struct model_step *s = &m.transitions[0][4].steps[0];
    assert_true(model_step_figures(s, 16).us == 20 && model_step_figures(s, 2).us == 14.2);
    assert_true(model_step_figures(s, 16).ratio == 0.25);
    assert_true(model_volts(&m, 0.5) == 0.70 && model_volts(&m, 9) == 1.05);
    assert_true(model_volts(&m, 2.15) > 0.784 && model_volts(&m, 2.15) < 0.786);
    assert_int_equal(m.boosts[0].cores.hi, 2);
}

/* ---- whatever bytes: refused or accepted, never a crash, always a place ---- */

TEST(mutated_files_are_refused_in_order)
{
    enum { ROUNDS = 20000 };
    struct model_random random;
    char *base = malloc(TEXT_SIZE), *text = malloc(TEXT_SIZE);
    static struct model m;
    unsigned refused = 0;
    assert_true(base && text);
    base_text(base);
    size_t length = strlen(base);
    model_random_init(&random, 7, 0, 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        memcpy(text, base, length + 1);
        size_t n = length;
        for (unsigned k = 0; k < 3; k++) {
            size_t at = (size_t)(model_random_uniform(&random) * (double)n);
            double what = model_random_uniform(&random);
            if (what < 0.4)
                text[at] = (char)(model_random_uniform(&random) * 256);
            else if (what < 0.7)
                text[at] = base[(size_t)(model_random_uniform(&random) * (double)length)];
            else if (what < 0.8)
                n = at + 1;
            else
                memmove(text + at, text + at + 1, n-- - at);
        }
        struct machine_error err = {.text = ""};
        if (model_parse(text, n, "a.model", &m, &err) == MACHINE_OK)
            continue;
        refused++;
        unsigned line;
        assert_int_equal(err.status, MACHINE_BAD_INPUT);
        assert_int_equal(sscanf(err.text, "a.model:%u: ", &line), 1);
        for (const char *c = err.text; *c; c++)
            assert_true(*c >= ' ' && *c < 127);
    }
    assert_true(refused > ROUNDS / 10);
    free(base);
    free(text);
}

TEST(every_truncation_is_refused_or_whole)
{
    char *base = malloc(TEXT_SIZE);
    static struct model m;
    struct machine_error err;
    assert_non_null(base);
    base_text(base);
    const char *last = strstr(base, "[clock]");
    assert_non_null(last);
    /* the sections after [clock] may be left out; nothing before may */
    for (size_t n = 0; n < (size_t)(last - base); n += 7)
        assert_int_equal(model_parse(base, n, "a.model", &m, &err), MACHINE_BAD_INPUT);
    free(base);
}

static void overwrite(char *base, const char *find, const char *replace)
{
    char *at = strstr(base, find);
    assert_non_null(at);
    memcpy(at, replace, strlen(replace));
}

/* A clock that goes forwards only and scatters by more than a chain takes gave frequencies 20 % too high. */
TEST(a_clock_that_drowns_chains_is_refused)
{
    char *base = malloc(TEXT_SIZE);
    static struct model m;
    struct machine_error err;
    assert_true(base);
    base_text(base);
    overwrite(base, "licences = yes  ", "licences = no # assumed\ncounters = no # ");
    overwrite(base, "throttle = yes", "throttle = no ");
    overwrite(base, "jitter_ns = 1", "jitter_ns = 5");
    if (model_parse(base, strlen(base), "a.model", &m, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    overwrite(base, "jitter_ns = 5", "jitter_ns = 6");
    assert_int_equal(model_parse(base, strlen(base), "a.model", &m, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "jitter_ns: 6 ns drown the chains"));
    free(base);
}

/* Three classes at level 0 could not be written: two bits count there. */
TEST(classes_of_a_level_may_share_a_bit)
{
    char *base = malloc(TEXT_SIZE);
    static struct model m;
    struct machine_error err;
    assert_true(base);
    base_text(base);
    char *at = strstr(base, "umask = 0x04 ");
    assert_non_null(at);
    at[strlen("umask = 0x0")] = '2';
    if (model_parse(base, strlen(base), "a.model", &m, &err) != MACHINE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(m.classes[0].umask, 2);
    assert_int_equal(m.classes[1].umask, 2);
    free(base);
}

/* ---- finding files ---- */

TEST(shipped_models_are_listed)
{
    static const char *const wanted[] = {"core-i5-1035g4",     "core-i9-11900k", "core-i9-7940x",
                                         "generic-no-licence", "xeon-gold-6130", "xeon-w-2104"};
    char **names;
    size_t n, found = 0;
    assert_int_equal(model_list("data", &names, &n), 0);
    for (size_t i = 0; i < n; i++) {
        struct model m;
        rig_load(names[i], &m);
        for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
            found += strcmp(names[i], wanted[k]) == 0;
        if (i)
            assert_true(strcmp(names[i - 1], names[i]) < 0);
    }
    assert_int_equal(found, sizeof wanted / sizeof *wanted);
    model_list_free(names, n);
}

TEST(unknown_names)
{
    static struct model m;
    struct machine_error err;
    assert_int_equal(model_load("xeon-gold-6131", "data", &m, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "xeon-gold-6131"));
    assert_non_null(strstr(err.text, "core-i9-11900k"));
    assert_non_null(strstr(err.remedy, "nearest: xeon-gold-6130"));
    assert_int_equal(model_load("2104", "data", &m, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.remedy, "nearest: xeon-w-2104"));
    assert_int_equal(model_load("nosuch", "data", &m, &err), MACHINE_BAD_INPUT);
    assert_null(strstr(err.remedy, "nearest"));
    assert_int_equal(model_load("", "data", &m, &err), MACHINE_BAD_INPUT);
    assert_int_equal(model_load("x", "/nonexistent", &m, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "/nonexistent/models"));
    assert_int_equal(model_load("./no-such.model", "data", &m, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "./no-such.model: cannot be opened"));
    assert_int_equal(model_load("data/models", "data", &m, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "directory"));
}

TEST(a_file_is_found_by_its_path_and_by_the_environment)
{
    char folder[FOLDER_PATH_MAX], path[128], *base = malloc(TEXT_SIZE);
    static struct model m;
    struct machine machine;
    struct machine_info info;
    struct machine_error err;
    assert_non_null(base);
    folder_make(folder);
    snprintf(path, sizeof path, "%s/models/mine.model", folder);
    base_text(base);
    folder_put(folder, "models/mine.model", base);
    assert_int_equal(model_load(path, NULL, &m, &err), MACHINE_OK);
    assert_int_equal(setenv("CHARACTERIZE_DATA", folder, 1), 0);
    assert_int_equal(machine_open_model("mine", NULL, &machine, &err), MACHINE_OK);
    machine.ops->info(&machine, &info);
    assert_string_equal(info.name, "model:mine");
    assert_true(info.modelled);
    assert_non_null(strstr(info.source, "modelled"));
    assert_non_null(strstr(info.source, "mine.model"));
    assert_non_null(strstr(info.cpu, "6130"));
    machine.ops->close(&machine);
    assert_int_equal(unsetenv("CHARACTERIZE_DATA"), 0);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    for (size_t i = 0; i < 300000; i++)
        fputs("# much\n", out);
    fclose(out);
    assert_int_equal(model_load(path, NULL, &m, &err), MACHINE_BAD_INPUT);
    assert_non_null(strstr(err.text, "larger than 1 MiB"));
    folder_remove(folder);
    free(base);
}
