# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# shellcheck disable=SC2154 # root and tmp come from lib.sh
#
# Sourced, after lib.sh, by the tests of ./run and ./check: a small tree with the real scripts around a make-believe
# program, and a PATH in which only what the test puts there exists. So missing packages, a failing apt-get, another
# processor and the user's identity can be had on any machine, and nothing is ever installed.

bin=$tmp/bin
tree="$tmp/the tree"

# The commands that every Debian has, and make (the make-believe build is a real one).
need_basics() {
    mkdir -p "$bin"
    for command in sh awk env make readlink dirname basename nproc grep sed mktemp rm cat tr head tail cp chmod ln \
        mkdir touch date cut sort tee printf; do
        found=$(command -v "$command") || return 1
        case $found in
        /*) ln -sf "$found" "$bin/$command" ;;
        *) ln -sf "/usr/bin/$command" "$bin/$command" ;; # a builtin of this shell
        esac
    done
    stub id 'echo "${FAKE_UID:-1000}"'
    stub uname 'echo "${FAKE_MACHINE:-x86_64}"'
}

# stub NAME BODY: a command of that name
stub() {
    rm -f "$bin/$1"
    printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
    chmod +x "$bin/$1"
}

# All packages of the list present: their commands as stubs, their headers as empty files.
provide_all() {
    mkdir -p "$tmp/include" "$tmp/lists"
    touch "$tmp/lists/deb_main_Packages"
    while read -r stage package probe; do
        case $stage in
        build | run | test | deep) provide "$probe" ;;
        esac
    done <"$tree/scripts/packages"
    : "$package"
}

provide() {
    case $1 in
    command:make) ;;
    command:*) stub "$(printf '%s' "${1#command:}" | cut -d , -f 1)" : ;;
    header:*)
        mkdir -p "$(dirname "$tmp/include/${1#header:}")"
        touch "$tmp/include/${1#header:}"
        ;;
    file:*)
        provided=$tmp/files$(printf '%s' "${1#file:}" | tr '*' x)
        mkdir -p "$(dirname "$provided")"
        touch "$provided"
        ;;
    esac
}

# The tree: the real scripts and, as a source, a program that shows its arguments and where it was called.
make_tree() {
    mkdir -p "$tree"
    cp "$root/run" "$root/check" "$tree/"
    cp -R "$root/scripts" "$tree/"
    cat >"$tree/program" <<'PROGRAM'
#!/bin/sh
here=$(dirname "$0")
if [ "$*" = "--list kernels" ]; then
    cat "$here/kernels.txt"
    exit 0
fi
for argument; do
    printf '<%s>\n' "$argument"
done
echo "in $(pwd)"
exit "${FAKE_STATUS:-0}"
PROGRAM
    printf '%s\n' '.RECIPEPREFIX = >' 'OUT ?= elsewhere' 'all: $(OUT)/characterize' '$(OUT)/characterize: program' \
        '>@if grep -q SYNTAX-ERROR program; then echo "program:1: error: bad" >&2; exit 1; fi' \
        '>cp program $@ && chmod +x $@' >"$tree/Makefile"
}

# in_place DIRECTORY COMMAND...: runs it there, in the fake tree, with its outputs in $tmp/out, $tmp/err.
in_place() {
    fake_dir=$1
    shift
    (
        cd "$fake_dir" || exit 99
        PATH=$bin NEED_HEADER_DIRS="$tmp/include" NEED_APT_LISTS="$tmp/lists" NEED_FILE_ROOT="$tmp/files" "$@"
    ) >"$tmp/out" 2>"$tmp/err" </dev/null
}
