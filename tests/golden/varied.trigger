Counts: from the first instruction, from one on, by frequency and by counters: #d3c45871214dece4
Counts: nothing lower, on two numbers of cores: #00ab4d319543402d
Counts: nothing, without a longest burst: #8f1bdac1a7dff369
Densities, mixtures, dirty registers: #73dbc7cc8c170b00
A level of 5, of instructions without a number: #6b1f85df7498e17a
Without levels: by frequencies nothing is told: #bb28ad99a15788d1
Without levels, and nothing that would need them: #83f28a51059fdb17
Where the frequency floats, not even that: #1e657adbb4feedcf
Where the frequency floats, counters count: #2e062d29998205ba
Written by a version without the kinds of rows: #9039162bbafdc925
Twelve numbers of cores, none of which tells a level: #9b510dee3e85cf8e
Counts: nothing after bursts of different lengths, the shortest first; undecided at first: #efdd1db39d1215cc
Counts: all ask for a level: #2bc4a57fa40f7341
Mixtures first of all; one of nothing, and two kernels that are none: #4738c70079ac58e5
