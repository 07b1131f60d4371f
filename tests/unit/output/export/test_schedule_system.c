/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the system decides in exports: costs of switches, migrations and faults, the processor, its CPUs and events, as
 * JSON and in a header that compiles; what is absent. */
#include <jansson.h>
#include <unistd.h>

#include "output/export/export.h"
#include "tests/support/export_rules.h"
#include "tests/support/folder.h"
#include "tests/support/schedule_tables.h"
#include "tests/support/test.h"

static char why[1500];

static void read_schedule(const struct table *t, struct schedule *s)
{
    if (schedule_from_tables(&t, 1, s, why, sizeof why) != 0)
        fail_msg("%s", why);
}

static bool is_missing(const struct schedule *s, const char *part)
{
    bool found = false;
    for (size_t i = 0; i < s->n_missing; i++)
        found = found || (strcmp(s->missing[i].table, "switching") == 0 && strstr(s->missing[i].why, part));
    return found;
}

/* The list as text, without blanks at the beginnings of lines. */
static void expect_list_of(const struct schedule *s, const char *name, const char *expected)
{
    char *json = export_rules_json(s);
    json_t *root = json_loads(json, 0, NULL);
    char *list = json_dumps(json_object_get(root, name), JSON_COMPACT | JSON_ENCODE_ANY);
    assert_string_equal(list ? list : "", expected);
    free(list);
    json_decref(root);
    free(json);
}

static void expect_list(const struct schedule *s, const char *expected)
{
    expect_list_of(s, "switching", expected);
}

static char *header_of(const struct schedule *s)
{
    char *header = export_to_header(s, why, sizeof why);
    if (!header)
        fail_msg("%s", why);
    return header;
}

/* Compiles a program around a header and returns its exit status; the test is skipped where there is no compiler. */
static int run_with(const char *header, const char *program)
{
    char folder[FOLDER_PATH_MAX], command[400];
    const char *cc = getenv("CC") && *getenv("CC") ? getenv("CC") : "cc";
    folder_make(folder);
    folder_put(folder, "export.h", header);
    folder_put(folder, "main.c", program);
    snprintf(command, sizeof command, "%s --version >/dev/null 2>&1", cc);
    if (system(command) != 0) {
        folder_remove(folder);
        skip();
    }
    snprintf(command, sizeof command,
             "cd %s && %s -std=c89 -pedantic -Wall -Wextra -Werror -Wundef -o main main.c 2>out && ./main", folder, cc);
    const int status = system(command);
    folder_remove(folder);
    return status < 0 ? -1 : status >> 8;
}

TEST(all_three)
{
    struct table t;
    struct schedule s;
    switching_table(&t);
    switching_row(&t, "fault", 1.8004, 0.05); /* whatever the order in the table */
    switching_row(&t, "switch", 2.8, 0.1);
    switching_row(&t, "migration", 35, 0.5);
    read_schedule(&t, &s);
    expect_list(&s, "[{\"what\":\"switch\",\"ns\":2800,\"ns_lo\":2700,\"ns_hi\":2900},"
                    "{\"what\":\"migration\",\"ns\":35000,\"ns_lo\":34500,\"ns_hi\":35500},"
                    "{\"what\":\"fault\",\"ns\":1800,\"ns_lo\":1750,\"ns_hi\":1851}]");
    char *header = header_of(&s);
    assert_int_equal(run_with(header, "#include \"export.h\"\n"
                                      "#if !CHARACTERIZE_HAS_SWITCH_NS || !CHARACTERIZE_HAS_MIGRATION_NS || "
                                      "!CHARACTERIZE_HAS_FAULT_NS\n#error not measured\n#endif\n"
                                      "int main(void) { return CHARACTERIZE_SWITCH_NS == 2800 && "
                                      "CHARACTERIZE_MIGRATION_NS == 35000 && CHARACTERIZE_FAULT_NS == 1800 ? 7 : 1; }"),
                     7);
    free(header);
    schedule_free(&s);
    table_free(&t);
}

TEST(what_is_absent)
{
    struct table t;
    struct schedule s;
    switching_table(&t);
    switching_row(&t, "switch", -0.2, 0.1);  /* impossible */
    switching_row(&t, "migration", 35, NAN); /* no limits */
    switching_row(&t, "fault", -0.02, 0.05); /* by noise */
    switching_row(&t, "signal", 1, 0.1);
    read_schedule(&t, &s);
    assert_true(is_missing(&s, "us is below 0 with all of its limits"));
    assert_true(is_missing(&s, "us has no limits"));
    assert_true(is_missing(&s, "what is not switch, migration or fault"));
    assert_int_equal(s.n_left_out, 3);
    expect_list(&s, "[{\"what\":\"fault\",\"ns\":-20,\"ns_lo\":-70,\"ns_hi\":30}]");
    char *header = header_of(&s);
    assert_int_equal(run_with(header, "#include \"export.h\"\n"
                                      "#if CHARACTERIZE_HAS_SWITCH_NS || CHARACTERIZE_HAS_MIGRATION_NS || "
                                      "defined CHARACTERIZE_SWITCH_NS || defined CHARACTERIZE_MIGRATION_NS\n"
                                      "#error measured\n#endif\n"
                                      "int main(void) { return CHARACTERIZE_HAS_FAULT_NS && CHARACTERIZE_FAULT_NS == "
                                      "-20 ? 7 : 1; }"),
                     7);
    free(header);
    schedule_free(&s);
    table_free(&t);
}

TEST(several_rows_of_a_kind)
{
    struct table t;
    struct schedule s;
    switching_table(&t);
    switching_row(&t, "switch", 2, 0.1);
    switching_row(&t, "switch", 3, 0.1);
    switching_row(&t, "switch", 1, 0.1);
    read_schedule(&t, &s);
    expect_list(&s, "[{\"what\":\"switch\",\"ns\":3000,\"ns_lo\":2900,\"ns_hi\":3100}]");
    schedule_free(&s);
    table_free(&t);
}

/* Not measured, or nothing of it: `missing` has the reason. */
TEST(no_table)
{
    struct table f, t;
    struct schedule s;
    gold_frequencies(&f);
    read_schedule(&f, &s);
    assert_true(is_missing(&s, "the table switching was not measured"));
    expect_list(&s, "[]");
    char *header = header_of(&s);
    has(header, "#define CHARACTERIZE_HAS_MIGRATION_NS 0\n");
    has_not(header, "#define CHARACTERIZE_MIGRATION_NS");
    free(header);
    schedule_free(&s);
    table_free(&f);
    switching_table(&t);
    table_add_missing(&t, "a migration needs two CPUs");
    table_put_text(&t, "what", "migration");
    const struct table *tables[] = {&t};
    assert_int_equal(schedule_from_tables(tables, 1, &s, why, sizeof why), -1);
    has(why, "nothing that a scheduler could use was measured");
    has(why, "switching costs: a migration needs two CPUs");
    schedule_free(&s);
    table_free(&t);
}

TEST(what_the_rules_refuse)
{
    static const struct {
        const char *list, *reason;
    } cases[] = {
        {"[{\"what\": \"signal\", \"ns\": 1}]", "what is signal"},
        {"[{\"what\": \"fault\", \"ns\": 1}, {\"what\": \"switch\", \"ns\": 1}]", "what is switch"},
        {"[{\"what\": \"fault\", \"ns\": 1}, {\"what\": \"fault\", \"ns\": 1}]", "there twice"},
        {"[{\"what\": \"fault\"}]", "ns is not there"},
        {"[{\"ns\": 1}]", "what is not a text"},
        {"[{\"what\": \"fault\", \"ns\": 1.5}]", "ns is not a whole number"},
        {"[{\"what\": \"fault\", \"ns\": 1, \"ns_lo\": 2, \"ns_hi\": 3}]", "outside its limits"},
        {"[{\"what\": \"fault\", \"ns\": 1, \"us\": 2}]", "an unknown key"},
    };
    struct table f;
    struct schedule s;
    gold_frequencies(&f);
    read_schedule(&f, &s);
    char *good = export_rules_json(&s);
    json_t *root = json_loads(good, 0, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_object_set_new(root, "switching", json_loads(cases[i].list, 0, NULL));
        char *bad = json_dumps(root, 0);
        if (export_rules_check(bad, strlen(bad), why, sizeof why) == 0 || !strstr(why, cases[i].reason))
            fail_msg("%s: %s instead of %s", cases[i].list, why, cases[i].reason);
        free(bad);
    }
    json_object_del(root, "switching");
    char *bad = json_dumps(root, 0);
    assert_int_equal(export_rules_check(bad, strlen(bad), why, sizeof why), -1);
    has(why, "switching is not a list");
    free(bad);
    json_decref(root);
    free(good);
    schedule_free(&s);
    table_free(&f);
}

/* ---- whose parameters ---- */

TEST(the_signature)
{
    static const struct {
        const char *cpu;
        int family, model, stepping;
    } names[] = {{"Intel Xeon Gold 6130 CPU @ 2.10GHz (06_55H, stepping 4)", 6, 0x55, 4},
                 {"AMD EPYC 19_01H-1", 0x19, 1, 1},
                 {"Intel(R) Xeon(R) Processor 06_ADH-10", 6, 0xad, 10},
                 {"Intel(R) Xeon(R) Processor 06_A7H-1?", -1, -1, -1}, /* doubtful */
                 {"12_34H-5 of somebody", -1, -1, -1},
                 {"Some CPU", -1, -1, -1}};
    struct table f;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct schedule s;
        char stepping[20];
        gold_frequencies(&f);
        table_set_meta(&f, "cpu", names[i].cpu);
        read_schedule(&f, &s);
        assert_int_equal(s.family, names[i].family);
        assert_int_equal(s.model, names[i].model);
        assert_int_equal(s.stepping, names[i].stepping);
        snprintf(stepping, sizeof stepping, "%d", names[i].stepping);
        expect_list_of(&s, "stepping", names[i].stepping < 0 ? "" : stepping);
        schedule_free(&s);
        table_free(&f);
    }
}

/* A scheduler runs on CPUs that were not measured, but are like one that was. */
TEST(frequencies_of_each_cpu)
{
    static const char *const lists[][2] = {
        {"0: 0-1,4; 7: 6-7",
         "[{\"cpu\":0,\"like\":0},{\"cpu\":1,\"like\":0},{\"cpu\":4,\"like\":0}]"}, /* 7: not measured */
        {"0: 0; 0: 0-1", "[{\"cpu\":0,\"like\":0},{\"cpu\":1,\"like\":0}]"},
        {"0: 3-1", "[]"},
        {"nonsense", "[]"},
        {NULL, "[{\"cpu\":0,\"like\":0}]"}};
    struct table f;
    for (size_t i = sizeof lists / sizeof *lists; i-- > 0;) {
        struct schedule s;
        gold_frequencies(&f);
        if (lists[i][0])
            table_set_setting(&f, "cpus_alike", lists[i][0]);
        read_schedule(&f, &s);
        expect_list_of(&s, "cpus", lists[i][1]);
        if (i == 0) {
            char *header = header_of(&s);
            assert_int_equal(run_with(header, "#include \"export.h\"\n"
                                              "int main(void) { uint32_t mhz = 0, none = 5; unsigned first;\n"
                                              "return characterize_mhz(4, 1, 2, &mhz) && mhz == 3500 && "
                                              "!characterize_mhz(7, 1, 2, &none) && none == 5 && "
                                              "characterize_turbos_of(1, &first) == 5 && "
                                              "CHARACTERIZE_MODEL == 0x55 && CHARACTERIZE_STEPPING == 4 && "
                                              "CHARACTERIZE_SLICE_NS == 6000000 ? 7 : 1; }"),
                             7);
            free(header);
        }
        schedule_free(&s);
        table_free(&f);
    }
}

TEST(events_besides_levels)
{
    struct table f, u;
    struct schedule s;
    gold_frequencies(&f);
    umask_table(&u);
    table_add_row(&u);
    table_put_number(&u, "event", 0x28);
    table_put_number(&u, "umask", 0x40);
    table_put_text(&u, "reading", "throttled");
    table_set_setting(&u, "stall_loads_event", "CYCLE_ACTIVITY.STALLS_L2_MISS 0xa3:0x05:cmask=5");
    table_set_setting(&u, "stall_stores_event", "nonsense");
    const struct table *tables[] = {&f, &u};
    assert_int_equal(schedule_from_tables(tables, 2, &s, why, sizeof why), 0);
    expect_list_of(&s, "events",
                   "[{\"what\":\"throttle\",\"code\":16424},{\"what\":\"stall_loads\",\"code\":83887523}]");
    char *header = header_of(&s);
    has(header, "#define CHARACTERIZE_THROTTLE_EVENT 0x00004028u\n");
    has(header, "#define CHARACTERIZE_STALL_LOADS_EVENT 0x050005a3u\n");
    has(header, "#define CHARACTERIZE_HAS_STALL_STORES_EVENT 0\n");
    has_not(header, "#define CHARACTERIZE_STALL_STORES_EVENT");
    free(header);
    schedule_free(&s);
    table_free(&f);
    table_free(&u);
}

/* No header but the compiler's own types: as clang -target bpf defines it. */
TEST(header_for_bpf)
{
    struct table f;
    struct schedule s;
    char folder[FOLDER_PATH_MAX], command[400];
    gold_frequencies(&f);
    read_schedule(&f, &s);
    char *header = header_of(&s);
    folder_make(folder);
    folder_put(folder, "export.h", header);
    folder_put(folder, "main.c",
               "#include \"export.h\"\nuint32_t f(void); uint32_t f(void) { uint32_t mhz = 0; "
               "(void)characterize_mhz(0, 1, 0, &mhz); return mhz; }");
    snprintf(command, sizeof command, "cd %s && %s -D__bpf__ -nostdinc -ffreestanding -Wall -Wextra -Werror -c main.c",
             folder, getenv("CC") && *getenv("CC") ? getenv("CC") : "cc");
    assert_int_equal(system(command), 0);
    folder_remove(folder);
    free(header);
    schedule_free(&s);
    table_free(&f);
}

BEFORE_TESTS
{
    setenv("CHARACTERIZE_DATA", "data", 0); /* the template of the header */
}
