Counts: from the first instruction, from one on, by frequency and by counters: #31857658f8689a55
Counts: nothing lower, on two numbers of cores: #5516f5cf6c65d78e
Counts: nothing, without a longest burst: #1340f364815f3cb1
Densities, mixtures, dirty registers: #f4061d326affeb46
A level of 5, of instructions without a number: #4125f8dece626d3f
Without levels: by frequencies nothing is told: #d4190c163e49fee9
Without levels, and nothing that would need them: #448b59d96560efa9
Where the frequency floats, not even that: #a69d3451d3377a49
Where the frequency floats, counters count: #bdd44ddf370f77f9
Written by a version without the kinds of rows: #f42af7797f166708
Twelve numbers of cores, none of which tells a level: #a7f8e2412735f175
Counts: nothing after bursts of different lengths, the shortest first; undecided at first: #df2ae259f51f37a6
Counts: all ask for a level: #ff9392eb7844c5ff
Mixtures first of all; one of nothing, and two kernels that are none: #696a611e572804ff
