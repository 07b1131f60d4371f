; SPDX-License-Identifier: GPL-2.0-or-later
;
; Kernels of 512-bit vectors.

%define WIDTH   512
%define VREG    zmm
%include "vector.inc"

BOTH        512fma,      OP_FMA,  INSN_BYTES
BOTH        512or,       OP_OR,   INSN_BYTES
CHAINED     512or_chain, OP_OR,   INSN_BYTES
BOTH        512add,      OP_ADD,  INSN_BYTES
BOTH        512mul,      OP_MUL,  INSN_BYTES
BOTH        512perm,     OP_PERM, INSN_BYTES

%include "memory.inc"

%ifndef KERNEL_MODULE
%include "shots.inc"
%endif

section .note.GNU-stack noalloc noexec nowrite progbits
