/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The RDPMC reader against made pages: a torn seqlock, index 0, widths, sign extension, wrap-around, lost time. */
#include "drivers/perf/perf_page.h"
#include "tests/support/test.h"

static struct perf_event_mmap_page page;
static uint64_t idle;

/* The made RDPMC: what it was requested, and what happens to the page meanwhile. */
static struct {
    uint64_t value;
    uint32_t counter;
    unsigned calls;
    void (*meanwhile)(void);
} rdpmc;

static inline uint64_t made_rdpmc(uint32_t counter)
{
    uint64_t value = rdpmc.value;
    rdpmc.counter = counter;
    rdpmc.calls++;
    if (rdpmc.meanwhile != NULL)
        rdpmc.meanwhile();
    return value;
}

static uint64_t read_page(void)
{
    return perf_page_count(&page, &idle, made_rdpmc);
}

static void make_page(unsigned width, int64_t offset, uint64_t value)
{
    memset(&page, 0, sizeof page);
    memset(&rdpmc, 0, sizeof rdpmc);
    page.lock = 8;
    page.index = 3;
    page.pmc_width = (uint16_t)width;
    page.offset = offset;
    page.cap_user_rdpmc = 1;
    page.time_enabled = page.time_running = 1000;
    idle = 0;
    rdpmc.value = value;
}

TEST(test_offset_and_counter_are_added)
{
    make_page(48, 1000, 234);
    assert_int_equal(read_page(), 1234);
    assert_int_equal(rdpmc.counter, 2); /* index - 1 */
    assert_int_equal(rdpmc.calls, 1);
}

/* The index of a fixed counter has bit 30 set already (Linux, arch/x86/events/core.c, x86_perf_rdpmc_index). */
TEST(test_fixed_counters_keep_their_bit)
{
    make_page(48, 0, 7);
    page.index = (1u << 30 | 1) + 1;
    assert_int_equal(read_page(), 7);
    assert_int_equal(rdpmc.counter, 1u << 30 | 1);
}

TEST(test_index_0_is_missing_and_not_read)
{
    make_page(48, 1000, 234);
    page.index = 0;
    assert_int_equal(read_page(), COUNTER_MISSING);
    assert_int_equal(rdpmc.calls, 0); /* RDPMC of a counter that is not given would fault or tell of another's event */
}

TEST(test_what_user_space_may_not_read_is_missing_and_not_read)
{
    make_page(48, 1000, 234);
    page.cap_user_rdpmc = 0;
    assert_int_equal(read_page(), COUNTER_MISSING);
    assert_int_equal(rdpmc.calls, 0);
}

TEST(test_widths_that_make_no_sense_are_missing)
{
    static const unsigned widths[] = {0, 65, 200};
    for (size_t i = 0; i < 3; i++) {
        make_page(widths[i], 1000, 234);
        assert_int_equal(read_page(), COUNTER_MISSING);
        assert_int_equal(rdpmc.calls, 0);
    }
}

/* perf starts a counter at minus the period, so that it stands below 0 as a number of its width. */
TEST(test_each_width_is_sign_extended)
{
    static const unsigned widths[] = {32, 40, 48};
    for (size_t i = 0; i < 3; i++) {
        uint64_t top = 1ull << widths[i], half = top / 2;
        make_page(widths[i], (int64_t)half, half); /* just set to the lowest number */
        assert_int_equal(read_page(), 0);
        rdpmc.value = half + 5;
        assert_int_equal(read_page(), 5);
        rdpmc.value = top - 1; /* -1 */
        assert_int_equal(read_page(), half - 1);
        rdpmc.value = 0; /* wrapped around */
        assert_int_equal(read_page(), half);
        rdpmc.value = half - 1; /* the highest number */
        assert_int_equal(read_page(), top - 1);
    }
}

TEST(test_bits_above_the_width_do_not_count)
{
    static const unsigned widths[] = {32, 40, 48};
    for (size_t i = 0; i < 3; i++) {
        make_page(widths[i], 100, 23);
        rdpmc.value |= 0xa5ull << widths[i];
        assert_int_equal(read_page(), 123);
    }
    make_page(64, -1, UINT64_MAX - 5);
    assert_int_equal(read_page(), UINT64_MAX - 6);
    make_page(1, 10, 1); /* one bit: 0 or -1 */
    assert_int_equal(read_page(), 9);
}

/* Differences of neighboring readings hold across the wrap of the hardware counter. */
TEST(test_wrap_around_between_two_readings)
{
    static const unsigned widths[] = {32, 40, 48};
    for (size_t i = 0; i < 3; i++) {
        uint64_t top = 1ull << widths[i];
        make_page(widths[i], 5000, top - 100);
        uint64_t before = read_page();
        rdpmc.value = 50;
        assert_int_equal(read_page() - before, 150);
        /* the kernel takes an overflow: the counter starts again below 0 and the offset takes up what was counted */
        make_page(widths[i], (int64_t)(top / 2 + 7), top / 2 - 1);
        before = read_page();
        page.lock += 2;
        page.offset = (int64_t)(top / 2 + 7 + top / 2 + top / 2);
        rdpmc.value = top / 2 + 3;
        assert_int_equal(read_page() - before, 4);
    }
}

/* ---- the seqlock ---- */

static void kernel_moves_the_counter_once(void)
{
    rdpmc.meanwhile = NULL;
    page.lock += 2;
    page.index = 5;
    page.offset = 70000;
    rdpmc.value = 11;
}

TEST(test_a_torn_read_is_repeated)
{
    make_page(48, 1000, 234);
    rdpmc.meanwhile = kernel_moves_the_counter_once;
    assert_int_equal(read_page(), 70011); /* neither 1234 nor a mixture */
    assert_int_equal(rdpmc.calls, 2);
    assert_int_equal(rdpmc.counter, 4);
}

static void kernel_takes_it_away(void)
{
    page.lock += 2;
    page.index = 0;
    rdpmc.meanwhile = NULL;
}

TEST(test_taken_away_while_it_is_read)
{
    make_page(48, 1000, 234);
    rdpmc.meanwhile = kernel_takes_it_away;
    assert_int_equal(read_page(), COUNTER_MISSING);
    assert_int_equal(rdpmc.calls, 1);
}

static void kernel_goes_on_writing(void)
{
    page.lock += 2;
}

TEST(test_a_page_that_never_stands_still_is_missing)
{
    make_page(48, 1000, 234);
    rdpmc.meanwhile = kernel_goes_on_writing;
    assert_int_equal(read_page(), COUNTER_MISSING);
    assert_int_equal(rdpmc.calls, PERF_PAGE_ATTEMPTS);
}

TEST(test_a_page_that_is_being_written_is_missing)
{
    make_page(48, 1000, 234);
    page.lock = 9; /* odd: a writer is at work */
    assert_int_equal(read_page(), COUNTER_MISSING);
}

/* ---- multiplexing ---- */

TEST(test_time_off_the_counter_makes_one_reading_missing)
{
    make_page(48, 1000, 234);
    assert_int_equal(read_page(), 1234);
    page.time_enabled += 700;
    page.time_running += 700;
    assert_int_equal(read_page(), 1234);
    page.time_enabled += 500; /* another event had the counter for 200 ns of these */
    page.time_running += 300;
    assert_int_equal(read_page(), COUNTER_MISSING);
    assert_int_equal(idle, 200);
    rdpmc.value += 10; /* from here on it counts again */
    assert_int_equal(read_page(), 1244);
}

TEST(test_time_lost_before_the_first_reading_does_not_matter_afterwards)
{
    make_page(48, 1000, 234);
    page.time_running = 400;
    assert_int_equal(read_page(), COUNTER_MISSING);
    assert_int_equal(read_page(), 1234);
}
