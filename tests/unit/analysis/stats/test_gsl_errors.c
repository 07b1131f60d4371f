/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits in two threads at a time leave the program's own GSL error handler as it was. */
#include <pthread.h>

#include <gsl/gsl_errno.h>

#include "analysis/phases/ramps/ramp_fit.h"
#include "tests/support/test.h"

static void of_the_program(const char *reason, const char *file, int line, int number)
{
    (void)reason, (void)file, (void)line, (void)number;
}

static void *fit_ramps(void *start)
{
    enum { POINTS = 16, FITS = 200 };
    double t[POINTS], y[POINTS];
    struct ramp_fit fit;
    for (size_t i = 0; i < POINTS; i++) {
        t[i] = (double)i;
        y[i] = 1.9 + 0.9 * ramp_decay(t[i], 4) + 1e-3 * (double)(i % 3);
    }
    pthread_barrier_wait(start);
    for (int i = 0; i < FITS; i++)
        ramp_fit(t, y, POINTS, 0, 0, false, &fit);
    return NULL;
}

TEST(threads_leave_the_handler)
{
    enum { ROUNDS = 20, THREADS = 2 };
    gsl_error_handler_t *first = gsl_set_error_handler(of_the_program);
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread[THREADS];
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&thread[i], NULL, fit_ramps, &start), 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(thread[i], NULL);
        assert_true(gsl_set_error_handler(of_the_program) == of_the_program);
    }
    pthread_barrier_destroy(&start);
    gsl_set_error_handler(first);
}
