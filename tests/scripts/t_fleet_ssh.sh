#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# deep: measures on four hosts that are all this machine, several times
#
# characterize-fleet ssh with the real ssh, parallel and characterize, in namespaces without a network: sshd with keys
# of its own on four addresses of the loopback device, of which one is not there at first. The program is copied; the
# whole fleet is ended in the middle, then a connection is cut in the middle: nothing keeps running on a host, what was
# measured is not measured again, and in the end all hosts have the same to the byte.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

d=$tmp
fleet=$root/fleet/characterize-fleet
results="$d/the results"
sshd=$(command -v sshd || echo /usr/sbin/sshd)

if [ "${1:-}" != inside ]; then
    for need in "$sshd" ssh-keygen parallel ip; do
        if ! command -v "$need" >/dev/null 2>&1; then
            skip "a fleet by ssh" "no $need here (apt-get install openssh-server parallel iproute2)"
            finish
        fi
    done
    if ! unshare -n -m -p -u --fork --mount-proc true 2>"$tmp/err"; then
        skip "a fleet by ssh" "no namespaces for it: $(head -n 1 "$tmp/err")"
        finish
    fi
    unshare -n -m -p -u --fork --mount-proc --kill-child sh "$0" inside
    exit
fi

# ---- four hosts ----

ip link set lo up && mount -t tmpfs tmpfs /run && mkdir -p /run/sshd "$d/remote" || exit 1
ssh-keygen -q -t ed25519 -N '' -f "$d/host" && ssh-keygen -q -t ed25519 -N '' -f "$d/key" || exit 1
echo '127.0.0.1 localhost' >"$d/etc-hosts"
for i in 1 2 3 4; do
    echo "10.99.0.$i n$i" >>"$d/etc-hosts"
    echo "n$i $(cat "$d/host.pub")" >>"$d/known"
done
mount --bind "$d/etc-hosts" /etc/hosts || exit 1
cat >"$d/config" <<END
IdentityFile $d/key
UserKnownHostsFile $d/known
GlobalKnownHostsFile /dev/null
END
# boot HOST: its address, with sshd
boot() {
    ip addr add "10.99.0.$1/32" dev lo
    "$sshd" -f /dev/null -o ListenAddress="10.99.0.$1" -h "$d/host" -o PidFile="$d/sshd.$1" -o UsePAM=no \
        -o AuthorizedKeysFile="$d/key.pub" -o StrictModes=no -o PermitRootLogin=yes -E "$d/sshd.$1.log"
}
for i in 1 2 4; do
    boot $i
done
printf 'n1\nroot@n2 # by another user, if there were one\n\nn3\nn4\n' >"$d/list"

# takes the place of the shell that calls it, so that a signal meets the fleet itself
fleet_run() {
    exec "$fleet" ssh --ssh "ssh -F $d/config" --remote-dir "$d/remote" --retry-delay 1 --output "$results" \
        --program "${CHARACTERIZE:-$root/characterize}" "$@" "$d/list" -- --machine model:xeon-gold-6130 --brief
}
# a program elsewhere than in the tree has its data there as well
if [ ! -d "$(dirname "${CHARACTERIZE:-$root/characterize}")/data" ]; then
    mkdir "$d/program" && cp "${CHARACTERIZE:-$root/characterize}" "$d/program" && cp -R "$root/data" "$d/program"
    CHARACTERIZE=$d/program/characterize
fi
unset CHARACTERIZE_DATA

cells() { find "$d/remote" -path "*-$1/out/cells/*.json" -printf '%i %T@ %P\n' 2>/dev/null | sort; }
measuring() { [ "$(cells "$1" | wc -l)" -ge "$2" ]; }
until_true() {
    patience=$1
    shift
    until "$@"; do
        patience=$((patience - 1))
        [ "$patience" -gt 0 ] || return 1
        sleep 0.2
    done
}
running() { pgrep -x characterize >"$d/running"; }

# ---- ended in the middle ----

begin=$(date +%s)
(fleet_run --retries 0) >"$d/out" 2>&1 &
whole=$!
until_true 300 measuring n4 60
check "n4 measures after $(($(date +%s) - begin)) s" "$d/out" measuring n4 60
kill -TERM $whole
wait $whole
status=$?
check "the fleet is ended: status 1" "$d/out" [ "$status" -eq 1 ]
for second in 1 2 3 4 5; do
    running || break
    sleep 1
done
check "within $second s nothing runs on the hosts" "$d/running" [ ! -s "$d/running" ]
for i in 1 2 4; do
    cells "n$i" >"$d/kept.$i"
done
"$fleet" status "$results" >"$d/out"
status=$?
check "the status says what is missing: $(head -n 1 "$d/out")" "$d/out" test "$status" -eq 3 -a \
    "$(grep -c '^not finished' "$d/out")" -ge 3

# ---- called again, with a connection cut in the middle ----

begin=$(date +%s)
(fleet_run --retries 2) >"$d/out" 2>&1 &
whole=$!
until_true 300 measuring n4 "$(($(wc -l <"$d/kept.4") + 40))"
pkill -KILL -f 'ssh -F .* n4 exec sh .*/measure' >/dev/null
echo "    the connection to n4 was cut $(($(date +%s) - begin)) s after the start, with $(cells n4 | wc -l) cells"
cells n4 >"$d/kept.4"
wait $whole
status=$?
echo "    over after $(($(date +%s) - begin)) s: $(tail -n 2 "$d/out" | tr '\n' ' ')"
check "three of four are done: status 3" "$d/out" test "$status" -eq 3 -a "$(grep -c '^4 nodes: 3 done' "$d/out")" -eq 1
check "n3 is not reached, and why" "$d/out" grep -q '^unreachable  n3: ssh: connect to host n3 .*[^ ]; 4 attempts' \
    "$d/out"
awk '{ print $2 }' "$d/kept.4" | sort >"$d/before"
find "$results/nodes/n4/cells" -name '*.json' -printf '%T@\n' | cut -c 1-10 | sort >"$d/after"
check "n4 did not measure again what it had" "$d/out" \
    [ "$(cut -c 1-10 "$d/before" | sort | comm -23 - "$d/after" | wc -l)" -eq 0 ]
boot 3
begin=$(date +%s)
(fleet_run) >"$d/out" 2>&1
status=$?
check "with n3 up, all are done after $(($(date +%s) - begin)) s: $(tail -n 1 "$d/out")" "$d/out" [ "$status" -eq 0 ]
check "only n3 was gone to" "$d/out" [ "$(grep -c ': done, ' "$d/out")" -eq 1 ]
for node in n2 n3 n4; do
    diff -rq "$results/nodes/n1" "$results/nodes/$node" >"$d/diff" 2>&1
    check "$node has what n1 has, to the byte" "$d/diff" [ ! -s "$d/diff" ]
done
check "nothing is left on the hosts" "$d/out" [ -z "$(ls "$d/remote")" ]

# ---- a thousand, none of which answers ----

awk 'BEGIN { for (i = 1; i <= 1000; i++) print "n3" i }' >"$d/list"
results=$d/many
begin=$(date +%s)
(fleet_run --retries 0) >"$d/out" 2>&1
check "a thousand hosts without a name, in $(($(date +%s) - begin)) s" "$d/out" grep -q \
    '^1000 nodes: 0 done, 0 failed, 1000 unreachable, 0 not finished' "$d/out"

finish
