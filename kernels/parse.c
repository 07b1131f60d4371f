/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel names: WIDTH OP [@mem|@l2|@l3|@ram|@zmask] [-lat|-chain] [@1/N] [-dirty], or pause, chain, amx. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/edit_distance.h"
#include "kernels/kernels.h"
#include "util/error.h"
#include "util/plain_text.h"

/* Registers of 256 and 512 bits have upper halves that VZEROUPPER cleans; TILERELEASE does so with tiles. */
static bool can_be_dirty(const struct kernel *k)
{
    return k->width >= 256;
}

static void nearest_name(const char *wanted, char *out, size_t size)
{
    size_t count;
    const struct kernel *all = kernel_registry(&count);
    unsigned best = edit_guess(strlen(wanted));
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        for (int dirty = 0; dirty <= (can_be_dirty(&all[i]) ? 1 : 0); dirty++) {
            char name[KERNEL_NAME_MAX];
            snprintf(name, sizeof name, "%s%s", all[i].name, dirty ? "-dirty" : "");
            if (edit_nearer(wanted, strlen(wanted), name, &best))
                snprintf(out, size, "%s", name);
        }
    }
}

/* Writes a name in small letters, as the registry has them. */
static void lower(const char *name, char out[PLAIN_SHOWN_MAX + 1])
{
    size_t n = strlen(name) < PLAIN_SHOWN_MAX ? strlen(name) : PLAIN_SHOWN_MAX;
    for (size_t i = 0; i < n; i++)
        out[i] = (char)tolower((unsigned char)name[i]);
    out[n] = '\0';
}

/* Returns a kernel for a name that people use for code of a width, by instruction set or registers ("avx512", "ymm");
 * NULL: there is none. */
static const char *nearest_by_set(const char *name)
{
    static const char *const sets[][2] = {{"avx512", "512fma"}, {"avx-512", "512fma"}, {"zmm", "512fma"},
                                          {"avx", "256fma"},    {"ymm", "256fma"},     {"sse", "128fma"},
                                          {"xmm", "128fma"},    {"tmul", "amx"},       {"tile", "amx"}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (strncmp(name, sets[i][0], strlen(sets[i][0])) == 0)
            return sets[i][1];
    return NULL;
}

/* Finds among `count` entries the one with the longest name that `name` begins with, followed by a suffix or nothing,
 * if it is longer than that of `best`. */
static const struct kernel *find_entry(const struct kernel *all, size_t count, const char *name,
                                       const struct kernel *best)
{
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(all[i].name);
        if (n > (best != NULL ? strlen(best->name) : 0) && strncmp(name, all[i].name, n) == 0 &&
            strchr("@-", name[n]) != NULL)
            best = &all[i];
    }
    return best;
}

/* Returns true where a name is that of a kernel with a level of the caches or memory that it does not have: `bare` in
 * small letters. Level 1 is that of all others. */
static bool asks_for_level(const char *bare)
{
    static const char *const levels[] = {"@l1", "@l1d", "@l2", "@l3", "@l4", "@llc", "@ram", "@dram", "@memory"};
    size_t count;
    const struct kernel *all = kernel_registry(&count), *found = find_entry(all, count, bare, NULL);
    for (size_t i = 0; found != NULL && i < sizeof levels / sizeof *levels; i++)
        if (strcmp(bare + strlen(found->name), levels[i]) == 0)
            return true;
    return false;
}

static int refuse_unknown(const char *name, char *why, size_t size)
{
    if (name[0] == '\0')
        return error_line(why, size, "the kernel's name is empty; characterize --list kernels shows all");
    /* compared without the density, which is not part of any name */
    char bare[PLAIN_SHOWN_MAX + 1];
    const char *density = strstr(name, "@1/");
    size_t n = density != NULL ? (size_t)(density - name) : strlen(name);
    size_t resume = n + strcspn(name + n, "-");
    snprintf(bare, sizeof bare, "%.*s%s", (int)(n < PLAIN_SHOWN_MAX ? n : PLAIN_SHOWN_MAX), name, name + resume);
    lower(bare, bare);
    if (asks_for_level(bare))
        return error_line(
            why, size,
            "unknown kernel '%s'; only load and fma of 128 bits and more have @l2, @l3 and @ram; operands "
            "from L1D: 512fma@mem; characterize --list kernels shows all",
            plain_shown(name).text);
    char nearest[KERNEL_NAME_MAX];
    const char *by_set = nearest_by_set(bare);
    nearest_name(bare, nearest, sizeof nearest);
    const char *like = by_set ? by_set : nearest;
    return error_line(why, size, "unknown kernel '%s'%s%s%s; characterize --list kernels shows all",
                      plain_shown(name).text, like[0] ? "; nearest is '" : "", like, like[0] ? "'" : "");
}

/* Reads "@1/N" at *s and steps after it. Returns N, or 0. */
static unsigned read_density(const char **s)
{
    if (strncmp(*s, "@1/", 3) != 0)
        return 0;
    const char *p = *s + 3;
    unsigned n = 0;
    if (*p == '0')
        return 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        n = n * 10 + (unsigned)(*p - '0');
        if (n > KERNEL_DENSITY_MAX)
            return 0;
    }
    *s = p;
    return n;
}

static int refuse_density(const char *name, const struct kernel *k, char *why, size_t size)
{
    if (k->has_density)
        return error_line(why, size, "'%s': a density is @1/N with N from 1 to %d, as in %s@1/8",
                          plain_shown(name).text, KERNEL_DENSITY_MAX, k->name);
    size_t n = strlen(k->name);
    if (n > 4 && strcmp(k->name + n - 4, "-lat") == 0)
        return error_line(
            why, size,
            "'%s': -lat kernels have no density, because the adds would hide in the latency; leave the @ out, as in %s",
            plain_shown(name).text, k->name);
    return error_line(why, size, "'%s': %s has no density; leave the @ out", plain_shown(name).text, k->name);
}

static int read_suffixes(const char *name, const char *s, struct payload *out, char *why, size_t size)
{
    const struct kernel *k = out->kernel;
    bool has_density = false;
    while (*s != '\0') {
        if (*s == '@' && !isalpha((unsigned char)s[1])) {
            if (!k->has_density || has_density)
                return refuse_density(name, k, why, size);
            out->density = read_density(&s);
            if (out->density == 0 || strchr("@-", *s) == NULL)
                return refuse_density(name, k, why, size);
            has_density = true;
        } else if (strncmp(s, "-dirty", 6) == 0 && !out->dirty && strchr("@-", s[6]) != NULL) {
            if (!can_be_dirty(k))
                return error_line(
                    why, size,
                    "'%s': %s uses no registers that could stay dirty; -dirty needs a 256- or 512-bit kernel, or amx",
                    plain_shown(name).text, k->name);
            out->dirty = true;
            s += 6;
        } else {
            return refuse_unknown(name, why, size);
        }
    }
    return 0;
}

int kernel_parse_with(const struct kernel *const *more, size_t n_more, const char *given, struct payload *out,
                      char *why, size_t why_size)
{
    char name[PLAIN_SHOWN_MAX + 1];
    size_t count;
    const struct kernel *all = kernel_registry(&count);
    lower(given, name);
    if (strlen(given) > PLAIN_SHOWN_MAX) /* no name is so long: it is refused, and shown as it was given */
        return refuse_unknown(given, why, why_size);
    struct payload p = {.kernel = find_entry(all, count, name, NULL), .density = 1};
    for (size_t i = 0; i < n_more; i++)
        p.kernel = find_entry(more[i], 1, name, p.kernel);
    if (p.kernel == NULL)
        return refuse_unknown(given, why, why_size);
    if (read_suffixes(name, name + strlen(p.kernel->name), &p, why, why_size) != 0)
        return -1;
    char density[16] = "";
    if (p.density > 1)
        snprintf(density, sizeof density, "@1/%u", p.density);
    snprintf(p.name, sizeof p.name, "%s%s%s", p.kernel->name, density, p.dirty ? "-dirty" : "");
    p.run = p.kernel->variants[p.density];
    p.instructions = p.kernel->block_instructions[p.density];
    p.counted = p.kernel->block_counted[p.density];
    p.bytes = p.kernel->block_bytes[p.density];
    *out = p;
    return 0;
}

int kernel_parse(const char *given, struct payload *out, char *why, size_t why_size)
{
    return kernel_parse_with(NULL, 0, given, out, why, why_size);
}

struct payload kernel_named(const char *name)
{
    struct payload p;
    char why[200];
    if (kernel_parse(name, &p, why, sizeof why) != 0)
        abort();
    return p;
}

struct payload kernel_copy(const struct payload *p)
{
    struct payload copy = *p;
    if (p->density == 1 && p->kernel->variants[0] != NULL)
        copy.run = p->kernel->variants[0];
    return copy;
}

const char *kernel_weight_name(enum kernel_weight weight)
{
    return weight == KERNEL_HEAVY ? "heavy" : "light";
}

bool kernel_is_variant(const struct kernel *k)
{
    return strpbrk(k->name, "-@") != NULL;
}
