; SPDX-License-Identifier: GPL-2.0-or-later
;
; Kernels of 128-bit vectors.

%define WIDTH   128
%define VREG    xmm
%include "vector.inc"

BOTH        128fma,      OP_FMA,  INSN_BYTES
BOTH        128or,       OP_OR,   INSN_BYTES
BOTH        128add,      OP_ADD,  INSN_BYTES
BOTH        128mul,      OP_MUL,  INSN_BYTES
THROUGHPUT  128mulpd,    OP_MULPD, INSN_BYTES
THROUGHPUT  128addpd,    OP_ADDPD, INSN_BYTES
THROUGHPUT  128orpd,     OP_ORPD,  INSN_BYTES

%include "memory.inc"

%ifndef KERNEL_MODULE
%include "shots.inc"
%endif

section .note.GNU-stack noalloc noexec nowrite progbits
