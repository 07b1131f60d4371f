/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What state.bpf.c counts for test_state_bpf.c, of one process. */
#pragma once

struct state_counts {
    unsigned long long saved, with[64]; /* times that registers were saved; with each bit of XCR0 */
};
