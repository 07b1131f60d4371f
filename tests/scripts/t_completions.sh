#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Completions of bash, zsh and fish: every option of the program, and the values that it lists.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

program=${CHARACTERIZE:-$root/${OUT:-.}/characterize}
completions=$root/scripts/completions
mkdir "$tmp/bin" "$tmp/files"
for name in characterize characterize-simulate characterize-profile; do
    ln -s "$(dirname "$program")/$name" "$tmp/bin"
done
PATH=$tmp/bin:$PATH
CHARACTERIZE_DATA=${CHARACTERIZE_DATA:-$root/data}
export PATH CHARACTERIZE_DATA
cd "$tmp/files" || exit 1
: >trace.csv

characterize --list options >"$tmp/options"
characterize --help-all >"$tmp/help"
# all options of --help-all are listed, and no others
grep -oE '^ *(-[a-zA-Z?], )?--[a-z-]+' "$tmp/help" | grep -oE -- '--[a-z-]+' |
    grep -vx -- '--\(help\|help-all\|usage\|version\)' | sort -u >"$tmp/offered"
cut -f 1 "$tmp/options" | sort >"$tmp/listed"
diff "$tmp/offered" "$tmp/listed" >"$tmp/out"
check "--list options: those of --help-all" "$tmp/out" [ ! -s "$tmp/out" -a -s "$tmp/listed" ]

in_bash() {
    bash --norc -c '. "$1"; compopt() { :; }; COMP_LINE=$2 COMP_POINT=${#2}; _characterize "${2%% *}"
        printf "%s\n" "${COMPREPLY[@]}"' bash "$completions/characterize.bash" "$1"
}
in_fish() {
    HOME=$tmp fish --no-config -c "source '$completions/characterize.fish'; complete -C '$1'" | cut -f 1
}
# compadd and compset are of zsh's line editor; these do as much of them as is used
cat >"$tmp/rig.zsh" <<'END'
compset() {
    local end=${2#\*}
    [[ $1 == -P && $PREFIX == *$end* ]] || return 1
    if [[ $end == , ]]; then taken=$taken${PREFIX%,*},; PREFIX=${PREFIX##*,}
    else taken=$taken${PREFIX%%$end*}$end; PREFIX=${PREFIX#*$end}; fi
}
compadd() {
    local suffix= array= name
    while (($#)); do
        case $1 in -S) suffix=$2; shift ;; -a) array=$2; shift ;; -d) shift ;; esac
        shift
    done
    for name in ${(P)array}; do [[ $name != $PREFIX* ]] || print -r -- $taken$name$suffix; done
}
_files() { print -rl -- $PREFIX*(N); }
words=(${(s: :)2}); [[ $2 != *' ' ]] || words+=('')
CURRENT=$#words PREFIX=$words[-1] taken=
source $1
END
in_zsh() {
    zsh -f "$tmp/rig.zsh" "$completions/_characterize" "$1"
}

# completes LINE EXPECTED...: at the end of the line these, in any order, in the shell that is tried
completes() {
    line=$1
    shift
    "in_$shell" "$line" | sort -u >"$tmp/out"
    printf '%s\n' "$@" | sort >"$tmp/expected"
    check "$shell: $line" "$tmp/out" cmp -s "$tmp/out" "$tmp/expected"
}
kernels() {
    characterize --list kernels | awk 'NR > 1 { if (!NF) exit; print $1 }'
}
for shell in bash zsh fish; do
    if ! command -v $shell >/dev/null 2>&1; then
        skip "completion in $shell" "it is not installed"
        continue
    fi
    "in_$shell" 'characterize --' | grep -v '^--\(help\|help-all\|usage\|version\)$' | sort >"$tmp/out"
    check "$shell: all options" "$tmp/out" cmp -s "$tmp/out" "$tmp/listed"
    completes 'characterize --brief --machi' --machine
    completes 'characterize --table thr' throttle
    # shellcheck disable=SC2046
    completes 'characterize --table ' $(characterize --list tables | awk '{ if (!NF) exit; print $1 }')
    completes 'characterize --siblings ' idle busy
    completes 'characterize --list s' skus
    completes 'characterize --export ' header json
    completes 'characterize --validate xeon-gold-6130' xeon-gold-6130
    completes 'characterize --kernels 128fma,512o' 128fma,512or 128fma,512or-chain 128fma,512or-lat
    completes 'characterize --companion sa' same
    completes 'characterize --policy stock,tim' stock,timeout
    # shellcheck disable=SC2046
    completes 'characterize --transition 512' $(kernels | grep '^512' | sed 's/$/:/')
    completes 'characterize --analyze tr' trace.csv
    completes 'characterize-simulate --policy stock,tim' stock,timeout
    completes 'characterize-simulate --s' --scheduler --seed --siblings-map --smt --stamps --switching
    completes 'characterize-profile --r' --rate --rehearsal
    # bash replaces only what follows a colon
    case $shell in
    bash) completes 'characterize --transition 128fma:512o' 512or 512or-chain 512or-lat &&
        completes 'characterize --kernels 128fma,512fma@z' @zmask &&
        completes 'characterize --machine model:xeon-w-2104' xeon-w-2104 ;;
    *) completes 'characterize --transition 128fma:512o' 128fma:512or 128fma:512or-chain 128fma:512or-lat &&
        completes 'characterize --machine model:xeon-w-2104' model:xeon-w-2104 ;;
    esac
done

finish
