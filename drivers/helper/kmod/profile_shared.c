// SPDX-License-Identifier: GPL-2.0-or-later
/* The steps of a sample and their arithmetic, the same as in user space; their objects must lie in this folder. */
#include "../../profile/profile_arithmetic.c"
#include "../../profile/profile_sequence.c"
