
user=$(id -un || echo -)
report() {
    test -d "$2" && test -w "$2" && test -x "$2" || return 0
    set -- "$1" "$2" $(df -PTk -- "$2" 2> /dev/null | sed -n 2p)
    echo "@folder $1 ${4-?} ${7-0} $2"
}
for name in SCRATCH PSCRATCH SCRATCHDIR SCRATCH_DIR CSCRATCH MYSCRATCH WORKDIR; do
    test -z "${!name-}" || report "\$$name" "${!name}"
done
group=$(id -gn || echo -)
for folder in {,/gpfs,/lustre}/scratch/{$user,users/$user,$group/$user,$group} /nobackup/$user /work/$user /lustre/$user; do
    report "$folder" "$folder"
done
for name in PROJECT PROJECTDIR PROJECT_DIR WORK GROUP_HOME; do
    test -z "${!name-}" || report "\$$name" "${!name}"
done
report home "${HOME:-$(unset HOME && echo ~)}"
