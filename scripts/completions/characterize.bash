# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of characterize in bash: options and values as the program itself lists them (--list options, ...).

# The first fields of a list of the program: names of kernels, machines, tables, processors, workloads. Those of
# processors end where the second list begins, of the other ones at the first empty line.
_characterize_names() {
    "$_characterize_program" --list "$1" 2>/dev/null | case $1 in
    skus) awk '/^CPUs with published/ { on = 1; next } on && NF { print $1 }' ;;
    machines) awk 'NF && !/^liblikwid/ { print $1 }' | grep -v FILE ;;
    kernels) awk 'NR > 1 { if (!NF) exit; print $1 }' ;;
    *) awk '{ if (!NF) exit; print $1 }' ;;
    esac
}

# What an option may have as its value: names, one a line; nothing: files.
_characterize_values() {
    local options argument about
    options=$("$_characterize_program" --list options 2>/dev/null)
    IFS=$'\t' read -r _ argument about < <(grep "^$1	" <<<"$options")
    case $1 in
    --transition) case $2 in
        *:*) _characterize_names kernels | sed "s/^/${2%%:*}:/" ;;
        *) _characterize_names kernels | sed 's/$/:/' ;;
        esac ;;
    --table) _characterize_names tables ;;
    --kernels) _characterize_names kernels ;;
    --companion) _characterize_names kernels && echo same ;;
    --machine) _characterize_names machines && echo auto ;;
    --validate) _characterize_names skus ;;
    --simulate) _characterize_names workloads ;;
    *) case $argument in
        *[A-Z]*\|*) ;;
        *\|*) tr '|' '\n' <<<"$argument" ;;
        LIST | PARTS) grep -oE '([a-z-]+,){2,}[a-z-]+' <<<"$about" | tr ',' '\n' ;;
        *[A-Z]*) ;;
        *) echo "$argument" ;;
        esac ;;
    esac
}

# The options of a program, of which one that does a single job has not all.
_characterize_options() {
    "$1" --help-all 2>/dev/null | grep -oE '^  (-[a-zA-Z?], |    )--[a-z-]+' | grep -oE -- '--[a-z-]+'
}

# The argument of an option, as --list options has it; "": it has none.
_characterize_argument() {
    "$_characterize_program" --list options 2>/dev/null | awk -F '\t' -v name="$1" '$1 == name { print $2 }'
}

_characterize() {
    local _characterize_program=${1%-simulate} line=${COMP_LINE:0:COMP_POINT} word before option="" value prefix="" i
    _characterize_program=${_characterize_program%-profile}
    word=${line##*[[:space:]]}
    before=${line%"$word"}
    before=${before%"${before##*[![:space:]]}"}
    before=${before##*[[:space:]]}
    COMPREPLY=()
    case $word in
    --*=*) option=${word%%=*} value=${word#*=} ;;
    --*) ;;
    *) case $before in --*=*) ;; --*) option=$before value=$word ;; esac ;;
    esac
    if [[ -z $option || -z $(_characterize_argument "$option") ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_characterize_options "$1")" -- "$word")
        return
    fi
    case $option in --kernels | --policy | --scheduler | --quiet-machine) [[ $value != *,* ]] || prefix=${value%,*}, ;; esac
    mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$(_characterize_values "$option" "$value")" -- "${value#"$prefix"}")
    [[ ${#COMPREPLY[@]} -gt 0 ]] || mapfile -t COMPREPLY < <(compgen -f -- "$value")
    # bash completes only what follows the last of these; an @ itself belongs to that (rl_special_prefixes)
    local breaks=${COMP_WORDBREAKS//[^:@=]/} kept
    kept=${value%"${value##*[${breaks:-:}]}"}
    [[ -z $breaks ]] || for i in "${!COMPREPLY[@]}"; do
        COMPREPLY[i]=${COMPREPLY[i]#"${kept%@}"}
    done
    [[ ${COMPREPLY[*]} != *: ]] || compopt -o nospace 2>/dev/null
}
complete -F _characterize characterize characterize-simulate characterize-profile
