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
runs: 5
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
runs: 5
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
runs: 5
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
runs: 5
missing: kernel 64add density 1 active_cores 2 what count: 12 consecutive repetitions were invalid: page faults; stop other programs, or choose another CPU with --cpu
missing: kernel 512fma density 1 active_cores 2 what count: 12 consecutive repetitions were invalid: page faults; stop other programs, or choose another CPU with --cpu
missing: kernel 512fma density 1 active_cores 2 what density: 12 consecutive repetitions were invalid: page faults; stop other programs, or choose another CPU with --cpu
missing: kernel 64add density 1 active_cores 2 what mixture with 512fma: 12 consecutive repetitions were invalid: page faults; stop other programs, or choose another CPU with --cpu
missing: kernel 512fma-dirty density 1 active_cores 2 what dirty with 64add: 12 consecutive repetitions were invalid: page faults; stop other programs, or choose another CPU with --cpu
80 answers, progress told 58 times: parts 13.5242/116
== one in three slow
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
 rate_per_cycle 55.4202/16+34
 rate_per_cycle_lo 49.6196/16+48
 rate_per_cycle_hi 55.4204/16+34
 freq_ghz 77.8003/16
 freq_ghz_lo 77.7975/16
 freq_ghz_hi 77.8030/16
 plain_ghz 78.6233/16
 plain_ghz_lo 78.6199/16
 plain_ghz_hi 78.6268/16
 level_kernel 0.0000/16+121
 level_with 12.3794/16+121
 freq_kernel_ghz 13.1483/16+121
 freq_with_ghz 13.0789/16+121
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
runs: 5
512fma triggers level 2 within its first 240 instructions on 2 active cores.
512fma triggers level 2 at 0.50 instructions per cycle or more (not at 0.44) on 2 active cores.
64add after 512fma-dirty runs at level 1 on 2 active cores.
238 answers, progress told 88 times: parts 76.5560/176
== slow from the 30th on
 kernel 0.7530/16
 density 15.4248/16
 active_cores 62.4437/16
 what 92.0892/16
 asks 8.0191/16
 with 49.7439/16
 count 18.2996/16+134
 count_lo 11.5131/16+134
 count_hi 18.2996/16+134
 spread 0.0000/16+136
 level 38.1334/16
 rate_per_cycle 55.4202/16+34
 rate_per_cycle_lo 49.6198/16+48
 rate_per_cycle_hi 55.4202/16+34
 freq_ghz 76.5691/16
 freq_ghz_lo 76.5673/16
 freq_ghz_hi 76.5710/16
 plain_ghz 77.4436/16
 plain_ghz_lo 77.4416/16
 plain_ghz_hi 77.4456/16
 level_kernel 0.0000/16+121
 level_with 12.3794/16+121
 freq_kernel_ghz 13.0843/16+121
 freq_with_ghz 13.0149/16+121
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
runs: 5
512fma triggers level 2 within its first 228 instructions on 2 active cores.
512fma triggers level 2 at 0.50 instructions per cycle or more (not at 0.44) on 2 active cores.
64add after 512fma-dirty runs at level 1 on 2 active cores.
238 answers, progress told 88 times: parts 76.5560/176
== one in two slow until time 0
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
 rate_per_cycle 55.4202/16+34
 rate_per_cycle_lo 49.6198/16+48
 rate_per_cycle_hi 55.4202/16+34
 freq_ghz 76.7679/16
 freq_ghz_lo 76.7660/16
 freq_ghz_hi 76.7697/16
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
runs: 5
512fma triggers level 2 within its first 240 instructions on 2 active cores.
512fma triggers level 2 at 0.50 instructions per cycle or more (not at 0.44) on 2 active cores.
64add after 512fma-dirty runs at level 1 on 2 active cores.
238 answers, progress told 88 times: parts 76.5560/176
== levels exchanged in one of two
row: kernel 512fma density 1 active_cores 2 what density asks throttle only with - level 0 rate_per_cycle 1.986639 rate_per_cycle_lo 1.986639 rate_per_cycle_hi 1.986639 freq_ghz 3.499936 freq_ghz_lo 3.499622 freq_ghz_hi 3.500251 plain_ghz 3.699903 plain_ghz_lo 3.699575 plain_ghz_hi 3.700231 longest_us 600 window_from_us -200 window_to_us 0 warmup_us 2500 period_us 3 n 5 discarded 0
row: kernel 512fma density 256 active_cores 2 what density asks level 1 with - level 1 rate_per_cycle 0.01552147 rate_per_cycle_lo 0.01552147 rate_per_cycle_hi 0.01552147 freq_ghz 3.599992 freq_ghz_lo 3.599744 freq_ghz_hi 3.600241 plain_ghz 3.699937 plain_ghz_lo 3.699626 plain_ghz_hi 3.700248 longest_us 600 window_from_us -200 window_to_us 0 warmup_us 2500 period_us 3 n 5 discarded 0
row: kernel 512fma density 256 active_cores 2 what density limit asks level 1 with - level 1 rate_per_cycle 0.01552147 rate_per_cycle_hi 0.01552147 freq_ghz 3.599992 freq_ghz_lo 3.599744 freq_ghz_hi 3.600241 plain_ghz 3.699937 plain_ghz_lo 3.699626 plain_ghz_hi 3.700248 longest_us 600 window_from_us -200 window_to_us 0 warmup_us 2500 period_us 3 n 5 discarded 0
row: kernel 64add density 1 active_cores 2 what mixture asks throttle only with 512fma level 2 freq_ghz 3.500112 freq_ghz_lo 3.499632 freq_ghz_hi 3.500591 plain_ghz 3.699948 plain_ghz_lo 3.699513 plain_ghz_hi 3.700383 level_kernel 0 level_with 0 freq_kernel_ghz 3.699979 freq_with_ghz 3.500111 longest_us 60 window_from_us 150 window_to_us 250 warmup_us 2500 period_us 1 n 6 discarded 0
seed: 5
companion: 64add
siblings: idle
warmup: plain code before each burst, at least as long as levels are held: warmup_us of each row; --warmup can only lengthen it
window: the level that a burst triggers is read from window_from_us to window_to_us after it (below 0: during it), when transitions are over and levels are still held, as a pilot run of each kernel showed; --observe does not change it
runs: 5
missing: kernel 64add density 1 active_cores 2 what count discarded 60: the repetitions of 64add disagree on the frequency: fewer than four in five match; discarded before that: the frequency changed from time to time; stop other programs, or choose another CPU with --cpu
missing: kernel 512fma density 1 active_cores 2 what count discarded 60: the repetitions of 64add disagree on the frequency: fewer than four in five match; discarded before that: the frequency changed from time to time; stop other programs, or choose another CPU with --cpu
missing: kernel 512fma-dirty density 1 active_cores 2 what dirty with 64add discarded 36: the repetitions of 64add disagree on the frequency: fewer than four in five match; discarded before that: the frequency changed from time to time; stop other programs, or choose another CPU with --cpu
64add mixed with 512fma triggers throttle only, more than either alone, on 2 active cores.
314 answers, progress told 100 times: parts 27.0532/200
answer 0 fails: 1, it broke; mend it, after 1
answer 1 fails: 1, it broke; mend it, after 2
answer 5 fails: 1, it broke; mend it, after 6
answer 21 fails: 1, it broke; mend it, after 22
answer 85 fails: 1, it broke; mend it, after 86
stopped at 1: 1, interrupted; after 0 answers, told 1 times
stopped at 7: 1, interrupted; after 24 answers, told 7 times
stopped at 49: 1, interrupted; after 130 answers, told 49 times
