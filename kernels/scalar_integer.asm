; SPDX-License-Identifier: GPL-2.0-or-later
;
; Scalar integer kernels on general purpose registers, and the dependent chain of adds.

%include "kernel.inc"

extern kernel_operands_gpr
extern kernel_operands_filler

%define SAVED       rbx, rbp, r12, r13, r14, r15
%define FILLERS     5
%define FILLER0     rcx
%define FILLER1     rsi
%define FILLER2     rdi
%define FILLER3     r14
%define FILLER4     r15
; the same register: the addend of the adds and the constant of the kernel
%define ADDEND      rbp
%define ADDEND_IS_OPERAND
; as many integer units as any x86-64 core has, at latency 1; one multiplier at latency 3
%define ACCS        6
%define ACC0        r8
%define ACC1        r9
%define ACC2        r10
%define ACC3        r11
%define ACC4        r12
%define ACC5        r13

%macro STORE_ACC 1
    mov     [rax + 64 * %1], ACC%[%1]
%endmacro

%macro LOAD_OPERANDS 3
    %assign %%j 0
    %rep %2
    mov     ACC%[%%j], [kernel_operands_gpr + 8 * %%j]
    %assign %%j %%j + 1
    %endrep
    mov     ADDEND, [kernel_operands_gpr + 8 * 6]
%endmacro

%macro OP_OR 2
    or      ACC%[%1], ADDEND
%endmacro

; register to register: since Golden Cove the renamer executes adds of small immediates without latency
%macro OP_ADD 2
    add     ACC%[%1], ADDEND
%endmacro

%macro OP_MUL 2
    imul    ACC%[%1], ADDEND
%endmacro

BOTH        64or,      OP_OR,  3
LATENCY     64add_lat, OP_ADD, 3
BOTH        64mul,     OP_MUL, 4
LATENCY     chain,     OP_ADD, 3

; every instruction of this one is a scalar add already: it has no densities
section .text
    PLAIN_VARIANT 64add, OP_ADD, 3, ACCS, BLOCK_COUNTED
    SINGLE_TABLES 64add, BLOCK_COUNTED

section .note.GNU-stack noalloc noexec nowrite progbits
