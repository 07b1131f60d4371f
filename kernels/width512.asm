; SPDX-License-Identifier: GPL-2.0-or-later
;
; Kernels of 512-bit vectors.

%define WIDTH   512
%define VREG    zmm
%include "vector.inc"

THROUGHPUT  512fma,      OP_FMA,  INSN_BYTES
LATENCY     512fma_lat,  OP_FMA,  INSN_BYTES
THROUGHPUT  512or,       OP_OR,   INSN_BYTES
LATENCY     512or_lat,   OP_OR,   INSN_BYTES
CHAINED     512or_chain, OP_OR,   INSN_BYTES
THROUGHPUT  512add,      OP_ADD,  INSN_BYTES
LATENCY     512add_lat,  OP_ADD,  INSN_BYTES
THROUGHPUT  512mul,      OP_MUL,  INSN_BYTES
LATENCY     512mul_lat,  OP_MUL,  INSN_BYTES
THROUGHPUT  512perm,     OP_PERM, INSN_BYTES
LATENCY     512perm_lat, OP_PERM, INSN_BYTES

section .note.GNU-stack noalloc noexec nowrite progbits
