/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SHA-256 (FIPS 180-4, section 6.2): tells whether two exports come from the same measurement. */
#pragma once

#include <stddef.h>

enum { SHA256_HEX_SIZE = 65 };

/* The digest of `length` bytes (less than 2^61) as 64 lower-case hexadecimal digits and a NUL. */
void sha256_hex(const void *data, size_t length, char out[SHA256_HEX_SIZE]);
