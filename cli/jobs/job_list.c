/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --list: what there is to choose from. */
#include <stdio.h>
#include <string.h>

#include "cli/changed_settings.h"
#include "cli/jobs/jobs.h"
#include "cli/messages.h"
#include "computer/power/likwid_bridge.h"
#include "drivers/machine.h"
#include "drivers/model/model.h"
#include "kernels/kernels.h"
#include "tables/published/sku.h"
#include "tables/table/tables.h"
#include "schedulers/simulate/workload/drawn.h"
#include "util/screen_text.h"

enum { CHOICES_MAX = 8 };

static void print_kernel(const struct kernel *k, unsigned features)
{
    char lacking[80] = "yes";
    if ((k->features & ~features) != 0) {
        char names[60];
        kernel_feature_names(k->features & ~features, names, sizeof(names));
        snprintf(lacking, sizeof(lacking), "no: %s", names);
    }
    int column = printf("%-14s %5u  %-6s %12u  %-7s  %-14s ", k->name, k->width, kernel_weight_name(k->weight),
                        k->block_instructions[1], k->has_density ? "1/1-256" : "-", lacking);
    screen_text_field(stdout, (unsigned)column, k->description);
}

static int list_kernels(const struct options *o)
{
    size_t count;
    const struct kernel *kernels = kernel_registry(&count);
    unsigned features = kernel_cpu_features();
    printf("%-14s %5s  %-6s %12s  %-7s  %-14s %s\n", "kernel", "bits", "weight", "instructions", "density", "runs here",
           "what");
    for (size_t i = 0; i < count; i++)
        print_kernel(&kernels[i], features);
    for (size_t i = 0; i < o->blocks.n; i++)
        print_kernel(o->blocks.kernel[i], features);
    static const char *const suffixes[][2] = {
        {"\nSuffixes: ",
         "NAME@1/N  one such instruction in every N, the rest scalar adds (where density allows; dependent "
         "on each other in the kernels NAME-chain, else independent)"},
        {"          ", "NAME-dirty  ends without VZEROUPPER (amx: without TILERELEASE). Both: NAME@1/N-dirty."}};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        fputs(suffixes[i][0], stdout);
        screen_text_words(stdout, suffixes[i][1], 10, 10, screen_text_width(stdout));
        putchar('\n');
    }
    return DONE;
}

static int list_machines(void)
{
    struct machine_choice choices[CHOICES_MAX];
    size_t n = machine_choices(choices, CHOICES_MAX);
    for (size_t i = 0; i < n; i++) {
        bool helps = !choices[i].usable && choices[i].remedy[0] != '\0';
        char text[sizeof(choices[i].why) + sizeof(choices[i].remedy) + 20];
        int column = printf("%-25s %-4s ", choices[i].name, choices[i].usable ? "yes" : "no");
        snprintf(text, sizeof(text), "%s%s%s", choices[i].why, helps ? "; remedy: " : "",
                 helps ? choices[i].remedy : "");
        screen_text_field(stdout, (unsigned)column, text);
    }
    char **names;
    if (model_list(NULL, &names, &n) != 0)
        return complain_out_of_memory();
    for (size_t i = 0; i < n; i++)
        printf("model:%-19s %-4s modelled; works everywhere\n", names[i], "yes");
    if (n == 0) {
        printf("%-25s %-4s modelled; no shipped models were found (CHARACTERIZE_DATA sets their directory)\n",
               "model:FILE", "yes");
    }
    model_list_free(names, n);
    char why[200];
    int found = likwid_found(NULL, why, sizeof(why));
    putchar('\n');
    int column = printf("liblikwid, for --fixed-frequency without root: ");
    screen_text_field(stdout, (unsigned)column, found == 0 ? "found" : why);
    return DONE;
}

static int print_sku(const char *name)
{
    struct model model;
    struct machine_error error;
    if (model_load(name, NULL, &model, &error) != MACHINE_OK)
        return complain_of_machine("", &error);
    printf("%-20s %-42s %3u cores, %zu level%s\n", name, model.cpu_name, model.cores, model.n_levels,
           model.n_levels == 1 ? "" : "s");
    return DONE;
}

static int print_figures(const char *name)
{
    struct sku sku;
    struct machine_error error;
    if (sku_load(name, NULL, &sku, &error) != MACHINE_OK)
        return complain_of_machine("", &error);
    printf("%-20s %-42s %3zu figure%s\n", name, sku.name, sku_published(&sku), sku_published(&sku) == 1 ? "" : "s");
    sku_free(&sku);
    return DONE;
}

/* One that cannot be read hides no other. Frees the names. Returns `status`, or what went wrong. */
static int print_each(char **names, size_t n, int (*print)(const char *name), int status)
{
    for (size_t i = 0; i < n; i++) {
        int one = print(names[i]);
        status = one != DONE ? one : status;
    }
    data_file_list_free(names, n);
    return status;
}

static int list_skus(void)
{
    char **names;
    size_t n;
    if (model_list(NULL, &names, &n) != 0)
        return complain_out_of_memory();
    int status = print_each(names, n, print_sku, DONE);
    printf(n > 0 ? "\nCPUs with a model: run one with --machine model:NAME.\n\n"
                 : "No models were found (CHARACTERIZE_DATA sets their directory).\n");
    if (sku_list(NULL, &names, &n) != 0)
        return complain_out_of_memory();
    printf(n > 0 ? "CPUs with published figures, for --validate NAME:\n" : "Nor were published figures.\n");
    status = print_each(names, n, print_figures, status);
    if (sku_list_common(NULL, &names, &n) != 0)
        return complain_out_of_memory();
    if (n > 0)
        printf("\nMicroarchitectures, with the figures that their SKUs share, likewise:\n");
    return print_each(names, n, print_figures, status);
}

static int list_tables(void)
{
    size_t n;
    const struct table_kind *const *tables = tables_all(&n);
    for (size_t i = 0; i < n; i++)
        screen_text_field(stdout, (unsigned)printf("%-12s ", tables[i]->name), tables[i]->about);
    printf("\n--table NAME measures one of them, --all measures all.\n");
    return DONE;
}

static int print_workload(const char *name)
{
    struct sim_workload *w;
    struct machine_error error;
    const struct sim_workload_options options = {.recorded = 0};
    if (sim_drawn_open(name, &options, &w, &error) != MACHINE_OK)
        return complain_of_machine("", &error);
    printf("%-20s %u cores, %u CPUs, %zu threads, recorded at %g GHz\n", name, w->n_cores, w->n_cpus, w->n_tasks,
           w->recorded / 1e4);
    sim_workload_free(w);
    return DONE;
}

static int list_workloads(void)
{
    char **names;
    size_t n;
    if (sim_drawn_list(&names, &n) != 0)
        return complain_out_of_memory();
    int status = print_each(names, n, print_workload, DONE);
    printf("\nDrawn workloads: --simulate NAME --params EXPORT.json; sources in data/workloads/.\n");
    return status;
}

static int list_options(void)
{
    option_list(stdout);
    return DONE;
}

int job_list(const struct options *o)
{
    static int (*const lists[])(void) = {[LIST_MACHINES] = list_machines,
                                         [LIST_SKUS] = list_skus,
                                         [LIST_TABLES] = list_tables,
                                         [LIST_WORKLOADS] = list_workloads,
                                         [LIST_OPTIONS] = list_options};
    return o->quiet_given ? changed_settings_show(o) : o->list == LIST_KERNELS ? list_kernels(o) : lists[o->list]();
}
