#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# slow: makes a thousand directories
#
# --compare of a thousand directories, seven of which are unlike the others: it finds those and no others, in 1 GB.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

if [ -n "${SANITIZED:-}" ]; then
    skip "a thousand directories" "under the sanitizers the unit tests compare"
    finish
fi
for seed in 1 2 3; do
    "$CHARACTERIZE" --all --brief --machine model:xeon-gold-6130 --seed $seed --output "seed$seed" --quiet >/dev/null
done

# Each directory is one of the three, its values redrawn within their limits (0.7 of their standard error). In seven
# something is changed: one frequency, all of them, one core, the wait, throttling, a umask, the voltage.
node=0
while [ $((node += 1)) -le 1000 ]; do
    mkdir -p "fleet/node$(printf %04d $node)/tables"
done
for seed in 1 2 3; do
    for table in "seed$seed"/tables/*.csv; do
        awk -v seed=$seed -v table="$(basename "$table" .csv)" '
            function gauss() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand()) }
            function factor(node, name, value) {
                if (node == 101 && table == "frequency" && name == "freq_ghz" && field["kernel"] == "512fma" &&
                    field["active_cores"] == 16) return 1 - 0.1 / value
                if (node == 202 && table == "relaxation" && name == "wait_us") return 1.03
                if (node == 303 && table == "cores" && name == "freq_ghz" && field["cpu"] == 7) return 1 + 0.1 / value
                if (node == 505 && table == "throttle" && name == "duration_us") return 1.15
                if (node == 606 && name ~ /_ghz$/) return 0.97
                if (node == 707 && table == "voltage" && name == "volts") return 1.03
                return 1
            }
            { line[NR] = $0 }
            END {
                srand(seed * 1000 + length(table))
                for (node = seed; node <= 1000; node += 3) {
                    file = sprintf("fleet/node%04d/tables/%s.csv", node, table)
                    n = 0
                    for (i = 1; i <= NR; i++) {
                        if (line[i] ~ /^#/ || line[i] ~ /"/) { print line[i] > file; continue }
                        count = split(line[i], f, ",")
                        if (n++ == 0) {
                            for (k = 1; k <= count; k++) { names[k] = f[k]; place[f[k]] = k }
                            print line[i] > file
                            continue
                        }
                        for (k = 1; k <= count; k++) field[names[k]] = f[k]
                        for (k = 1; k <= count; k++) {
                            lo = place[names[k] "_lo"]; hi = place[names[k] "_hi"]
                            if (!lo || !hi || f[lo] == "" || f[k] == "" || f[hi] == "") continue
                            v = f[k] * factor(node, names[k], f[k]) + 0.7 * (f[hi] - f[lo]) / 3.92 * gauss()
                            if (names[k] == "share") v = v < 0 ? 0 : v > 1 ? 1 : v
                            f[lo] = sprintf("%.9g", v - (f[k] - f[lo]))
                            f[hi] = sprintf("%.9g", v + (f[hi] - f[k]))
                            f[k] = sprintf("%.9g", v)
                        }
                        if (node == 404 && table == "umask" && field["umask"] == 16)
                            f[place["share"]] = f[place["share_lo"]] = f[place["share_hi"]] = 0
                        text = f[1]
                        for (k = 2; k <= count; k++) text = text "," f[k]
                        print text > file
                    }
                    close(file)
                }
            }' "$table"
    done
done

unlike() {
    sed -n 's/^  fleet\/node\([0-9]*\): in [0-9]* of .*/\1/p' "$out" | sort | tr '\n' ' '
}
# shellcheck disable=SC3045 # dash and bash have it
(ulimit -v 1000000 && "$CHARACTERIZE" --compare fleet/* --json fleet.json >"$out" 2>"$err")
status=$?
verdict "a thousand directories in 1 GB" test "$status" -eq 0
verdict "... seven are unlike the others: those that are" test "$(unlike)" = "0101 0202 0303 0404 0505 0606 0707 "
verdict "... and no others" grep -q '; 7 of 1000 measurements are unlike the others' "$out"
verdict "... each with what is unlike" \
    grep -q 'node0101: in 1 of .* kernel=512fma active_cores=16 freq_ghz: 1\.8' "$out"
finish
