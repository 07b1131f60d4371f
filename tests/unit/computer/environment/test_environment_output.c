/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the findings of an environment are reported, in which order, as text and as JSON; also those of garbage. */
#include <jansson.h>

#include "tests/support/computer.h"
#include "tests/support/random_numbers.h"
#include "tests/support/test.h"

/* ---- order, text, JSON ---- */

TEST(test_order)
{
    static const char *const ids[] = {"governor", "steal", "smt",           "nmi-watchdog",
                                      "epp",      "aslr",  "rt-throttling", "huge-pages"};
    struct computer c;
    struct findings f;
    computer_quiet(&c);
    computer_set(&c, ENV_GOVERNOR, "schedutil");
    computer_set(&c, ENV_EPP, "power");
    computer_set(&c, ENV_ASLR, "1");
    computer_set(&c, ENV_NMI_WATCHDOG, "1");
    computer_set(&c, ENV_RT_RUNTIME, "950000");
    c.e.fact[ENV_HUGE_PAGES].error = EIO;
    c.e.steal = 0.2;
    c.e.busy_sibling = 0.4;
    computer_findings(&c, &f);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        assert_string_equal(f.list[i].id, ids[i]);
    findings_free(&f);
}

TEST(test_text)
{
    static const char want[] = "Environment of CPU 3, counted for 1 s, as an unprivileged user\n"
                               "(first column: the share of the time, or of the result, that it may disturb; ~\n"
                               "estimated, ? unknown)\n"
                               "  2.00 % steal            /proc/stat: the host took 2.00 % of the time of CPU 3\n"
                               "    why     the host ran something else on it meanwhile, for milliseconds each\n"
                               "            time; a quieter host or a larger or dedicated instance helps\n"
                               "       ? aslr             /proc/sys/kernel/randomize_va_space: 2\n"
                               "    why     code and data are at different addresses in each run, so runs with\n"
                               "            memory accesses differ; for a single command, and without root:\n"
                               "            setarch -R ./characterize ...\n"
                               "    change  echo 0 | sudo tee /proc/sys/kernel/randomize_va_space\n"
                               "    undo    echo 2 | sudo tee /proc/sys/kernel/randomize_va_space\n"
                               "2 findings disturb, 0 limit what can be measured, 0 could not be determined;\n"
                               "quiet: ";
    struct computer c;
    struct findings f;
    char *text = NULL;
    size_t size;
    computer_quiet(&c);
    c.e.steal = 0.02;
    computer_set(&c, ENV_ASLR, "2");
    computer_findings(&c, &f);
    FILE *out = open_memstream(&text, &size);
    environment_print(out, &c.e, &f, 80);
    assert_int_equal(fclose(out), 0);
    text[strlen(want) < size ? strlen(want) : size] = '\0';
    assert_string_equal(text, want);
    free(text);
    findings_free(&f);
}

/* What disturbs, in one line and as an object. */
TEST(test_disturbance)
{
    static const struct {
        struct environment_disturbance d;
        const char *line;
    } cases[] = {
        {{"stolen time", 0.02, -0.01, 0.05, 24.5, NAN, ""},
         "\nDisturbed by stolen time, 24.5 us a piece: slope 0.02 (-0.01 to 0.05; 0 stolen time, 1 clock).\n"},
        {{"clock", 1, 0.9, 1.1, NAN, 0.08, ""}, "\nDisturbed by the clock, 8 %: slope 1.00 (0.90 to 1.10;"},
        {{"both", 0.3, 0.1, 0.5, 6, 0.09, ""}, "\nDisturbed by stolen time, 6.0 us a piece, and the clock, 9 %: slope"},
        {{"undecided", NAN, NAN, NAN, NAN, NAN, "no reason"},
         "\nUndecided whether stolen time or the clock disturbs: no reason.\n"},
        {{.is = NULL}, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct computer c;
        struct findings f;
        char *text;
        size_t size;
        computer_quiet(&c);
        c.e.disturbance = cases[i].d;
        computer_findings(&c, &f);
        FILE *out = open_memstream(&text, &size);
        environment_print(out, &c.e, &f, 200);
        assert_int_equal(fclose(out), 0);
        if (cases[i].line != NULL ? strstr(text, cases[i].line) == NULL : strstr(text, "isturbed by") != NULL)
            fail_msg("%s", text);
        free(text);
        text = environment_json(&c.e, &f, NULL);
        json_t *root = json_loads(text, 0, NULL), *d = json_object_get(root, "disturbance");
        if (cases[i].d.is == NULL) {
            assert_true(json_is_null(d));
        } else {
            assert_string_equal(json_string_value(json_object_get(d, "is")), cases[i].d.is);
            assert_int_equal(json_is_null(json_object_get(d, "slope")), isnan(cases[i].d.slope));
            assert_int_equal(json_array_size(json_object_get(d, "slope_limits")), isnan(cases[i].d.slope) ? 0 : 2);
            assert_int_equal(json_is_null(json_object_get(d, "why")), cases[i].d.why[0] == '\0');
        }
        json_decref(root);
        free(text);
        findings_free(&f);
    }
}

/* A plain user can change nothing; and what nobody can change is not among what root would. */
TEST(test_whose_quiet_machine)
{
    static const char *const wanted[] = {"Run as root, --quiet-machine with a measurement would change 2 of them",
                                         "With a measurement, --quiet-machine changes 2 of them", "changes 1 of them"};
    struct computer c;
    computer_quiet(&c);
    computer_set(&c, ENV_NMI_WATCHDOG, "1");
    computer_add_irq(&c, "24", "PCI-MSI 524288-edge eth0-rx-0", 0, "0-7");
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct findings f;
        char *text;
        size_t size;
        c.e.root = i > 0;
        c.irqs[0].movable = i < 2;
        computer_findings(&c, &f);
        FILE *out = open_memstream(&text, &size);
        environment_print(out, &c.e, &f, 200);
        assert_int_equal(fclose(out), 0);
        assert_non_null(strstr(text, wanted[i]));
        assert_true(i > 0 || strstr(text, "without root, none") != NULL);
        free(text);
        findings_free(&f);
    }
}

/* A setting that only a boot can change has no command, and the output says so. */
static void expect_boot_in_json(struct computer *c)
{
    struct findings f;
    computer_mask(&c->e.isolated, "");
    computer_findings(c, &f);
    char *text = environment_json(&c->e, &f, NULL);
    json_t *root = json_loads(text, 0, NULL), *one;
    size_t i, boots = 0;
    json_array_foreach(json_object_get(root, "findings"), i, one)
    {
        const char *change = json_string_value(json_object_get(one, "change"));
        assert_int_equal(change != NULL && strstr(change, "reboot") != NULL,
                         json_is_true(json_object_get(one, "boot")));
        boots += json_object_get(one, "boot") != NULL;
    }
    assert_int_equal(boots, 1);
    json_decref(root);
    free(text);
    findings_free(&f);
}

TEST(test_json)
{
    struct computer c;
    struct findings f;
    computer_quiet(&c);
    c.e.steal = 0.02;
    computer_set(&c, ENV_ASLR, "2");
    computer_findings(&c, &f);
    char *text = environment_json(&c.e, &f, NULL);
    json_t *root = json_loads(text, 0, NULL), *list = json_object_get(root, "findings");
    assert_int_equal(json_array_size(list), 2);
    json_t *first = json_array_get(list, 0), *second = json_array_get(list, 1);
    assert_string_equal(json_string_value(json_object_get(root, "format")), "characterize-environment/1");
    assert_string_equal(json_string_value(json_object_get(first, "id")), "steal");
    assert_string_equal(json_string_value(json_object_get(first, "kind")), "disturbs");
    assert_true(json_real_value(json_object_get(first, "cost")) == 0.02);
    assert_string_equal(json_string_value(json_object_get(first, "cost_is")), "counted");
    assert_true(json_is_null(json_object_get(first, "change")) && json_is_null(json_object_get(first, "undo")));
    assert_true(json_is_null(json_object_get(second, "cost")) && json_is_null(json_object_get(second, "cost_is")));
    assert_string_equal(json_string_value(json_object_get(second, "undo")),
                        "echo 2 | sudo tee /proc/sys/kernel/randomize_va_space");
    assert_int_equal(json_array_size(json_object_get(root, "quiet")), f.n - 2);
    assert_string_equal(json_string_value(json_object_get(json_object_get(root, "snapshot"), "governor")),
                        "performance");
    assert_null(json_object_get(root, "sysroot"));
    json_decref(root);
    free(text);
    findings_free(&f);
    expect_boot_in_json(&c);
}

/* ---- garbage ---- */

/* Texts that would do something if they became part of a command; what is read holds any of them, or a number. */
static const char *const evil[] = {"; INJECT",
                                   "$(INJECT)",
                                   "`INJECT`",
                                   "a INJECT",
                                   "-INJECT",
                                   "|INJECT",
                                   "'INJECT'",
                                   "INJECT\\",
                                   "*INJECT",
                                   "",
                                   "[always]",
                                   "none [integrity]",
                                   "99999999999999999999",
                                   "-1",
                                   "0",
                                   "1e308",
                                   "nan",
                                   "\xe2\x80\xa6 INJECT"};

static void garble(struct computer *c, struct rng *r)
{
    static const int errors[] = {0, 0, 0, 0, ENOENT, EACCES, EIO, EBADMSG};
    const size_t n = sizeof evil / sizeof *evil;
    for (size_t i = 0; i < ENV_FACTS; i++) {
        c->e.fact[i].error = errors[rng_int(r, 0, 7)];
        snprintf(c->e.fact[i].text, sizeof c->e.fact[i].text, "%s",
                 c->e.fact[i].error ? "" : evil[rng_int(r, 0, (int)n - 1)]);
    }
    for (size_t i = 0; i < COMPUTER_LIST; i++) {
        snprintf(c->irqs[i].name, sizeof c->irqs[i].name, "%s", evil[rng_int(r, 0, (int)n - 1)]);
        snprintf(c->irqs[i].device, sizeof c->irqs[i].device, "%s", evil[rng_int(r, 0, (int)n - 1)]);
        c->irqs[i].counted = rng_chance(r, 0.5) ? UINT64_MAX / 8 : (uint64_t)rng_int(r, 0, 8);
        c->irqs[i].numbered = c->irqs[i].here = c->irqs[i].allowed_known = rng_chance(r, 0.5);
        cpu_mask_add(&c->irqs[i].allowed, rng_int(r, 0, CPU_LIMIT - 1));
        snprintf(c->tasks[i].name, sizeof c->tasks[i].name, "%s", evil[rng_int(r, 0, (int)n - 1)]);
        c->tasks[i].cpu_ms = rng_chance(r, 0.5) ? 1e9 : rng_int(r, 0, 99);
        c->tasks[i].on_cpu = c->tasks[i].kernel = rng_chance(r, 0.5);
        snprintf(c->states[i].name, sizeof c->states[i].name, "%s", evil[rng_int(r, 0, (int)n - 1)]);
        c->states[i].exit_us = rng_chance(r, 0.5) ? INT64_MAX : -1;
        c->states[i].number = UINT32_MAX;
        snprintf(c->weaknesses[i].text, sizeof c->weaknesses[i].text, "Mitigation: PTI INJECT");
    }
    c->e.n_irqs = c->e.n_tasks = c->e.n_states = c->e.n_weaknesses = (size_t)rng_int(r, 0, COMPUTER_LIST);
    c->e.root = rng_chance(r, 0.5);
    c->e.hypervisor = rng_chance(r, 0.5);
    c->e.seconds = rng_chance(r, 0.5) ? 1 : 0;
    c->e.steal = rng_chance(r, 0.5) ? NAN : 1e3;
    c->e.busy_sibling = rng_chance(r, 0.5) ? NAN : -1;
    c->e.busy_others = rng_chance(r, 0.5) ? NAN : 7;
    c->e.timer_hz = rng_chance(r, 0.5) ? NAN : 1e12;
    c->e.cgroup_quota = rng_chance(r, 0.5) ? NAN : 1e-9;
    snprintf(c->e.mitigations, sizeof c->e.mitigations, "%s", evil[rng_int(r, 0, (int)n - 1)]);
    cpu_mask_add(&c->e.default_affinity, rng_int(r, 0, CPU_LIMIT - 1));
}

TEST(test_garbage)
{
    struct rng r;
    struct computer *c = malloc(sizeof *c);
    rng_init(&r, 7, 0);
    for (unsigned round = 0; round < rng_rounds(1200); round++) {
        struct findings f;
        computer_quiet(c);
        garble(c, &r);
        computer_findings(c, &f);
        for (size_t i = 0; i < f.n; i++) {
            const struct finding *x = &f.list[i];
            assert_null(strstr(x->change, "INJECT"));
            assert_null(strstr(x->undo, "INJECT"));
            assert_true(isnan(x->cost) || (x->cost >= 0 && x->cost <= 1));
            assert_true(i == 0 || f.list[i - 1].kind <= x->kind);
            for (size_t k = 0; k < i; k++)
                assert_string_not_equal(f.list[k].id, x->id);
        }
        char *json = environment_json(&c->e, &f, NULL);
        json_t *root = json_loads(json, 0, NULL);
        assert_non_null(root);
        json_decref(root);
        free(json);
        findings_free(&f);
    }
    free(c);
}
