; SPDX-License-Identifier: GPL-2.0-or-later
;
; Kernels of 256-bit vectors.

%define WIDTH   256
%define VREG    ymm
%include "vector.inc"

THROUGHPUT  256fma,      OP_FMA,  INSN_BYTES
LATENCY     256fma_lat,  OP_FMA,  INSN_BYTES
THROUGHPUT  256or,       OP_OR,   INSN_BYTES
LATENCY     256or_lat,   OP_OR,   INSN_BYTES
CHAINED     256or_chain, OP_OR,   INSN_BYTES
THROUGHPUT  256add,      OP_ADD,  INSN_BYTES
LATENCY     256add_lat,  OP_ADD,  INSN_BYTES
THROUGHPUT  256mul,      OP_MUL,  INSN_BYTES
LATENCY     256mul_lat,  OP_MUL,  INSN_BYTES
THROUGHPUT  256perm,     OP_PERM, INSN_BYTES
LATENCY     256perm_lat, OP_PERM, INSN_BYTES

section .note.GNU-stack noalloc noexec nowrite progbits
