/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Machines of include/characterize/characterize.h, and what its other functions have in common. */
#include <string.h>

#include "computer/cpu/cpu.h"
#include "library/library.h"
#include "library/measure.h"

const char *characterize_version(void)
{
    return VERSION;
}

enum characterize_status library_fail(struct characterize_error *error, const struct machine_error *e)
{
    if (error != NULL) {
        error->status = (enum characterize_status)e->status;
        snprintf(error->text, sizeof(error->text), "%s", e->text);
        snprintf(error->remedy, sizeof(error->remedy), "%s", e->remedy);
    }
    return (enum characterize_status)e->status;
}

enum characterize_status library_refuse(struct characterize_error *error, enum characterize_status status,
                                        const char *text)
{
    struct machine_error e;
    machine_fail(&e, (enum machine_status)status, "", "%s", text);
    return library_fail(error, &e);
}

enum characterize_status library_refuse_null(struct characterize_error *error)
{
    return library_refuse(error, CHARACTERIZE_BAD_INPUT, "a required argument is NULL");
}

enum characterize_status library_check(const struct characterize_options *o, struct characterize_error *error)
{
    const char *wrong = NULL;
    if (o->runs > 100000)
        wrong = "runs: more than 100000";
    else if (o->period_us != 0 && !(o->period_us >= 0.1 && o->period_us <= 1000))
        wrong = "period_us: neither 0 nor from 0.1 to 1000";
    else if (!(o->warmup_us >= 0 && o->warmup_us <= 1e6))
        wrong = "warmup_us: not from 0 to 1e6";
    else if (o->observe_us != 0 && !(o->observe_us >= 1 && o->observe_us <= 1e6))
        wrong = "observe_us: neither 0 nor from 1 to 1e6";
    return wrong == NULL ? CHARACTERIZE_OK : library_refuse(error, CHARACTERIZE_BAD_INPUT, wrong);
}

char *library_text(int (*print)(FILE *out, const void *data), const void *data)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    bool failed = print(out, data) != 0;
    failed = fclose(out) != 0 || failed;
    if (failed)
        free(text);
    return failed ? NULL : text;
}

/* -1: the machine's choice, made when it measures. */
static int library_check_cpu(const struct machine *m, int cpu, struct machine_error *e)
{
    struct machine_info info;
    struct cpu_view view;
    m->ops->info(m, &info);
    if (cpu < -1 || (info.modelled && cpu >= (int)info.cores))
        return machine_fail(e, MACHINE_BAD_INPUT, "", "no CPU %d; -1 leaves the choice to the machine", cpu);
    if (cpu == -1 || info.modelled)
        return MACHINE_OK;
    cpu_view_read("/sys", &view);
    return cpu_choose(&view, cpu, &cpu, e);
}

enum characterize_status characterize_open(const char *name, int cpu, const char *data_folder,
                                           characterize_machine **machine, struct characterize_error *error)
{
    struct machine_error e;
    if (machine != NULL)
        *machine = NULL;
    if (name == NULL || machine == NULL)
        return library_refuse_null(error);
    if (data_folder != NULL && data_folder[0] == '\0')
        return library_refuse(error, CHARACTERIZE_BAD_INPUT, "data_folder is empty; NULL stands for the default");
    memset(&e, 0, sizeof(e));
    struct characterize_machine *m = calloc(1, sizeof(*m));
    char *folder = data_folder != NULL ? strdup(data_folder) : NULL;
    if (m == NULL || (data_folder != NULL && folder == NULL)) {
        free(folder);
        free(m);
        return library_refuse(error, CHARACTERIZE_FAILED, "out of memory");
    }
    m->cpu = cpu;
    m->data_folder = folder;
    if (machine_open(name, folder, &m->machine, m->chosen, sizeof(m->chosen), &e) != MACHINE_OK) {
        free(folder);
        free(m);
        return library_fail(error, &e);
    }
    if (library_check_cpu(&m->machine, cpu, &e) != MACHINE_OK) {
        characterize_close(m);
        return library_fail(error, &e);
    }
    *machine = m;
    return CHARACTERIZE_OK;
}

void characterize_close(characterize_machine *machine)
{
    if (machine == NULL)
        return;
    machine->machine.ops->close(&machine->machine);
    block_set_free(&machine->blocks);
    free(machine->data_folder);
    free(machine);
}

void characterize_describe(const characterize_machine *machine, struct characterize_machine_info *info)
{
    struct machine_info i;
    machine->machine.ops->info(&machine->machine, &i);
    *info = (struct characterize_machine_info){.name = i.name,
                                               .cpu = i.cpu,
                                               .source = i.source,
                                               .chosen = machine->chosen,
                                               .notes = i.notes != NULL ? i.notes : "",
                                               .modelled = i.modelled,
                                               .cores = i.cores};
}

const char *characterize_kernel_name(size_t i)
{
    size_t n;
    const struct kernel *kernels = kernel_registry(&n);
    return i < n ? kernels[i].name : NULL;
}

int library_kernel(const characterize_machine *m, const char *name, struct payload *out, char *why, size_t size)
{
    return kernel_parse_with(m->blocks.kernel, m->blocks.n, name, out, why, size);
}

enum characterize_status characterize_add_kernel_file(characterize_machine *machine, const char *file,
                                                      struct characterize_error *error)
{
    struct machine_error e;
    if (machine == NULL || file == NULL)
        return library_refuse_null(error);
    return block_set_add(&machine->blocks, file, &e) == MACHINE_OK ? CHARACTERIZE_OK : library_fail(error, &e);
}

int characterize_can_run(const characterize_machine *machine, const char *kernel)
{
    struct payload p;
    struct machine_info info;
    struct machine_error e;
    char why[400];
    if (kernel == NULL)
        return 0;
    machine->machine.ops->info(&machine->machine, &info);
    return library_kernel(machine, kernel, &p, why, sizeof(why)) == 0 &&
           measure_check_kernel(&p, &info, &e) == MACHINE_OK;
}
