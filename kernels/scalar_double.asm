; SPDX-License-Identifier: GPL-2.0-or-later
;
; The scalar floating point kernel: double precision multiply-add in the low lane of vector registers.

%define WIDTH   64
%define VREG    xmm
%include "vector.inc"

BOTH        64fma, OP_FMA, INSN_BYTES

section .note.GNU-stack noalloc noexec nowrite progbits
