; SPDX-License-Identifier: GPL-2.0-or-later
;
; Dependent adds, or multiplications, between two reads of the time stamp counter.

%include "kernel.inc"

; %1 symbol, %2 instructions, %3 add or imul
%macro CHAIN 3
align 64
FUNCTION %1
%1:
    endbr64
    mov     r8, rdi
    ; all earlier instructions have finished before the first read
    lfence
    rdtsc
    shl     rdx, 32
    or      rax, rdx
    mov     r9, rax
    ; the chain begins with the value just read: it cannot start before the read, and no second fence is needed
    mov     ecx, 1
    %rep %2
    %3      rax, rcx
    %endrep
    ; the last of them has finished before the second read
    lfence
    rdtsc
    shl     rdx, 32
    or      rax, rdx
    mov     [r8], r9
    RETURN
%endmacro

section .text
    CHAIN   kernel_chain_short, 40, add
    CHAIN   kernel_chain_long, 200, add
    CHAIN   kernel_chain_longest, 600, add
    CHAIN   kernel_chain_steady_short, 2400, add
    CHAIN   kernel_chain_steady_long, 7200, add
    CHAIN   kernel_chain_multiply, 2400, imul

section .note.GNU-stack noalloc noexec nowrite progbits
