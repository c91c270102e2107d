# Completion of catena, mpirun and mpiexec, from what the commands say of themselves.
#   bash: source PREFIX/share/catena/completions.bash
#   zsh:  autoload -U +X bashcompinit && bashcompinit, and then the same

# The options in the help of a command.
_catena_options() {
    "$@" --help 2>/dev/null | sed -n 's/^  *\(-.*\)/\1/p' | sed 's/  .*//' | grep -oE -- '-{1,2}[A-Za-z][A-Za-z-]*'
}

# Words for the value of an option; fails for options that take any, or none.
_catena_values() {
    case $1 in
        --map-by | -map-by) echo slot hwthread core l1cache l2cache l3cache numa package node spread bunch scatter ppr: ;;
        --rank-by | -rank-by) echo slot node fill span ;;
        --bind-to | -bind-to | --cpu-bind) echo none hwthread core l1cache l2cache l3cache numa package ;;
        --launcher | -launcher | --bootstrap | -bootstrap) echo ssh slurm pals lsf sge flux ;;
        --display) echo map bindings allocation map,bindings ;;
        --on-hang) echo report end nothing ;;
        --on-check) echo report fail end ;;
        --with-ft) echo ulfm none ;;
        --initial-errhandler | -initial-errhandler) echo mpi_errors_are_fatal mpi_errors_abort mpi_errors_return ;;
        --memory-alloc-kinds | -memory-alloc-kinds) echo system mpi cuda rocm ;;
        --output) echo tag timestamp merge dir= file= copy ;;
        --stdin | -s) echo all none 0 ;;
        --export) echo ALL NONE ;;
        --usize | -usize) echo SYSTEM INFINITE ;;
        --runtime-options) echo recoverable continuous donotlaunch timeout= ;;
        --help | -help | -h) echo open-mpi mpich intel slurm mpi ;;
        --set) "$2" info --all 2>/dev/null | sed -n 's/^\([A-Z][A-Z_]*\) = .*/\1=/p' ;;
        *) return 1 ;;
    esac
}

# Words for the value of a setting, where --set NAME= stands before the cursor; fails elsewhere. The shell parts words at =.
_catena_setting_values() {
    local at=$COMP_CWORD
    [ "${COMP_WORDS[at]}" = = ] || at=$((at - 1))
    [ "$at" -ge 2 ] && [ "${COMP_WORDS[at]}" = = ] && [ "${COMP_WORDS[at - 2]}" = --set ] || return 1
    "$1" info "${COMP_WORDS[at - 1]}" 2>/dev/null | sed -n 's/^ *\(choice\|bool\) (\([^)]*\)).*/\2/p' | tr -d ,
}

# Options whose value is a file or a folder.
_catena_files() {
    case $1 in
        -wdir | --wdir | -wd | --chdir | --prefix | --output-filename) compgen -d -- "$2" ;;
        --hostfile | --machinefile | -machinefile | -f | --default-hostfile | --rankfile | -rf | --configfile | -configfile | --app | --file | --topology | --tune) compgen -f -- "$2" ;;
        *) return 1 ;;
    esac
}

_catena_mpirun() {
    local word=$2 before=$3 command=${COMP_WORDS[0]} values
    local catena=${command%/*}
    if [ "$catena" = "$command" ]; then catena=catena; else catena=$catena/catena; fi
    COMPREPLY=()
    if values=$(_catena_setting_values "$catena"); then
        COMPREPLY=($(compgen -W "$values" -- "$word"))
        return
    fi
    if values=$(_catena_values "$before" "$catena"); then
        COMPREPLY=($(compgen -W "$values" -- "$word"))
        case $before in --set | --output | --runtime-options | --map-by) type compopt >/dev/null 2>&1 && compopt -o nospace ;; esac
        return
    fi
    if values=$(_catena_files "$before" "$word"); then
        COMPREPLY=($values)
        return
    fi
    case $word in
        -*) COMPREPLY=($(compgen -W "$(_catena_options "$command")" -- "$word")) ;;
        */*) COMPREPLY=($(compgen -f -- "$word")) ;;
        *) COMPREPLY=($(compgen -f -- "$word") $(compgen -c -- "$word")) ;;
    esac
}

_catena() {
    local word=$2 command=${COMP_WORDS[0]} verb=${COMP_WORDS[1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        COMPREPLY=($(compgen -W "$("$command" help | sed -n '/^commands/,/^$/s/^  \([a-z]*\) .*/\1/p')" -- "$word"))
    elif [ "$verb" = run ]; then
        _catena_mpirun "$@"
    elif [ "$verb" = info ] && case $word in -*) false ;; esac; then
        COMPREPLY=($(compgen -W "$(_catena_values --set "$command" | tr -d =)" -- "$word"))
    elif [ "$verb" = help ]; then
        COMPREPLY=($(compgen -W "$("$command" help | sed '1,/^pages/d')" -- "$word"))
    else
        case $word in
            -*) COMPREPLY=($(compgen -W "$(_catena_options "$command" "$verb")" -- "$word")) ;;
            *) COMPREPLY=($(compgen -f -- "$word")) ;;
        esac
    fi
}

complete -o filenames -F _catena_mpirun mpirun mpiexec mpirun.catena mpiexec.catena
complete -o filenames -F _catena catena
