== undisturbed
 kernel 0.7530/16
 density 15.4248/16
 active_cores 62.4437/16
 what 92.0892/16
 asks 8.0191/16
 with 49.7439/16
 count 17.4973/16+134
 count_lo 11.5131/16+134
 count_hi 17.4973/16+134
 spread 0.0000/16+136
 level 38.1334/16
 rate_per_cycle 55.5130/16+34
 rate_per_cycle_lo 8.3973/16+123
 rate_per_cycle_hi 14.2025/16+109
 freq_ghz 77.8709/16
 freq_ghz_lo 77.8698/16
 freq_ghz_hi 77.8720/16
 plain_ghz 78.7451/16
 plain_ghz_lo 78.7442/16
 plain_ghz_hi 78.7461/16
 level_kernel 0.0000/16+121
 level_with 12.3794/16+121
 freq_kernel_ghz 13.1483/16+121
 freq_with_ghz 13.0788/16+121
 ipc_ratio 12.6644/16+120
 ipc_ratio_lo 12.6644/16+120
 ipc_ratio_hi 12.6644/16+120
 longest_us 55.1071/16+103
 window_from_us 60.3053/16+103
 window_to_us 61.8635/16+103
 warmup_us 66.0082/16+103
 period_us 37.0370/16+103
 n 1.5344/16
 discarded 0.0000/16+103
 detectable 18.0656/16+135
 ratio 43.2022/16
 ratio_lo 43.2000/16
 ratio_hi 43.2041/16
seed: 5
companion: 64add
siblings: idle
warmup: plain code before each burst, at least as long as levels are held: warmup_us of each row; --warmup can only lengthen it
window: the level that a burst triggers is read from window_from_us to window_to_us after it (below 0: during it), when transitions are over and levels are still held, as switches to each kernel and back showed; --observe does not change it
runs: 5
512fma triggers level 2 within its first 120 instructions on 2 active cores.
512fma triggers level 2 at 0.50 instructions per cycle or more (not at 0.44) on 2 active cores.
64add after 512fma-dirty runs at level 1 on 2 active cores.
1310 answers, progress told 867 times: parts 23.0945/1734
== all disturbed
seed: 5
companion: 64add
siblings: idle
warmup: plain code before each burst, at least as long as levels are held: warmup_us of each row; --warmup can only lengthen it
window: the level that a burst triggers is read from window_from_us to window_to_us after it (below 0: during it), when transitions are over and levels are still held, as switches to each kernel and back showed; --observe does not change it
runs: 5
missing: kernel 64add density 1 active_cores 2 what count: in all of 50 rounds it was disturbed (migrated to another CPU); stop other programs, or choose another CPU with --cpu
missing: kernel 512fma density 1 active_cores 2 what count: in all of 50 rounds it was disturbed (migrated to another CPU); stop other programs, or choose another CPU with --cpu
missing: kernel 64add density 1 active_cores 2 what mixture with 512fma: in all of 36 rounds it was disturbed (migrated to another CPU); stop other programs, or choose another CPU with --cpu
missing: kernel 512fma-dirty density 1 active_cores 2 what dirty with 64add: in all of 50 rounds it was disturbed (migrated to another CPU); stop other programs, or choose another CPU with --cpu
202 answers, progress told 193 times: parts 39.6844/386
== one in three disturbed
 kernel 0.7530/16
 density 15.4248/16
 active_cores 62.4437/16
 what 92.0892/16
 asks 8.0191/16
 with 49.7439/16
 count 17.4973/16+134
 count_lo 11.5131/16+134
 count_hi 17.4973/16+134
 spread 0.0000/16+136
 level 38.1334/16
 rate_per_cycle 55.5130/16+34
 rate_per_cycle_lo 8.3973/16+123
 rate_per_cycle_hi 14.2025/16+109
 freq_ghz 77.8710/16
 freq_ghz_lo 77.8700/16
 freq_ghz_hi 77.8721/16
 plain_ghz 78.7454/16
 plain_ghz_lo 78.7445/16
 plain_ghz_hi 78.7463/16
 level_kernel 0.0000/16+121
 level_with 12.3794/16+121
 freq_kernel_ghz 13.1484/16+121
 freq_with_ghz 13.0790/16+121
 ipc_ratio 12.6644/16+120
 ipc_ratio_lo 12.6644/16+120
 ipc_ratio_hi 12.6644/16+120
 longest_us 55.1030/16+103
 window_from_us 60.3053/16+103
 window_to_us 61.8635/16+103
 warmup_us 66.0082/16+103
 period_us 37.0370/16+103
 n 9.3216/16
 discarded 47.3030/16+103
 detectable 18.0656/16+135
 ratio 43.2019/16
 ratio_lo 43.1996/16
 ratio_hi 43.2383/16
seed: 5
companion: 64add
siblings: idle
warmup: plain code before each burst, at least as long as levels are held: warmup_us of each row; --warmup can only lengthen it
window: the level that a burst triggers is read from window_from_us to window_to_us after it (below 0: during it), when transitions are over and levels are still held, as switches to each kernel and back showed; --observe does not change it
runs: 5
512fma triggers level 2 within its first 120 instructions on 2 active cores.
512fma triggers level 2 at 0.50 instructions per cycle or more (not at 0.44) on 2 active cores.
64add after 512fma-dirty runs at level 1 on 2 active cores.
1413 answers, progress told 907 times: parts 61.9462/1814
== disturbed from the 20th on
seed: 5
companion: 64add
siblings: idle
warmup: plain code before each burst, at least as long as levels are held: warmup_us of each row; --warmup can only lengthen it
window: the level that a burst triggers is read from window_from_us to window_to_us after it (below 0: during it), when transitions are over and levels are still held, as switches to each kernel and back showed; --observe does not change it
runs: 5
missing: kernel 64add density 1 active_cores 2 what count: the trace has no measured values: of 100 repetitions, 100 were disturbed, the first: migrated to another CPU; repeat on a quieter machine or with more --runs
missing: kernel 512fma density 1 active_cores 2 what count: in all of 50 rounds it was disturbed (page faults); stop other programs, or choose another CPU with --cpu
missing: kernel 64add density 1 active_cores 2 what mixture with 512fma: in all of 36 rounds it was disturbed (page faults); stop other programs, or choose another CPU with --cpu
missing: kernel 512fma-dirty density 1 active_cores 2 what dirty with 64add: in all of 50 rounds it was disturbed (page faults); stop other programs, or choose another CPU with --cpu
317 answers, progress told 252 times: parts 36.9951/504
== one in three slow
 kernel 0.7530/16
 density 15.4248/16
 active_cores 62.4437/16
 what 92.0892/16
 asks 8.0191/16
 with 49.7439/16
 count 17.4973/16+134
 count_lo 11.5131/16+134
 count_hi 17.4973/16+134
 spread 0.0000/16+136
 level 38.1334/16
 rate_per_cycle 55.5130/16+34
 rate_per_cycle_lo 8.3973/16+123
 rate_per_cycle_hi 14.2025/16+109
 freq_ghz 77.4871/16
 freq_ghz_lo 77.0295/16
 freq_ghz_hi 77.9356/16
 plain_ghz 78.2942/16
 plain_ghz_lo 77.8369/16
 plain_ghz_hi 78.7424/16
 level_kernel 0.0000/16+121
 level_with 12.3794/16+121
 freq_kernel_ghz 13.1162/16+121
 freq_with_ghz 13.0468/16+121
 ipc_ratio 12.6644/16+120
 ipc_ratio_lo 12.6644/16+120
 ipc_ratio_hi 12.6644/16+120
 longest_us 55.1071/16+103
 window_from_us 60.3053/16+103
 window_to_us 61.8635/16+103
 warmup_us 66.0082/16+103
 period_us 37.0370/16+103
 n 1.5344/16
 discarded 0.0000/16+103
 detectable 18.0656/16+135
 ratio 43.3012/16
 ratio_lo 43.0983/16
 ratio_hi 43.3035/16
seed: 5
companion: 64add
siblings: idle
warmup: plain code before each burst, at least as long as levels are held: warmup_us of each row; --warmup can only lengthen it
window: the level that a burst triggers is read from window_from_us to window_to_us after it (below 0: during it), when transitions are over and levels are still held, as switches to each kernel and back showed; --observe does not change it
runs: 5
512fma triggers level 2 within its first 120 instructions on 2 active cores.
512fma triggers level 2 at 0.50 instructions per cycle or more (not at 0.44) on 2 active cores.
64add after 512fma-dirty runs at level 1 on 2 active cores.
1310 answers, progress told 867 times: parts 23.0945/1734
== slow from the 30th on
 kernel 0.7530/16
 density 15.4248/16
 active_cores 62.4437/16
 what 92.0892/16
 asks 8.0191/16
 with 49.7439/16
 count 17.4973/16+134
 count_lo 11.5131/16+134
 count_hi 17.4973/16+134
 spread 0.0000/16+136
 level 38.1334/16
 rate_per_cycle 55.5130/16+34
 rate_per_cycle_lo 8.3973/16+123
 rate_per_cycle_hi 14.2025/16+109
 freq_ghz 76.5688/16
 freq_ghz_lo 76.5685/16
 freq_ghz_hi 76.5691/16
 plain_ghz 77.4439/16
 plain_ghz_lo 77.4434/16
 plain_ghz_hi 77.4445/16
 level_kernel 0.0000/16+121
 level_with 12.3794/16+121
 freq_kernel_ghz 13.0842/16+121
 freq_with_ghz 13.0147/16+121
 ipc_ratio 12.6644/16+120
 ipc_ratio_lo 12.6644/16+120
 ipc_ratio_hi 12.6644/16+120
 longest_us 55.1071/16+103
 window_from_us 60.3053/16+103
 window_to_us 61.8635/16+103
 warmup_us 66.0082/16+103
 period_us 37.0370/16+103
 n 1.5344/16
 discarded 0.0000/16+103
 detectable 18.0656/16+135
 ratio 43.2015/16
 ratio_lo 43.2006/16
 ratio_hi 43.2032/16
seed: 5
companion: 64add
siblings: idle
warmup: plain code before each burst, at least as long as levels are held: warmup_us of each row; --warmup can only lengthen it
window: the level that a burst triggers is read from window_from_us to window_to_us after it (below 0: during it), when transitions are over and levels are still held, as switches to each kernel and back showed; --observe does not change it
runs: 5
512fma triggers level 2 within its first 120 instructions on 2 active cores.
512fma triggers level 2 at 0.50 instructions per cycle or more (not at 0.44) on 2 active cores.
64add after 512fma-dirty runs at level 1 on 2 active cores.
1310 answers, progress told 867 times: parts 23.0945/1734
== one in two slow until time 0
 kernel 0.7530/16
 density 15.4248/16
 active_cores 62.4437/16
 what 92.0892/16
 asks 7.4125/16
 with 49.7439/16
 count 17.4973/16+134
 count_lo 11.5131/16+134
 count_hi 17.4973/16+134
 spread 0.0000/16+136
 level 38.1334/16
 rate_per_cycle 55.5130/16+34
 rate_per_cycle_lo 8.3973/16+123
 rate_per_cycle_hi 14.2025/16+109
 freq_ghz 77.8709/16
 freq_ghz_lo 77.8698/16
 freq_ghz_hi 77.8720/16
 plain_ghz 78.7451/16
 plain_ghz_lo 78.7442/16
 plain_ghz_hi 78.7461/16
 level_kernel 0.0000/16+121
 level_with 12.3794/16+121
 freq_kernel_ghz 13.1483/16+121
 freq_with_ghz 13.0788/16+121
 ipc_ratio 12.6644/16+120
 ipc_ratio_lo 12.6644/16+120
 ipc_ratio_hi 12.6644/16+120
 longest_us 55.1071/16+103
 window_from_us 60.3054/16+103
 window_to_us 61.8635/16+103
 warmup_us 66.0082/16+103
 period_us 37.0370/16+103
 n 1.5344/16
 discarded 0.0000/16+103
 detectable 0.0000/16+136
 ratio 43.2022/16
 ratio_lo 43.2000/16
 ratio_hi 43.2041/16
seed: 5
companion: 64add
siblings: idle
warmup: plain code before each burst, at least as long as levels are held: warmup_us of each row; --warmup can only lengthen it
window: the level that a burst triggers is read from window_from_us to window_to_us after it (below 0: during it), when transitions are over and levels are still held, as switches to each kernel and back showed; --observe does not change it
runs: 5
512fma triggers level 2 within its first 120 instructions on 2 active cores.
512fma triggers level 2 at 0.50 instructions per cycle or more (not at 0.44) on 2 active cores.
64add after 512fma-dirty runs at level 1 on 2 active cores.
1310 answers, progress told 867 times: parts 23.0945/1734
== levels exchanged in one of two
seed: 5
companion: 64add
siblings: idle
warmup: plain code before each burst, at least as long as levels are held: warmup_us of each row; --warmup can only lengthen it
window: the level that a burst triggers is read from window_from_us to window_to_us after it (below 0: during it), when transitions are over and levels are still held, as switches to each kernel and back showed; --observe does not change it
runs: 5
missing: kernel 64add density 1 active_cores 2 what count: milliseconds after 64add the core is not back at the frequency of plain code; measure it with --transition and a longer --observe
missing: kernel 512fma density 1 active_cores 2 what count: milliseconds after 512fma the core is not back at the frequency of plain code; measure it with --transition and a longer --observe
missing: kernel 64add density 1 active_cores 2 what mixture with 512fma: milliseconds after 64add the core is not back at the frequency of plain code; measure it with --transition and a longer --observe
missing: kernel 512fma-dirty density 1 active_cores 2 what dirty with 64add: milliseconds after 512fma the core is not back at the frequency of plain code; measure it with --transition and a longer --observe
48 answers, progress told 39 times: parts 74.8687/78
answer 0 fails: 1, it broke; mend it, after 1
answer 1 fails: 1, it broke; mend it, after 2
answer 5 fails: 1, it broke; mend it, after 6
answer 21 fails: 1, it broke; mend it, after 22
answer 85 fails: 1, it broke; mend it, after 86
answer 341 fails: 1, it broke; mend it, after 342
stopped at 1: 1, interrupted; after 0 answers, told 1 times
stopped at 7: 1, interrupted; after 9 answers, told 8 times
stopped at 49: 1, interrupted; after 82 answers, told 49 times
stopped at 343: 1, interrupted; after 553 answers, told 343 times
