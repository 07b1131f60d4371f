// SPDX-License-Identifier: GPL-2.0-or-later
/* The lists of kernels and workloads, the same as in user space; their objects must lie in this folder. */
#include "compat.h"
#include "../../../kernels/registry.c"
#include "../../../kernels/workloads.c"

#ifdef COMPAT_KCFI
/* Their addresses make the compiler state the hashes of kernel_fn and workload_fn, which kernels/kernel.inc puts before
 * each function of these types. */
extern kernel_fn kernel_pause_1;
__ADDRESSABLE(kernel_pause_1);
__ADDRESSABLE(workload_register);
#endif
