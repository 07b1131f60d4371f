/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps GSL's error handler from ending the process while its functions are called. */
#include "analysis/stats/gsl_errors.h"

#include <pthread.h>

#include <gsl/gsl_errno.h>

/* Global, as the handler itself is. */
static pthread_mutex_t gsl_errors_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned gsl_errors_users;
static gsl_error_handler_t *gsl_errors_kept;

void gsl_errors_off(void)
{
    pthread_mutex_lock(&gsl_errors_lock);
    if (gsl_errors_users++ == 0)
        gsl_errors_kept = gsl_set_error_handler_off();
    pthread_mutex_unlock(&gsl_errors_lock);
}

void gsl_errors_restore(void)
{
    pthread_mutex_lock(&gsl_errors_lock);
    if (--gsl_errors_users == 0)
        gsl_set_error_handler(gsl_errors_kept);
    pthread_mutex_unlock(&gsl_errors_lock);
}
