/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The exported header, compiled as C89, C11, freestanding and for a kernel, with the sample consumer: what it computes
 * against exact arithmetic and the papers' examples, and what it does where something was not measured.
 */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output/export/export.h"
#include "tests/support/test.h"
#include "util/sha256.h"
#include "tests/support/export_rules.h"
#include "tests/support/random_numbers.h"
#include "tests/support/schedule_tables.h"
#include "tests/support/folder.h"

#define FLAGS " -Wall -Wextra -Werror -pedantic "

static char folder[FOLDER_PATH_MAX];

static const char *compiler(void)
{
    const char *cc = getenv("CC");
    return cc && *cc ? cc : "cc";
}

/* Runs a shell command with this standard input (a file); 0 or its exit status. Output goes to `folder`/out. */
__attribute__((format(printf, 2, 3))) static int shell(const char *input, const char *format, ...)
{
    char command[1500], path[100];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    snprintf(path, sizeof path, "%s/out", folder);
    pid_t child = fork();
    if (child == 0) {
        int in = open(input ? input : "/dev/null", O_RDONLY), out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(in, 0);
        dup2(out, 1);
        dup2(out, 2);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static char *read_back(const char *name)
{
    char path[120];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    size_t n = fread(text, 1, (1 << 20) - 1, in);
    text[n] = '\0';
    fclose(in);
    return text;
}

static FILE *open_file(const char *name)
{
    char path[120];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    return out;
}

static void write_header(const struct table *const *tables, size_t n)
{
    struct schedule s;
    char why[300] = "";
    if (schedule_from_tables(tables, n, &s, why, sizeof why) != 0)
        fail_msg("%s", why);
    free(export_rules_json(&s));
    FILE *out = open_file("export.h");
    char *header = export_to_header(&s, why, sizeof why);
    if (!header)
        fail_msg("%s", why);
    fputs(header, out);
    fclose(out);
    free(header);
    schedule_free(&s);
}

static void compile_or_fail(const char *options)
{
    if (shell(NULL, "%s %s" FLAGS "-I. -DEXPORTED_HEADER='\"%s/export.h\"'", compiler(), options, folder) == 0)
        return;
    char *text = read_back("out");
    fail_msg("%s: %s", options, text);
}

/* Compiles the asker for the header that was written; the test is skipped where there is no compiler. */
static void build_asker(const char *standard)
{
    char options[300];
    if (shell(NULL, "%s --version", compiler()) != 0) {
        print_message("skipped: no C compiler (%s): set CC\n", compiler());
        skip();
    }
    snprintf(options, sizeof options, "%s -O1 -o %s/asker tests/export/asker.c", standard, folder);
    compile_or_fail(options);
}

/* The answers to the questions in `folder`/questions. */
static char *ask(void)
{
    char path[120];
    snprintf(path, sizeof path, "%s/questions", folder);
    assert_int_equal(shell(path, "%s/asker", folder), 0);
    return read_back("out");
}

static char *ask_one(const char *question)
{
    FILE *out = open_file("questions");
    fprintf(out, "%s\n", question);
    fclose(out);
    return ask();
}

static void expect(const char *question, const char *answer)
{
    char *text = ask_one(question);
    text[strcspn(text, "\n")] = '\0';
    if (strcmp(text, answer) != 0)
        fail_msg("%s: %s instead of %s", question, text, answer);
    free(text);
}

static void gold_header(void)
{
    struct table t;
    gold_frequencies(&t);
    const struct table *tables[] = {&t};
    write_header(tables, 1);
    table_free(&t);
}

/* ---- what it must compile as ---- */

TEST(test_compiles_everywhere)
{
    static const char *const ways[] = {
        "-std=c89",
        "-std=c99",
        "-std=c11",
        "-std=c17",
        "-std=c89 -DCONSUMER_NO_MAIN -ffreestanding",
        "-std=c11 -DCONSUMER_NO_MAIN -ffreestanding -Wconversion -Wshadow -Wundef -Wstrict-prototypes",
        "-std=c11 -O2 -DCONSUMER_NO_MAIN -ffreestanding -nostdlib -mgeneral-regs-only",
    };
    char options[400];
    gold_header();
    build_asker("-std=c11");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        snprintf(options, sizeof options, "%s -c -o %s/consumer.o examples/consumer.c", ways[i], folder);
        compile_or_fail(options);
    }
    /* as a kernel module would: its own types, no <stdint.h> */
    assert_int_equal(shell(NULL, "mkdir -p %s/linux", folder), 0);
    FILE *out = open_file("linux/types.h");
    fprintf(out, "typedef signed char int8_t; typedef unsigned char uint8_t; typedef unsigned short uint16_t;\n"
                 "typedef unsigned int uint32_t; typedef int int32_t; typedef unsigned long uint64_t;\n");
    fclose(out);
    snprintf(options, sizeof options,
             "-std=gnu11 -D__KERNEL__ -nostdinc -I%s -DCONSUMER_NO_MAIN -ffreestanding -c -o %s/consumer.o "
             "examples/consumer.c",
             folder, folder);
    compile_or_fail(options);
    snprintf(options, sizeof options, "-std=c11 -o %s/consumer examples/consumer.c", folder);
    compile_or_fail(options);
    assert_int_equal(shell(NULL, "%s/consumer 0 2800000 0 0 1000000 0", folder), 0);
    char *text = read_back("out");
    assert_string_equal(text, "modelled, not measured: measured 2800000 kHz, ideal 2800000 kHz\n");
    free(text);
}

/* Not a single division, not even one that the compiler might resolve. */
TEST(test_divides_nowhere)
{
    gold_header();
    char *text = read_back("export.h");
    bool in_comment = false;
    for (char *c = text; *c; c++) {
        if (strncmp(c, "#include", 8) == 0 || strncmp(c, "#define CHARACTERIZE_CPU", 24) == 0) {
            c += strcspn(c, "\n");
        } else if (!in_comment && strncmp(c, "/*", 2) == 0) {
            in_comment = true;
            c++;
        } else if (in_comment && strncmp(c, "*/", 2) == 0) {
            in_comment = false;
            c++;
        } else if (!in_comment && (*c == '/' || *c == '%')) {
            fail_msg("divides: %.60s", c);
        }
    }
    free(text);
}

/* ---- against exact arithmetic ---- */

/* Published table: f(r1, r2) by equation 4 itself, in whole numbers until the one division. */
static double equation_4(int g, long r1, long r2)
{
    __int128 f0 = gold_mhz[0][g], f1 = gold_mhz[1][g], f2 = gold_mhz[2][g], one = 65536;
    __int128 denominator = (f0 - f1) * f2 * r1 + (f0 - f2) * f1 * r2 + f1 * f2 * one;
    return (double)(f0 * f1 * f2 * one) / (double)denominator;
}

TEST(test_expected_frequency)
{
    gold_header();
    build_asker("-std=c89");
    FILE *out = open_file("questions");
    for (int g = 0; g < GOLD_GROUPS; g++)
        for (long r1 = 0; r1 <= 65536; r1 += 2048)
            for (long r2 = 0; r1 + r2 <= 65536; r2 += 2048)
                fprintf(out, "f 4 %d 0 %ld %ld\n", g, r1, r2);
    fclose(out);
    char *text = ask(), *at = text;
    double worst = 0;
    for (int g = 0; g < GOLD_GROUPS; g++)
        for (long r1 = 0; r1 <= 65536; r1 += 2048)
            for (long r2 = 0; r1 + r2 <= 65536; r2 += 2048) {
                assert_int_equal(strtol(at, &at, 10), 1);
                double error = (double)strtol(at, &at, 10) / 1e3 / equation_4(g, r1, r2) - 1;
                worst = fmax(worst, fabs(error));
            }
    print_message("largest relative error of f(r1, r2): %.1e\n", worst);
    assert_true(worst < 2e-6); /* requested: 1e-3 */
    free(text);
    expect("f 4 0 0 40000 40000", "0 99"); /* shares above 1 */
    expect("f 4 5 0 0 0", "0 99");         /* no such turbo level */
}

/* A random processor: level and turbo level; MHz never rise with either. */
struct processor {
    int levels, turbos;
    int mhz[SCHEDULE_LEVELS_MAX][8];
};

/*
 * The ideal frequency as the papers say it: mean frequencies of the turbo levels, the two nearest, a straight line.
 * *gain: how much an error of the measured frequency is magnified in it, which is much where both turbo levels hardly
 * differ at the slower levels but do at the ideal one.
 */
static double paper_ideal(const struct processor *p, const double *cycles, double ns, int level, double *gain)
{
    long double all = 0, slow = 0, fast = 0, slow_ideal = 0, fast_ideal = 0;
    for (int l = 0; l < p->levels; l++)
        all += cycles[l];
    long double measured = all / ns;
    for (int g = 0; g < p->turbos; g++) {
        long double time = 0, ideal_time = 0;
        for (int l = 0; l < p->levels; l++) {
            time += (long double)cycles[l] * 1e3L / p->mhz[l][g];
            ideal_time += (long double)cycles[l] * 1e3L / p->mhz[l < level ? l : level][g];
        }
        long double f = all / time, ideal = all / ideal_time;
        if (f <= measured && f > slow) {
            slow = f;
            slow_ideal = ideal;
        }
        if (f >= measured && (fast == 0 || f < fast)) {
            fast = f;
            fast_ideal = ideal;
        }
    }
    *gain = 1;
    if (slow == 0 || fast == 0 || fast == slow)
        return (double)(slow == 0 ? fast_ideal : slow_ideal);
    *gain = fmax(1, fabs((double)((fast_ideal - slow_ideal) / (fast - slow))));
    return (double)(slow_ideal + (fast_ideal - slow_ideal) * (measured - slow) / (fast - slow));
}

struct question {
    double cycles[SCHEDULE_LEVELS_MAX], ns;
    int level;
};

/* Slices from 10 us to minutes, spent in one turbo level or between two, now and then outside. */
static void random_question(struct rng *r, const struct processor *p, struct question *q)
{
    double all = rng_log(r, 3e4, 4e11), used = 0;
    for (int l = p->levels - 1; l > 0; l--) {
        double share = rng_chance(r, 0.3) ? 0 : rng_range(r, 0, 1 - used);
        q->cycles[l] = floor(all * share);
        used += share;
    }
    q->cycles[0] = floor(all * (1 - used));
    int g = rng_int(r, 0, p->turbos - 1), h = g + 1 < p->turbos ? g + 1 : g;
    double way = rng_chance(r, 0.2) ? 0 : rng_unit(r), time_g = 0, time_h = 0;
    for (int l = 0; l < p->levels; l++) {
        time_g += q->cycles[l] * 1e3 / p->mhz[l][g];
        time_h += q->cycles[l] * 1e3 / p->mhz[l][h];
    }
    q->ns = round(time_g + way * (time_h - time_g));
    if (rng_chance(r, 0.1))
        q->ns = round(q->ns * rng_range(r, 0.6, 1.6));
    q->level = rng_int(r, 0, p->levels - 1);
}

static void processor_header(const struct processor *p)
{
    static const char *const kernels[] = {"64add", "256fma", "512fma", "amx"};
    struct table t;
    frequency_table(&t);
    for (int g = 0; g < p->turbos; g++)
        for (int l = 0; l < p->levels; l++)
            frequency_row(&t, 3, kernels[l < 3 ? l : 3], g + 1, l, p->mhz[l][g] / 1e3);
    const struct table *tables[] = {&t};
    write_header(tables, 1);
    table_free(&t);
}

/* The largest relative error, that of the measured frequency which would explain it. */
static double worst_ideal_error(struct rng *r, const struct processor *p)
{
    enum { QUESTIONS = 5000 };
    struct question *q = calloc(QUESTIONS, sizeof *q);
    assert_non_null(q);
    processor_header(p);
    build_asker("-std=c11");
    FILE *out = open_file("questions");
    for (size_t i = 0; i < QUESTIONS; i++) {
        random_question(r, p, &q[i]);
        fprintf(out, "i %d 3 %d %.0f", 3 + p->levels, q[i].level, q[i].ns);
        for (int l = 0; l < p->levels; l++)
            fprintf(out, " %.0f", q[i].cycles[l]);
        fprintf(out, "\n");
    }
    fclose(out);
    char *text = ask(), *at = text;
    double worst = 0;
    for (size_t i = 0; i < QUESTIONS; i++) {
        assert_int_equal(strtol(at, &at, 10), 1);
        double khz = (double)strtol(at, &at, 10);
        (void)strtol(at, &at, 10);
        double gain, ideal = paper_ideal(p, q[i].cycles, q[i].ns, q[i].level, &gain);
        worst = fmax(worst, fabs(khz / 1e6 / ideal - 1) / gain);
    }
    free(text);
    free(q);
    return worst;
}

TEST(test_ideal_frequency_gold)
{
    struct processor p = {.levels = GOLD_LEVELS, .turbos = GOLD_GROUPS};
    struct rng r;
    rng_init(&r, 61, 30);
    for (int l = 0; l < GOLD_LEVELS; l++)
        for (int g = 0; g < GOLD_GROUPS; g++)
            p.mhz[l][g] = gold_mhz[l][g];
    double worst = worst_ideal_error(&r, &p);
    print_message("largest relative error of the ideal frequency, Gold 6130: %.1e\n", worst);
    assert_true(worst < 2e-5); /* requested: 1e-3 */
}

TEST(test_ideal_frequency_random)
{
    for (int i = 0; i < 5; i++) {
        struct processor p = {0};
        struct rng r;
        rng_init(&r, 4321, (uint64_t)i);
        p.levels = i < 4 ? i + 1 : 8;
        p.turbos = rng_int(&r, 1, 8);
        for (int l = 0; l < p.levels; l++)
            for (int g = 0; g < p.turbos; g++) {
                int above = l > 0 ? p.mhz[l - 1][g] : 6000, before = g > 0 ? p.mhz[l][g - 1] : 6000;
                int most = above < before ? above : before;
                p.mhz[l][g] = most - (g > 0 ? SCHEDULE_SAME_MHZ : 0) - (rng_chance(&r, 0.3) ? 0 : rng_int(&r, 0, 250));
            }
        double worst = worst_ideal_error(&r, &p);
        print_message("%d levels, %d turbo levels: largest relative error %.1e\n", p.levels, p.turbos, worst);
        assert_true(worst < 2e-5);
    }
}

/* ---- the papers' examples ---- */

/* Mean MHz of cycles of which r2 are at AVX-512 frequencies: equation 4 with r1 = 0. */
static double mixed(int g, double r2)
{
    return 1 / ((1 - r2) / gold_mhz[0][g] + r2 / gold_mhz[2][g]);
}

static double ideal_mhz(double r1, double r2, double mean_mhz, int level)
{
    char question[200];
    double cycles = 1e9;
    snprintf(question, sizeof question, "i 6 0 %d %.0f %.0f %.0f %.0f", level, cycles * 1e3 / mean_mhz,
             cycles * (1 - r1 - r2), cycles * r1, cycles * r2);
    char *text = ask_one(question), *at = text;
    assert_int_equal(strtol(at, &at, 10), 1);
    double khz = (double)strtol(at, &at, 10), measured = (double)strtol(at, &at, 10);
    free(text);
    assert_true(fabs(measured / 1e3 - mean_mhz) < 0.01);
    return khz / 1e3;
}

TEST(test_worked_examples)
{
    gold_header();
    build_asker("-std=c11");
    /* USENIX ATC 2021, figure 2: 30 % of the cycles at AVX-512 frequencies, 2.5 GHz measured: `most of the time at the
     * lowest turbo level and some time at the second lowest` */
    double part = (2500 - mixed(4, 0.3)) / (mixed(3, 0.3) - mixed(4, 0.3));
    assert_true(part > 0 && part < 0.5);
    assert_true(fabs(ideal_mhz(0, 0.3, 2500, 0) - (2800 + part * 300)) < 0.03);
    /* dissertation, figure 7.5b: half way between the two lowest, so the ideal is the mean of both */
    for (double r2 = 0.1; r2 < 1; r2 += 0.1)
        assert_true(fabs(ideal_mhz(0, r2, (mixed(3, r2) + mixed(4, r2)) / 2, 0) - 2950) < 0.03);
    /* section 2 of the paper: 2.8, 2.4 and 1.9 GHz with all cores active */
    assert_true(fabs(ideal_mhz(0, 1, 1900, 0) - 2800) < 0.03);
    assert_true(fabs(ideal_mhz(0, 1, 1900, 1) - 2400) < 0.03);
    assert_true(fabs(ideal_mhz(0, 1, 1900, 2) - 1900) < 0.03);
    assert_true(fabs(ideal_mhz(1, 0, 2400, 0) - 2800) < 0.03);
    /* dissertation, 7.4.2, step 4: for an AVX2 task c1' = c1 + c2, c2' = 0; here at 9 to 12 cores */
    double mean = 1 / (0.5 / 3100 + 0.2 / 2600 + 0.3 / 2100);
    assert_true(fabs(ideal_mhz(0.2, 0.3, mean, 1) - 1 / (0.5 / 3100 + 0.5 / 2600)) < 0.03);
    /* beyond the fastest and below the slowest there is nothing to interpolate with */
    assert_true(fabs(ideal_mhz(0, 0, 4000, 0) - 3700) < 0.03);
    assert_true(fabs(ideal_mhz(0, 0, 1000, 0) - 2800) < 0.03);
}

/* ---- what was not measured ---- */

static void add_wait(struct table *t, const char *from, const char *to, int mode, double wait, double share)
{
    table_add_row(t);
    table_put_text(t, "from", from);
    table_put_text(t, "to", to);
    table_put_text(t, "what", "wait");
    table_put_number(t, "mode", mode);
    table_put_limits(t, "wait_us", wait, wait - 1, wait + 1);
    table_put_number(t, "share", share);
}

TEST(test_absent_is_seen)
{
    struct table f, o, w, g;
    frequency_table(&f);
    frequency_row(&f, 2, "128fma", 1, 0, 3.7);
    frequency_row(&f, 2, "512fma", 1, 2, 3.5); /* level 1 was never seen */
    frequency_row(&f, 2, "128fma", 16, 0, 2.8);
    frequency_row(&f, 2, "512fma", 16, 2, 1.9);
    overhead_table(&o);
    overhead_row(&o, "128fma", "512fma", 1, 0, NAN, NAN); /* down costs nothing: 0 and measured */
    overhead_row(&o, "128fma", "512fma", 16, 42.7, 10, 156);
    relaxation_table(&w);
    add_wait(&w, "512fma", "128fma", 1, 670, 0.9);
    trigger_table(&g);
    trigger_row(&g, "512fma", 1, 40, 2);
    trigger_row(&g, "512fma", 4, 10, 1);
    const struct table *tables[] = {&f, &o, &w, &g};
    write_header(tables, 4);
    build_asker("-std=c11");
    expect("m 3 2 16 2", "1 1900");
    expect("m 3 2 16 1", "0 99");           /* the level */
    expect("m 3 2 8 0", "0 99");            /* the number of cores */
    expect("m 3 0 16 0", "0 99");           /* the CPU */
    expect("m 3 2 16 7", "0 99");           /* no such level */
    expect("f 4 0 0 0 65536", "1 3499999"); /* 0.4 of 1.2 million is lost in the inverse */
    expect("f 4 0 0 1 0", "0 99");
    expect("i 6 2 0 1000000 2800000 0 0", "1 2800000 2800000");
    expect("i 6 2 0 1000000 2700000 1 0", "0 0 0");       /* cycles at level 1 */
    expect("i 6 2 1 1000000 2800000 0 1", "0 0 0");       /* an AVX2 task */
    expect("i 6 0 0 1000000 2800000 0 0", "0 0 0");       /* another CPU */
    expect("i 6 2 0 0 2800000 0 0", "0 0 0");             /* no time */
    expect("i 6 2 0 1000000 0 0 0", "0 0 0");             /* no cycles */
    expect("i 6 2 0 1000000 600000000000 0 0", "0 0 0");  /* more cycles than the arithmetic holds */
    expect("i 6 2 0 1200000000000 2800000 0 0", "0 0 0"); /* more time */
    expect("d 3 0 2 1", "1 0");
    expect("u 3 0 2 1", "0 -12345");
    expect("d 3 0 2 16", "1 42700");
    expect("u 3 0 2 16", "1 10000");
    expect("d 3 0 1 16", "0 -12345");
    expect("b 4 0 2 16 156001", "1");
    expect("b 4 0 2 16 155999", "0");
    expect("b 4 0 2 1 1000000", "-1");
    expect("w 3 2 0 1", "1 670000");
    expect("w 3 2 0 2", "0 -12345");
    expect("l 3 512 1 1", "1 2");
    expect("l 3 512 1 2", "1 2"); /* between 1 and 1/4: an upper bound */
    expect("l 3 512 1 4", "1 1");
    expect("l 3 512 1 0", "0 99");
    expect("l 3 256 1 1", "0 99");
    for (size_t i = 0; i < 4; i++)
        table_free((struct table *)tables[i]);
}

/* Without frequencies there is still what was measured, and a consumer that compiles. */
TEST(test_only_costs)
{
    struct table o;
    overhead_table(&o);
    overhead_row(&o, "128fma", "512fma", 16, 42.7, 10, 156);
    const struct table *tables[] = {&o};
    write_header(tables, 1);
    build_asker("-std=c89");
    expect("i 4 0 0 1000000 2800000", "0 0 0");
    expect("m 3 0 1 0", "0 99");
    expect("b 4 0 2 16 156001", "-1"); /* which levels these are nobody measured */
    char *text = read_back("export.h");
    assert_non_null(strstr(text, "{0, 1, 16, 7, 42700, 10000, 156000}"));
    assert_non_null(strstr(text, "#define CHARACTERIZE_N_TURBOS 0"));
    free(text);
    table_free(&o);
}

/* Cycles at a level that the header does not have: the sample consumer has no answer, and no wrong one. */
TEST(test_consumer_of_fewer_levels)
{
    struct table f;
    char options[200];
    frequency_table(&f);
    frequency_row(&f, 0, "128fma", 1, 0, 3.7);
    frequency_row(&f, 0, "512fma", 1, 1, 3.5);
    const struct table *tables[] = {&f};
    write_header(tables, 1);
    build_asker("-std=c89"); /* or is skipped */
    snprintf(options, sizeof options, "-std=c89 -o %s/consumer examples/consumer.c", folder);
    compile_or_fail(options);
    assert_int_equal(shell(NULL, "%s/consumer 0 3700000 0 0 1000000 0", folder), 0);
    assert_int_equal(shell(NULL, "%s/consumer 0 2800000 0 1200000 1600000 0", folder), 1);
    char *text = read_back("out");
    assert_non_null(strstr(text, "unknown: there are cycles at level 2"));
    assert_null(strstr(text, "kHz"));
    free(text);
    table_free(&f);
}

/* ---- where it comes from ---- */

TEST(test_provenance)
{
    struct table t;
    struct schedule s;
    char why[300], hash[SHA256_HEX_SIZE];
    gold_frequencies(&t);
    table_set_meta(&t, "cpu",
                   "A */ \"CPU\" ?"
                   "?/ with \\ and \x1b[31m");
    table_add_missing(&t, "no counters");
    const struct table *tables[] = {&t};
    write_header(tables, 1);
    build_asker("-std=c89"); /* nothing of it ends the comment or the string */
    char *text = read_back("export.h");
    assert_non_null(strstr(text, "MODELLED: computed from a model, not measured on a processor."));
    assert_non_null(strstr(text, "#define CHARACTERIZE_MODELLED 1"));
    assert_non_null(strstr(text, "frequency: runs = 30"));
    assert_non_null(strstr(text, "frequency, 1 time: no counters"));
    assert_null(strchr(text, '\x1b'));
    /* the hash is that of the JSON export */
    assert_int_equal(schedule_from_tables(tables, 1, &s, why, sizeof why), 0);
    char *json = export_rules_json(&s);
    sha256_hex(json, strlen(json), hash);
    assert_non_null(strstr(text, hash));
    free(json);
    free(text);
    schedule_free(&s);
    /* a measured one does not say modelled */
    table_set_meta(&t, "modelled", "no");
    table_set_meta(&t, "date", "2026-11-21T22:05:27Z");
    write_header(tables, 1);
    text = read_back("export.h");
    assert_null(strstr(text, "MODELLED: "));
    assert_non_null(strstr(text, "#define CHARACTERIZE_MODELLED 0"));
    assert_non_null(strstr(text, "Measured   2026-11-21T22:05:27Z\n"));
    free(text);
    table_free(&t);
}

static int begin(void **state)
{
    (void)state;
    folder_make(folder);
    return 0;
}

static int end(void **state)
{
    (void)state;
    folder_remove(folder);
    return 0;
}

/* Without the template nothing is written, and one line says where it should be. */
TEST(test_no_template)
{
    struct table t;
    struct schedule s;
    char why[400] = "", *data = strdup(getenv("CHARACTERIZE_DATA"));
    frequency_table(&t);
    frequency_row(&t, 0, "64add", 1, 0, 2.8);
    const struct table *tables[] = {&t};
    assert_int_equal(schedule_from_tables(tables, 1, &s, why, sizeof why), 0);
    setenv("CHARACTERIZE_DATA", folder, 1);
    assert_null(export_to_header(&s, why, sizeof why));
    setenv("CHARACTERIZE_DATA", data, 1);
    assert_non_null(strstr(why, folder));
    assert_non_null(strstr(why, "set CHARACTERIZE_DATA to the directory that contains export/"));
    free(data);
    schedule_free(&s);
    table_free(&t);
}

BEFORE_TESTS
{
    setenv("CHARACTERIZE_DATA", "data", 0); /* the template of the header */
}

TEST_GROUP(begin, end)
