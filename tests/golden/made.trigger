== Counts: from the first instruction, from one on, by frequency and by counters
What triggers a license level

Instructions before a level is requested
kernel      cores  triggers          instructions needed  spread, %    GHz    n
256fma         16  throttle only             at most 650          -  2.800   10
256fma         16  level 1          13171 [12234, 14264]         28  2.400  124
512or          16  level 1                   at most 120          -  2.400   10
512fma         16  lower frequency              2 to 300          -  1.900   10
256or          16  nothing                             -          -  2.800    -
256or          16  undecided                           -          -  2.790    -
512add         16  lower frequency          300 [1, 310]          -  2.780   10
512mul         16  lower frequency          300 [1, 310]          -  2.780   10
512div         16  lower frequency          300 [1, 310]          -  2.780   10
512sub          1  level 1                      5 [4, 6]          -      -    -
512abs         16  level 2                      6 [5, 7]          -      -    -
512avg@1/2     16  level 2                      7 [6, 8]          -      -    -
512max         16  level 2                      8 [7, 9]          -      -    -
512min         16  level 0                             0          -      -    -
nothing: no change was seen while it ran, at this number of active cores
undecided: by its limits the frequency may be below that of plain code; no level is given
3 rows that trigger a lower frequency are not reported, because the limits overlap those of plain code: 512add at 2.780 [2.770, 2.798] GHz, plain code at 2.800 [2.798, 2.802] GHz.
256fma triggers level 1 after 13171 instructions (95 %: 12234 to 14264) on 16 active cores; 512or triggers level 1 within its first 120 instructions on 16 active cores; 512fma triggers a lower frequency after 300 instructions (95 %: 2 to 300) on 16 active cores; 512sub triggers level 1 after 5 instructions (95 %: 4 to 6) on 1 active core.
== Counts: nothing lower, on two numbers of cores
What triggers a license level

Instructions before a level is requested
kernel  cores  triggers  instructions needed  spread, %    GHz  n
256fma      1  nothing                     -          -  2.800  -
512fma      1  nothing                     -          -  2.800  -
512fma      2  nothing                     -          -  2.900  -
512fma      3  nothing                     -          -  2.900  -
256fma      3  nothing                     -          -  2.800  -
nothing: no change was seen while it ran, at this number of active cores
No lower frequency was seen on 1 active core while 2 kernels ran: none lower by more than 0.89 % (95 % limits).
No lower frequency was seen on 2 active cores while 1 kernel ran: none lower by more than 0 % (95 % limits).
== Counts: nothing, without a longest burst
What triggers a license level

Instructions before a level is requested
kernel  cores  triggers  instructions needed  spread, %  GHz  n
256fma      2  nothing                     -          -    -  -
nothing: no change was seen while it ran, at this number of active cores
== Densities, mixtures, dirty registers
What triggers a license level

The sparsest code that still triggers a level
kernel  cores  triggers         up to one in  instructions per cycle           GHz
512fma     16  level 2                     8  0.4967 suffice, 0.4415 do not  1.900
512or      16  level 1                   256  0.0155 suffice                 2.400
512add     16  lower frequency             4  0.5000 suffice, 0.4000 do not  2.400
512sub     16  lower frequency             4  0.5000 suffice, 0.4000 do not  2.799
512s1      16  level 1                     4  0.1250 suffice, 0.0625 do not      -
512s2      16  level 1                     4  0.2500 suffice, 0.1250 do not      -
512s3      16  level 1                     4  0.2500 suffice, 0.1250 do not      -

Mixtures of two kernels
kernel  mixed with  cores  triggers  alone: level  the other: level
256fma  512or          16  level 2              1                 1
256fma  256or          16  level 1              1                 0
256or   256fma         16  level 1              0                 1
128fma  256or          16  level 1              0                 0
128fma  512add         16  level 1              0                 0

Code on registers, upper halves or tiles, left dirty
left dirty by  code   cores  triggers    GHz  rate against clean registers
256fma-dirty   64add     16  nothing   2.800          1.000 [1.000, 1.000]
512fma-dirty   64add     16  level 1   2.400          0.900 [0.890, 0.910]
512or-dirty    64add     16  level 1   2.400                             -
nothing: no change was seen while it ran, at this number of active cores
undecided: by its limits the frequency may be below that of plain code; no level is given
3 rows that trigger a lower frequency are not reported, because the limits overlap those of plain code: 512or at - GHz, plain code at 2.800 [2.798, 2.802] GHz.
512fma triggers level 2 at 0.50 instructions per cycle or more (not at 0.44) on 16 active cores; 512add triggers a lower frequency at 0.50 instructions per cycle or more (not at 0.40) on 16 active cores; 512s1 triggers level 1 at 0.12 instructions per cycle or more (not at 0.06) on 16 active cores; 512s2 triggers level 1 at 0.25 instructions per cycle or more (not at 0.12) on 16 active cores.
256fma mixed with 512or triggers level 2, more than either alone, on 16 active cores; 128fma mixed with 256or triggers level 1, more than either alone, on 16 active cores; 128fma mixed with 512add triggers level 1, more than either alone, on 16 active cores; 64add after 512fma-dirty runs at level 1 on 16 active cores.
== A level of 5, of instructions without a number
What triggers a license level

Instructions before a level is requested
kernel  cores  triggers  instructions needed  spread, %  GHz  n
512or       2  -                  at most 20          -    -  -
512or       2  level 3            at most 20          -    -  -
512or       2  -                          30          -    -  -

Mixtures of two kernels
kernel  mixed with  cores  triggers  alone: level  the other: level
512or   256or           2  -                    1                 -
amx     256or           2  -                    -                 -
512or triggers level 3 within its first 20 instructions on 2 active cores.
== Without levels: by frequencies nothing is reported
No triggers of levels are reported: all kernels of table frequency share one level.
== Without levels, and nothing that would need them
No lower frequency was seen on 2 active cores while 1 kernel ran: none lower by more than 0.43 % (95 % limits).
== Where the frequency floats, not even that
No triggers of levels are reported: no steps, the frequency floats: 3 of 8.
== Where the frequency floats, counters count
512fma triggers level 1 after 300 instructions (95 %: 2 to 300) on 2 active cores.
== Written by a version without the kinds of rows
What triggers a license level
== Twelve numbers of cores, none of which tells a level
No lower frequency was seen on 1 active core while 1 kernel ran: none lower by more than 0.71 % (95 % limits).
No lower frequency was seen on 2 active cores while 1 kernel ran: none lower by more than 0.71 % (95 % limits).
No lower frequency was seen on 3 active cores while 1 kernel ran: none lower by more than 0.71 % (95 % limits).
No lower frequency was seen on 4 active cores while 1 kernel ran: none lower by more than 0.71 % (95 % limits).
No lower frequency was seen on 5 active cores while 1 kernel ran: none lower by more than 0.71 % (95 % limits).
No lower frequency was seen on 6 active cores while 1 kernel ran: none lower by more than 0.71 % (95 % limits).
No lower frequency was seen on 7 active cores while 1 kernel ran: none lower by more than 0.71 % (95 % limits).
No lower frequency was seen on 8 active cores while 1 kernel ran: none lower by more than 0.71 % (95 % limits).
No lower frequency was seen on 9 active cores while 1 kernel ran: none lower by more than 0.71 % (95 % limits).
No lower frequency was seen on 10 active cores while 1 kernel ran: none lower by more than 0.71 % (95 % limits).
No lower frequency was seen on 11 active cores while 1 kernel ran: none lower by more than 0.71 % (95 % limits).
No lower frequency was seen on 12 active cores while 1 kernel ran: none lower by more than 0.71 % (95 % limits).
== Counts: nothing after bursts of different lengths, the shortest first; undecided at first
What triggers a license level

Instructions before a level is requested
kernel  cores  triggers   instructions needed  spread, %  GHz  n
a           2  undecided                    -          -    -  -
b           2  nothing                      -          -    -  -
c           2  nothing                      -          -    -  -
nothing: no change was seen while it ran, at this number of active cores
undecided: by its limits the frequency may be below that of plain code; no level is given
== Counts: all ask for a level
What triggers a license level

Instructions before a level is requested
kernel  cores  triggers  instructions needed  spread, %  GHz  n
a           2  level 1             9 [8, 10]          -    -  -
a triggers level 1 after 9 instructions (95 %: 8 to 10) on 2 active cores.
== Mixtures first of all; one of nothing, and two kernels that are none
What triggers a license level

Mixtures of two kernels
kernel  mixed with  cores  triggers  alone: level  the other: level
256fma  512or           2  level 1              1                 0
512fma  -               2  level 1              2                 -

Code on registers, upper halves or tiles, left dirty
left dirty by  code   cores  triggers  GHz  rate against clean registers
256fma-dirty   64add      2  level 1     -                             -
64add after 256fma-dirty runs at level 1 on 2 active cores.
