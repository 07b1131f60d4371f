Counts: from the first instruction, from one on, by frequency and by counters: #b9d4bedf8ae38331
Counts: nothing lower, on two numbers of cores: #777fd9894752b178
Counts: nothing, without a longest burst: #9ce3131644360c59
Densities, mixtures, dirty registers: #398d8a0eafa362df
A level of 5, of instructions without a number: #ecc9536749f93b30
Without levels: by frequencies nothing is told: #d4190c163e49fee9
Without levels, and nothing that would need them: #448b59d96560efa9
Where the frequency floats, not even that: #a69d3451d3377a49
Where the frequency floats, counters count: #bdd44ddf370f77f9
Written by a version without the kinds of rows: #7b461cafafb3bc8f
Twelve numbers of cores, none of which tells a level: #a7f8e2412735f175
Counts: nothing after bursts of different lengths, the shortest first; undecided at first: #ed43a365cce17dae
Counts: all ask for a level: #07a92fca94200d3d
Mixtures first of all; one of nothing, and two kernels that are none: #b8d9641fe757b109
