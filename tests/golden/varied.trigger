Counts: from the first instruction, from one on, by frequency and by counters: #9c4764c3b70ce83f
Counts: nothing lower, on two numbers of cores: #11a9eaad672739eb
Counts: nothing, without a longest burst: #b04d94c6dd96ff71
Densities, mixtures, dirty registers: #d6bb6b4a0d80e754
A level of 5, of instructions without a number: #62c400e272b8f756
Without levels: by frequencies nothing is reported: #49f7c2a90e5c0ef4
Without levels, and nothing that would need them: #dee1aa35b09ee4a0
Where the frequency floats, not even that: #213fafaa47a3010e
Where the frequency floats, counters count: #ac548e1148ee66a3
Written by a version without the kinds of rows: #08a7f209d4c61497
Twelve numbers of cores, none of which tells a level: #f390e9ff648bf27b
Counts: nothing after bursts of different lengths, the shortest first; undecided at first: #bcf32dd0724b06e7
Counts: all ask for a level: #29fa42cd9b4efd15
Mixtures first of all; one of nothing, and two kernels that are none: #694ce042e839e36d
