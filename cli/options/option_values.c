/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spelling of options and their values: names, numbers, lists, kernels and their files, bursts. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/messages.h"
#include "cli/options/option_parts.h"
#include "computer/settings/settings.h"
#include "drivers/events/event_code.h"
#include "util/edit_distance.h"
#include "util/text_list.h"

const char *options_model(const struct options *o)
{
    static const char prefix[] = "model:";
    const size_t length = sizeof(prefix) - 1;
    return o->machine != NULL && strncmp(o->machine, prefix, length) == 0 ? o->machine + length : NULL;
}

/* ---- --kernel-file, and names of kernels, which may be those of files ---- */

int option_kernel(const struct options *o, const char *name, struct payload *out, char *why, size_t size)
{
    return kernel_parse_with(o->blocks.kernel, o->blocks.n, name, out, why, size);
}

int option_load_block(const char *file, struct options *o)
{
    struct machine_error e = {.status = MACHINE_OK};
    return block_set_add(&o->blocks, file, &e) == MACHINE_OK ? 0 : complain_of_machine("--kernel-file", &e);
}

int option_take_block(const struct option_row *p, const char *text, struct options *o)
{
    (void)p, (void)text, (void)o; /* before all others: they name it */
    return 0;
}

/* ---- numbers, and lists of them ---- */

static const char out_of_range[] = "is out of range";

int option_bad_value(const struct option_row *p, const char *text, const char *wrong, const char *allowed)
{
    return refuse(BAD_USAGE, "--%s: '%s' %s; allowed: %s", p->name, text, wrong, allowed);
}

const char *option_whole(const char *text, uint64_t lo, uint64_t hi, uint64_t *out)
{
    if (text[0] == '\0')
        return "is empty";
    const char *digits = text[0] == '-' ? text + 1 : text;
    if (digits[0] == '\0' || strspn(digits, "0123456789") != strlen(digits))
        return "is not a whole number";
    errno = 0;
    unsigned long long value = strtoull(digits, NULL, 10);
    bool negative = digits != text && value != 0;
    if (errno == ERANGE || negative || value < lo || value > hi)
        return out_of_range;
    *out = value;
    return NULL;
}

const char *option_number(const char *text, double lo, double hi, double *out)
{
    char *end;
    if (text[0] == '\0')
        return "is empty";
    double value = strtod(text, &end);
    /* strtod() also takes blanks, hexadecimal, "nan" and "inf" */
    if (end == text || *end != '\0' || strspn(text, "+-.0123456789eE") != strlen(text))
        return "is not a number";
    if (!(value >= lo && value <= hi))
        return out_of_range;
    *out = value;
    return NULL;
}

const char *option_event_select(const char *text, uint64_t *out)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (!hex)
        return option_whole(text, 0, EVENT_SELECT_MAX_AMD, out);
    size_t digits = strspn(text + 2, "0123456789abcdefABCDEF");
    if (digits == 0 || digits > 3 || text[2 + digits] != '\0')
        return "is not a number of up to three hexadecimal digits";
    *out = strtoull(text + 2, NULL, 16);
    return NULL;
}

enum { ELEMENT_MAX = 100 };

/* Cuts the next element off. Returns the rest, NULL at the end; of one that is too long nothing valid is left. */
static const char *next_element(const char *text, char element[ELEMENT_MAX])
{
    size_t length = strcspn(text, ","), kept = length < ELEMENT_MAX - 1 ? length : ELEMENT_MAX - 1;
    memcpy(element, text, kept);
    element[kept] = '\0';
    if (kept < length)
        memcpy(element + kept - 3, "...", 3);
    return text[length] == ',' ? text + length + 1 : NULL;
}

static int add_number(const char *option, unsigned value, bool all_allowed, unsigned *out, size_t max, size_t *n)
{
    for (size_t i = 0; i < *n; i++)
        if (out[i] == value)
            return value == 0 && all_allowed
                       ? refuse(BAD_USAGE, "--%s: all (or 0, which means the same) is given twice", option)
                       : refuse(BAD_USAGE, "--%s: %u is given twice", option, value);
    if (*n == max)
        return refuse(BAD_USAGE, "--%s: more than %zu numbers", option, max);
    out[(*n)++] = value;
    return 0;
}

/* first-last, or one number. Returns what is wrong with it, or NULL. */
static const char *read_range(char *element, unsigned lo, unsigned hi, uint64_t *first, uint64_t *last)
{
    char *dash = strchr(element, '-');
    if (dash != NULL && dash != element && dash[1] == '\0')
        return "has no number after the dash";
    if (dash != NULL && dash != element)
        *dash = '\0';
    const char *wrong = option_whole(element, lo, hi, first);
    *last = *first;
    if (wrong == NULL && dash != NULL && dash != element) {
        wrong = option_whole(dash + 1, lo, hi, last);
        *dash = '-';
    }
    return wrong != NULL ? wrong : *first > *last ? "ends before it begins" : NULL;
}

/* Reads numbers from lo to hi. Returns 0, or BAD_USAGE after a line that names the option and the element. */
static int option_numbers(const char *option, const char *text, unsigned lo, unsigned hi, bool all_allowed,
                          unsigned *out, size_t max, size_t *n)
{
    char element[ELEMENT_MAX], shown[ELEMENT_MAX];
    *n = 0;
    for (const char *rest = text; rest != NULL;) {
        rest = next_element(rest, element);
        memcpy(shown, element, sizeof(shown));
        if (all_allowed && strcmp(element, "all") == 0) {
            if (add_number(option, 0, true, out, max, n) != 0)
                return -1;
            continue;
        }
        uint64_t first, last;
        const char *wrong = read_range(element, lo, hi, &first, &last);
        if (wrong != NULL)
            return refuse(BAD_USAGE, "--%s: '%s' %s; allowed: %u to %u%s, separated by commas, ranges as 4-7", option,
                          shown, wrong, lo, hi, all_allowed ? " or all" : "");
        for (uint64_t value = first; value <= last; value++)
            if (add_number(option, (unsigned)value, all_allowed, out, max, n) != 0)
                return -1;
    }
    return 0;
}

int option_take_cores(const struct option_row *p, const char *text, struct options *o)
{
    return option_numbers(p->name, text, 0, 4096, true, o->tables.active, TABLES_CORES_MAX, &o->tables.n_active);
}

int option_take_cpus(const struct option_row *p, const char *text, struct options *o)
{
    return option_numbers(p->name, text, 0, 8191, false, o->cpus, TABLES_CORES_MAX, &o->n_cpus);
}

/* Names of kernels, none twice, at most `max`. 0, or BAD_USAGE after a line. */
static int option_kernels(const struct option_row *p, const char *text, const struct options *o, struct payload *out,
                          size_t max, size_t *n)
{
    char element[ELEMENT_MAX], why[400];
    *n = 0;
    for (const char *rest = text; rest != NULL;) {
        rest = next_element(rest, element);
        if (*n == max)
            return refuse(BAD_USAGE, "--%s: more than %zu kernels", p->name, max);
        if (option_kernel(o, element, &out[*n], why, sizeof(why)) != 0)
            return refuse(BAD_USAGE, "--%s: %s", p->name, why);
        for (size_t i = 0; i < *n; i++)
            if (strcmp(out[i].name, out[*n].name) == 0)
                return refuse(BAD_USAGE, "--%s: %s is given twice", p->name, out[i].name);
        (*n)++;
    }
    return 0;
}

int option_take_kernels(const struct option_row *p, const char *text, struct options *o)
{
    return option_kernels(p, text, o, o->tables.kernels, TABLES_KERNELS_MAX, &o->tables.n_kernels);
}

/* ---- --burst: a number of instructions, and the time from one burst to the next ---- */

struct burst_unit {
    const char *name;
    double factor;
};

static const struct burst_unit times[] = {{"", 1}, {"us", 1}, {"ms", 1e3}, {"s", 1e6}};

enum { TIMES = sizeof times / sizeof *times };

/* A number and its unit, all of the text, times the unit's factor. Returns whether it is one from lo to hi. */
static bool with_unit(const char *text, const struct burst_unit *units, size_t n, double lo, double hi, double *out)
{
    char number[40];
    size_t length = strspn(text, "+-.0123456789eE");
    if (length == 0 || length >= sizeof number)
        return false;
    memcpy(number, text, length);
    number[length] = '\0';
    for (size_t i = 0; i < n; i++)
        if (strcmp(text + length, units[i].name) == 0)
            return option_number(number, lo / units[i].factor, hi / units[i].factor, out) == NULL &&
                   (*out *= units[i].factor, true);
    return false;
}

const char *option_time(const char *text, double lo, double hi, double *out)
{
    if (with_unit(text, times, TIMES, lo, hi, out))
        return NULL;
    return with_unit(text, times, TIMES, -INFINITY, INFINITY, out) ? out_of_range
           : text[0] == '\0'                                       ? "is empty"
                                                                   : "is not a number";
}

int option_take_burst(const struct option_row *p, const char *text, struct options *o)
{
    struct tables_options *out = &o->tables;
    static const struct burst_unit counts[] = {{"", 1}, {"k", 1e3}, {"M", 1e6}};
    char count[ELEMENT_MAX];
    const char *every = next_element(text, count);
    if (every == NULL && with_unit(text, times, TIMES, 1, 1e6, &o->verdict.burst_us))
        return 0;
    if (every == NULL || !with_unit(count, counts, 3, 1, 1e9, &out->burst_count) ||
        out->burst_count != floor(out->burst_count) || !with_unit(every, times, TIMES, 1, 1e6, &out->burst_every_us))
        return refuse(BAD_USAGE,
                      "--%s: '%s' is not of the form N,T: instructions (1 to 1e9, also 10k) every T (1 to 1000000 "
                      "microseconds, also 10us, 1ms, 0.1s), as in 1000,1ms; with --verdict T alone, as in 100us",
                      p->name, text);
    return 0;
}

/* ---- --beside ---- */

int option_take_codes(const struct option_row *p, const char *text, struct options *o)
{
    return option_kernels(p, text, o, o->beside.request.codes, BESIDE_CODES_MAX, &o->beside.request.n_codes);
}

int option_take_place(const struct option_row *p, const char *text, struct options *o)
{
    o->beside.place_given = true;
    for (int i = 0; i < CORUN_PLACES; i++)
        if (strcmp(text, machine_corun_place_names[i]) == 0) {
            o->beside.request.place = (enum corun_place)i;
            return 0;
        }
    return option_bad_value(p, text, "is no place", "same, sibling, core, package");
}

int option_take_duty(const struct option_row *p, const char *text, struct options *o)
{
    struct beside_request *out = &o->beside.request;
    char on[ELEMENT_MAX];
    const char *every = next_element(text, on);
    if (every == NULL || !with_unit(on, times, TIMES, 1, 1e6, &out->on_us) ||
        !with_unit(every, times, TIMES, 1, 1e6, &out->every_us) || out->on_us >= out->every_us)
        return refuse(BAD_USAGE,
                      "--%s: '%s' is not of the form ON,EVERY: for ON of each EVERY, 1 to 1000000 microseconds (also "
                      "10us, 1ms, 0.1s), ON below EVERY, as in 100us,1ms",
                      p->name, text);
    return 0;
}

int option_take_clocks(const struct option_row *p, const char *text, struct options *o)
{
    struct beside_request *out = &o->beside.request;
    static const struct burst_unit units[] = {{"", 1}, {"GHz", 1}, {"MHz", 1e-3}};
    char one[ELEMENT_MAX];
    for (const char *rest = text; rest != NULL; out->n_clocks++) {
        rest = next_element(rest, one);
        if (out->n_clocks == BESIDE_CODES_MAX)
            return refuse(BAD_USAGE, "--%s: more than %d frequencies", p->name, BESIDE_CODES_MAX);
        if (!with_unit(one, units, 3, 0.1, 20, &out->clocks[out->n_clocks]))
            return refuse(BAD_USAGE, "--%s: '%s' is no frequency of 0.1 to 20 GHz, as in 2.8,1.9 or 2800MHz", p->name,
                          one);
        for (size_t i = 0; i < out->n_clocks; i++)
            if (fabs(out->clocks[i] / out->clocks[out->n_clocks] - 1) < 0.02)
                return refuse(BAD_USAGE, "--%s: %g and %g GHz are not 2 %% apart", p->name, out->clocks[i],
                              out->clocks[out->n_clocks]);
    }
    return out->n_clocks > 1 ? 0 : refuse(BAD_USAGE, "--%s: two frequencies or more, as in 2.8,1.9", p->name);
}

/* ---- --quiet-machine, --interference ---- */

/* The index of a name of `length`, or -1. */
static int name_index(const char *const *names, int n, const char *text, size_t length)
{
    for (int i = 0; i < n; i++)
        if (strlen(names[i]) == length && strncmp(names[i], text, length) == 0)
            return i;
    return -1;
}

static int refuse_name(const char *option, const char *text, size_t length, const char *const *names, int n)
{
    char all[200] = "";
    for (int i = 0; i < n; i++)
        text_list_add(all, sizeof(all), ", ", "%s", names[i]);
    return refuse(BAD_USAGE, "--%s: unknown '%.*s'; allowed: %s", option, (int)length, text, all);
}

int option_take_quiet(const struct option_row *p, const char *text, struct options *o)
{
    o->quiet_given = true;
    o->quiet_parts = 0;
    while (text != NULL) {
        size_t length = strcspn(text, ",");
        int part = name_index(settings_part_names, QUIET_PARTS, text, length);
        if (part < 0)
            return refuse_name(p->name, text, length, settings_part_names, QUIET_PARTS);
        o->quiet_parts |= 1u << part;
        text = text[length] == ',' ? text + length + 1 : NULL;
    }
    return 0;
}

int option_take_interference(const struct option_row *p, const char *text, struct options *o)
{
    const char *const *names = interference_names + INTERFERENCE_MAKE;
    const int n = INTERFERENCES - INTERFERENCE_MAKE;
    int i = name_index(names, n, text, strlen(text));
    if (i < 0)
        return refuse_name(p->name, text, strlen(text), names, n);
    o->interference = (enum interference)(i + INTERFERENCE_MAKE);
    return 0;
}

/* ---- which option was meant ---- */

/* How many long options begin with a name; 1 if one equals it. *found is one of them, and `all` gets their names. */
static int options_like(const struct argp_option *table, const char *name, size_t length,
                        const struct argp_option **found, char *all, size_t size)
{
    int n = 0;
    for (const struct argp_option *o = table; o->name != NULL || o->doc != NULL; o++) {
        if (o->name != NULL && strncmp(o->name, name, length) == 0) {
            *found = o;
            if (strlen(o->name) == length)
                return 1;
            text_list_add(all, size, ", ", "--%s", o->name);
            n++;
        }
    }
    return n;
}

static const char *nearest_option(const struct argp_option *table, const char *name, size_t length)
{
    const char *nearest = NULL;
    unsigned least = edit_guess(length);
    for (const struct argp_option *o = table; o->name != NULL || o->doc != NULL; o++)
        if (o->name != NULL && edit_nearer(name, length, o->name, &least))
            nearest = o->name;
    return nearest;
}

static int unknown_option(const struct argp_option *table, const char *argument, size_t length)
{
    const char *nearest = length > 2 ? nearest_option(table, argument + 2, length - 2) : NULL;
    return refuse(BAD_USAGE, "unknown option '%s'%s%s; --help-all lists them", argument,
                  nearest != NULL ? ", perhaps --" : "", nearest != NULL ? nearest : "");
}

/* One argument that begins with two dashes; *taken: how many arguments it takes up. 0, or BAD_USAGE after a line. */
static int check_long_option(const struct argp_option *table, const char *argument, const char *next, int *taken)
{
    const struct argp_option *option = NULL;
    const char *name = argument + 2;
    size_t length = strcspn(name, "=");
    char all[700] = ""; /* those of any first letter fit */
    int matches = options_like(table, name, length, &option, all, sizeof(all));
    if (matches == 0)
        return unknown_option(table, argument, length + 2);
    if (matches > 1)
        return refuse(BAD_USAGE, "'%s' is ambiguous: %s", argument, all);
    if (option->arg == NULL && name[length] == '=')
        return refuse(BAD_USAGE, "--%s takes no value", option->name);
    bool optional = (option->flags & OPTION_ARG_OPTIONAL) != 0; /* only after '=' */
    if (option->arg != NULL && !optional && name[length] != '=' && next == NULL)
        return refuse(BAD_USAGE, "--%s needs a value: --%s %s", option->name, option->name, option->arg);
    *taken = option->arg != NULL && !optional && name[length] != '=' ? 2 : 1;
    return 0;
}

int option_names_check(const struct argp_option *table, int argc, char **argv, int *end)
{
    static char help[] = "--help"; /* also -h, and what is short for it, though --help-all begins alike */
    int status = 0, i = 1;
    for (int taken = 1; i < argc && status == 0 && strcmp(argv[i], "--") != 0; i += taken) {
        taken = 1;
        if (strcmp(argv[i], "-h") == 0 || (strlen(argv[i]) > 2 && strncmp(argv[i], help, strlen(argv[i])) == 0))
            argv[i] = help;
        if (strncmp(argv[i], "--", 2) == 0)
            status = check_long_option(table, argv[i], argv[i + 1], &taken);
        else if (argv[i][0] == '-' && argv[i][1] != '\0' && strcmp(argv[i], "-?") != 0 && strcmp(argv[i], "-V") != 0)
            status = unknown_option(table, argv[i], 0);
    }
    *end = i < argc ? i : argc;
    return status;
}
