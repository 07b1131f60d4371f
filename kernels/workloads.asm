; SPDX-License-Identifier: GPL-2.0-or-later
;
; Workloads: pieces of code of fixed length (kernels/workloads.h). Arguments: rounds (rdi), buffer (rsi), mask (rdx),
; first (rcx). They save nothing, for they need no register that is the caller's, and leave the stack alone. The loop is
; what lies between the labels .block and .end.

%include "kernel.inc"

; %1 symbol. What C code takes the addresses of is in kernels/workloads.c.
%macro WORKLOAD 1
align 64
FUNCTION %1, hidden, workload_register
%1:
    endbr64
%endmacro

section .text

; The hash of V 3.1, figure 3-2: x = ((x ^ 123H) + 3 * x) % 123456, the remainder by a multiplication with the
; reciprocal: 123456 is 64 * 1929, and for the numbers that occur (below 2^19) n / 123456 is
; (((n >> 6) * 43f2ba978e66301H) >> 64) >> 5.
WORKLOAD workload_register
    mov     r8, 0x043f2ba978e66301
    mov     r9d, 123456
    xor     eax, eax
    ALIGN_BLOCK 37
.block:
    mov     rsi, rax
    xor     rsi, 0x123
    lea     rax, [rax + 2 * rax]
    add     rsi, rax
    mov     rax, rsi
    shr     rax, 6
    mul     r8
    shr     rdx, 5
    imul    rdx, r9
    mov     rax, rsi
    sub     rax, rdx
    dec     rdi
    jnz     near .block
.end:
    RETURN

; Prime numbers by trial division (V 3.10.1, figure 3-12): divisors from 2 up until one divides or all have been tried.
; Returns how many numbers were prime.
%define FIRST_NUMBER    3
%define NUMBERS_END     6000

WORKLOAD workload_branch
    mov     r8d, FIRST_NUMBER   ; number
    mov     r9d, FIRST_NUMBER
    xor     esi, esi            ; primes
    align   64
.block:
    mov     ecx, 2              ; divisor
.divide:
    mov     eax, r8d
    xor     edx, edx
    div     ecx
    test    edx, edx
    jz      short .divided
    inc     ecx
    cmp     ecx, r8d
    jb      short .divide
    inc     rsi
.divided:
    inc     r8d
    cmp     r8d, NUMBERS_END
    cmovae  r8d, r9d
    dec     rdi
    jnz     near .block
.end:
    mov     rax, rsi
    RETURN

; Loads. The line of load i of a buffer of 2^k lines is a bijection of i modulo 2^k: i times an odd number, XOR of the
; same shifted right, times an odd number, and again the shift. Each step can be undone, so no line has two turns in 2^k
; loads; and no load waits for another. The numbers are those of splitmix64 (Steele, Lea, Flood: Fast Splittable
; Pseudorandom Number Generators, 2014; Vigna's splitmix64.c), whose steps these are with other shifts.
%define LINE_SHIFT      6
%define LOADS           16      ; WORKLOAD_LOADS
%define MIX_SHIFT       7

; What both kinds of loads begin with, and the next load's line in r10.
%macro LOADS_BEGIN 0
    mov     r8, 0x9e3779b97f4a7c15
    mov     r9, 0xbf58476d1ce4e5b9
    shr     rdx, LINE_SHIFT
    imul    rcx, rcx, LOADS
    imul    rcx, r8             ; i times an odd number
    xor     eax, eax            ; sum, or what was loaded last
    align   64
%endmacro
%macro NEXT_LINE 0
    mov     r10, rcx
    add     rcx, r8
    and     r10, rdx
    mov     r11, r10
    shr     r11, MIX_SHIFT
    xor     r10, r11
    imul    r10, r9
    and     r10, rdx
    mov     r11, r10
    shr     r11, MIX_SHIFT
    xor     r10, r11
    shl     r10, LINE_SHIFT
%endmacro

WORKLOAD workload_load
    LOADS_BEGIN
.block:
    %rep LOADS
    NEXT_LINE
    add     rax, [rsi + r10]
    %endrep
    dec     rdi
    jnz     near .block
.end:
    RETURN

; The same lines, each load's address waiting for the value before it, which is 0: the lines are computed ahead, so that
; a load takes its latency and nothing else.
WORKLOAD workload_chase
    LOADS_BEGIN
.block:
    %rep LOADS
    NEXT_LINE
    add     r10, rsi
    mov     rax, [r10 + rax]
    %endrep
    dec     rdi
    jnz     near .block
.end:
    RETURN

; Branches to fill the predictor with: forward ones, taken or not by the bits of a xorshift generator (Marsaglia,
; Xorshift RNGs, 2003: 13, 7, 17), whose state begins with a mixture of the first round's number. Returns how many were
; not taken.
%define BRANCHES        4096    ; WORKLOAD_BRANCHES
%define STATE_BITS      64

WORKLOAD workload_spoil
    mov     r8, 0x9e3779b97f4a7c15
    imul    rcx, r8
    or      rcx, 1              ; of state 0 all would be 0
    xor     eax, eax
    align   64
.block:
    %rep BRANCHES / STATE_BITS
    mov     rdx, rcx
    shl     rdx, 13
    xor     rcx, rdx
    mov     rdx, rcx
    shr     rdx, 7
    xor     rcx, rdx
    mov     rdx, rcx
    shl     rdx, 17
    xor     rcx, rdx
    mov     rdx, rcx
    %rep STATE_BITS
    add     rdx, rdx
    jc      short $ + 5         ; past the next
    inc     rax
    %endrep
    %endrep
    dec     rdi
    jnz     near .block
.end:
    RETURN

section .note.GNU-stack noalloc noexec nowrite progbits
