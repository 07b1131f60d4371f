; SPDX-License-Identifier: GPL-2.0-or-later
;
; One instruction after an idle time: uint64_t f(uint64_t until (rdi), uint64_t *begin (rsi)). The core spins on scalar
; code until the TSC reaches `until`, so that it does not sleep; then the instruction runs between two reads of the TSC
; that nothing passes: *begin receives the first, the return value is the second.

%include "kernel.inc"

; %1 symbol, %2 whether upper halves are to be cleaned behind it, %3 the instruction
%macro FIRST_USE 3+
align 64
FUNCTION %1, hidden
%1:
    endbr64
.spin:
    rdtsc
    shl     rdx, 32
    or      rax, rdx
    cmp     rax, rdi
    jb      .spin
    lfence
    rdtsc
    lfence
    shl     rdx, 32
    or      rax, rdx
    mov     r9, rax
    %3
    lfence
    rdtsc
    shl     rdx, 32
    or      rax, rdx
    mov     [rsi], r9
    %if %2
    vzeroupper
    %endif
    RETURN
%endmacro

section .text
    FIRST_USE   kernel_first_nothing, 0, nop
    FIRST_USE   kernel_first_256, 1, vfmadd231pd ymm0, ymm0, ymm0
    FIRST_USE   kernel_first_512, 1, vfmadd231pd zmm0, zmm0, zmm0

section .note.GNU-stack noalloc noexec nowrite progbits
