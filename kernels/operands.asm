; SPDX-License-Identifier: GPL-2.0-or-later
;
; Start values of all kernels: per operation sixteen registers of 64 bytes; narrower kernels use the first bytes.
; Registers 0 to 11 are accumulators, 12 to 15 constants (as far as an operation has them).

%include "operands.inc"

; Words of registers: %1 table, %2 first register, %3 registers, %4 words in each, %5 the word, made of `mixed`,
; which is not defined where this is invoked
%macro WORDS 5
    %assign %%reg %2
    %rep %3
    %assign %%lane 0
    %rep %4
    MIX %1, %%reg, %%lane
    dq      %5
    %assign %%lane %%lane + 1
    %endrep
    %assign %%reg %%reg + 1
    %endrep
    %undef  mixed
%endmacro

section .rodata align=4096

; Multiply-add, acc += a * b, with a in registers 12 and 13, b in 14 in even rounds and 15 in odd rounds.
;
; a and b are doubles in [1, 2) with 24-bit significands, register 15 is -(b - 2^-23): products are multiples of 2^-46
; below 4, an even and an odd round together add a * 2^-23. Accumulators start in [4, 8) as multiples of 2^-46. So
; all sums below 2^7 are exact and the significands keep changing at constant magnitude.
; Nothing can become infinite, NaN, denormal or zero however long it runs, in any density: the positive product comes
; first in every block and is the larger one, so a sum never falls below its start of 4 or more while sums are exact;
; where they no longer are it is so large that a unit in the last place does not matter; and as no step adds 4 or more,
; it stops growing where half a unit in the last place is 4, at 2^55.
global kernel_operands_fma:data hidden
kernel_operands_fma:
    WORDS   TABLE_FMA, 0, 12, 8, (0x401 << 52) | (mixed & 0x000ffffffffffff0)
    WORDS   TABLE_FMA, 12, 3, 8, (0x3ff << 52) | (mixed & 0x000fffffc0000000) | (1 << 29)
    WORDS   TABLE_FMA, 14, 1, 8, (0xbff << 52) | (mixed & 0x000fffffc0000000)
; The lines of memory operands (kernels/memory.inc), in the same page: 12 of values like those of register 14, then 12
; like register 15 of the former.
    WORDS   TABLE_FMA, 16, 12, 8, (0x3ff << 52) | (mixed & 0x000fffffc0000000) | (1 << 29)
    WORDS   TABLE_FMA, 16, 12, 8, (0xbff << 52) | (mixed & 0x000fffffc0000000)

; Or, acc |= c, with c in registers 12 and 13. A bit that is set stays set, so the values do not change after the first
; round; accumulators and constants have a quarter of their bits set, results 7 of 16.
global kernel_operands_or:data hidden
kernel_operands_or:
    %assign reg 0
    %rep 14
    %assign lane 0
    %rep 8
    MIX TABLE_OR, reg, lane
    %assign word mixed
    MIX TABLE_OR, reg + 16, lane
    dq      word & mixed
    %assign lane lane + 1
    %endrep
    %assign reg reg + 1
    %endrep
    %undef  mixed

; Add, acc += c modulo 2^64, with c in registers 12 and 13, odd: the period is 2^64.
global kernel_operands_add:data hidden
kernel_operands_add:
    WORDS   TABLE_ADD, 0, 14, 8, mixed | 1

; Multiply, acc = low half of acc * low half of c, with c in registers 12 and 13. Low halves of accumulators are odd and
; those of constants 5 modulo 8. A product of odd numbers is odd, so no low half ever becomes zero; and 5 modulo 8
; generates a subgroup of order 2^30 modulo 2^32, so the low halves repeat only after 2^30 steps.
global kernel_operands_mul:data hidden
kernel_operands_mul:
    WORDS   TABLE_MUL, 0, 12, 8, mixed | 1
    WORDS   TABLE_MUL, 12, 2, 8, (mixed & ~7) | 5

; Permutation of 32-bit lanes, acc[j] = acc[index[j]], with index in registers 12 and 13. j -> 5j + 3 and j -> 13j + 5
; modulo 16 are permutations of one cycle (odd addend, factor 1 modulo 4), modulo 8 too, where 256-bit instructions
; look only at three bits. Values only move.
%macro INDEX 2 ; factor, addend
    %assign %%j 0
    %rep 16
    dd      (%1 * %%j + %2) & 15
    %assign %%j %%j + 1
    %endrep
%endmacro

global kernel_operands_perm:data hidden
kernel_operands_perm:
    WORDS   TABLE_PERM, 0, 12, 8, mixed
    INDEX   5, 3
    INDEX   13, 5

; Indices of a gather: lane l takes a word of line l.
global kernel_operands_gather:data hidden
kernel_operands_gather:
    %assign lane 0
    %rep 8
    dq      8 * lane + ((5 * lane + 3) & 7)
    %assign lane lane + 1
    %endrep

; Scalar registers: six accumulators, then the constant. For multiplication modulo 2^64 all are odd and the constant is
; 5 modulo 8: odd stays odd, and the period is 2^62. Or and add use the same values.
global kernel_operands_gpr:data hidden
kernel_operands_gpr:
    WORDS   TABLE_GPR, 0, 6, 1, mixed | 1
    WORDS   TABLE_GPR, 6, 1, 1, (mixed & ~7) | 5

; The adds between counted instructions: start values, then the addend.
global kernel_operands_filler:data hidden
kernel_operands_filler:
    WORDS   TABLE_FILLER, 0, FILLER_SLOTS + 1, 1, mixed | 1

; Tiles: A (two of them), B and B' of 16 rows of 64 bytes, bf16. All values are integers of 64 to 127 with a sign. B' is
; -B but for the first value of each column's first pair, where it is -(B - 1): an even and an odd round together add
; A[row][0]. Sums start at zero and are integers, below 2^19 plus what was added so: exact up to 2^24, and beyond it
; still finite and never denormal (a sum stops growing where half a unit in the last place reaches the step).
; bf16 of +-(64 + m), 0 <= m < 64: sign, exponent 127 + 6, then m in the upper six of seven bits.
%define BF16(sign, m)   (((sign) << 15) | (133 << 7) | ((m) << 1))

%macro TILE 3 ; what its values are mixed with; 0: A, 1: B or B'; 1: B'
    %assign %%row 0
    %rep 16
    %assign %%col 0
    %rep 32
    MIX TABLE_AMX, %1, %%row * 32 + %%col
    %assign %%m (mixed >> 20) & 63
    %assign %%sign (mixed >> 40) & 1
    %if %2 && %%row == 0 && (%%col & 1) == 0
        %assign %%m (%%m | 1) - %3
        %assign %%sign 0
    %endif
    dw      BF16(%%sign ^ %3, %%m)
    %assign %%col %%col + 1
    %endrep
    %assign %%row %%row + 1
    %endrep
%endmacro

align 64
global kernel_operands_amx:data hidden
kernel_operands_amx:
    TILE    0, 0, 0
    TILE    2, 0, 0
    TILE    4, 1, 0
    TILE    4, 1, 1

section .note.GNU-stack noalloc noexec nowrite progbits
