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
        --map-by | -map-by) echo slot core l1cache l2cache l3cache numa package node bunch scatter ;;
        --bind-to | -bind-to) echo none hwthread core l1cache l2cache l3cache numa package ;;
        --launcher) echo ssh slurm pals ;;
        --display) echo map map,bindings ;;
        --with-ft) echo ulfm none ;;
        --initial-errhandler) echo mpi_errors_are_fatal mpi_errors_abort mpi_errors_return ;;
        --set) "$2" info --all 2>/dev/null | sed -n 's/^\([A-Z][A-Z_]*\) = .*/\1=/p' ;;
        *) return 1 ;;
    esac
}

_catena_mpirun() {
    local word=$2 before=$3 command=${COMP_WORDS[0]} values
    local catena=${command%/*}
    if [ "$catena" = "$command" ]; then catena=catena; else catena=$catena/catena; fi
    COMPREPLY=()
    if values=$(_catena_values "$before" "$catena"); then
        COMPREPLY=($(compgen -W "$values" -- "$word"))
        case $before in --set) type compopt >/dev/null 2>&1 && compopt -o nospace ;; esac
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
