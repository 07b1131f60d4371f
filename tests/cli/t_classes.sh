#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Five classes of turbo, end to end, on a model with the published limits of a Granite Rapids with turbo by priority.
# shellcheck disable=SC2016 source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# that of Sapphire Rapids with a fifth class; which code is of which is made up
awk '
/^cores = /{print "cores = 60 # test"; print "speed_select = yes # test"; next}
/^name = /{print "name = Intel(R) Xeon(R) 6 of five classes # test"; next}
/^model = /{print "model = 173 # test"; next}
/^base_ghz/ {
    print "base_ghz = 2.0 2.0 1.8 1.5 1.3 # test"
    print "low_priority_ghz = 2.0 2.0 1.8 1.5 1.3 # test"
    print "turbo_ghz.1-20 = 3.8 3.6 3.5 3.3 2.9 # test"
    print "turbo_ghz.21-40 = 3.8 3.5 3.1 2.8 2.5 # test"
    print "turbo_ghz.41-60 = 3.4 3.2 2.9 2.6 2.2 # test"
    next
}
/^turbo_ghz/{next}
/^\[class amx\]/{print "[class heavy]\nlevel = 3 # test\numask = 0 # test\n"}
/^level = 3/{print "level = 4 # test"; next}
/^\[demand 256 heavy\]/{print; getline; print "class = avx2 # test"; next}
/^\[demand 512 heavy\]/{print; getline; print "class = heavy # test"; next}
/^\[demand .*@/ || /^\[demand 256 light 256load/{getline; next}
/^\[transition avx512 amx\]/ {
    split("sse avx2 avx512", from, " ")
    for (i = 1; i <= 3; i++)
        printf "[transition %s heavy]\nstep.1 = grant heavy # test\n\n", from[i]
    print "[transition heavy amx]\nstep.1 = grant amx # test\n"
}
{print}' "$root/data/models/xeon-platinum-8480+.model" >five.model

# table NAME DIR MODEL OPTION...: status, $out and DIR/tables/NAME.csv
table() {
    name=$1 dir=$2 model=$3
    shift 3
    run --table "$name" --machine "model:./$model" --brief --quiet --output "$dir/tables" "$@"
}
kernels=64add,256fma,512or,512fma,amx
table classes d five.model --kernels $kernels --active-cores 20
verdict "table classes gives five classes" \
    grep -Eq '^Class 4, 0\.763 of the frequency of 64add: amx\.' "$out"
verdict "... each one by its ratio" test "$(grep -Ec '^Class (1, 0\.947|2, 0\.921|3, 0\.868|4, 0\.763) ' "$out")" -eq 4
table frequency d five.model --kernels $kernels --active-cores 1,20,21,40,41,60
verdict "limits of high priority are settings" grep -q '^# high_priority_ghz of AVX-512 heavy: 1-20: 3.3, 21-40: 2.8' \
    d/tables/frequency.csv
verdict "those of low priority, too" \
    grep -q '^# low_priority_ghz: non-AVX 2.0, AVX2 2.0, AVX-512 1.8, AVX-512 heavy 1.5, AMX 1.3' d/tables/frequency.csv
verdict "base frequencies are not those of other classes" \
    grep -q '^# stated_base_ghz: non-AVX 2.0, AVX2 2.0, AVX-512 1.8, AMX 1.3' d/tables/frequency.csv
verdict "a core above their clip is of high priority" \
    test "$(grep -Ec '^0,.*,high$' d/tables/frequency.csv)" -eq 30 -a "$(grep -c '^0,' d/tables/frequency.csv)" -eq 30

# figures VERDICT: how many of the published figures with a priority have it
figures() {
    grep '"figure": "priority=' validate.json | grep -c "\"verdict\": \"$1\""
}
validate() {
    run --validate granite-rapids-sst-tf --input "$1" --json validate.json
}
validate d
verdict "all published buckets agree" test "$status" -eq 0 -a "$(figures agrees)" -eq 15
verdict "low priority was not measured" test "$(figures 'not measured')" -eq 2
verdict "... a processor of this microarchitecture is no other one" test "$(grep -c 'another one' "$err")" -eq 0
verdict "its limits without priorities are not in force" test "$(grep -c 'stated by the processor' validate.json)" -eq 0
verdict "that the part is unnamed is said" grep -q 'a part that its source does not name' "$out"

# one bucket off by a step of 100 MHz
sed 's/^turbo_ghz.21-40 = 3.8 3.5 3.1 2.8 2.5/turbo_ghz.21-40 = 3.8 3.5 3.1 2.7 2.5/' five.model >off.model
table frequency off off.model --kernels $kernels --active-cores 20,21,41
validate off
verdict "a bucket that is off deviates" test "$status" -eq 4 -a "$(figures deviates)" -eq 1
verdict "... that one" grep -q 'priority=high level=3 active_cores=21-40.*deviates' validate.json

# a core at the clip, whatever is active; one without turbo by priority
sed 's/^\(turbo_ghz[^=]*=\).*/\1 2.0 2.0 1.8 1.5 1.3 # test/' five.model >low.model
table frequency low low.model --kernels 64add,512or,512fma,amx --active-cores 1,60
verdict "a core at the clip is of low priority" test "$(grep -Ec '^0,.*,low$' low/tables/frequency.csv)" -eq 8
validate low
verdict "... and compared with its figures" test "$(figures agrees)" -eq 2 -a "$(figures 'not measured')" -eq 15
table frequency one low.model --kernels 64add,512or --active-cores 60
verdict "one number of cores does not tell a clip from a power limit" \
    test "$(grep -Ec '^0,.*,(low|high)$' one/tables/frequency.csv)" -eq 0
sed '/^low_priority_ghz/d' five.model >none.model
table frequency none none.model --kernels 64add,amx --active-cores 60
verdict "without turbo by priority there is no priority" \
    test "$(grep -Ec '^0,.*,(low|high)$|priority_ghz|by_priority' none/tables/frequency.csv)" -eq 0
mkdir -p none/tables
validate none
verdict "... and the limits by cores alone are judged" grep -q "stated by the processor" validate.json
sed '/^speed_select/d' five.model >bad.model
run --table frequency --machine model:./bad.model --brief
verdict "turbo by priority needs Speed Select" \
    test "$status" -eq 2 -a "$(grep -c 'speed_select: with low_priority_ghz' "$err")" -eq 1

finish
