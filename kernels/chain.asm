; SPDX-License-Identifier: GPL-2.0-or-later
;
; Dependent adds between two reads of the time stamp counter.

%include "kernel.inc"

; %1 symbol, %2 adds in its code, %3 how often they run: long ones would not be in the caches when they are needed. The
; last jump is known long before the adds ahead of it are done.
%macro CHAIN 2-3 1
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
    %if %3 > 1
    mov     edx, %3
    %endif
    %rep %2
    add     rax, rcx
    %endrep
    %if %3 > 1
    dec     edx
    ; to the first add, of 3 bytes each; a label there would make a disassembler take them for data
    jnz     near $ - 2 - 3 * %2
    %endif
    ; the last of them has finished before the second read
    lfence
    rdtsc
    shl     rdx, 32
    or      rax, rdx
    mov     [r8], r9
    RETURN
%endmacro

section .text
    CHAIN   kernel_chain_short, 200
    CHAIN   kernel_chain_long, 600
    CHAIN   kernel_chain_steady_short, 400, 6
    CHAIN   kernel_chain_steady_long, 400, 18

section .note.GNU-stack noalloc noexec nowrite progbits
