/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Search for the highest point of a function that rises to it and falls after it. */
#pragma once

/*
 * Narrows *a..*b around the highest value of f by golden section (Kiefer 1953), `steps` times or until they are no
 * farther apart than `least`. Returns the higher of the last two values that were looked at.
 */
double golden_highest(double (*f)(void *data, double x), void *data, double *a, double *b, double least, int steps);
