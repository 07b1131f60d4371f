/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code that is made of a block, byte for byte; the buffers beside which nothing is; what becomes of it where the
 * system gives no memory, and of blocks that this CPU, made one without vector units, cannot run.
 */
#ifdef __SANITIZE_ADDRESS__ /* its runtime would be given them, too */
#define sysconf made_sysconf
#define mmap made_mmap
#define munmap made_munmap
#define mprotect made_mprotect
#endif

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "drivers/block/block.h"
#include "drivers/block/block_parts.h"
#include "tests/support/folder.h"
#include "tests/support/test.h"

/* ---- the system, in the place of the C library's; calls count from 1 ---- */

static long cpus = 3;
static unsigned maps, protects, fails_map, fails_protect;
static long mapped; /* bytes that were not given back */

long sysconf(int name)
{
    return name == _SC_NPROCESSORS_CONF ? cpus : name == _SC_PAGESIZE ? 4096 : -1;
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (++maps == fails_map)
        return MAP_FAILED;
    mapped += (long)size;
    return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset); /* NOLINT */
}

int munmap(void *at, size_t size)
{
    mapped -= (long)size;
    return (int)syscall(SYS_munmap, at, size);
}

int mprotect(void *at, size_t size, int protection)
{
    return ++protects == fails_protect ? -1 : (int)syscall(SYS_mprotect, at, size, protection);
}

unsigned kernel_cpu_features(void)
{
    return 0;
}

/* ---- */

static void text_of_hex(const char *code, struct block_text *text)
{
    memset(text, 0, sizeof *text);
    for (unsigned byte; sscanf(code, " %2x", &byte) == 1; code += 2 + (code[2] == ' '))
        text->code[text->n++] = (uint8_t)byte;
}

/* As few copies as make what stands around them less than a fiftieth: by trying all. */
TEST(copies_are_the_fewest)
{
    skip_where_sanitized("the runtime of the sanitizers needs the real system");
    for (unsigned written = 0; written <= 0x3fff; written = 2 * written + 1)
        for (unsigned each = 1; each < 1000; each++) {
            const struct block_shape s = {.written = written};
            unsigned around = 2, least = 1;
            for (unsigned r = 0; r < BLOCK_GPRS; r++)
                around += written >> r & 1;
            while (least * each <= 50 * around)
                least++;
            assert_int_equal(block_code_copies(&s, each), least);
        }
}

TEST(code_is_as_it_should_be)
{
    skip_where_sanitized("the runtime of the sanitizers needs the real system");
    static const struct {
        unsigned written;
        const char *moves; /* mov REGISTER, r14 */
    } shapes[] = {
        {0, ""},
        {1 << 0, "4c 89 f0"},
        {1 << 1 | 1 << 2, "4c 89 f1 4c 89 f2"},
        {1 << 3 | 1 << 5 | 1 << 6 | 1 << 7, "4c 89 f3 4c 89 f5 4c 89 f6 4c 89 f7"},
        {1 << 8 | 1 << 9, "4d 89 f0 4d 89 f1"},
        {1 << 7 | 1 << 13, "4c 89 f7 4d 89 f5"},
    };
    static const uint8_t entry[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x49, 0xb8}, count[] = {0x49, 0xff, 0xcf, 0x0f, 0x85};
    static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0}, to_rax[] = {0x48, 0xb8}, jump_rax[] = {0xff, 0xe0};
    static struct block_text text, moves;
    text_of_hex("90 48 ff c0", &text);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (unsigned copies = 1; copies < 4; copies++) {
            const struct block_shape s = {.written = shapes[i].written, .uses = BLOCK_YMM};
            struct block_code c;
            struct machine_error err;
            assert_int_equal(block_code_make(&text, &s, copies, &c, &err), MACHINE_OK);
            text_of_hex(shapes[i].moves, &moves);
            const uint8_t *at = c.page;
            assert_memory_equal(at, entry, 6);
            const struct block_frame *frame;
            memcpy(&frame, at + 6, 8);
            assert_ptr_equal(frame, &c.frame);
            assert_memory_equal(at + 14, to_rax, 2);
            assert_memory_equal(at + 24, jump_rax, 2);
            for (size_t k = 26; k < 64; k++)
                assert_int_equal(at[k], 0xcc);
            at += 64;
            assert_ptr_equal(c.frame.turn, at);
            assert_memory_equal(at, moves.code, moves.n);
            at += moves.n;
            assert_ptr_equal(c.copies, at);
            for (unsigned k = 0; k < copies; k++, at += text.n)
                assert_memory_equal(at, text.code, text.n);
            assert_memory_equal(at, count, 5);
            int32_t back;
            memcpy(&back, at + 5, 4);
            at += 9;
            assert_ptr_equal(at + back, c.page + 64);
            assert_int_equal(c.bytes, at - (c.page + 64));
            assert_memory_equal(at, jump, 6);
            for (at += 6 + 8; at < c.page + c.page_bytes; at++)
                assert_int_equal(*at, 0xcc);
            assert_int_equal(c.page_bytes, 4096);
            assert_int_equal(c.n_copies, copies);
            assert_int_equal(c.frame.uses, BLOCK_YMM);
            block_code_free(&c);
            assert_int_equal(mapped, 0);
            assert_null(c.page);
        }
}

/* With room for what stands around: in whole pages. */
TEST(pages_are_as_many_as_it_takes)
{
    skip_where_sanitized("the runtime of the sanitizers needs the real system");
    static const struct {
        size_t bytes;
        unsigned copies;
        size_t page;
    } cases[] = {{3584, 1, 4096}, {3585, 1, 8192}, {1792, 2, 4096}, {1793, 2, 8192}, {BLOCK_BYTES_MAX, 1, 20480}};
    static struct block_text text;
    const struct block_shape s = {.written = 0x3fff};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct block_code c;
        struct machine_error err;
        memset(text.code, 0x90, sizeof text.code);
        text.n = cases[i].bytes;
        assert_int_equal(block_code_make(&text, &s, cases[i].copies, &c, &err), MACHINE_OK);
        assert_int_equal(c.page_bytes, cases[i].page);
        block_code_free(&c);
        assert_int_equal(mapped, 0);
    }
}

/* Returns true if a byte can be read there: the kernel says so, and no fault ends the test. */
static bool readable(const uint8_t *at)
{
    int fd[2];
    assert_int_equal(pipe(fd), 0);
    bool is = write(fd[1], at, 1) == 1;
    close(fd[0]);
    close(fd[1]);
    return is;
}

/* Each CPU's: numbers that slow nothing down, between pages that nobody may touch. */
TEST(buffers_stand_alone)
{
    skip_where_sanitized("the runtime of the sanitizers needs the real system");
    static const struct {
        long cpus;
        unsigned slots;
    } cases[] = {{-1, 1}, {0, 1}, {1, 1}, {2, 2}, {4097, 4096}};
    static struct block_text text;
    const struct block_shape s = {.written = 0};
    text_of_hex("90", &text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct block_code c;
        struct machine_error err;
        cpus = cases[i].cpus;
        assert_int_equal(block_code_make(&text, &s, 1, &c, &err), MACHINE_OK);
        assert_int_equal(c.frame.n_slots, cases[i].slots);
        assert_int_equal(c.frame.stride, BLOCK_BUFFER_BYTES + 4096);
        assert_false(readable(c.frame.slots - 1));
        for (unsigned k = 0; k < cases[i].slots; k += 1 + cases[i].slots / 3) {
            const uint8_t *slot = c.frame.slots + k * c.frame.stride;
            assert_memory_equal(slot, c.frame.slots, BLOCK_BUFFER_BYTES);
            assert_true(readable(slot) && readable(slot + BLOCK_BUFFER_BYTES - 1));
            assert_false(readable(slot + BLOCK_BUFFER_BYTES) || readable(slot + c.frame.stride - 1));
        }
        block_code_free(&c);
        assert_int_equal(mapped, 0);
    }
    cpus = 3;
}

TEST(numbers_slow_nothing_down)
{
    skip_where_sanitized("the runtime of the sanitizers needs the real system");
    static struct block_text text;
    const struct block_shape s = {.written = 0};
    struct block_code c;
    struct machine_error err;
    text_of_hex("90", &text);
    assert_int_equal(block_code_make(&text, &s, 1, &c, &err), MACHINE_OK);
    const uint8_t *slot = c.frame.slots;
    double sum = 0;
    for (size_t i = 0; i < BLOCK_BUFFER_BYTES; i++)
        assert_true(slot[i] != 0);
    for (size_t i = 0; i < BLOCK_BUFFER_BYTES; i += sizeof(float)) {
        float x;
        memcpy(&x, slot + i, sizeof x);
        assert_true(x >= 1 && x < 2);
        sum += (double)x;
        if (i > 0)
            assert_true(memcmp(slot + i - sizeof x, &x, sizeof x) != 0);
    }
    /* spread over all of the range: the mean of 4096 uniform numbers, and the three bits that are always set */
    assert_float_equal(sum / (BLOCK_BUFFER_BYTES / 4.0), 1.5, 0.025);
    /* the second and third number of SplitMix64 from 0 */
    static const uint8_t first[] = {0xf5, 0x65, 0xb9, 0x3f, 0x4f, 0x45, 0x89, 0x3f};
    assert_memory_equal(slot, first, sizeof first);
    block_code_free(&c);
}

/* Whichever call fails: it is reported, and nothing stays after. */
TEST(where_the_system_refuses)
{
    skip_where_sanitized("the runtime of the sanitizers needs the real system");
    static struct block_text text;
    const struct block_shape s = {.written = 0};
    text_of_hex("90", &text);
    cpus = 2;
    for (unsigned map = 0; map < 4; map++)
        for (unsigned protect = 0; protect < 5; protect++) {
            struct block_code c;
            struct machine_error err = {.status = MACHINE_OK};
            maps = protects = 0;
            fails_map = map;
            fails_protect = protect;
            int status = block_code_make(&text, &s, 1, &c, &err);
            bool memory = map == 1 || map == 2 || protect == 1 || protect == 2;
            fails_map = fails_protect = 0;
            assert_int_equal(status, memory ? MACHINE_FAILED : protect == 3 ? MACHINE_CANNOT : MACHINE_OK);
            if (status == MACHINE_OK) {
                block_code_free(&c);
            } else {
                assert_string_equal(err.text, memory ? "out of memory"
                                                     : "this system lets no program make code to run (mprotect)");
                assert_null(c.page);
                assert_null(c.frame.slots);
            }
            assert_int_equal(mapped, 0);
        }
    cpus = 3;
}

/* ---- blocks that this CPU cannot run ---- */

TEST(blocks_of_other_cpus)
{
    skip_where_sanitized("the runtime of the sanitizers needs the real system");
    static const struct {
        const char *name, *code, *like, *description;
        unsigned instructions, counted;
    } cases[] = {
        /* vaddps ymm; vpxor ymm; inc rax */
        {"a", "c5fc58c1 c5fdefc0 48ffc0", "256fma", "a.bin: 3 instructions, 1 of its width and weight; 51 copies", 153,
         51},
        {"b", "c5fdefc0", "256or", "b.bin: 1 instructions, 1 of its width and weight; 101 copies", 101, 101},
        {"c", "62f17c4858c1", "512fma", "c.bin: 1 instructions, 1 of its width and weight; 101 copies", 101, 101},
        {"d", "62f17d48fec1", "512or", "d.bin: 1 instructions, 1 of its width and weight; 101 copies", 101, 101},
        {"e", "c5f058c1", "128fma", "e.bin: 1 instructions, 1 of its width and weight; 101 copies", 101, 101},
        {"f", "c5f157c1", "128or", "f.bin: 1 instructions, 1 of its width and weight; 101 copies", 101, 101},
        {"g", "c5f358c2", "64fma", "g.bin: 1 instructions, 1 of its width and weight; 101 copies", 101, 101},
        {"h", "c5f877", "64add", "h.bin: 1 instructions, 1 of its width and weight; 101 copies", 101, 101},
    };
    char folder[FOLDER_PATH_MAX];
    struct block_set set = {.n = 0};
    folder_make(folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct block_text text;
        char path[FOLDER_PATH_MAX + 8];
        struct machine_error err;
        struct payload p;
        char why[200];
        size_t n;
        text_of_hex(cases[i].code, &text);
        snprintf(path, sizeof path, "%s/%s.bin", folder, cases[i].name);
        FILE *out = fopen(path, "w");
        assert_non_null(out);
        fwrite(text.code, 1, text.n, out);
        fclose(out);
        if (block_set_add(&set, path, &err) != MACHINE_OK)
            fail_msg("%s", err.text);
        assert_int_equal(set.n, i + 1);
        assert_string_equal(set.kernel[i]->like, cases[i].like);
        assert_string_equal(set.kernel[i]->description, cases[i].description);
        assert_memory_equal(block_set_code(&set, i, &n), text.code, text.n);
        assert_int_equal(n, text.n);
        assert_int_equal(kernel_parse_with(set.kernel, set.n, cases[i].name, &p, why, sizeof why), 0);
        assert_int_equal(p.instructions, cases[i].instructions);
        assert_int_equal(p.counted, cases[i].counted);
    }
    block_set_free(&set);
    assert_int_equal(set.n, 0);
    /* jumps say nothing of how many it runs */
    struct machine_error err;
    char path[FOLDER_PATH_MAX + 8];
    snprintf(path, sizeof path, "%s/j.bin", folder);
    folder_put(folder, "j.bin", "\xc5\xfd\xef\xc0\x75\xfa");
    assert_int_equal(block_set_add(&set, path, &err), MACHINE_CANNOT);
    assert_non_null(strstr(err.text, "has jumps, and this CPU cannot run it to count its instructions"));
    assert_string_equal(err.remedy, "declare how many it runs: '; instructions: N'");
    assert_int_equal(set.n, 0);
    assert_int_equal(mapped, 0);
    folder_remove(folder);
}

/* ---- step by step ---- */

static int steps_of(const char *code, unsigned copies, struct block_steps *steps, struct machine_error *err)
{
    static struct block_text text;
    struct block_shape s;
    struct block_code c;
    text_of_hex(code, &text);
    assert_int_equal(block_check("it", &text, &s, err), MACHINE_OK);
    assert_int_equal(block_code_make(&text, &s, copies, &c, err), MACHINE_OK);
    int status = block_try_steps("it", &text, &s, &c, steps, err);
    block_code_free(&c);
    block_shape_free(&s);
    return status;
}

/* mov ecx, 9999; dec ecx; jnz: one and two for each round; then NOPs. */
TEST(steps_are_counted_up_to_a_limit)
{
    skip_where_sanitized("the runtime of the sanitizers needs the real system");
    struct block_steps steps;
    struct machine_error err;
    if (steps_of("90 48ffc0", 1, &steps, &err) == MACHINE_CANNOT) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    assert_true(steps.instructions == 2 && steps.counted == 2);
    assert_int_equal(steps_of("480fafc1 90 90", 3, &steps, &err), MACHINE_OK);
    assert_true(steps.instructions == 9 && steps.counted == 3);
    assert_int_equal(steps_of("b9 03000000 ffc9 75fc", 2, &steps, &err), MACHINE_OK);
    assert_true(steps.instructions == 14 && steps.counted == 14);
    assert_int_equal(steps_of("b9 0f270000 ffc9 75fc 90", 1, &steps, &err), MACHINE_OK);
    assert_int_equal(steps.instructions, 20000);
    assert_int_equal(steps_of("b9 0f270000 ffc9 75fc 90 90", 1, &steps, &err), MACHINE_BAD_INPUT);
    assert_string_equal(err.text, "it: has not ended after 20000 instructions, the most that a block may run");
}

TEST(addresses_end_with_the_buffer)
{
    skip_where_sanitized("the runtime of the sanitizers needs the real system");
    static const struct {
        const char *code, *why;
    } cases[] = {
        {"418a06", ""},         /* mov al, [r14] */
        {"418a86ff3f0000", ""}, /* ... + 16383] */
        {"418a8600400000", "it reads 1 bytes at r14 + 0x4000, outside of the buffer of 16384 bytes at r14"},
        {"418846ff", "it writes 1 bytes at r14 - 0x1, outside of the buffer of 16384 bytes at r14"},
        {"498b46ff", "it reads 8 bytes at r14 - 0x1, outside of the buffer of 16384 bytes at r14"},
        {"410f1086f03f0000", ""}, /* movups xmm0, [r14 + 16368] */
        {"410f1086f13f0000", "it reads 16 bytes at r14 + 0x3ff1, outside of the buffer of 16384 bytes at r14"},
        {"b908000000 418b448e04", ""}, /* mov ecx, 8; mov eax, [r14 + 4 * rcx + 4] */
        {"b9fe0f0000 418b448e04", ""}, /* mov ecx, 4094 */
        {"b9ff0f0000 418b448e04", "it reads 4 bytes at r14 + 0x4000, outside of the buffer of 16384 bytes at r14"},
        {"4c89f0 8b4804", ""}, /* mov rax, r14; mov ecx, [rax + 4] */
        {"4c89f0 48ffc8 8b08", "it reads 4 bytes at r14 - 0x1, outside of the buffer of 16384 bytes at r14"},
        {"410f284601", "it faults (SIGSEGV): an address that is not aligned, or where nothing is"}, /* movaps */
        {"31c9 f7f1", "it faults (SIGFPE): a division by zero, or its result is too large"},
    };
    struct block_steps steps;
    struct machine_error err;
    if (steps_of("90", 1, &steps, &err) == MACHINE_CANNOT)
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool good = cases[i].why[0] == '\0';
        int status = steps_of(cases[i].code, 1, &steps, &err);
        if (status != (good ? MACHINE_OK : MACHINE_BAD_INPUT) ||
            (!good && strcmp(strchr(strchr(err.text, '\''), ':') + 2, cases[i].why) != 0))
            fail_msg("%s: %d %s", cases[i].code, status, good ? "" : err.text);
    }
}
