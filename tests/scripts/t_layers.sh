#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Calls go one way: no directory knows one to its right (CONTRIBUTING.md), and no two files call each other, directly
# or by way of others. Checked in the objects that were built, by nm and tsort.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

cd "$root" || exit 1
order='util kernels computer drivers trace analysis probes tables output schedulers profiler library cli'

# calls: input: lines "FILE.o T SYMBOL" and "FILE.o U SYMBOL"; output: "CALLER CALLED", each pair once
calls() {
    awk '
        $2 == "U" { uses[++n] = $1 " " $3; next }
        { place[$3] = $1 }
        END {
            for (i = 1; i <= n; i++) {
                split(uses[i], use, " ")
                called = place[use[2]]
                if (called != "" && called != use[1] && !seen[use[1] " " called]++)
                    print use[1], called
            }
        }'
}

# backward: those of these pairs that go to the right
backward() {
    awk -v order="$order" '
        BEGIN { n = split(order, names, " "); for (i = 1; i <= n; i++) rank[names[i]] = i }
        { split($1, from, "/"); split($2, to, "/") }
        rank[from[1]] < rank[to[1]] { print }'
}

# the rules themselves, on symbols of known faults
calls >"$tmp/pairs" <<'EOF'
util/path.o T path_open
tables/engine.o U path_open
tables/engine.o T tables_measure
util/path.o U tables_measure
cli/program.o U tables_measure
cli/program.o U malloc
EOF
check "a call to the right is found" "$tmp/pairs" [ "$(backward <"$tmp/pairs")" = 'util/path.o tables/engine.o' ]
tsort "$tmp/pairs" >/dev/null 2>"$tmp/loop"
check "a circle is found" "$tmp/pairs" grep -q loop "$tmp/loop"

# shellcheck disable=SC2086 # names of directories
find $order -name '*.c' ! -path '*/kmod/*' ! -name '*.bpf.c' | sed 's|c$|o|' >"$tmp/objects"
(cd "${BUILD:-build}" && xargs nm -A <"$tmp/objects") |
    sed -n 's/^\([^:]*\):[0-9a-f ]* \([TDRBCU]\) \(.*\)$/\1 \2 \3/p' >"$tmp/symbols"
calls <"$tmp/symbols" >"$tmp/pairs"
backward <"$tmp/pairs" >"$tmp/backward"
tsort "$tmp/pairs" >/dev/null 2>"$tmp/loop"
check "there are calls to judge: $(wc -l <"$tmp/pairs")" "$tmp/objects" [ "$(wc -l <"$tmp/pairs")" -gt 500 ]
check "no directory calls one to its right" "$tmp/backward" [ ! -s "$tmp/backward" ]
check "no files call each other in a circle" "$tmp/loop" [ ! -s "$tmp/loop" ]

finish
