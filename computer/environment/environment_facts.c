/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "computer/environment/environment_parts.h"
#include "util/order.h"
#include "util/plain_text.h"

enum { FACT_PATH_SIZE = 256, LIST_SIZE = 4096, FIRST_CPU_SIZE = 16384 };

/* ---- the facts ---- */

void environment_path(enum environment_fact which, int cpu, char *out, size_t size)
{
    static const char *const patterns[] = {
#define ENVIRONMENT_FACT_PATH(name, path) path,
        ENVIRONMENT_FACTS(ENVIRONMENT_FACT_PATH)
#undef ENVIRONMENT_FACT_PATH
    };
    const char *pattern = patterns[which], *number = strstr(pattern, "%d");
    if (number != NULL)
        snprintf(out, size, "/%.*s%d%s", (int)(number - pattern), pattern, cpu, number + 2);
    else
        snprintf(out, size, "/%s", pattern);
}

/* The first folder in the order of names that has the file. */
static int read_starred(const struct environment_tree *t, const char *path, const char *star, struct fact *out)
{
    struct environment_names names;
    char folder[FACT_PATH_SIZE], full[2 * FACT_PATH_SIZE];
    const char *part = star; /* that the name begins with */
    int error = ENOENT;
    while (part[-1] != '/')
        part--;
    snprintf(folder, sizeof folder, "%.*s", (int)(part - path), path);
    snprintf(full, sizeof full, "%.*s", (int)(star - part), part);
    environment_tree_names(t, folder, full, &names);
    if (names.error != 0)
        error = names.error;
    for (size_t i = 0; i < names.n && error == ENOENT; i++) {
        snprintf(full, sizeof full, "%s%s%s", folder, names.name[i], star + 1);
        error = environment_tree_line(t, full, out->text, sizeof out->text);
    }
    environment_names_free(&names);
    return error;
}

static void read_fact(const struct environment_tree *t, enum environment_fact which, int cpu, struct fact *out)
{
    char path[FACT_PATH_SIZE];
    environment_path(which, cpu, path, sizeof path);
    const char *below = path + 1, *star = strchr(below, '*');
    out->text[0] = '\0';
    out->error = star != NULL ? read_starred(t, below, star, out)
                              : environment_tree_line(t, below, out->text, sizeof out->text);
}

/* ---- sets of CPUs, which may be longer than a fact's text ---- */

static bool read_set(const struct environment_tree *t, enum environment_fact which, const struct environment *e,
                     int (*parse)(const char *, struct cpu_mask *), struct cpu_mask *out)
{
    char path[FACT_PATH_SIZE], text[LIST_SIZE];
    environment_path(which, e->cpu, path, sizeof path);
    if (e->fact[which].error == 0 && environment_tree_line(t, path + 1, text, sizeof text) == 0)
        return parse(text, out) == 0;
    cpu_mask_clear(out);
    return false;
}

static void read_sets(const struct environment_tree *t, struct environment *e)
{
    e->siblings_known = read_set(t, ENV_SIBLINGS, e, cpu_mask_parse, &e->siblings);
    if (!cpu_mask_has(&e->siblings, e->cpu)) {
        cpu_mask_clear(&e->siblings);
        e->siblings_known = false;
    }
    read_set(t, ENV_ONLINE, e, cpu_mask_parse, &e->online);
    read_set(t, ENV_ISOLATED, e, cpu_mask_parse, &e->isolated);
    read_set(t, ENV_NOHZ_FULL, e, cpu_mask_parse, &e->nohz_full);
    read_set(t, ENV_WORKQUEUE_MASK, e, cpu_mask_parse_hex, &e->workqueue);
    read_set(t, ENV_WRITEBACK_MASK, e, cpu_mask_parse_hex, &e->writeback);
    read_set(t, ENV_DEFAULT_AFFINITY, e, cpu_mask_parse_hex, &e->default_affinity);
}

/* ---- the kernel command line, which is longer, too ---- */

const char *environment_boot_option(const struct environment *e, const char *name, size_t *length)
{
    const char *found = NULL;
    size_t size = strlen(name), word;
    for (const char *at = e->command_line + strspn(e->command_line, " "); *at != '\0';
         at += word, at += strspn(at, " ")) {
        word = strcspn(at, " ");
        if (word == 2 && strncmp(at, "--", 2) == 0) /* what follows is for the first process */
            break;
        bool same = strncmp(at, name, size) == 0 && (word == size || at[size] == '=');
        if (same) { /* the last one counts */
            found = at + size + (word > size);
            *length = word - size - (word > size);
        }
    }
    return found;
}

static void read_command_line(const struct environment_tree *t, struct environment *e)
{
    char path[FACT_PATH_SIZE];
    environment_path(ENV_CMDLINE, e->cpu, path, sizeof path);
    e->command_line[0] = e->mitigations[0] = '\0';
    if (environment_tree_line(t, path + 1, e->command_line, sizeof e->command_line) != 0)
        return;
    size_t length;
    const char *value = environment_boot_option(e, "mitigations", &length);
    char word[ENVIRONMENT_LINE];
    snprintf(word, sizeof word, "%.*s", value != NULL ? (int)length : 7, value != NULL ? value : "default");
    plain_text(word, e->mitigations, sizeof e->mitigations);
}

void environment_facts_read(const struct environment_tree *t, struct environment *e)
{
    for (int i = 0; i < ENV_FACTS; i++)
        read_fact(t, (enum environment_fact)i, e->cpu, &e->fact[i]);
    read_sets(t, e);
    read_command_line(t, e);
    plain_text(e->fact[ENV_MICROCODE].text, e->microcode, sizeof e->microcode);
}

/* ---- proc/cpuinfo ---- */

static void take_flags(char *flags, struct environment *e)
{
    char *rest = NULL;
    e->cpuinfo_known = true;
    for (const char *word = strtok_r(flags, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        e->hypervisor |= strcmp(word, "hypervisor") == 0;
        e->hwp |= strcmp(word, "hwp") == 0;
    }
}

static unsigned different_revisions(unsigned *revision, size_t n)
{
    unsigned different = n > 0;
    if (n > 0)
        qsort(revision, n, sizeof *revision, order_unsigned);
    for (size_t i = 1; i < n; i++)
        different += revision[i] != revision[i - 1];
    return different;
}

/* Takes the text apart. */
static void read_cpuinfo(char *text, struct environment *e)
{
    static const size_t most = CPU_LIMIT;
    unsigned *revision = calloc(most, sizeof *revision);
    size_t n = 0;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char *flags = e->cpuinfo_known ? NULL : cpu_info_value(line, "flags");
        const char *microcode = cpu_info_value(line, "microcode");
        if (flags != NULL)
            take_flags(flags, e);
        if (microcode != NULL && e->microcode[0] == '\0')
            plain_text(microcode, e->microcode, sizeof e->microcode);
        if (microcode != NULL && revision != NULL && n < most)
            revision[n++] = (unsigned)strtoul(microcode, NULL, 16);
    }
    e->microcodes = revision != NULL ? different_revisions(revision, n) : 0;
    free(revision);
}

void environment_cpuinfo_read(const struct environment_tree *t, bool all, struct environment *e)
{
    char first[FIRST_CPU_SIZE], *text = all ? environment_tree_whole(t, "proc/cpuinfo") : first;
    struct cpu_leaves leaves;
    struct cpu_identity id;
    e->cpuinfo_known = e->hypervisor = e->hwp = false;
    if (text != NULL && (all || environment_tree_text(t, first, sizeof first, "proc/cpuinfo") > 0))
        read_cpuinfo(text, e);
    if (all)
        free(text);
    else
        e->microcodes = 0; /* those of all CPUs were not looked at */
    if (!t->inside) {
        cpu_read_leaves(&leaves);
        cpu_identify(&leaves, &id);
        plain_text(id.hypervisor_name, e->hypervisor_name, sizeof e->hypervisor_name);
    }
    if (e->hypervisor_name[0] == '\0' && e->hypervisor)
        plain_text(e->fact[ENV_HYPERVISOR_TYPE].text, e->hypervisor_name, sizeof e->hypervisor_name);
}
