/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The first CPU on which this process may run; -1: there is none. */
int some_cpu(void);
