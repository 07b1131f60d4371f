; SPDX-License-Identifier: GPL-2.0-or-later
;
; Kernels of 256-bit vectors.

%define WIDTH   256
%define VREG    ymm
%include "vector.inc"

BOTH        256fma,      OP_FMA,  INSN_BYTES
BOTH        256or,       OP_OR,   INSN_BYTES
CHAINED     256or_chain, OP_OR,   INSN_BYTES
BOTH        256add,      OP_ADD,  INSN_BYTES
BOTH        256mul,      OP_MUL,  INSN_BYTES
BOTH        256perm,     OP_PERM, INSN_BYTES
THROUGHPUT  256mulpd,    OP_MULPD, INSN_BYTES
THROUGHPUT  256addpd,    OP_ADDPD, INSN_BYTES
THROUGHPUT  256orpd,     OP_ORPD,  INSN_BYTES

%include "memory.inc"

%ifndef KERNEL_MODULE
%include "shots.inc"
%endif

section .note.GNU-stack noalloc noexec nowrite progbits
