# SPDX-License-Identifier: GPL-3.0-or-later
#
# Turns a recording of another tool into a trace that `characterize --analyze` reads (doc/formats.md):
#
#     turbostat --quiet --interval 0.1 --show Time_Of_Day_Seconds,CPU,Bzy_MHz >recording
#     awk -v cpu=4 -f to-trace.awk recording >trace.csv && characterize --analyze trace.csv
#
# from=FORMAT is recognized if not given:
#
#   turbostat    its text, or that with commas for tabs, with the column Bzy_MHz (and CPU, unless --Summary). Times are
#                Time_Of_Day_Seconds; without that column, interval=S counts them. (usec is how long turbostat took to
#                read, not the interval.)
#   perf-stat    perf stat -I MS -x, (any separator; also -A, --per-core). Counts of less than the whole time
#                (multiplexed, <not counted>) are missing values.
#   pstate       cpu.csv of intel_pstate_tracer, or the kernel's trace of pstate_sample
#   likwid       likwid-perfctr -t S -g GROUP or EVENTS ... >recording 2>&1 (lines are on both outputs)
#   perf-script  perf script -F comm,tid,cpu,time,period,event: of perf record -e '{cycles,...}:S', one group, all of
#                which is read at each sample (perf leaves out what is 0); or of separate events, whose counts are
#                summed over each interval=S
#
# Options, by -v:
#
#   cpu=N        the CPU (turbostat: also - for the summary of all; perf stat --per-core: S0-D0-C3). Not needed if the
#                recording is of one.
#   interval=S   seconds; see above
#   tsc_ghz=F    frequency of ref-cycles, that of the time stamp counter: freq_ghz is F cycles / ref-cycles, not idle
#   clock=elapsed   all cycles of the CPU were counted: freq_ghz is cycles / time. Assumed for perf stat -A, likwid
#
# Otherwise freq_ghz is cycles / task-clock (or cpu-clock) where that was counted, and for turbostat, pstate, groups of
# likwid what these computed: the clock while not idle. ipc is instructions / cycles; lvl0, lvl1, lvl2, throttle are
# CORE_POWER.LVL0_TURBO_LICENSE, ..., THROTTLE (also raw: r0728, r1828, r2028, r4028) / cycles. What was not recorded
# stays empty. Time 0 is where the recording starts, or the end of its first sample where that is all it says.
# Bad input: one line on standard error, status 2, and no trace.

# fail(WHAT [, LINE]): the file and, if given, its line
function fail(what, line) {
    failed = 1
    printf "to-trace.awk: %s%s\n", NR == 0 && FILENAME == "" ? "" : (FILENAME == "" ? "-" : FILENAME) \
        (line ? ", line " line : "") ": ", what >"/dev/stderr"
    exit 2
}

function is_number(s) { return s ~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/ }

function trim(s) {
    gsub(/^[ \t]+|[ \t]+$/, "", s)
    return s
}

# A CPU that the recording has: is it asked for? Without the option, the first; that it is the only one, choose() sees.
function wanted(id) {
    if (!(id in seen)) {
        seen[id] = 1
        if (id != "-") cpus[++n_cpus] = id
    }
    return cpu == "" ? id == "-" || id == cpus[1] : id == cpu
}

# The samples are those of slot "-" (all CPUs) or "1" (a CPU): n, at[], span[] (s; "" = since the last), and val[].
function sample(id, time, dt) {
    slot = id == "-" ? "-" : 1
    n[slot]++
    at[slot, n[slot]] = time
    span[slot, n[slot]] = dt
}

function set(key, value) { val[slot, n[slot], key] = value + 0 }

# What an event's name counts, "" = nothing of interest; partly: only user mode, or the kernel
function key_of(event, modifier) {
    event = tolower(event)
    partly = 0
    if (match(event, /[:\/][a-z]+$/)) {
        modifier = substr(event, RSTART + 1)
        if (modifier ~ /^[ukhgpsdwe]+$/) {
            partly = modifier ~ /[uk]/
            event = substr(event, 1, RSTART - (substr(event, RSTART, 1) == ":"))
        }
    }
    gsub(/^cpu(_core|_atom)?\/|\/$/, "", event)
    if (match(event, /name=[^,]+/)) event = substr(event, RSTART + 5, RLENGTH - 5)
    gsub(/'/, "", event)
    if (event ~ /^(cycles|cpu-cycles|cpu_clk_unhalted[._](thread|core))$/) return "cycles"
    if (event ~ /^(ref-cycles|cpu_clk_unhalted[._]ref(_tsc)?)$/) return "ref"
    if (event ~ /^(instructions|inst_retired[._]any|instr_retired[._]any)$/) return "instructions"
    if (event ~ /^(task|cpu)-clock$/) return "clock"
    if (match(event, /^(core_power[._])?lvl[012](_turbo_license)?$/)) {
        match(event, /lvl[012]/)
        return substr(event, RSTART, 4)
    }
    if (event ~ /^core_power[._]throttle$/) return "throttle"
    gsub(/,?period=[^,]*/, "", event)
    if (match(event, /^(event=0x28,)?umask=0x[0-9a-f]+/) && event ~ /event=0x28/ && event !~ /(cmask|inv|edge|any)/) {
        sub(/^(event=0x28,)?umask=0x/, "r", event)
        sub(/,.*/, "", event)
        event = event "28"
    }
    sub(/^(config=0x|r0x|r)0*/, "r", event)
    return event == "r728" ? "lvl0" : event == "r1828" ? "lvl1" : event == "r2028" ? "lvl2" : \
        event == "r4028" ? "throttle" : ""
}

function format_of(line) {
    if (line ~ /(^|[ \t,])(Bzy_MHz|Avg_MHz|TSC_MHz)([ \t,]|$)/) return "turbostat"
    if (line ~ /^ *common_cpu *,/ || line ~ /pstate_sample: core_busy=/) return "pstate"
    if (line ~ /# (GID[|,]|HWThreads[:,]|C(ores|ORES)[:,])/) return "likwid"
    if (line ~ /^[ \t]*[0-9]+\.[0-9]+[^-0-9a-zA-Z.: ].*[^0-9]/) return "perf-stat"
    if (line ~ /[ \t][0-9]+\.[0-9]+: +([0-9]+ +)?[^ ]+:( |$)/) return "perf-script"
    if (line ~ /^# format: characterize-trace/) fail("is a trace already: characterize --analyze reads it", FNR)
    if (line ~ /^# +time +.*counts unit events/) fail("perf stat for people: record with perf stat -I MS -x,", FNR)
    if (line ~ /^(CPU[0-9]+,|S[0-9].*,)?[0-9.]+,[a-zA-Z]*,[a-zA-Z]/)
        fail("perf stat without times: record with perf stat -I MS -x,", FNR)
    return ""
}

BEGIN {
    formats = "turbostat, perf-stat, pstate, likwid, perf-script"
    if (from != "" && index(", " formats ",", ", " from ",") == 0) fail("from=" from ": the formats are " formats)
    if (interval != "" && !(is_number(interval) && interval > 0)) fail("interval=" interval ": seconds, above 0")
    if (tsc_ghz != "" && !(is_number(tsc_ghz) && tsc_ghz > 0)) fail("tsc_ghz=" tsc_ghz ": GHz, above 0")
    if (clock != "" && clock != "elapsed") fail("clock=" clock ": elapsed, or not given")
}

{
    sub(/\r$/, "")
    if (from == "") from = format_of($0)
}

# ---- turbostat: a line of names before each interval (once with --Summary), then the summary "-", then each CPU ----

from == "turbostat" && (commas += /,(Bzy|Avg|TSC)_MHz|(Bzy|Avg|TSC)_MHz,/) { gsub(/,/, "\t") }

from == "turbostat" && /(^|[ \t])(Bzy_MHz|Avg_MHz|TSC_MHz)([ \t]|$)/ {
    for (name in column) column[name] = 0
    indented = /^\t/
    n_names = split(trim($0), field, /[ \t]+/)
    for (i = 1; i <= n_names; i++) column[field[i]] = i
    if (!column["Bzy_MHz"]) fail("no column Bzy_MHz: record with --show Time_Of_Day_Seconds,CPU,Bzy_MHz", FNR)
    if (!column["Time_Of_Day_Seconds"] && interval == "")
        fail("no column Time_Of_Day_Seconds: give -v interval=S, that of the recording (turbostat's own: 5)", FNR)
    headers++
    rows = 0
    next
}

# Fields are separated by tabs and may be empty, or by blanks; siblings of a thread lack the last ones.
function turbostat_fields(line, names, count, i) {
    count = split(trim(line), field, /[ \t]+/)
    if (count == names || line !~ /[^ \t].*\t/) return count
    if (indented) sub(/^\t/, "", line)
    count = split(line, field, /\t/)
    for (i = 1; i <= count; i++) field[i] = trim(field[i])
    return count
}

from == "turbostat" && headers {
    n_fields = turbostat_fields($0, n_names)
    id = column["CPU"] ? field[column["CPU"]] : "-"
    value = column["Bzy_MHz"] <= n_fields ? field[column["Bzy_MHz"]] : ""
    if (n_fields < 1 || id !~ /^([0-9]+|-)$/ || (!column["CPU"] && !is_number(value))) next
    if (!column["CPU"] && ++rows > 1 && headers > 1)
        fail("no column CPU to tell the lines of an interval apart: record with --show CPU,Bzy_MHz", FNR)
    if (!wanted(id)) next
    if (value != "" && !is_number(value)) fail("Bzy_MHz is '" value "', not a number", FNR)
    i = id == "-" ? "-" : 1
    time = n[i] + 1 > headers ? n[i] + 1 : headers
    time *= interval
    if (column["Time_Of_Day_Seconds"]) {
        time = field[column["Time_Of_Day_Seconds"]]
        if (!is_number(time)) fail("Time_Of_Day_Seconds is '" time "', not a number", FNR)
    }
    sample(id, time, n[i] ? "" : interval)
    if (value > 0) set("freq", value / 1000)
    if (column["IPC"] && is_number(field[column["IPC"]])) set("ipc", field[column["IPC"]])
    next
}

# ---- perf stat -I -x: time, [CPU4 | S0-D0-C0,cpus], value, unit, event, [deviation %], run time, % of the time ----

from == "perf-stat" && match($0, /^[ \t]*[0-9]+\.[0-9]+/) {
    time = substr($0, 1, RLENGTH) + 0
    separator = substr($0, RLENGTH + 1, 1)
    if (separator == "" || separator == " ")
        fail("perf stat without -x, or cut off: record with perf stat -I MS -x,", FNR)
    n_fields = split(substr($0, RLENGTH + 2), field, separator == "|" ? "[|]" : separator)
    i = 1
    id = "all"
    if (field[1] !~ /^ *([0-9.]+|<.*>)? *$/) {
        id = trim(field[1])
        i = id ~ /^[SN][0-9]/ ? 3 : 2
        if (id ~ /^CPU[0-9]+$/) sub(/^CPU/, "", id)
    }
    value = trim(field[i])
    unit = trim(field[i + 1])
    event = field[i + 2]
    for (i += 3; gsub(/\//, "/", event) % 2 && i <= n_fields; i++) event = event "," field[i]
    if (i > n_fields + 1 || gsub(/\//, "/", event) % 2)
        fail("cut off, or not of perf stat -I -x,: a line of that is time,value,unit,event,...", FNR)
    if (value == "" || !wanted(id)) next
    if (value !~ /^<not/ && !is_number(value)) fail("the value of " event " is '" value "', not a number", FNR)
    if (!has_time || time != last) {
        sample(id, time, has_time ? "" : time)
        last = time
        has_time = 1
    }
    key = key_of(trim(event))
    if (key == "" || event ~ /^cpu_atom\// && id == "all") next
    counted[key] = 1
    if (key == "cycles" && partly) part = 1
    if (i <= n_fields && !is_number(trim(field[i]))) i++
    if (value ~ /^</) next
    if (is_number(trim(field[i + 1])) && field[i + 1] < 99) {
        multiplexed++
        next
    }
    if (key == "cycles") has_cycles = 1
    if (key == "clock") value *= unit ~ /^n/ ? 1 : unit ~ /^(ms|$)/ ? 1e6 : unit ~ /^s/ ? 1e9 : 0
    if (!((slot, n[slot], key) in val)) set(key, value)
    per_cpu = id ~ /^[0-9]+$/
    next
}

# ---- intel_pstate_tracer ----

function pstate(id, time, freq, dt) {
    sub(/^(CPU_)?0*/, "", id)
    if (id == "") id = "0"
    if (!is_number(time) || !is_number(freq)) fail("cut off: no time or frequency", FNR)
    if (!wanted(id)) return
    sample(id, time, dt)
    # cpu.csv has GHz, the kernel's trace kHz; no clock has 100 GHz
    set("freq", freq + 0 > 100 ? freq / 1e6 : freq)
}

from == "pstate" && /^ *common_cpu *,/ {
    n_fields = split($0, field, /,/)
    for (i = 1; i <= n_fields; i++) column[trim(field[i])] = i
    if (!column["common_secs"] || !column["common_usecs"] || !column["freq"])
        fail("no column common_secs, common_usecs or freq: the first line of cpu.csv has them", FNR)
    next
}

from == "pstate" && /^ *CPU_[0-9]+ *,/ {
    if (!column["freq"]) fail("no line of column names before it: the first line of cpu.csv", FNR)
    split("", field)
    n_fields = split($0, field, /,/)
    time = trim(field[column["common_secs"]])
    usecs = trim(field[column["common_usecs"]])
    duration = trim(field[column["duration_ms"]])
    pstate(trim(field[column["common_cpu"]]), is_number(time) && is_number(usecs) ? time + usecs / 1e6 : "",
        n_fields >= column["freq"] ? trim(field[column["freq"]]) : "", is_number(duration) ? duration / 1000 : "")
    next
}

from == "pstate" && match($0, /[0-9]+\.[0-9]+: pstate_sample: /) {
    time = substr($0, RSTART, RLENGTH)
    sub(/:.*/, "", time)
    value = $0
    sub(/^.* freq=/, "", value)
    sub(/[^0-9].*/, "", value)
    match($0, /\[[0-9]+\]/)
    pstate(substr($0, RSTART + 1, RLENGTH - 2), time, value, "")
    next
}

# ---- likwid-perfctr -t: the CPUs, the names of a group, then group,values,cpus,time, and each value of each CPU ----

from == "likwid" && /# (HWThreads|Cores|CORES)[:,]/ {
    sub(/^.*# [A-Za-z]+[:,] */, "")
    n_threads = split($0, thread, /[|, ]+/)
    for (i = 1; i <= n_threads; i++) if (wanted(thread[i])) chosen = i
    next
}

from == "likwid" && /# GID[|,]/ {
    sub(/^.*# /, "")
    groups++
    names[groups] = split($0, field, /[|]/ ? "[|]" : ",") - 4
    for (i = 1; i <= names[groups]; i++) label[groups, i] = trim(field[i + 4])
    next
}

from == "likwid" && /^[0-9]+[, ][0-9]+[, ][0-9]+[, ][0-9.]+[-e0-9]*[, ]/ {
    n_fields = split($0, field, /[, ]/)
    # other lines are of the program that was measured
    if (!groups || field[1] < 1 || field[1] > groups || field[2] != names[field[1]]) next
    if (!n_threads && field[3] > 1) fail("nothing says of which CPUs: record both outputs of likwid (2>&1)", FNR)
    if (!n_threads) {
        n_threads = chosen = 1
        thread[1] = "all"
        wanted("all")
    }
    if (field[3] != n_threads) next
    if (n_fields != 4 + field[2] * n_threads)
        fail("cut off: " n_fields " fields, not " 4 + field[2] * n_threads " (4, and one each value and CPU)", FNR)
    if (!chosen) next
    sample(thread[chosen], field[4], n[1] ? "" : field[4])
    for (i = 1; i <= field[2]; i++) {
        value = field[4 + (i - 1) * n_threads + chosen]
        name = label[field[1], i]
        if (!is_number(value)) continue
        if (name == "Clock [MHz]") set("freq", value / 1000)
        else if (name == "CPI" && value > 0) set("ipc", 1 / value)
        else if ((key = key_of(name)) != "") {
            set(key, value)
            counted[key] = 1
        }
    }
    per_cpu = 1
    next
}

# ---- perf script: [comm] [tid] [CPU] time: period event: ----

from == "perf-script" && match($0, /(^|[ \t])[0-9]+\.[0-9]+: +/) {
    id = "all"
    time = trim(substr($0, RSTART, RLENGTH))
    time = time + 0
    split(substr($0, RSTART + RLENGTH), field, /[ \t]+/)
    if (match($0, /\[[0-9]+\] /)) id = substr($0, RSTART + 1, RLENGTH - 3) + 0 ""
    value = is_number(field[1]) ? field[1] : ""
    event = value == "" ? field[1] : field[2]
    if (event !~ /.:$/ || !wanted(id)) next
    sub(/:$/, "", event)
    if ((key = key_of(event)) == "") next
    if (value == "") fail("no period of " event ": use perf script -F comm,tid,cpu,time,period,event", FNR)
    counted[key] = 1
    if (key == "cycles" && partly) part = 1
    if (!has_time) first = time
    bin = interval == "" ? time : int((time - first) / interval) + 1
    if (has_time && bin < last)
        fail("times go backwards: convert one recording at a time, as perf script prints it", FNR)
    if (interval != "" && has_time && bin - last > 1e6)
        fail("nothing for more than a million intervals: give a longer one, or one recording at a time", FNR)
    while (interval != "" && has_time && last + 1 < bin) sample(id, ++last * interval, interval) # the CPU was idle
    if (!has_time || bin != last) sample(id, interval == "" ? time : bin * interval, interval)
    last = bin
    has_time = 1
    set(key, val[slot, n[slot], key] + value)
    if (key != "cycles") set("others", 1)
    next
}

# ---- the trace ----

# Fails unless exactly one CPU, or the summary, is asked for and there; returns its slot.
function choose(list, i) {
    for (i = 1; i <= n_cpus && i <= 12; i++) list = list (i > 1 ? ", " : "") cpus[i]
    if (n_cpus > 12) list = list ", ..."
    if ("-" in seen) list = list (n_cpus ? ", " : "") "- (all)"
    if (cpu != "" && !(cpu in seen)) fail("nothing of cpu=" cpu "; it has " (list == "" ? "no samples" : list))
    if (cpu == "" && n_cpus > 1) fail("several CPUs: choose one with -v cpu=N: " list)
    return cpu == "-" || !n_cpus ? "-" : 1
}

# The value of a column as text, "" if it is missing or outside its range (doc/formats.md), which is counted
function text(value, low, high) {
    if (value == "") return ""
    if (value < low || value > high) {
        outside++
        return ""
    }
    values++
    return sprintf("%.7g", value)
}

function of(i, key) {
    if ((slot, i, key) in val) return val[slot, i, key]
    # perf script has no line for a count of 0
    return from == "perf-script" && key in counted ? 0 : ""
}

function share(i, key, cycles, count) {
    count = of(i, key)
    return count == "" || !(cycles > 0) ? "" : count / cycles
}

function frequency(i, cycles, dt, ref, ns) {
    if (of(i, "freq") != "") return of(i, "freq")
    if (!(cycles > 0)) return ""
    ref = of(i, "ref")
    ns = of(i, "clock")
    if (tsc_ghz != "" && ref > 0) return tsc_ghz * cycles / ref
    if (part) return ""
    if (ns > 0) return cycles / ns
    return (per_cpu || clock != "") && dt > 0 ? cycles / dt / 1e9 : ""
}

END {
    if (failed) exit 2
    if (from == "" && !NR) fail("is empty")
    if (from == "") fail("none of the formats " formats " is recognized: name one with -v from=FORMAT")
    slot = choose()
    total = n[slot]
    if (from == "perf-script" && interval != "") total-- # the last interval is not whole
    if (total < 1) fail("no samples in the format " from)
    for (i = 1; from == "perf-script" && interval == "" && i <= total; i++)
        if ((slot, i, "others") in val && !((slot, i, "cycles") in val) && counted["cycles"])
            fail("the events were sampled separately: give -v interval=S, over which their counts are summed")
    start = from == "perf-stat" || from == "likwid" ? 0 : at[slot, 1] - span[slot, 1]
    for (i = 1; i <= total; i++) {
        dt = span[slot, i] != "" ? span[slot, i] : i > 1 ? at[slot, i] - at[slot, i - 1] : ""
        cycles = of(i, "cycles")
        f = frequency(i, cycles, dt)
        level[0] = share(i, "lvl0", cycles)
        level[1] = share(i, "lvl1", cycles)
        level[2] = share(i, "lvl2", cycles)
        out[i] = sprintf("%.4f,%s,%s", (at[slot, i] - start) * 1e6, text(f, 1e-9, 100),
            text(of(i, "ipc") != "" ? of(i, "ipc") : share(i, "instructions", cycles), 0, 64))
        if (level[0] != "" && level[1] != "" && level[2] != "" && level[0] + level[1] + level[2] > 1.5) {
            outside += 3
            level[0] = level[1] = level[2] = ""
        }
        out[i] = out[i] "," text(level[0], -0.5, 1.5) "," text(level[1], -0.5, 1.5) "," text(level[2], -0.5, 1.5) \
            "," text(share(i, "throttle", cycles), -0.5, 1.5)
    }
    if (!values) {
        if (multiplexed) fail("all counts are of a part of the time (multiplexed): count fewer events at once")
        if (from ~ /^perf/ && !counted["cycles"])
            fail("no cycles, to which the other counts are related: add the event cycles to the recording")
        if (from == "perf-stat" && !has_cycles)
            fail("cycles have no value in it (<not counted>, <not supported>): virtual machines often have no counters")
        fail("no frequency, ipc or license level in it" (from ~ /^perf/ ? ": add task-clock, or see tsc_ghz" : ""))
    }
    print "# format: characterize-trace/1"
    print "# machine: " from
    id = slot == "-" ? "all CPUs" : cpus[1] == "all" ? "what was measured" : (cpu != "" ? cpu : cpus[1])
    if (cpu != "" && slot == 1) id = cpu
    print "# source: a recording of " from ", " (id ~ /^[0-9]+$/ ? "CPU " : "") id ", converted by to-trace.awk"
    if (id ~ /^[0-9]+$/) print "# cpu_number: " id
    note = ""
    if (multiplexed) note = note "; " multiplexed " counts of a part of the time left out"
    if (outside) note = note "; " outside " values outside their range left out"
    if (from == "turbostat" && !column["Time_Of_Day_Seconds"]) note = note "; times count intervals of " interval " s"
    if (from == "perf-script" && interval != "") note = note "; counts of samples summed over " interval " s"
    if (note != "") print "# notes: " substr(note, 3)
    print "time_us,freq_ghz,ipc,lvl0,lvl1,lvl2,throttle"
    for (i = 1; i <= total; i++) print out[i]
}
