; SPDX-License-Identifier: GPL-2.0-or-later
;
; Shots: exactly so many wide instructions and not one more (kernels/shots.h). A kernel loads its operands by
; instructions of its own width, which would outnumber those of a short burst; here all registers are zeroed by 128-bit
; idioms, which no execution unit sees, and the instructions compute with zeros: no number is denormal.

%use smartalign
ALIGNMODE p6, 64
default rel

%define TURN    12      ; instructions of a turn of the loop: as many accumulators as the kernels have

; Operations as in vector.inc: %1 width, %2 accumulator. All have three operands and the same length for any of them:
; the constants are registers above 7.
%macro SHOT_FMA 2
    SHOT_OP vfmadd231pd, %1, %2, 12 + ((%2) & 1), 14 + ((%2) & 1)
%endmacro
%macro SHOT_OR 2
    %if %1 == 512
    SHOT_OP vporq, %1, %2, %2, 12 + ((%2) & 1)
    %else
    SHOT_OP vpor, %1, %2, %2, 12 + ((%2) & 1)
    %endif
%endmacro
%macro SHOT_ADD 2
    SHOT_OP vpaddq, %1, %2, %2, 12 + ((%2) & 1)
%endmacro
%macro SHOT_MUL 2
    SHOT_OP vpmuludq, %1, %2, %2, 12 + ((%2) & 1)
%endmacro

; %1 instruction, %2 width, %3 to %5 registers
%macro SHOT_OP 5
    %assign %%a %3
    %assign %%b %4
    %assign %%c %5
    %if %2 == 512
    %1 zmm%[%%a], zmm%[%%b], zmm%[%%c]
    %elif %2 == 256
    %1 ymm%[%%a], ymm%[%%b], ymm%[%%c]
    %else
    %1 xmm%[%%a], xmm%[%%b], xmm%[%%c]
    %endif
%endmacro

; void f(uint64_t n (rdi), uint64_t dirty (rsi)): the last n % TURN instructions of a turn, then whole turns.
; %1 width, %2 name of the operation, %3 the operation
%macro SHOT 3
align 64
global kernel_shot_%1%2:function hidden
kernel_shot_%1%2:
    endbr64
    %assign %%i 0
    %rep 16
    vpxor   xmm%[%%i], xmm%[%%i], xmm%[%%i]
    %assign %%i %%i + 1
    %endrep
    mov     rax, rdi
    xor     edx, edx
    mov     ecx, TURN
    div     rcx
    imul    rdx, rdx, (%%end - %%turn) / TURN
    lea     rcx, [%%end]
    sub     rcx, rdx
    inc     rax
    db      0x3e            ; notrack
    jmp     rcx
    int3                    ; nothing behind it is begun
    align   64
%%turn:
    %assign %%i 0
    %rep TURN
    %3 %1, %%i
    %assign %%i %%i + 1
    %endrep
%%end:
    dec     rax
    jnz     %%turn
    test    rsi, rsi
    jnz     short %%dirty
    vzeroupper
%%dirty:
    ret
%endmacro

section .text

SHOT 128, fma, SHOT_FMA
SHOT 128, or, SHOT_OR
SHOT 128, add, SHOT_ADD
SHOT 128, mul, SHOT_MUL
SHOT 256, fma, SHOT_FMA
SHOT 256, or, SHOT_OR
SHOT 256, add, SHOT_ADD
SHOT 256, mul, SHOT_MUL
SHOT 512, fma, SHOT_FMA
SHOT 512, or, SHOT_OR
SHOT 512, add, SHOT_ADD
SHOT 512, mul, SHOT_MUL

section .note.GNU-stack noalloc noexec nowrite progbits
