#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# slow: measures many times, between settings of registers
#
# Model-specific registers and settings of the machine, on files that stand where the kernel has them: in a mount
# namespace of its own, so that the real ones are neither read nor written. Needs root; skipped where that does not do.
here=$(dirname "$0")
if [ -z "${CHARACTERIZE_NAMESPACE:-}" ] && [ "$(id -u)" -eq 0 ] &&
    unshare -m --propagation private true 2>/dev/null; then
    CHARACTERIZE_NAMESPACE=1 exec unshare -m --propagation private sh "$0"
fi
# shellcheck source=tests/cli/lib.sh
. "$here/lib.sh"

if [ -z "${CHARACTERIZE_NAMESPACE:-}" ]; then
    skip "registers and settings" "no mount namespace of one's own here (needs root and CAP_SYS_ADMIN)"
    finish
fi

# ---- a /dev with registers in files: unset ones read 0, those beyond the end of the file fault ----

dev=$tmp/dev
cpus=$(getconf _NPROCESSORS_CONF)
trap 'umount -R -l "$dev" 2>/dev/null; rm -rf "$tmp"' EXIT
mkdir "$dev" && mount -t tmpfs tmpfs "$dev" || exit 1
for node in null zero full random urandom tty; do
    [ -e "/dev/$node" ] && : >"$dev/$node" && mount --bind "/dev/$node" "$dev/$node"
done
ln -s /proc/self/fd "$dev/fd"
if ! mount --rbind "$dev" /dev 2>"$err"; then
    skip "registers and settings" "$(cat "$err")"
    finish
fi

# register NUMBER VALUE: eight bytes, lowest first, at that offset, for every CPU
register() {
    register_cpu=0
    while [ "$register_cpu" -lt "$cpus" ]; do
        mkdir -p "/dev/cpu/$register_cpu"
        register_byte=0
        while [ "$register_byte" -lt 8 ]; do
            # shellcheck disable=SC2059 # the format is the byte
            printf "\\$(printf %03o $(($2 >> (8 * register_byte) & 255)))"
            register_byte=$((register_byte + 1))
        done | dd of="/dev/cpu/$register_cpu/msr" bs=1 seek=$(($1)) conv=notrunc 2>/dev/null
        register_cpu=$((register_cpu + 1))
    done
}

# Where time stamps cannot be used nothing can be measured.
can_measure() {
    "$CHARACTERIZE" --list machines 2>/dev/null | grep -q '^timing  *yes'
}

measure() {
    # little warm-up: where the core is shared hardly a longer one goes by uninterrupted; this is about registers. In a
    # busy virtual machine readings come up to 70 us after the code has ended: a longer recording holds them
    run --transition 64add:128or --runs 30 --warmup 1000 --observe 300 --active-cores 1 --output o "$@"
}

run --list machines
verdict "no register files: the module is not loaded" \
    grep -Eq '^msr +no +no /dev/cpu/[0-9]+/msr: the kernel module msr is not loaded; .* modprobe msr' "$out"
refuses "--machine msr without the module" 3 'module msr is not loaded; as root: modprobe msr.*timing or model' \
    --transition 64add:128or --machine msr

cpu=0
while [ "$cpu" -lt "$cpus" ]; do
    mkdir -p "/dev/cpu/$cpu" && : >"/dev/cpu/$cpu/msr"
    cpu=$((cpu + 1))
done
run --list machines
verdict "registers that fault" \
    grep -Eq '^msr +no +/dev/cpu/[0-9]+/msr can be opened, but reading a register fails \(EIO\)' "$out"

as_nobody() {
    setpriv --reuid 65534 --clear-groups "$CHARACTERIZE" "$@" </dev/null
}
if as_nobody --version >/dev/null 2>&1; then
    chmod 600 /dev/cpu/*/msr
    as_nobody --list machines >"$out" 2>"$err"
    verdict "registers of root alone" grep -Eq '^msr +no +.*is readable by root only; remedy: run as root' "$out"
else
    skip "registers of root alone" "cannot run as another user here (setpriv)"
fi

if ! can_measure; then
    skip "a run with registers" "no usable time stamps here"
    finish
fi

# MSR 198H, bits 47:32: 7209 / 8192 V
register 0x700 0
register 0x198 $(((7209 << 32) | 0x1c00))
clean
measure --machine msr
verdict "--machine msr measures" test "$status" -eq 0
verdict "... and says what it is" grep -Eq '^Machine +msr, on CPU' "$out"
verdict "... and where the figures come from" grep -q 'registers through' "$out"
verdict "... with the voltage on the screen" grep -Eq ' 0\.8800 ' "$out"
verdict "... in the phases" grep -Eq '"volts": 0\.88[0-9]*' o/64add_128or.json
verdict "... and in the trace, in repetitions of its own" \
    awk -F, '/^#/ { next } !volts { for (i = 1; i <= NF; i++) if ($i == "volts") volts = i; next }
             $volts != "" { n++; if ($1 < 30 || $volts < 0.8799 || $volts > 0.8801) bad++ }
             END { exit !(n > 50 && !bad) }' o/64add_128or.csv
# readings that something else came before are left out and counted
grep 'Not measured core voltage' "$out" >"$tmp/missing"
verdict "no more is missing than was interrupted" \
    sh -c "! grep -qv '([0-9]* of [0-9]* readings: something' '$tmp/missing'"

clean
measure
verdict "auto takes it before time stamps alone, with counters where there are some" \
    grep -Eq '^Machine +(perf\+)?msr, on CPU' "$out"
verdict "... and tells what better ones lack" \
    grep -Eq '^measuring with (msr|perf) \(.*; registers\); more with helper: .' "$err"

no_volts() {
    [ "$status" -eq 0 ] && tr -s '\n ' ' ' <"$out" | grep -q "Not measured core voltage (.*$1" &&
        ! grep -Eq '"volts": [0-9]' o/64add_128or.json && grep -q "^# volts_missing: .*$1" o/64add_128or.csv
}
register 0x198 0x400000003e8
clean
measure --machine msr
verdict "the constant that QEMU answers is no voltage" no_volts "an emulator's constant"
register 0x198 0x1c00
clean
measure --machine msr
verdict "a field of 0 is no voltage, and not 0 V" no_volts 'reports no voltage'
cpu=0
while [ "$cpu" -lt "$cpus" ]; do
    truncate -s 256 "/dev/cpu/$cpu/msr"
    cpu=$((cpu + 1))
done
clean
measure --machine msr
verdict "a register that faults: the rest is measured" no_volts 'register 198H of CPU [0-9]* cannot be read (EIO)'

# ---- settings ----

cpu_folder=/sys/devices/system/cpu
mount -t tmpfs tmpfs /run 2>/dev/null
if ! mount -t tmpfs tmpfs "$cpu_folder/cpufreq" 2>/dev/null ||
    { [ -d "$cpu_folder/intel_pstate" ] && ! mount -t tmpfs tmpfs "$cpu_folder/intel_pstate" 2>/dev/null; }; then
    skip "settings" "no $cpu_folder/cpufreq to put files of one's own over"
    finish
fi
state=/run/characterize.settings
policy=$cpu_folder/cpufreq/policy0
mkdir "$policy"
fresh() {
    clean
    rm -f "$state"
    echo 1 >"$cpu_folder/cpufreq/boost"
    echo 800000 >"$policy/cpuinfo_min_freq"
    echo 3700000 >"$policy/cpuinfo_max_freq"
    echo 800000 >"$policy/scaling_min_freq"
    echo 3700000 >"$policy/scaling_max_freq"
}
# settings BOOST MIN MAX: are these in force?
settings() {
    limits="$(cat "$policy/scaling_min_freq") $(cat "$policy/scaling_max_freq")"
    [ "$(cat "$cpu_folder/cpufreq/boost") $limits" = "$*" ]
}
as_before() {
    settings 1 800000 3700000 && [ ! -e "$state" ]
}
start() {
    env --default-signal=INT,TERM,HUP "$CHARACTERIZE" --transition 64add:128or --runs 100000 --observe 1000 \
        --period 10 --active-cores 1 --quiet --turbo off --fixed-frequency 2 >"$out" 2>"$err" </dev/null &
    program=$!
    sleep 1
}

fresh
measure --turbo off --fixed-frequency 2
verdict "--turbo off --fixed-frequency 2" test "$status" -eq 0
verdict "... are reported" grep -q '^Settings  *turbo off (was on); 2 GHz fixed (limits were 0.8 to 3.7 GHz)' "$out"
verdict "... stand in the trace" grep -q '^# settings: turbo off (was on); 2 GHz' o/64add_128or.csv
verdict "... and are put back" as_before
fresh
run --transition 64add:128or --turbo off --cpu 8191
verdict "put back after a run that could not begin" test "$status" -eq 2
verdict "... (all of it)" as_before
refuses "a frequency that is not offered" 3 '4 GHz cannot be set: cpufreq/policy0 allows 0.8 to 3.7 GHz' \
    --transition 64add:128or --turbo off --fixed-frequency 4
verdict "... and nothing is changed" as_before

# a command at two frequencies, in turn; these files change nothing about the clock
fresh
export work policy
run --clocks 2,1.2 --turbo off --runs 6 --quiet --csv clocks.csv -- \
    sh -c '(cat "$policy/scaling_min_freq" && echo) >>"$work/clocks"; i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done'
verdict "--clocks: status 0" test "$status" -eq 0
verdict "... each frequency was in force while the command ran" \
    test "$(grep . "$work/clocks" | sort | uniq -c | tr -s ' \n' ' ')" = " 6 1200000 13 2000000 6 800000 "
verdict "... a clock that does not follow is said" \
    grep -q '^No stall share: the clock was not as requested, it ran at' "$out"
verdict "... and has no stall share" grep -q '^1.2 GHz,alone,.*,6,,,$' clocks.csv
verdict "... and all is put back" as_before
run --clocks 2,4 -- true
verdict "a frequency that is not offered, after one that is" \
    grep -q '4 GHz cannot be set: cpufreq/policy0 allows 0.8 to 3.7 GHz' "$out"
verdict "... and nothing stays changed" as_before

# it cannot say what it wants to, for nobody reads: it is ended, but not before everything is put back
for signal in INT TERM; do
    fresh
    mkfifo deaf
    (exec sleep 60) <deaf &
    listener=$!
    (
        exec 4>deaf
        head -c 65536 /dev/zero >&4
        exec env --default-signal=INT,TERM "$CHARACTERIZE" --transition 64add:128or --runs 100000 --observe 1000 \
            --period 10 --active-cores 1 --turbo off --fixed-frequency 2 >"$out" 2>&4 4>&- </dev/null
    ) &
    program=$!
    sleep 1
    verdict "in force while it waits for a reader" settings 0 2000000 2000000
    began=$(date +%s%N)
    kill -s "$signal" "$program"
    (sleep 10 && kill -9 "$program") 2>/dev/null &
    limit=$!
    wait "$program"
    status=$?
    verdict "SIG$signal: ended after $((($(date +%s%N) - began) / 1000000)) ms" \
        test "$status" -eq 1 -a $((($(date +%s%N) - began) / 1000000)) -le 2000
    verdict "... and put back" as_before
    kill "$limit" "$listener"
done
: >"$err"

for signal in INT TERM HUP; do
    fresh
    start
    verdict "in force while it runs" settings 0 2000000 2000000
    kill -s "$signal" "$program"
    wait "$program"
    status=$?
    verdict "SIG$signal: status 1" test "$status" -eq 1
    verdict "SIG$signal: put back" as_before
done

fresh
start
clean
run --transition 64add:128or --turbo off
verdict "two runs at once: the second is refused" one_line 3 \
    "another run \(process $program\) has changed this machine's settings"
kill -s KILL "$program"
wait "$program" 2>/dev/null
verdict "SIGKILL leaves them changed" settings 0 2000000 2000000
if as_nobody --version >/dev/null 2>&1; then
    chmod 777 "$work"
    as_nobody --transition 64add:128or >"$out" 2>"$err"
    status=$?
    verdict "... another user gets the command that helps" one_line 3 'killed .*; as root: characterize --restore'
fi
run --restore
verdict "... --restore puts them back and says so" \
    grep -q "^restored 3 settings changed by a killed run (process $program)" "$err"
verdict "... all of them" as_before
run --restore
verdict "... once" grep -q "^no run left this machine's settings changed" "$out"
fresh
start
kill -s KILL "$program"
wait "$program" 2>/dev/null
measure --machine timing
verdict "the next measurement puts them back as well" grep -q '^restored 3 settings' "$err"
verdict "... before it measures" as_before

finish
