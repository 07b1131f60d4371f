// SPDX-License-Identifier: GPL-2.0-or-later
/* The registry of kernels, the same as in user space; its objects must lie in this folder. */
#include "../../kernels/registry.c"
