/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folded stacks: of this program, of programs that are made here, of a kernel in a fake /proc and of a model. */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/stacks.h"
#include "profiler/symbols.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"
#include "util/command.h"

#define NOINLINE __attribute__((noinline))

enum { DEPTH = 3 };
struct where {
    uint64_t at[DEPTH];
};

/* A place in the caller, as the kernel finds it on a stack. */
static NOINLINE void note_caller(uint64_t *out)
{
    *out = (uint64_t)(uintptr_t)__builtin_return_address(0);
    __asm__ volatile("" ::: "memory");
}

static NOINLINE void wide_inner(struct where *w)
{
    note_caller(&w->at[0]);
    __asm__ volatile("");
}

static NOINLINE void wide_middle(struct where *w)
{
    wide_inner(w);
    note_caller(&w->at[1]);
    __asm__ volatile("");
}

static NOINLINE void wide_outer(struct where *w)
{
    wide_middle(w);
    note_caller(&w->at[2]);
    __asm__ volatile("");
}

static struct profile_record of_process(pid_t pid, const struct where *w)
{
    struct profile_record r;
    memset(&r, 0, sizeof(r));
    r.outcome = PROFILE_TAKEN;
    r.level_ideal = 2;
    r.sight.task.pid = r.sight.task.tgid = (uint32_t)pid;
    (void)snprintf(r.sight.task.comm, sizeof(r.sight.task.comm), "wide");
    r.n_stack = DEPTH;
    for (unsigned i = 0; i < DEPTH; i++)
        r.stack[i] = w->at[i];
    return r;
}

/* All stacks as text, to be freed. */
static char *folded(struct profile_stacks *s)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(profile_stacks_write(out, s), 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void folds_to(struct profile_stacks *s, const char *want)
{
    char *text = folded(s);
    assert_string_equal(text, want);
    free(text);
}

static bool may_open_mappings(void)
{
    if (access("/proc/self/map_files", R_OK | X_OK) == 0 && geteuid() == 0)
        return true;
    print_message("skipped: mappings of processes are root's to open\n");
    return false;
}

TEST(this_programs_functions_have_names)
{
    struct where w;
    if (!may_open_mappings())
        skip();
    struct profile_stacks *s = profile_stacks_new(NULL, NULL);
    assert_non_null(s);
    wide_outer(&w);
    struct profile_record r = of_process(getpid(), &w);
    assert_true(profile_stacks_add(s, &r));
    assert_true(profile_stacks_add(s, &r));
    folds_to(s, "level 2;wide;wide_outer;wide_middle;wide_inner 2\n");
    /* the second level is another stack; what was not taken and what has none count for nothing */
    r.level_ideal = 1;
    assert_true(profile_stacks_add(s, &r));
    r.outcome = PROFILE_SWITCHED;
    assert_true(profile_stacks_add(s, &r));
    r.outcome = PROFILE_TAKEN;
    r.n_stack = 0;
    assert_true(profile_stacks_add(s, &r));
    r.n_stack = PROFILE_STACK_MAX + 1;
    assert_true(profile_stacks_add(s, &r));
    r.n_stack = DEPTH;
    r.level_ideal = 0;
    assert_true(profile_stacks_add(s, &r));
    folds_to(s, "level 2;wide;wide_outer;wide_middle;wide_inner 2\n"
                "level 1;wide;wide_outer;wide_middle;wide_inner 1\n");
    profile_stacks_free(s);
}

/* Where a call returns to may be past the end of its function; where the program was interrupted is not. */
TEST(only_return_addresses_are_one_too_far)
{
    struct where w = {.at = {(uint64_t)(uintptr_t)wide_inner, (uint64_t)(uintptr_t)wide_middle}};
    if (!may_open_mappings())
        skip();
    struct profile_stacks *s = profile_stacks_new(NULL, NULL);
    struct profile_record r = of_process(getpid(), &w);
    r.n_stack = 2;
    assert_true(profile_stacks_add(s, &r));
    char *text = folded(s);
    assert_non_null(strstr(text, ";wide_inner 1\n"));
    assert_null(strstr(text, "wide_middle"));
    free(text);
    profile_stacks_free(s);
    /* where the program was when it entered the kernel */
    s = profile_stacks_new(NULL, NULL);
    r.stack[1] = r.stack[0];
    r.stack[0] = UINT64_MAX;
    r.n_kernel = 1;
    assert_true(profile_stacks_add(s, &r));
    text = folded(s);
    assert_memory_equal(text, "level 2;wide;wide_inner;", strlen("level 2;wide;wide_inner;"));
    free(text);
    profile_stacks_free(s);
}

TEST(addresses_in_nothing_are_unknown_once)
{
    struct where w = {.at = {1, 2, 3}};
    struct profile_stacks *s = profile_stacks_new(NULL, NULL);
    struct profile_record r = of_process(getpid(), &w);
    assert_true(profile_stacks_add(s, &r));
    folds_to(s, "level 2;wide;[unknown] 1\n");
    profile_stacks_free(s);
}

/* A child that stays until its pipe is closed: a copy of this process. */
static pid_t start_copy(int hold[2])
{
    assert_int_equal(pipe(hold), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char c;
        (void)close(hold[1]);
        _exit(read(hold[0], &c, 1) == 0 ? 0 : 1);
    }
    (void)close(hold[0]);
    return pid;
}

static void end_child(pid_t pid, int hold)
{
    int status;
    (void)close(hold);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

TEST(those_that_have_exited_keep_their_names)
{
    struct where w;
    int hold[2];
    if (!may_open_mappings())
        skip();
    struct profile_stacks *s = profile_stacks_new(NULL, NULL);
    wide_outer(&w);
    pid_t pid = start_copy(hold);
    struct profile_record r = of_process(pid, &w);
    assert_true(profile_stacks_add(s, &r));
    end_child(pid, hold[1]);
    assert_true(profile_stacks_add(s, &r));
    folds_to(s, "level 2;wide;wide_outer;wide_middle;wide_inner 2\n");
    /* its number belongs to another now, which has exited, too: nothing is known about that */
    r.sight.task.start_ns = UINT64_MAX;
    assert_true(profile_stacks_add(s, &r));
    folds_to(s, "level 2;wide;wide_outer;wide_middle;wide_inner 2\n"
                "level 2;wide;[unknown] 1\n");
    /* nor about one whose first stack comes after its end */
    pid = start_copy(hold);
    r = of_process(pid, &w);
    end_child(pid, hold[1]);
    assert_true(profile_stacks_add(s, &r));
    folds_to(s, "level 2;wide;[unknown] 2\n"
                "level 2;wide;wide_outer;wide_middle;wide_inner 2\n");
    profile_stacks_free(s);
}

/* A program that writes where it was to descriptor 1, waits for the end of 0, executes its argument if it has one. */
static const char program_text[] =
    "#include <stdint.h>\n"
    "#include <unistd.h>\n"
    "#define NOINLINE __attribute__((noinline))\n"
    "static NOINLINE void note(uint64_t *out)\n"
    "{ *out = (uint64_t)(uintptr_t)__builtin_return_address(0); __asm__ volatile(\"\" ::: \"memory\"); }\n"
    "static NOINLINE void INNER(uint64_t *at) { note(&at[0]); __asm__ volatile(\"\"); }\n"
    "static NOINLINE void MIDDLE(uint64_t *at) { INNER(at); note(&at[1]); __asm__ volatile(\"\"); }\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    uint64_t at[3];\n"
    "    char c;\n"
    "    MIDDLE(at);\n"
    "    note(&at[2]);\n"
    "    if (write(1, at, sizeof(at)) != sizeof(at) || read(0, &c, 1) < 0)\n"
    "        return 1;\n"
    "    if (argc > 1)\n"
    "        execv(argv[1], argv + 1);\n"
    "    return argc > 1;\n"
    "}\n";

/* False where there is no compiler. prefix: of its functions' names. */
static bool make_program(const char *folder, const char *name, const char *prefix, const char *flag)
{
    static struct command_output said;
    char source[256], program[256], inner[64], middle[64], why[300];
    (void)snprintf(source, sizeof(source), "%s/program.c", folder);
    (void)snprintf(program, sizeof(program), "%s/%s", folder, name);
    (void)snprintf(inner, sizeof(inner), "-DINNER=%s_inner", prefix);
    (void)snprintf(middle, sizeof(middle), "-DMIDDLE=%s_middle", prefix);
    folder_put(folder, "program.c", program_text);
    if (!command_installed("cc")) {
        print_message("skipped: no cc\n");
        return false;
    }
    const char *argv[] = {"cc", "-O2", inner, middle, flag, "-o", program, source, NULL};
    if (command_run(argv, 60, &said, why, sizeof(why)) != 0)
        fail_msg("%s: %s", why, said.err);
    return true;
}

struct program {
    pid_t pid;
    int in, out;
    struct where where;
};

static void hear_from(struct program *p)
{
    assert_int_equal(read(p->out, &p->where, sizeof(p->where)), sizeof(p->where));
}

static struct program start_program(const char *folder, const char *name, const char *then)
{
    int in[2], out[2];
    char path[256], next[256];
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    (void)snprintf(next, sizeof(next), "%s/%s", folder, then != NULL ? then : "");
    struct program p = {.pid = fork(), .in = in[1], .out = out[0]};
    assert_true(p.pid >= 0);
    if (p.pid == 0) {
        (void)dup2(in[0], 0);
        (void)dup2(out[1], 1);
        (void)close(in[1]);
        (void)close(out[0]);
        (void)execl(path, path, then != NULL ? next : (char *)NULL, (char *)NULL);
        _exit(9);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    hear_from(&p);
    return p;
}

static void end_program(struct program *p)
{
    end_child(p->pid, p->in);
    (void)close(p->out);
}

static void add_program(struct profile_stacks *s, const struct program *p)
{
    const struct profile_record r = of_process(p->pid, &p->where);
    assert_true(profile_stacks_add(s, &r));
}

/* Without relocation and without libraries; and what comes after exec() has other functions at the same addresses. */
TEST(static_programs_and_exec)
{
    char folder[FOLDER_PATH_MAX];
    if (!may_open_mappings())
        skip();
    folder_make(folder);
    if (make_program(folder, "first", "first", "-static") && make_program(folder, "second", "second", "-static")) {
        struct profile_stacks *s = profile_stacks_new(NULL, NULL);
        struct program p = start_program(folder, "first", "second");
        add_program(s, &p);
        folds_to(s, "level 2;wide;main;first_middle;first_inner 1\n");
        const struct where before = p.where;
        assert_int_equal(write(p.in, "x", 1), 1);
        hear_from(&p);
        assert_memory_equal(&before, &p.where, sizeof(before));
        add_program(s, &p);
        folds_to(s, "level 2;wide;main;first_middle;first_inner 1\n"
                    "level 2;wide;main;second_middle;second_inner 1\n");
        end_program(&p);
        profile_stacks_free(s);
    }
    folder_remove(folder);
}

TEST(deleted_programs_have_names)
{
    char folder[FOLDER_PATH_MAX];
    if (!may_open_mappings())
        skip();
    folder_make(folder);
    if (make_program(folder, "program", "gone", "-pie")) {
        struct profile_stacks *s = profile_stacks_new(NULL, NULL);
        struct program p = start_program(folder, "program", NULL);
        folder_remove(folder);
        add_program(s, &p);
        folds_to(s, "level 2;wide;main;gone_middle;gone_inner 1\n");
        end_program(&p);
        profile_stacks_free(s);
    }
    folder_remove(folder);
}

/* A stripped program's places are those that addr2line expects, so that its debugging information can be looked up. */
TEST(stripped_programs_have_addresses)
{
    char folder[FOLDER_PATH_MAX];
    if (!may_open_mappings())
        skip();
    folder_make(folder);
    if (make_program(folder, "program", "bare", "-s")) {
        struct profile_stacks *s = profile_stacks_new(NULL, NULL);
        struct program p = start_program(folder, "program", NULL);
        add_program(s, &p);
        char *text = folded(s), maps[64], want[512], *line = NULL;
        size_t room = 0;
        uint64_t base = 0;
        (void)snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)p.pid);
        FILE *in = fopen(maps, "r");
        assert_non_null(in);
        assert_true(getline(&line, &room, in) > 0); /* the first mapping is of its first segment, at address 0 */
        base = strtoull(line, NULL, 16);
        free(line);
        (void)fclose(in);
        (void)snprintf(want, sizeof(want), "level 2;wide;[program]+0x%llx;[program]+0x%llx;[program]+0x%llx 1\n",
                       (unsigned long long)(p.where.at[2] - 1 - base), (unsigned long long)(p.where.at[1] - 1 - base),
                       (unsigned long long)(p.where.at[0] - base));
        assert_string_equal(text, want);
        free(text);
        end_program(&p);
        profile_stacks_free(s);
    }
    folder_remove(folder);
}

/* A stripped library has lost the names of its own functions: what follows a label is not all of that name. */
TEST(labels_of_stripped_files_name_nothing)
{
    static struct command_output said;
    char folder[FOLDER_PATH_MAX], source[256], library[256], why[300];
    if (!command_installed("cc"))
        skip();
    folder_make(folder);
    (void)snprintf(source, sizeof(source), "%s/it.s", folder);
    (void)snprintf(library, sizeof(library), "%s/it.so", folder);
    folder_put(folder, "it.s",
               ".globl label, sized\nlabel: ret\nown: nop\nret\n.type sized, @function\nsized: ret\n.size sized, 1\n");
    for (int stripped = 0; stripped < 2; stripped++) {
        const char *argv[] = {"cc", "-shared", "-nostdlib", stripped ? "-s" : "-g", "-o", library, source, NULL};
        if (command_run(argv, 60, &said, why, sizeof(why)) != 0)
            fail_msg("%s: %s", why, said.err);
        FILE *in = fopen(library, "rb");
        assert_non_null(in);
        struct symbols_file *f = symbols_of_file(fileno(in));
        assert_non_null(f);
        size_t labels = 0, sized = 0;
        for (uint64_t offset = 0, address; offset < 0x4000; offset++) {
            const char *name = symbols_file_find(f, offset, &address);
            labels += name != NULL && strcmp(name, "label") == 0;
            sized += name != NULL && strcmp(name, "sized") == 0;
        }
        assert_int_equal(labels, stripped ? 0 : 1);
        assert_int_equal(sized, 1);
        symbols_file_free(f);
        (void)fclose(in);
    }
    folder_remove(folder);
}

/* Generated code, and the page that the kernel maps into every process. */
TEST(code_without_a_file)
{
    FILE *in = fopen("/proc/self/maps", "r");
    char line[512];
    uint64_t vdso = 0;
    assert_non_null(in);
    while (fgets(line, sizeof(line), in) != NULL)
        if (strstr(line, "[vdso]") != NULL)
            vdso = strtoull(line, NULL, 16);
    (void)fclose(in);
    if (vdso == 0)
        skip();
    struct where w = {.at = {vdso + 16}};
    struct profile_record r = of_process(getpid(), &w);
    r.n_stack = 1;
    struct profile_stacks *s = profile_stacks_new(NULL, NULL);
    assert_true(profile_stacks_add(s, &r));
    folds_to(s, "level 2;wide;[vdso] 1\n");
    profile_stacks_free(s);
}

static const char kallsyms[] = "ffffffff81000000 T _stext\n"
                               "ffffffff81000400 t do_wide_xor\n"
                               "ffffffff81000400 D not_code\n"
                               "ffffffff81000500 T raid6_gen\n"
                               "ffffffffc0000000 t crypt\t[dm_crypt]\n"
                               "junk\n\n"
                               "0000000000000000 T hidden\n";

static struct profile_record in_kernel(void)
{
    const struct where w = {.at = {0xffffffff81000500, 0xffffffff81000500, 0xffffffffc0000010}};
    struct profile_record r = of_process(1, &w);
    (void)snprintf(r.sight.task.comm, sizeof(r.sight.task.comm), "kworker/0:1");
    r.n_kernel = DEPTH;
    return r;
}

TEST(the_kernels_functions_are_marked)
{
    char proc[FOLDER_PATH_MAX];
    folder_make(proc);
    folder_put(proc, "kallsyms", kallsyms);
    struct profile_stacks *s = profile_stacks_new(NULL, proc);
    const struct profile_record r = in_kernel();
    assert_true(profile_stacks_add(s, &r));
    folds_to(s, "level 2;kworker/0:1;crypt_[k];do_wide_xor_[k];raid6_gen_[k] 1\n");
    profile_stacks_free(s);
    folder_put(proc, "kallsyms", "0000000000000000 T _stext\n0000000000000000 t do_wide_xor\n"); /* kptr_restrict */
    s = profile_stacks_new(NULL, proc);
    assert_true(profile_stacks_add(s, &r));
    folds_to(s, "level 2;kworker/0:1;[kernel];[kernel];[kernel] 1\n");
    profile_stacks_free(s);
    folder_remove(proc);
    s = profile_stacks_new(NULL, proc);
    assert_true(profile_stacks_add(s, &r));
    folds_to(s, "level 2;kworker/0:1;[kernel];[kernel];[kernel] 1\n");
    profile_stacks_free(s);
}

static char *modelled_place(const struct profile_source *source, const struct profile_record *r, unsigned entry)
{
    (void)source;
    return entry == 1 ? NULL : strdup(r->stack[entry] == 7 ? "encode;frame\n\033[2J" : "main");
}

/* Names may hold anything; a line stays a line, and a frame a frame. */
TEST(a_models_places_are_its_own)
{
    const struct profile_source_ops ops = {.place = modelled_place};
    const struct profile_source source = {.ops = &ops};
    const struct where w = {.at = {7, 8, 9}};
    struct profile_stacks *s = profile_stacks_new(&source, NULL);
    struct profile_record r = of_process(getpid(), &w);
    memcpy(r.sight.task.comm, "a;b\nc\xff 9.........", sizeof(r.sight.task.comm)); /* without a NUL */
    assert_true(profile_stacks_add(s, &r));
    folds_to(s, "level 2;a:b c\xEF\xBF\xBD 9........;main;[unknown];encode:frame ?[2J 1\n");
    r.sight.task.comm[0] = '\0';
    assert_true(profile_stacks_add(s, &r));
    char *text = folded(s);
    assert_non_null(strstr(text, "level 2;[unknown];main;"));
    free(text);
    profile_stacks_free(s);
    profile_stacks_free(NULL);
}

static char *numbered_place(const struct profile_source *source, const struct profile_record *r, unsigned entry)
{
    char text[64];
    (void)source;
    (void)snprintf(text, sizeof(text), "f%llu", (unsigned long long)r->stack[entry]);
    return strdup(text);
}

/* Memory is bounded, samples are not: their sum stays right. */
TEST(too_many_stacks_are_counted_together)
{
    const struct profile_source_ops ops = {.place = numbered_place};
    const struct profile_source source = {.ops = &ops};
    enum { TOO_MANY = PROFILE_STACKS_MAX + 1000 };
    uint64_t sum = 0, others = 0;
    size_t n;
    struct profile_stacks *s = profile_stacks_new(&source, NULL);
    for (uint64_t i = 0; i < TOO_MANY; i++) {
        const struct where w = {.at = {i}};
        struct profile_record r = of_process(1, &w);
        r.n_stack = 1;
        assert_true(profile_stacks_add(s, &r));
    }
    const struct profile_stack *list = profile_stacks_list(s, &n);
    assert_int_equal(n, PROFILE_STACKS_MAX + 1);
    for (size_t i = 0; i < n; i++) {
        sum += list[i].count;
        if (strcmp(list[i].line, "[other stacks]") == 0)
            others = list[i].count;
        assert_true(i == 0 || list[i - 1].count > list[i].count ||
                    (list[i - 1].count == list[i].count && strcmp(list[i - 1].line, list[i].line) < 0));
    }
    assert_int_equal(sum, TOO_MANY);
    assert_int_equal(others, 1000);
    profile_stacks_free(s);
}

/* A file that is no program, or a damaged one, has no names and does no harm. */
TEST(damaged_files_have_no_names)
{
    char folder[FOLDER_PATH_MAX], path[128];
    static unsigned char image[4096 * 1024];
    uint64_t address;
    FILE *in = fopen("/proc/self/exe", "rb");
    assert_non_null(in);
    size_t size = fread(image, 1, sizeof(image), in);
    (void)fclose(in);
    assert_true(size > 1000 && size < sizeof(image));
    folder_make(folder);
    (void)snprintf(path, sizeof(path), "%s/file", folder);
    srandom(1);
    size_t named = 0;
    for (int i = 0; i < 300; i++) {
        static unsigned char bad[sizeof(image)];
        memcpy(bad, image, size);
        size_t length = i % 3 == 0 ? (size_t)random() % size : size;
        for (int k = 0; k < (i == 0 ? 0 : 1 + i % 40); k++) /* headers are at the beginning and at the end */
            bad[(k % 2 ? size - 1 - (size_t)random() % 3000 : (size_t)random() % 900)] = (unsigned char)random();
        FILE *out = fopen(path, "wb+");
        assert_non_null(out);
        assert_int_equal(fwrite(bad, 1, i == 0 ? size : length, out), i == 0 ? size : length);
        assert_int_equal(fflush(out), 0);
        struct symbols_file *f = symbols_of_file(fileno(out));
        assert_non_null(f);
        for (uint64_t offset = 0; offset < size; offset += 97)
            named += symbols_file_find(f, offset, &address) != NULL;
        if (i == 0)
            assert_true(symbols_file_count(f) > 10 && named > 10);
        symbols_file_free(f);
        (void)fclose(out);
    }
    folder_remove(folder);
    symbols_file_free(NULL);
}

TEST(of_names_at_one_place_the_best_counts)
{
    struct symbols *s = symbols_new();
    assert_true(symbols_add(s, 100, 10, 1, "alias"));
    assert_true(symbols_add(s, 100, 10, 3, "function"));
    assert_true(symbols_add(s, 100, 10, 3, "later"));
    assert_true(symbols_add(s, 100, 10, 0, "label"));
    assert_true(symbols_add(s, 120, 0, 3, "open"));
    assert_true(symbols_add(s, 200, 1, 3, "last"));
    symbols_sort(s);
    assert_null(symbols_find(s, 99));
    assert_string_equal(symbols_find(s, 100), "function");
    assert_string_equal(symbols_find(s, 109), "function");
    assert_null(symbols_find(s, 110));
    assert_string_equal(symbols_find(s, 199), "open");
    assert_string_equal(symbols_find(s, 200), "last");
    assert_null(symbols_find(s, 201));
    symbols_free(s);
    s = symbols_new();
    symbols_sort(s);
    assert_null(symbols_find(s, 0));
    symbols_free(s);
    symbols_free(NULL);
}
