#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every file of the tree names its license: GPL-2.0-or-later what is loaded into Linux (kernels/, data/export/,
# drivers/helper/kmod/, the scheduler), GPL-3.0-or-later everything else.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# Files that cannot or need not say it: license texts, pictures, and recorded, broken or golden samples, whose bytes
# matter.
exempt() {
    case $1 in
    COPYING | */COPYING | VERSION | .gitignore | */.gitignore | scripts/debian/source/format) return 0 ;;
    *.png | *.svg | *.gz | *.json) return 0 ;;
    tests/*/corpus/* | tests/*/fixtures/* | tests/golden/* | data/traces/* | tests/data/*) return 0 ;;
    esac
    return 1
}

wanted() {
    case $1 in
    data/export/* | kernels/* | drivers/helper/kmod/*) echo GPL-2.0-or-later ;;
    drivers/native/sampling.h | drivers/timing/chain_reading.h) echo GPL-2.0-or-later ;;
    schedulers/policy.h | output/export/policy_constants.h) echo GPL-2.0-or-later ;; # BPF programs include them
    drivers/profile/profile_types.h | drivers/profile/profile_arithmetic.* | drivers/profile/profile_sequence.*)
        echo GPL-2.0-or-later ;;
    *.bpf.[ch] | schedulers/live/kernel.h | schedulers/live/shared.h | tests/sched/*.h)
        echo GPL-2.0-or-later ;;
    *) echo GPL-3.0-or-later ;;
    esac
}

tree_files() {
    if git -C "$root" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git -C "$root" ls-files
    else
        (cd "$root" && find . \( -name .git -o -name build -o -name 'build-*' -o -name characterize-out \) -prune -o \
            -type f ! -name characterize ! -name 'libcharacterize.*' ! -name compile_commands.json ! -name '*.o' \
            -print | sed 's|^\./||')
    fi
}

# judge FILE...: prints what is wrong with each, relative to the current folder
judge() {
    for file; do
        if exempt "$file" || [ ! -f "$file" ]; then
            continue
        fi
        said=$(head -n 5 "$file" | sed -n 's/.*SPDX-License-Identifier: \([A-Za-z0-9.-]*\).*/\1/p' | head -n 1)
        if [ -z "$said" ]; then
            echo "$file: no SPDX-License-Identifier in its first five lines"
        elif [ "$said" != "$(wanted "$file")" ]; then
            echo "$file: says $said, its folder asks for $(wanted "$file")"
        fi
    done
}

# the judgement itself, on files of known faults
mkdir -p "$tmp/t/kernels" "$tmp/t/cli"
cd "$tmp/t" || exit 1
echo '/* SPDX-License-Identifier: GPL-3.0-or-later */' | tee kernels/wrong.c >cli/right.c
echo '; SPDX-License-Identifier: GPL-2.0-or-later' | tee kernels/right.asm >cli/wrong.c
echo 'int x;' >cli/none.c
judge kernels/wrong.c cli/right.c kernels/right.asm cli/wrong.c cli/none.c >"$tmp/out"
cat >"$tmp/want" <<'EOF'
kernels/wrong.c: says GPL-3.0-or-later, its folder asks for GPL-2.0-or-later
cli/wrong.c: says GPL-2.0-or-later, its folder asks for GPL-3.0-or-later
cli/none.c: no SPDX-License-Identifier in its first five lines
EOF
check "wrong and absent license lines are found" "$tmp/out" same "$tmp/want" "$tmp/out"

cd "$root" || exit 1
tree_files >"$tmp/files"
while read -r name; do
    judge "$name"
done <"$tmp/files" >"$tmp/out"
check "all $(wc -l <"$tmp/files") files of the tree name the license of their folder" "$tmp/out" [ ! -s "$tmp/out" ]
check "COPYING is version 3" COPYING grep -q 'Version 3, 29 June 2007' COPYING
check "kernels/COPYING is version 2" kernels/COPYING grep -q 'Version 2, June 1991' kernels/COPYING

finish
