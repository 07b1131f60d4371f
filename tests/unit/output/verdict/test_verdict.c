/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Verdicts on handmade tables, compared with figures worked out by hand; their text and JSON compared with files in
 * tests/golden. */
#include "output/verdict/verdict.h"
#include "tables/registry.h"
#include "tests/support/golden.h"
#include "tests/support/test.h"

static const struct verdict_question usual = {{0.1, 100}, NAN, 1, 20};

struct made {
    struct table frequency, burst, burst_at, wake;
    struct beside_result corunners;
    struct verdict_tables tables;
    struct verdict v;
};

static void is_near(double is, double wanted)
{
    if (!(fabs(is - wanted) < 1e-4 * fmax(fabs(wanted), 1)))
        fail_msg("%.9g is not %.9g", is, wanted);
}

static void table_of(struct table *t, const struct table_kind *k)
{
    table_init(t, k->name, k->columns, k->n_columns);
    table_set_meta(t, "cpu", "Some CPU (06_55H, stepping 4)");
    table_set_meta(t, "machine", "timing");
    table_set_meta(t, "source", "made by hand");
    table_set_meta(t, "modelled", "no");
}

static void add_frequency(struct table *t, const char *kernel, double cores, double ghz, double ipc)
{
    table_add_row(t);
    table_put_number(t, "cpu", 1);
    table_put_text(t, "kernel", kernel);
    table_put_number(t, "active_cores", cores);
    table_put_limits(t, "freq_ghz", ghz, ghz - 0.003, ghz + 0.003);
    table_put_limits(t, "ipc", ipc, ipc - 0.002, ipc + 0.002);
}

/* cold: what a burst takes; loss: of the scalar work in between; saves: what it costs less than narrower code. */
static void add_burst(struct table *t, const char *kernel, double count, double every, double cold, double loss,
                      double saves, double saves128, double half)
{
    table_add_row(t);
    table_put_text(t, "kernel", kernel);
    table_put_number(t, "count", count);
    table_put_number(t, "every_us", every);
    table_put_limits(t, "loss", loss, loss - 0.001, loss + 0.001);
    table_put_limits(t, "cold_us", cold, cold - 1, cold + 1);
    table_put_limits(t, "saves_us", saves, saves - half, saves + half);
    if (isfinite(saves128))
        table_put_limits(t, "saves128_us", saves128, saves128 - half, saves128 + half);
}

/* A processor at 3 GHz, which 256-bit code lowers by a tenth and 512-bit code by a fifth; light code does not. */
static struct made *made_begin(void)
{
    struct made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    table_of(&m->frequency, &table_frequency);
    table_of(&m->burst, &table_burst);
    table_of(&m->burst_at, &table_burst);
    table_of(&m->wake, &table_wake);
    for (unsigned cores = 1; cores <= 4; cores += 3) {
        const double plain = cores == 1 ? 3.6 : 3;
        add_frequency(&m->frequency, "64add", cores, plain, 4);
        add_frequency(&m->frequency, "128fma", cores, plain, 2);
        add_frequency(&m->frequency, "256fma", cores, 0.9 * plain, 2);
        add_frequency(&m->frequency, "512fma", cores, 0.8 * plain, 2);
        add_frequency(&m->frequency, "128or", cores, plain, 3);
        add_frequency(&m->frequency, "256or", cores, plain, 3);
        add_frequency(&m->frequency, "512or", cores, plain, 2);
    }
    add_burst(&m->burst, "512fma", 150000, 10000, 40, 0.027, -100, -200, 4);
    add_burst(&m->burst, "512or", 225000, 10000, 40, 0, 10, 60, 4);
    /* the frequency never returns: a fifth of the scalar work is lost, a tenth with 256 bits */
    add_burst(&m->burst_at, "512fma", 150000, 1000, 31.25, 0.2, 55.5556 + 94.4444 - 225, 100 - 225, 5);
    add_burst(&m->burst_at, "512or", 225000, 1000, 37.5, 0, 50 - 37.5, 100 - 37.5, 1);
    m->corunners = (struct beside_result){.ratio = {0.9, 0.898, 0.902}, .null = {1, 0.997, 1.003}};
    m->tables = (struct verdict_tables){.frequency = &m->frequency,
                                        .burst = {&m->burst, &m->burst},
                                        .burst_at = {&m->burst_at, &m->burst_at},
                                        .wake = &m->wake,
                                        .corunners = &m->corunners};
    return m;
}

static void made_end(struct made *m)
{
    table_free(&m->frequency);
    table_free(&m->burst);
    table_free(&m->burst_at);
    table_free(&m->wake);
    free(m);
}

static const struct verdict_side *conclude(struct made *m, const struct verdict_question *question)
{
    assert_int_equal(verdict_conclude(&m->tables, question, NULL, &m->v), 0);
    return &m->v.side[KERNEL_HEAVY];
}

TEST(classes)
{
    struct made *m = made_begin();
    conclude(m, &usual);
    assert_int_equal(m->v.n_classes, 6);
    is_near(m->v.cores, 4);
    is_near(m->v.plain_ghz.value, 3);
    is_near(m->v.one_plain_ghz.value, 3.6);
    assert_string_equal(m->v.classes[5].name, "512heavy");
    is_near(m->v.classes[5].slowdown.value, 0.2);
    is_near(m->v.classes[5].one_slowdown.value, 0.2);
    is_near(m->v.classes[5].slowdown.hi - 0.2, 0.8 * hypot(0.003 / 2.4, 0.003 / 3));
    is_near(m->v.corunners.value, 0.1);
    assert_true(isnan(m->v.siblings.value));
    /* of what was measured again and differs by 2 % each, all differences are as uncertain: t(2) = 4.3027 */
    table_set_detail(&m->frequency, "again a",
                     "{\"cpu\":1,\"kernel\":\"64add\",\"active_cores\":4,\"freq_ghz\":3.06,\"half_width\":0.001}");
    table_set_detail(&m->frequency, "again b",
                     "{\"cpu\":1,\"kernel\":\"128fma\",\"active_cores\":4,\"freq_ghz\":2.94,\"half_width\":0.001}");
    conclude(m, &usual);
    is_near(m->v.classes[5].slowdown.hi, 0.2 + 0.8 * 0.02 * 4.30265);
    made_end(m);
}

/* 100 us of 128fma are 600000 instructions, of 512fma 150000, in 31.25 us at 2.4 GHz; of 256fma 300000, 55.56 us. */
TEST(costs)
{
    struct made *m = made_begin();
    double every;
    const struct verdict_side *s = conclude(m, &usual);
    is_near(verdict_burst_count(&m->frequency, "512fma", 0, &usual.load, &every), 150000);
    is_near(every, 1000);
    assert_int_equal(s->n, 3);
    is_near(s->width[1].rate.value, 2);
    is_near(s->width[2].rate.value, 4);
    is_near(s->once_us[0].value, 0);
    is_near(s->once_us[1].value, -100 + 200 + 100 - 55.5556);
    is_near(s->once_us[2].value, 200 + 100 - 31.25);
    is_near(s->width[2].after.value, 268.75 / 0.2); /* slowed for so long */
    is_near(s->width[2].overhead.value, 0);
    is_near(s->cost.time[2].value, (31.25 + 900 / 0.8) / 1000); /* ... longer than until the next one */
    is_near(s->cost.time[1].value, (55.5556 + 900 / 0.9) / 1000);
    /* light code keeps its frequency: what it costs is lost each time */
    s = &m->v.side[KERNEL_LIGHT];
    is_near(s->once_us[2].value, -60 + 100 - 100. * 3 / 8);
    is_near(s->width[2].overhead.value, (-60 + 62.5) / 2);
    is_near(s->width[2].overhead.lo, 0); /* the level granted may still hold */
    is_near(s->width[2].after.value, 0);
    made_end(m);
}

TEST(measured_ones_decide)
{
    struct made *m = made_begin();
    const struct verdict_side *s = conclude(m, &usual);
    assert_true(s->direct);
    is_near(s->longer[0].value, 1000 / 1156.25 - 1); /* 31.25 + 900 / 0.8 */
    is_near(s->longer[1].value, 1055.5556 / 1156.25 - 1);
    is_near(s->longer[0].hi - s->longer[0].value, 5 * 900 / (0.64 * 968.75) / 1156.25);
    assert_int_equal(s->prefer, VERDICT_WIDTH);
    assert_int_equal(s->bits, 128);
    assert_string_equal(s->why,
                        "at 10 % of wide work in bursts of 100 us, as measured, 512fma takes 15.6 [14.8, 16.5] % "
                        "more time than 128fma, 256fma takes 5.6 [4.5, 6.6] % more time than 128fma");
    s = &m->v.side[KERNEL_LIGHT];
    assert_int_equal(s->bits, 512);
    assert_string_equal(s->why,
                        "at 10 % of wide work in bursts of 100 us, as measured, 256or takes 1.3 [1.2, 1.4] % more "
                        "time than 512or, 128or takes 6.7 [6.6, 6.8] % more time than 512or");
    /* of equals the narrowest, the others are as good */
    table_set_limits(&m->burst_at, 1, "saves_us", 8, 7, 9);
    conclude(m, &usual);
    assert_int_equal(s->bits, 256);
    assert_int_equal(s->as_good, 256 | 512);
    assert_non_null(strstr(s->why, "512or takes 0.8 [0.7, 1.0] % less time than 256or, 128or takes "));
    assert_non_null(strstr(s->why, ": within 1 % of the best, and narrower"));
    table_set_limits(&m->burst_at, 1, "saves128_us", -6, -7, -5);
    table_set_limits(&m->burst_at, 1, "saves_us", 0, -1, 1);
    conclude(m, &usual);
    assert_int_equal(s->prefer, VERDICT_ANY);
    assert_string_equal(s->why,
                        "at 10 % of wide work in bursts of 100 us, all widths take the same time within 1 %, as "
                        "measured");
    /* differences within the limits */
    table_set_limits(&m->burst_at, 1, "saves_us", 20, -5, 45);
    table_set_limits(&m->burst_at, 1, "saves128_us", 60, 50, 70);
    conclude(m, &usual);
    assert_int_equal(s->prefer, VERDICT_UNDECIDED);
    assert_string_equal(s->why,
                        "at 10 % of wide work in bursts of 100 us, as measured, 256or takes 2.1 [-0.5, 4.8] % "
                        "more time than 512or: no more than noise; --seconds 60, or a quieter machine, narrows it");
    made_end(m);
}

/* A loss that occurs once is counted once, however long the work then takes: where the frequency returns between
 * bursts. */
TEST(returning_frequency)
{
    struct made *m = made_begin();
    /* the widest loses 268.75 us in 1000, as much as far apart: 100 us of work in 31.25, and 900 us */
    table_set_limits(&m->burst_at, 0, "loss", 268.75 / 968.75, 0.27, 0.29);
    table_set_limits(&m->burst_at, 0, "saves128_us", -200, -201, -199);
    table_set_limits(&m->burst_at, 0, "saves_us", -100, -101, -99);
    const struct verdict_side *s = conclude(m, &usual);
    is_near(s->longer[0].value, 1000. / 1200 - 1);
    is_near(s->longer[1].value, 1100. / 1200 - 1);
    is_near(s->longer[1].hi - s->longer[1].value, 1. / 1200);
    made_end(m);
}

/* Bursts of another number of active cores: all figures are for those. */
TEST(other_cores)
{
    struct made *m = made_begin();
    table_set_setting(&m->burst, "active_cores", "1");
    table_set_setting(&m->burst_at, "active_cores", "1");
    const struct verdict_side *s = conclude(m, &usual);
    is_near(s->cores, 1);
    is_near(s->once_us[2].value, 200 + 150000 * 4 / 7200. - 150000 / (3.6 * 0.8 * 2000));
    assert_non_null(strstr(s->why, "of 100 us, with 1 active core"));
    table_set_setting(&m->burst, "active_cores", "2");
    table_set_setting(&m->burst_at, "active_cores", "2");
    conclude(m, &usual);
    assert_int_equal(s->prefer, VERDICT_UNDECIDED);
    assert_string_equal(s->why, "the frequency of 128fma at this number of active cores was not measured");
    made_end(m);
}

/* Another share or burst than that measured, or an assumed speedup: computed. */
TEST(computed_ones_decide)
{
    struct made *m = made_begin();
    struct verdict_question question = usual;
    question.load.share = 0.5;
    const struct verdict_side *s = conclude(m, &question);
    assert_false(s->direct);
    is_near(s->cost.time[2].value, (31.25 + 100 / 0.8) / 200);
    assert_int_equal(s->bits, 512);
    assert_string_equal(s->why,
                        "at 50 % of wide work in bursts of 100 us, computed, of the time that 128fma takes at plain "
                        "frequency, 512fma takes 0.781 [0.780, 0.783], 256fma takes 0.833 [0.832, 0.835]");
    question.load.share = 0.1;
    question.speedup = 2;
    s = conclude(m, &question);
    assert_false(s->direct);
    is_near(s->width[1].rate.value, sqrt(2));
    is_near(s->width[2].rate.value, 2);
    question.speedup = NAN;
    table_free(&m->burst);
    table_of(&m->burst, &table_burst);
    m->tables.burst_at[KERNEL_HEAVY] = NULL;
    s = conclude(m, &question);
    assert_int_equal(s->prefer, VERDICT_UNDECIDED);
    assert_string_equal(s->why,
                        "the cost of a burst of 512fma was not measured: table burst has none that are 5 ms apart, as "
                        "with --brief; --verdict without --input measures it");
    made_end(m);
}

/* Tables that lack all of it, or all but one width. */
TEST(what_is_missing)
{
    struct made *m = made_begin();
    m->tables = (struct verdict_tables){.wake = &m->wake};
    const struct verdict_side *s = conclude(m, &usual);
    assert_int_equal(m->v.n_classes, 0);
    assert_string_equal(s->why, "no frequency of such code was measured");
    struct table narrow;
    table_of(&narrow, &table_frequency);
    add_frequency(&narrow, "64add", 1, 3, 4);
    add_frequency(&narrow, "128fma", 1, 3, 2);
    m->tables = (struct verdict_tables){.frequency = &narrow};
    s = conclude(m, &usual);
    assert_int_equal(m->v.weight, KERNEL_LIGHT); /* neither has a choice */
    assert_int_equal(s->prefer, VERDICT_UNDECIDED);
    assert_string_equal(s->why, "no kernel of this kind of more than 128 bits was measured: nothing to compare");
    assert_true(isnan(m->v.one_plain_ghz.value));
    table_free(&narrow);
    made_end(m);
}

static char *printed(const struct verdict *v)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    verdict_print(out, false, v);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Slowdowns by brackets: what is no larger than the null may be nothing, and says no less than the null does. */
TEST(brackets_decide)
{
    struct made *m = made_begin();
    table_set_setting(&m->frequency, "ratio_to", "64add");
    for (size_t row = 0; row < m->frequency.n_rows; row++) {
        const char *kernel = table_text(&m->frequency, row, "kernel");
        const double ratio = strcmp(kernel, "512fma") == 0 ? 0.95 : strcmp(kernel, "256fma") == 0 ? 0.996 : 1;
        table_set_limits(&m->frequency, row, "ratio", ratio, ratio - 0.002, ratio + 0.002);
        if (strcmp(kernel, "64add") == 0)
            table_set_limits(&m->frequency, row, "ratio", 0.999, 0.994, 1.003);
    }
    conclude(m, &usual);
    for (size_t i = 0; i < m->v.n_classes; i++) {
        const struct verdict_class *c = &m->v.classes[i];
        if (strcmp(c->kernel, "512fma") == 0) {
            is_near(c->slowdown.value, 0.05);
            is_near(c->slowdown.lo, 0.048);
        }
        if (strcmp(c->kernel, "256fma") == 0) {
            is_near(c->slowdown.lo, -0.003);
            is_near(c->slowdown.hi, 0.006);
        }
    }
    m->corunners.ratio = (struct estimate){0.998, 0.996, 0.9995};
    conclude(m, &usual);
    is_near(m->v.corunners.lo, -0.003);
    is_near(m->v.corunners.hi, 0.004);
    made_end(m);
}

/* Limits that say nothing are no answer, but how long it would take to get one is. */
TEST(what_is_not_resolved)
{
    struct made *m = made_begin();
    table_set_limits(&m->burst, 0, "saves_us", 300, 200, 400);
    table_set_limits(&m->burst, 0, "saves128_us", 300, 200, 400);
    m->corunners = (struct beside_result){.ratio = {1, 0.98, 1.02}, .null = {1, 0.98, 1.02}};
    conclude(m, &usual);
    char *text = printed(&m->v), *json = verdict_to_json(&m->v);
    assert_non_null(json);
    assert_non_null(strstr(text, "not resolved here in 20 s; --seconds "));
    assert_non_null(strstr(text, "--seconds 80 would resolve 1 %"));
    assert_null(strstr(text, "512fma costs at most"));
    assert_non_null(strstr(json, "\"other_cores_slowdown\": null"));
    assert_non_null(strstr(json, "\"once_us\": null"));
    free(text);
    free(json);
    made_end(m);
}

TEST(text_and_json)
{
    struct made *m = made_begin();
    struct programs *programs = calloc(1, sizeof *programs);
    struct machine_error err;
    struct golden g;
    static const char list[] =
        "format = characterize-programs/1\n[program a]\nname = Compiler A # S\nset128 = -narrow # S\n06_55H = 256 # S\n"
        "[program b]\nname = Library B # S\ndefault = 128 # S\n[program c]\nname = C # S\nset128 = C=128 # S\n"
        "[program d]\nname = D # S\ndefault = 512 # S\n";
    assert_non_null(programs);
    assert_int_equal(programs_parse(list, strlen(list), "list", programs, &err), MACHINE_OK);
    table_add_missing(&m->frequency, "needs amx_bf16, which Some CPU does not support");
    table_put_text(&m->frequency, "kernel", "amx");
    assert_int_equal(verdict_conclude(&m->tables, &usual, programs, &m->v), 0);
    FILE *out = golden_begin(&g);
    verdict_print(out, false, &m->v);
    char *json = verdict_to_json(&m->v);
    assert_non_null(json);
    fprintf(out, "----\n%s", json);
    golden_expect(&g, "verdict", "made.txt", false);
    free(json);
    free(programs);
    made_end(m);
}
