; SPDX-License-Identifier: GPL-2.0-or-later
;
; Kernels of 128-bit vectors.

%define WIDTH   128
%define VREG    xmm
%include "vector.inc"

THROUGHPUT  128fma,      OP_FMA,  INSN_BYTES
LATENCY     128fma_lat,  OP_FMA,  INSN_BYTES
THROUGHPUT  128or,       OP_OR,   INSN_BYTES
LATENCY     128or_lat,   OP_OR,   INSN_BYTES
THROUGHPUT  128add,      OP_ADD,  INSN_BYTES
LATENCY     128add_lat,  OP_ADD,  INSN_BYTES
THROUGHPUT  128mul,      OP_MUL,  INSN_BYTES
LATENCY     128mul_lat,  OP_MUL,  INSN_BYTES

section .note.GNU-stack noalloc noexec nowrite progbits
