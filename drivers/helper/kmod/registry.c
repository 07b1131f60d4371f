// SPDX-License-Identifier: GPL-2.0-or-later
/* The registry of kernels, the same as in user space; its objects must lie in this folder. */
#include "compat.h"
#include "../../../kernels/registry.c"

#ifdef COMPAT_KCFI
/* Its address makes the compiler state the hash of kernel_fn, which kernels/kernel.inc puts before each kernel. */
extern kernel_fn kernel_pause_1;
__ADDRESSABLE(kernel_pause_1);
#endif
