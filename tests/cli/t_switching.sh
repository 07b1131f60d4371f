#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# alone: it measures this machine
# --table switching: on this machine, on models, and what the export has of it.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# On this machine: what there is costs something; with one CPU there is no migration, and that is said.
run --table switching --brief --output here --json here.json
verdict "the table on this machine: status 0" test "$status" -eq 0
verdict "its columns" grep -qx 'what,us,us_lo,us_hi,null_us,null_us_lo,null_us_hi,n,discarded' here/switching.csv
costs_something() {
    awk -F, -v what="$1" '$1 == what && $2 > 0 && $3 <= $2 && $4 >= $2 && $8 >= 15 { found = 1 } END { exit !found }' \
        here/switching.csv
}
for what in switch fault; do
    verdict "a $what costs more than nothing" costs_something $what
done
if [ "$(nproc)" -gt 1 ]; then
    verdict "a migration costs more than nothing" costs_something migration
    verdict "two migrations and a fault are added up" grep -q 'two migrations and a fault' "$out"
else
    skip "a migration" "this process may use one CPU"
fi
first=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
run --table switching --runs 20 --cpus "$first" --output one
verdict "with one CPU: status 0" test "$status" -eq 0
verdict "... what needs none more is there" test "$(grep -c '^\(switch\|fault\),' one/switching.csv)" -eq 2
verdict "... and why there is no migration" grep -q 'migration: a migration needs two CPUs' "$out"

# On models: their figures, and what they do not say.
run --table switching --machine model:cloud-guest --output model --quiet
given() {
    sed -n "s/^$1_us = *\([0-9.]*\).*/\1/p" "$CHARACTERIZE_DATA/models/cloud-guest.model"
}
comes_back() {
    awk -F, -v what="$1" -v us="$(given "$1")" '$1 == what { found = $2 > 0.98 * us && $2 < 1.02 * us }
        END { exit !found }' model/switching.csv
}
for what in switch migration fault; do
    verdict "the model's $what comes back" comes_back $what
done
verdict "it says that it is modelled" grep -q '^# modelled: yes' model/switching.csv
mkdir -p "$tmp/all/tables"
cp model/switching.json "$tmp/all/tables/" # refuses() begins with an empty folder
run --table switching --machine model:xeon-gold-6130 --output silent
verdict "a model that says nothing: status 3" test "$status" -eq 3
verdict "... and what would help" \
    grep -q 'migration: the model does not say what a migration costs; add a section' "$out"
sed '/^\[switching\]/,/^$/s/^fault_us.*//' "$CHARACTERIZE_DATA/models/cloud-guest.model" >"$tmp/half.model"
refuses "a section without fault_us" 2 'half.model:[0-9]*: fault_us: missing in section \[switching\]' \
    --table switching --machine "model:$tmp/half.model"
for option in "--kernels 128or" "--period 2" "--active-cores 2" "--companion same" "--warmup 5" "--siblings busy"; do
    # shellcheck disable=SC2086
    refuses "$option" 2 "${option% *}.* cannot be combined with --table switching: no kernel runs" \
        --table switching --machine model:cloud-guest $option
done

# The export has them, and says where they are absent.
run --export json e.json --input "$tmp/all"
verdict "--export json: status 0" test "$status" -eq 0
listed=$(sed -n 's/.*"what": "\([a-z]*\)", "ns": [0-9]*, "ns_lo": .*/\1/p' e.json)
verdict "... in their order" test "$(echo "$listed" | tr '\n' ' ')" = "switch migration fault "
run --export header e.h --input "$tmp/all"
verdict "--export header: the macros" test "$(grep -c '^#define CHARACTERIZE_\(SWITCH\|MIGRATION\|FAULT\)_NS [0-9]*$' \
    e.h)" -eq 3
run --table overhead --kernels 128fma,512fma --brief --machine model:xeon-gold-6130 --output other/tables --quiet
run --export header e.h --input other
verdict "without the table: absent" test "$(grep -c '^#define CHARACTERIZE_HAS_\(SWITCH\|MIGRATION\|FAULT\)_NS 0$' \
    e.h)" -eq 3 -a "$(grep -c 'define CHARACTERIZE_FAULT_NS' e.h)" -eq 0
verdict "... and the reason" grep -q 'switching, 1 time: the table switching was not measured' e.h
finish
