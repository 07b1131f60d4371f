#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# characterize-fleet ssh, status and summary, with stand-ins for ssh and for characterize: what becomes of hosts that
# fail, are out of reach or are killed; what is tried again and what is left alone; what is refused, and with which
# words. t_fleet_ssh and t_fleet_slurm have the real ones.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

fleet=$root/fleet/characterize-fleet
mkdir "$tmp/bin" "$tmp/remote" "$tmp/had" "$tmp/work" "$tmp/work dir"
cd "$tmp/work" || exit 1

# ssh [-o X]... [USER@]HOST COMMAND: runs it here, HOST known to it. Files in $tmp/had say what each host is like.
cat >"$tmp/bin/fake-ssh" <<END
#!/bin/sh
while [ "\$1" = -o ]; do shift 2; done
host=\${1#*@}
echo "\$host" >>'$tmp/calls'
if [ -e '$tmp/had/'"\$host.away" ]; then
    echo "ssh: connect to host \$host port 22: No route to host" >&2
    exit 255
fi
HOST=\$host PATH='$tmp/there':\$PATH exec sh -c "\$2"
END

# characterize on a host: one cell each time, done with the third; before that, what the host is like.
mkdir "$tmp/there"
cat >"$tmp/there/characterize" <<END
#!/bin/sh
[ "\$1" = --all ] || { echo "characterize: no --all" >&2; exit 2; }
shift
while [ \$# -gt 3 ]; do echo "option: \$1"; shift; done
[ "\$1 \$2 \$3" = '--resume --output out' ] || { echo "characterize: not what is expected: \$*" >&2; exit 2; }
mkdir -p out/cells
echo "\$HOST" >out/run.json
[ -e out/cells/1 ] || date +%N >out/cells/1
case \$HOST in
*twice*)
    echo x >>'$tmp/had/'"\$HOST"
    [ "\$(wc -l <'$tmp/had/'"\$HOST")" -gt 2 ] || { echo 'characterize: the table wake failed: noise' >&2; exit 1; }
    ;;
*killed*)
    if [ ! -e '$tmp/had/'"\$HOST" ]; then
        cat out/cells/1 >'$tmp/had/'"\$HOST"
        kill -KILL \$\$
    fi
    ;;
*never*) echo 'characterize: no table can be measured on this machine' >&2; exit 3 ;;
*half*) exit 0 ;;
*slow*) sleep 60 ;;
esac
echo '<html>' >out/report.html
END
cat >"$tmp/bin/characterize" <<'END'
#!/bin/sh
case $* in
*--breif*) echo "characterize: unknown option '--breif', perhaps --brief; --help lists them" >&2; exit 2 ;;
--all*) exit 1 ;;
--compare*) echo "compared: $*"; exit ;;
esac
exit 2
END
ln -s fake-ssh "$tmp/bin/ssh" # also where there is none
chmod +x "$tmp/bin"/* "$tmp/there"/*
PATH=$tmp/bin:$PATH
CHARACTERIZE=$tmp/bin/characterize
export CHARACTERIZE
calls() { wc -l <"$tmp/calls"; }

# run ARGUMENT...: of the fleet, its output in $tmp/out, both in $tmp/all
run() {
    "$fleet" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    status=$?
    cat "$tmp/out" "$tmp/err" >"$tmp/all"
}
ssh_run() {
    run ssh --ssh "$tmp/bin/fake-ssh" --remote-dir "$tmp/remote" --retry-delay 0 "$@"
}

# ---- what is refused ----

# refused PATTERN ARGUMENT...: status 2, one line on standard error, and no folder
refused() {
    refused_pattern=$1
    shift
    run "$@"
    check "refused: $(cut -c 1-100 "$tmp/err")" "$tmp/all" test "$status" -eq 2 -a "$(wc -l <"$tmp/err")" -eq 1 -a \
        "$(grep -c -e "^characterize-fleet: .*$refused_pattern" "$tmp/err")" -eq 1 -a ! -s "$tmp/out" -a ! -e f
}

# hosts_file LINE...: a hosts file of them
hosts_file() { printf '%s\n' "$@" >hosts; }

refused "no command: slurm, ssh, status or summary"
refused "unknown command 'shh'; there are" shh
refused "no hosts file" ssh --output f
refused "no -- " ssh --output f hosts
refused "cannot read the hosts file hots" ssh --output f hots --
refused "cannot read the hosts file $tmp" ssh --output f "$tmp" --
refused "unknown option '--retires'" ssh --output f --retires 3 hosts --
refused "two hosts files, 'hosts' and '--brief\|two hosts files, 'hosts' and 'more'" ssh --output f hosts more --
refused "unknown option '--brief'.*after --" ssh --output f hosts --brief
refused "retries: 'x' is not a whole number; allowed: 0 to 100" ssh --output f --retries x hosts --
refused "at-once: 0 is outside 1 to 10000" ssh --output f --at-once=0 hosts --
refused "retries needs a value" ssh --output f hosts --retries --
refused "output: the value is empty" ssh --output= hosts --
refused "remote-dir: 'tmp' must begin with a slash" ssh --remote-dir tmp hosts --
refused "remote-dir: '/a b'" ssh --remote-dir '/a b' hosts --
hosts_file node1 '' '# a comment' 'node2 # rack 3' 'node1'
refused "hosts:5: node1 is in line 1 already" ssh --output f hosts --
hosts_file node1 root@NODE1
refused "hosts:2: NODE1 is in line 1 already" ssh --output f hosts --
hosts_file 'node[1-4]'
refused "hosts:1: 'node\[1-4\]': one host a line; .* expands ranges" ssh --output f hosts --
hosts_file node1:22
refused "hosts:1: 'node1:22': a port belongs in" ssh --output f hosts --
hosts_file 'node1,node2'
refused "hosts:1: 'node1,node2': one host a line" ssh --output f hosts --
hosts_file node1 'node2 22'
refused "hosts:2: 'node2 22': one host a line" ssh --output f hosts --
# shellcheck disable=SC2016 # a name like any other
for name in 'a;b' '-oProxyCommand=x' '../up' 'a/b' '$(id)' "it's" 'a*' '@x' 'u@' 'näme' '.' '..'; do
    hosts_file "$name"
    refused "hosts:1: .* is not \[USER@\]HOST" ssh --output f hosts --
done
hosts_file '# nothing' ''
refused "hosts: no host in it" ssh --output f hosts --
hosts_file node1
refused "after --: characterize: unknown option '--breif', perhaps --brief" ssh --output f hosts -- --breif
refused "output=x after --: characterize-fleet sets it itself" ssh --output f hosts -- --output=x
refused "program: there is no file nowhere" ssh --output f --program nowhere hosts --
refused "program: .*hosts is not executable" ssh --output f --program hosts hosts --
refused "program: no data beside" ssh --output f --program "$tmp/bin/characterize" hosts --
: >empty.tar.gz
refused "program: .*empty.tar.gz" ssh --output f --program empty.tar.gz hosts --
refused "hosts is there already, and not made by" ssh --output hosts hosts --
refused "not a folder of characterize-fleet" status "$tmp"
refused "not a folder of characterize-fleet" summary nowhere
refused "status takes the fleet's folder" status
refused "status: unknown option '--jsno'" status --jsno f

"$fleet" --help >"$tmp/out"
check "the help has at most 120 columns" "$tmp/out" [ -z "$(awk 'length > 120' "$tmp/out")" ]
for option in $(grep -o '^ *--[a-z-]*' "$tmp/out" | tr -d ' '); do
    grep -q -- "$(printf '%s' "$option" | sed 's/-/\\\\-/g')" "$root/man/characterize-fleet.1" || echo "$option"
done >"$tmp/missing"
check "the manual has all its options" "$tmp/missing" [ ! -s "$tmp/missing" ]

if [ -n "$(man --version 2>/dev/null)" ]; then
    man --warnings -E UTF-8 -l "$root/man/characterize-fleet.1" >/dev/null 2>"$tmp/err"
    check "the manual formats without a warning" "$tmp/err" [ ! -s "$tmp/err" ]
fi

if ! parallel --version 2>/dev/null | grep -q '^GNU parallel'; then
    skip "a fleet by ssh" "no GNU parallel here (apt-get install parallel)"
    finish
fi

# ---- four kinds of hosts ----

printf 'good\r\n\n  root@twice   # as root\nkilled\naway\n' >hosts
: >"$tmp/had/away.away"
results="$tmp/work dir/it's 100 %"
ssh_run --output "$results" hosts -- --brief --kernels "a b'c"
cat >"$tmp/expected" <<END
4 nodes: 3 done, 0 failed, 1 unreachable, 0 not finished
unreachable  away: ssh: connect to host away port 22: No route to host; 3 attempts ($results/log/away.log)
END
tail -n 2 "$tmp/out" >"$tmp/end"
check "one host is out of reach, after three attempts" "$tmp/all" same "$tmp/expected" "$tmp/end"
check "... which is status 3" "$tmp/all" [ "$status" -eq 3 ]
cut -f 1-3 "$results/status.tsv" | tr '\t\n' ' ;' >"$tmp/states"
check "the states, and how often each was tried" "$results/status.tsv" [ "$(cat "$tmp/states")" = \
    'node state attempts;good done 1;twice done 3;killed done 2;away unreachable 3;' ]
check "the killed one went on with what it had" "$tmp/all" cmp -s "$tmp/had/killed" "$results/nodes/killed/cells/1"
log=$results/log/good.log
check "options arrive as they were given" "$log" grep -qx "option: a b'c" "$log"
log=$results/log/twice.log
check "logs tell each attempt" "$log" [ "$(grep -c '^== .* attempt ' "$log")" -eq 3 ]
check "nothing but the unreachable one's is left to do" "$tmp/all" [ -z "$(ls "$tmp/remote")" ]
pgrep -f "$tmp/remote/" >"$tmp/running"
check "nothing runs on" "$tmp/running" [ ! -s "$tmp/running" ]

# ---- called again ----

: >"$tmp/calls"
ssh_run --output "$results" hosts -- --brief
check "other options are refused: $(cut -c 1-80 "$tmp/err")" "$tmp/all" test "$status" -eq 2 -a "$(calls)" -eq 0
rm "$tmp/had/away.away"
ssh_run --output "$results" hosts -- --brief --kernels "a b'c"
check "called again, it goes to the missing one" "$tmp/all" test "$status" -eq 0 -a \
    "$(tail -n 1 "$tmp/out")" = "4 nodes: 4 done, 0 failed, 0 unreachable, 0 not finished"
check "... and to no other" "$tmp/calls" [ "$(sort -u "$tmp/calls")" = away ]
echo new >>hosts
: >"$tmp/calls"
ssh_run --output "$results" hosts -- --brief --kernels "a b'c"
check "a host that is new in the list" "$tmp/all" test "$status" -eq 0 -a "$(sort -u "$tmp/calls")" = new
rm "$results/nodes/new/report.html"
run status "$results"
check "results that are gone are not done: $(tail -n 1 "$tmp/out")" "$tmp/all" \
    grep -q '^not finished new: .*nodes/new/report.html is gone' "$tmp/out"
check "... status 3" "$tmp/all" [ "$status" -eq 3 ]
run summary "$results"
check "the summary compares those that are done" "$tmp/all" grep -qxF \
    "compared: --compare good twice killed away --output $results/summary --json $results/summary.json" "$tmp/out"
check "... status 3, as not all are" "$tmp/all" [ "$status" -eq 3 ]
check "... and keeps it" "$tmp/all" cmp -s "$tmp/out" "$results/summary.txt"
run status "$results" --tsv
check "status --tsv is what summary kept" "$tmp/all" cmp -s "$tmp/out" "$results/status.tsv"

# ---- those that cannot, and those that end well with nothing ----

printf 'never\nhalf\n' >hosts
ssh_run --output second --retries 1 hosts --
cat >"$tmp/expected" <<END
2 nodes: 0 done, 2 failed, 0 unreachable, 0 not finished
failed       never: status 3: no table can be measured on this machine ($tmp/work/second/log/never.log)
END
sed -n 's/; 2 attempts//; /half/d; /^failed\|^2 nodes/p' "$tmp/out" >"$tmp/end"
check "what a machine cannot do is tried once" "$tmp/all" same "$tmp/expected" "$tmp/end"
check "a run without a report is not done" "$tmp/all" grep -q '^failed *half: .*; 2 attempts' "$tmp/out"
check "nothing half-written is kept" "$tmp/all" [ ! -e second/nodes/half/report.html ]
ssh_run --output fourth --ssh false --retries 0 hosts --
check "an ssh that fails without a word" "$tmp/all" grep -q '^failed *half: setting up: status 1 ' "$tmp/out"
ssh_run --output fifth --ssh true --retries 0 hosts --
check "results that are none" "$tmp/all" grep -q '^failed *half: fetching the results: .*gzip: .*end of file' "$tmp/out"
run ssh --output /proc/x hosts --
check "a folder that cannot be made: $(cat "$tmp/err")" "$tmp/all" test "$status" -eq 1 -a "$(wc -l <"$tmp/err")" -eq 1
run summary second
check "nothing to compare" "$tmp/all" grep -q '^Fewer than two nodes are done' "$tmp/out"

# ---- one fleet at a time in a folder, and ended in the middle ----

printf 'slow\n' >hosts
"$fleet" ssh --ssh "$tmp/bin/fake-ssh" --remote-dir "$tmp/remote" --output third hosts -- >"$tmp/first" 2>&1 &
first=$!
for tenth in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
    # shellcheck disable=SC2144 # one at most
    [ -e "$tmp/remote"/*-slow/out/cells/1 ] && break
    sleep 0.2
done
ssh_run --output third hosts --
check "a second one is refused meanwhile" "$tmp/all" test "$status" -eq 3 -a \
    "$(grep -c 'another characterize-fleet is at work in third' "$tmp/err")" -eq 1
kill -TERM $first
wait $first
status=$?
check "ended by SIGTERM, after $tenth tenths: status 1" "$tmp/first" [ "$status" -eq 1 ]
run status third
check "its host is not finished: $(tail -n 1 "$tmp/out")" "$tmp/all" \
    grep -q '^not finished slow: begun 20' "$tmp/out"

# ---- a thousand ----

awk 'BEGIN { for (i = 1; i <= 1000; i++) print "node" i; print "node500" }' >hosts
refused "hosts:1001: node500 is in line 500 already" ssh --output f hosts --
mkdir -p many/.fleet/state
head -n 1000 hosts >many/hosts
for node in $(head -n 999 hosts); do
    printf 'failed\t1\t7\tstatus 1: noise\n' >"many/.fleet/state/$node"
done
begin=$(date +%s%N)
run status many
took=$((($(date +%s%N) - begin) / 1000000))
check "the status of a thousand, in $took ms" "$tmp/err" [ "$(head -n 1 "$tmp/out")" = \
    "1000 nodes: 0 done, 999 failed, 0 unreachable, 1 not finished" ]

finish
