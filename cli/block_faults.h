/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of --kernel-file that fault after more rounds than were tried. */
#pragma once

/* From now on a fault of the program ends it with one line that names such blocks, and status 1. */
void block_faults_tell(void);
