/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GSL tells what fails (no convergence, a matrix that is not positive) to a handler of the whole process; the default
 * one aborts. */
#pragma once

/*
 * Between the two, in any number of threads, GSL's functions only return their status. The first to begin keeps the
 * program's own handler and the last to end puts it back: if each did, one would put back what another had set.
 */
void gsl_errors_off(void);
void gsl_errors_restore(void);
