== undisturbed
 kernel 0.7530/16
 density 15.4248/16
 active_cores 62.4437/16
 what 92.0892/16
 asks 8.0191/16
 with 49.7439/16
 count 18.3637/16+134
 count_lo 11.5131/16+134
 count_hi 18.3637/16+134
 spread 0.0000/16+136
 level 38.1334/16
 rate_per_cycle 55.4201/16+34
 rate_per_cycle_lo 49.6198/16+48
 rate_per_cycle_hi 55.4201/16+34
 freq_ghz 77.8706/16
 freq_ghz_lo 77.8684/16
 freq_ghz_hi 77.8728/16
 plain_ghz 78.7452/16
 plain_ghz_lo 78.7431/16
 plain_ghz_hi 78.7473/16
 level_kernel 0.0000/16+121
 level_with 12.3794/16+121
 freq_kernel_ghz 13.1484/16+121
 freq_with_ghz 13.0790/16+121
 ipc_ratio 12.6644/16+120
 ipc_ratio_lo 12.6644/16+120
 ipc_ratio_hi 12.6644/16+120
 longest_us 6.5946/16
 window_from_us -37.2026/16
 window_to_us 77.2877/16
 warmup_us 51.4112/16
 period_us 68.2623/16
 n 88.8494/16
 discarded 0.0000/16
 detectable 17.7803/16+135
seed: 5
companion: 64add
siblings: idle
warmup: plain code before each burst, at least as long as levels are held: warmup_us of each row; --warmup can only lengthen it
window: the level that a burst triggers is read from window_from_us to window_to_us after it (below 0: during it), when transitions are over and levels are still held, as a pilot run of each kernel showed; --observe does not change it
runs: 6
512fma triggers level 2 within its first 240 instructions on 2 active cores.
512fma triggers level 2 at 0.50 instructions per cycle or more (not at 0.44) on 2 active cores.
64add after 512fma-dirty runs at level 1 on 2 active cores.
238 answers, progress told 88 times: parts 76.5560/176
== all disturbed
seed: 5
companion: 64add
siblings: idle
warmup: plain code before each burst, at least as long as levels are held: warmup_us of each row; --warmup can only lengthen it
window: the level that a burst triggers is read from window_from_us to window_to_us after it (below 0: during it), when transitions are over and levels are still held, as a pilot run of each kernel showed; --observe does not change it
runs: 6
missing: kernel 64add density 1 active_cores 2 what count: 12 consecutive repetitions were invalid: page faults; stop other programs, or choose another CPU with --cpu
missing: kernel 512fma density 1 active_cores 2 what count: 12 consecutive repetitions were invalid: page faults; stop other programs, or choose another CPU with --cpu
missing: kernel 512fma density 1 active_cores 2 what density: 12 consecutive repetitions were invalid: page faults; stop other programs, or choose another CPU with --cpu
missing: kernel 64add density 1 active_cores 2 what mixture with 512fma: 12 consecutive repetitions were invalid: page faults; stop other programs, or choose another CPU with --cpu
missing: kernel 512fma-dirty density 1 active_cores 2 what dirty with 64add: 12 consecutive repetitions were invalid: page faults; stop other programs, or choose another CPU with --cpu
60 answers, progress told 66 times: parts 88.4864/132
== one in three disturbed
 kernel 0.7530/16
 density 15.4248/16
 active_cores 62.4437/16
 what 92.0892/16
 asks 8.0191/16
 with 49.7439/16
 count 18.3637/16+134
 count_lo 11.5131/16+134
 count_hi 18.3637/16+134
 spread 0.0000/16+136
 level 38.1334/16
 rate_per_cycle 55.4201/16+34
 rate_per_cycle_lo 49.6198/16+48
 rate_per_cycle_hi 55.4201/16+34
 freq_ghz 77.8706/16
 freq_ghz_lo 77.8683/16
 freq_ghz_hi 77.8728/16
 plain_ghz 78.7453/16
 plain_ghz_lo 78.7439/16
 plain_ghz_hi 78.7468/16
 level_kernel 0.0000/16+121
 level_with 12.3794/16+121
 freq_kernel_ghz 13.1483/16+121
 freq_with_ghz 13.0790/16+121
 ipc_ratio 12.6644/16+120
 ipc_ratio_lo 12.6644/16+120
 ipc_ratio_hi 12.6644/16+120
 longest_us 6.5946/16
 window_from_us -37.2026/16
 window_to_us 77.2877/16
 warmup_us 51.4112/16
 period_us 68.2623/16
 n 88.8494/16
 discarded 40.7415/16
 detectable 17.7803/16+135
seed: 5
companion: 64add
siblings: idle
warmup: plain code before each burst, at least as long as levels are held: warmup_us of each row; --warmup can only lengthen it
window: the level that a burst triggers is read from window_from_us to window_to_us after it (below 0: during it), when transitions are over and levels are still held, as a pilot run of each kernel showed; --observe does not change it
runs: 6
512fma triggers level 2 within its first 240 instructions on 2 active cores.
512fma triggers level 2 at 0.50 instructions per cycle or more (not at 0.44) on 2 active cores.
64add after 512fma-dirty runs at level 1 on 2 active cores.
357 answers, progress told 106 times: parts 61.1334/212
== disturbed from the 20th on
seed: 5
companion: 64add
siblings: idle
warmup: plain code before each burst, at least as long as levels are held: warmup_us of each row; --warmup can only lengthen it
window: the level that a burst triggers is read from window_from_us to window_to_us after it (below 0: during it), when transitions are over and levels are still held, as a pilot run of each kernel showed; --observe does not change it
runs: 6
missing: kernel 64add density 1 active_cores 2 what count: 12 consecutive repetitions were invalid: page faults; stop other programs, or choose another CPU with --cpu
missing: kernel 512fma density 1 active_cores 2 what count: 12 consecutive repetitions were invalid: page faults; stop other programs, or choose another CPU with --cpu
missing: kernel 512fma density 1 active_cores 2 what density: 12 consecutive repetitions were invalid: page faults; stop other programs, or choose another CPU with --cpu
missing: kernel 64add density 1 active_cores 2 what mixture with 512fma: 12 consecutive repetitions were invalid: page faults; stop other programs, or choose another CPU with --cpu
missing: kernel 512fma-dirty density 1 active_cores 2 what dirty with 64add: 12 consecutive repetitions were invalid: page faults; stop other programs, or choose another CPU with --cpu
80 answers, progress told 58 times: parts 13.5242/116
answer 0 fails: 1, it broke; mend it, after 1
answer 1 fails: 1, it broke; mend it, after 2
answer 2 fails: 1, it broke; mend it, after 3
answer 6 fails: 1, it broke; mend it, after 7
answer 18 fails: 1, it broke; mend it, after 19
answer 54 fails: 1, it broke; mend it, after 55
answer 162 fails: 1, it broke; mend it, after 163
stopped at 1: 1, interrupted; after 0 answers, told 1 times
stopped at 2: 1, interrupted; after 9 answers, told 2 times
stopped at 6: 1, interrupted; after 21 answers, told 6 times
stopped at 18: 1, interrupted; after 60 answers, told 18 times
stopped at 54: 1, interrupted; after 140 answers, told 54 times
