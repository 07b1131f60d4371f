#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# alone: the timing machine is to pass three times of three
# --self-test and its bundle: lines, statuses, what a bundle holds and does not hold, its replay, hostile ones.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

clock='TSC step|sample cost|sample jitter|interrupts|lost time'
counters='instructions|cycles|reference cycles|chain|level 0|level 1|level 2|throttle|raw event|voltage|energy'
lines="$clock|$counters"
verdicts() {
    grep -E '^(pass|fail|cannot)' "$1"
}
# all 16 lines, each once, in order, with a verdict
whole() {
    # shellcheck disable=SC2046 # a list of words
    sed -n -E "s/^(pass   |fail   |cannot ) ($lines)  *[^ ].*/\2/p" "$out" | head -n 16 | tr '\n' '|' >"$tmp/names"
    [ "$(cat "$tmp/names")" = "$lines|" ]
}
count() {
    grep -c "^$1 " "$out"
}

model=model:xeon-gold-6130
run --self-test --machine $model --bundle one.tar.gz --json one.json
verdict "a model passes: status 0" test "$status" -eq 0
verdict "every line is there, in order" whole
verdict "it says that it is modelled" grep -q '^MODELLED' "$out"
verdict "all of its counters pass" test "$(count pass) $(count fail)" = "15 0"
verdict "the chain has no use there, and why" grep -q '^cannot  chain .*counts cycles' "$out"
cp "$out" "$tmp/one.out"
cp one.json "$tmp/one.json"
cp one.tar.gz "$tmp/one.tar.gz"
verdict "--json is characterize-self-test/1" grep -q '"format": "characterize-self-test/1"' one.json

verdict "a bundle is an ordinary .tar.gz of three files" \
    test "$(tar tzf one.tar.gz | sort | tr '\n' ' ')" = "host.json readings.json self-test.json "
verdict "its files belong to nobody and have no date" \
    test "$(tar tvzf one.tar.gz --numeric-owner | awk '{ print $2, $4 }' | sort -u)" = "0/0 1970-01-01"
run --self-test --machine $model --bundle two.tar.gz
verdict "the same run makes the same readings to the byte" \
    sh -c 'tar xzf one.tar.gz -O readings.json >a && tar xzf two.tar.gz -O readings.json | cmp - a'

run --self-test --input one.tar.gz --json replayed.json
verdict "a bundle is replayed: status 0" test "$status" -eq 0
verdicts "$tmp/one.out" >"$tmp/lines"
verdicts "$out" >"$tmp/again"
verdict "with the same lines" cmp "$tmp/lines" "$tmp/again"
verdict "and says that it was" grep -q '^Machine .*readings of a bundle' "$out"
# the lines alone: second opinions are of the machine, not of the readings
sed '/second_opinions/,$d' one.json >a
sed '/second_opinions/,$d' replayed.json >b
verdict "and the same JSON" cmp a b

# one counter of a bundle made wrong: its line fails, status 4
mkdir unpacked && tar xzf one.tar.gz -C unpacked
sed 's/"register_198":\["0x[0-9a-f]*"/"register_198":["0x0"/' unpacked/readings.json >unpacked/some
sed 's/"register_198":\[[^]]*\]/"register_198":["0x1c00","0x1c00"]/' unpacked/readings.json >unpacked/changed
mv unpacked/changed unpacked/readings.json
tar czf wrong.tar.gz --format=ustar -C unpacked readings.json self-test.json host.json
run --self-test --input wrong.tar.gz
verdict "a bundle that tar has packed, with a voltage of 0: status 4" test "$status" -eq 4
verdict "exactly the line of the voltage fails" test "$(grep '^fail' "$out" | cut -c1-16)" = "fail    voltage "

# nothing that tells who or where: names of the host and the user, the folder, the home
where=$work/private-name
mkdir -p "$where"
cp "$root/data/models/xeon-gold-6130.model" "$where/secret.model"
clean_names() {
    for text in self-test.json readings.json host.json; do
        tar xzf "$1" -O "$text" >"$tmp/text" || return 1
        [ -s "$tmp/text" ] || return 1
        machine=$(cat /etc/machine-id 2>/dev/null)
        for name in "$(uname -n)" "$(id -un)" "${HOME:-/root}" "$work" private-name "$machine"; do
            # names such as "root" or "x" are words of any text
            [ ${#name} -ge 6 ] || continue
            if grep -qF -e "$name" "$tmp/text"; then
                echo "$text holds $name" >"$err"
                return 1
            fi
        done
        ! grep -Eqi '"(user|host|hostname|home|serial)"|/home/|/root' "$tmp/text" || return 1
    done
}
run --self-test --machine "model:$where/secret.model" --bundle one.tar.gz
verdict "no names and no paths in the bundle of a model" clean_names one.tar.gz
verdict "a model's file has its name alone" \
    sh -c 'tar xzf one.tar.gz -O self-test.json | grep -q "\"name\": \"model:secret.model\""'
verdict "the host's facts: CPUID without its serial number, topology, kernel, machines" \
    sh -c 'tar xzf one.tar.gz -O host.json >h && grep -q "\"00000001.0: " h && ! grep -q "\"00000003\." h &&
        grep -q "\"topology\"" h && grep -q "\"kernel\": \"$(uname -r)\"" h && grep -q "\"timing\"" h'
clean

first=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)

# this machine: whatever it is, nothing fails by chance
if "$CHARACTERIZE" --list machines 2>/dev/null | grep -q '^timing  *yes'; then
    failed=0
    for _ in 1 2 3; do
        run --self-test --machine timing --bundle here.tar.gz
        [ "$status" -eq 0 ] || failed=$((failed + 1))
        [ "$status" -eq 0 ] || cp "$out" "$tmp/failed"
    done
    [ -e "$tmp/failed" ] && cp "$tmp/failed" "$out"
    verdict "the timing machine passes here, or says what it cannot, 3 times of 3" test "$failed" -eq 0
    run --self-test --machine timing --bundle here.tar.gz
    verdict "every line is there" whole
    verdict "no names and no paths in its bundle" clean_names here.tar.gz
    verdicts "$out" | head -n 16 >"$tmp/lines"
    run --self-test --input here.tar.gz
    verdicts "$out" >"$tmp/again"
    verdict "its bundle is replayed with the same lines" cmp "$tmp/lines" "$tmp/again"
    mkdir "$tmp/elsewhere" && tar xzf here.tar.gz -C "$tmp/elsewhere"
    run --check environment --sysroot "$tmp/elsewhere/sysroot" --seconds 0.1
    verdict "its environment can be checked elsewhere" test "$status" -eq 0 -a -s "$out"
    (cd "$tmp/elsewhere" && tar czf ../again.tar.gz --format=ustar self-test.json readings.json host.json sysroot)
    run --self-test --input "$tmp/again.tar.gz"
    verdict "... and packed again by tar, sysroot and all" test "$status" -eq 0

    # other programs: their numbers are held against ours, nonsense is named, what is not there is said once
    mkdir "$tmp/bin"
    fake() {
        printf '#!/bin/sh\n%s\n' "$2" >"$tmp/bin/$1"
        chmod 755 "$tmp/bin/$1"
    }
    real_path=$PATH
    PATH=$tmp/bin:/usr/bin:/bin
    export PATH
    fake perf 'echo "1019230769,,instructions:u,1,100.00,,"; echo "1000000000,,cycles:u,1,100.00,," >&2'
    fake turbostat "printf 'CPU\\tBzy_MHz\\tTSC_MHz\\n-\\t1\\t1\\n$first\\t1\\t1\\n'"
    fake likwid-perfctr 'echo "first complaint" >&2; echo second >&2; exit 7'
    fake rdmsr 'echo 0x1'
    run --self-test --machine timing --bundle opinions.tar.gz --cpu "$first"
    verdict "a program that says something else fails its line alone: status 4" test "$status $(count fail)" = "4 1"
    verdict "turbostat with another TSC" grep -q '^fail    turbostat .*0.0010 GHz against.*at the rate assumed' "$out"
    verdict "perf that prints too little is not understood" grep -q '^cannot  perf .*cannot parse the output' "$out"
    verdict "what likwid-perfctr complains of" \
        grep -q '^cannot  likwid-perfctr .*ended with status 7: first complaint$' "$out"
    verdict "rdmsr against a machine without registers" grep -q '^cannot  rdmsr .*reads no registers$' "$out"
    verdict "all of them are in the bundle" \
        test "$(tar xzf opinions.tar.gz -O self-test.json |
            grep -Ec '"name": "(perf|likwid-perfctr|turbostat|rdmsr)"')" = 4
    for name in perf likwid-perfctr turbostat rdmsr; do
        rm "$tmp/bin/$name"
    done
    ln -s "$(command -v sh)" "$tmp/bin/sh"
    PATH=$tmp/bin
    run --self-test --machine timing
    PATH=$real_path
    verdict "what is not installed is one line each" \
        test "$(grep -c '^cannot  [a-z-]* *not installed; remedy: ' "$out")" -eq 4
else
    skip "the timing machine's self-test" "the timing machine does not work here"
fi

# what cannot be written or read
refuses "a bundle in a folder that is not there" 1 'no/such/b.tar.gz' \
    --self-test --machine $model --bundle no/such/b.tar.gz
refuses "a bundle to standard output" 2 'name a file' --self-test --machine $model --bundle -
refuses "--bundle without --self-test" 2 'bundle cannot be combined with --list' --list kernels --bundle b.tar.gz
refuses "--input and --machine" 2 '--machine cannot be combined with --input' --self-test --input x --machine timing
refuses "--input and --bundle" 2 '--bundle cannot be combined with --input' --self-test --input x --bundle y
refuses "--input and --cpu" 2 '--cpu cannot be combined with --input' --self-test --input x --cpu 0
refuses "--runs" 2 'runs cannot be combined with --self-test' --self-test --runs 3
refuses "--json and --bundle of one name" 2 'both name' --self-test --json x --bundle x
refuses "a bundle that is not there" 2 'none.tar.gz: .*: No such file' --self-test --input none.tar.gz
refuses "a folder" 2 'not a regular file' --self-test --input /
refuses "no bundle" 2 'not a gzip' --self-test --input "$root/README.md"
head -c 20000 "$tmp/one.tar.gz" >"$tmp/cut.tar.gz"
refuses "a truncated bundle" 2 'truncated' --self-test --input "$tmp/cut.tar.gz"
(cd "$tmp" && mkdir evil && cp one.json readings.json && tar czPf up.tar.gz ../"$(basename "$tmp")"/readings.json &&
    ln -s /etc/passwd link && tar czf link.tar.gz --format=ustar link && head -c 300000000 /dev/zero |
    gzip -1 >bomb.tar.gz && tar czf empty.tar.gz --format=ustar one.json &&
    tar czf other.tar.gz --format=ustar readings.json &&
    echo '[[[[' >readings.json && tar czf broken.tar.gz --format=ustar readings.json)
refuses "a path that leads out" 2 'files at the top level' --self-test --input "$tmp/up.tar.gz"
refuses "a link" 2 'files at the top level' --self-test --input "$tmp/link.tar.gz"
refuses "a bomb" 2 '16 MiB' --self-test --input "$tmp/bomb.tar.gz"
refuses "a bundle without readings" 2 'contains no readings' --self-test --input "$tmp/empty.tar.gz"
refuses "JSON of another kind" 2 'format is not' --self-test --input "$tmp/other.tar.gz"
refuses "broken JSON" 2 'readings.json:[0-9]' --self-test --input "$tmp/broken.tar.gz"

# a machine that does not work here is refused as everywhere
for machine in perf helper; do
    if "$CHARACTERIZE" --list machines 2>/dev/null | grep -q "^$machine  *yes"; then
        run --self-test --machine $machine
        verdict "--machine $machine: its counters pass" test "$status" -eq 0
    else
        refuses "--machine $machine does not work here" 3 "$machine" --self-test --machine $machine
    fi
done

finish
