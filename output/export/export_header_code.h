/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of the exported header that are always the same; each list ends with NULL. */
#ifndef CHARACTERIZE_EXPORT_HEADER_CODE_H
#define CHARACTERIZE_EXPORT_HEADER_CODE_H

extern const char *const export_header_head[], *const export_header_structs[], *const export_header_functions[];

#endif
